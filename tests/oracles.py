"""Witnesses that share no code with symattn: attention in NumPy and in SymPy, and readers of formulas and pages.

`numpy_attention` and `sympy_attention` know attention only as the papers have it; `plain` writes a formula tree down in
a line.
"""

import ast
from fractions import Fraction as Ratio

import numpy as np
import sympy

from symattn import formula as f
from symattn.exact import decimal_text
from symattn.page.document import (
    Box,
    Code,
    Diagram,
    Display,
    Entries,
    Heading,
    ItemList,
    Math,
    Paragraph,
    Strong,
    Table,
    Together,
    Words,
    settled,
    spans,
)

# ------------------------------------------------------------------------------------------------ attention


def kept(mask, n, m):
    """Which of m keys each of n queries sees, as a Boolean array; none where there is no mask."""
    i, j = np.indices((n, m))
    if mask is None or mask == "none":
        return None
    if not isinstance(mask, str):
        return np.array(mask, dtype=bool)
    if "+" in mask:
        return np.logical_and.reduce([kept(part, n, m) for part in mask.split("+")])
    if mask.startswith(("hidden:", "[")):
        rows = np.array(ast.literal_eval(mask.removeprefix("hidden:")), dtype=bool)
        return ~rows if mask.startswith("hidden:") else rows
    kind, *parts = mask.split(":")
    earlier = i + (m - n) - j  # by how many tokens, the last query being the token of the last key
    if kind == "causal":
        return j <= i if parts else earlier >= 0
    if kind == "past":
        return earlier > 0
    if kind == "padding":
        return j < int(parts[0])
    if kind == "prefix":
        return (earlier >= 0) | (j < int(parts[0]))
    if kind == "window":
        width = int(parts[0])
        return np.abs(earlier) < width if parts[1:] == ["both"] else (earlier >= 0) & (earlier < width)
    if kind == "blocks":
        ends = np.cumsum([int(size) for size in parts[0].split(",")])
        return np.searchsorted(ends, i, side="right") == np.searchsorted(ends, j, side="right")
    raise AssertionError(mask)


def divisor(scale, sizes):
    """What the scores are divided by, read by SymPy (the tests' own texts only)."""
    if scale in (None, "none"):
        return sympy.Integer(1)
    return sympy.sympify(scale, locals=dict(sizes), rational=True)


def softmax(scores, base=np.e, axis=-1):
    """Weights; all 0 where everything is −∞."""
    scores = np.asarray(scores, float)
    exponents = np.where(np.isfinite(scores), scores * np.log(base), -np.inf)  # base^s = e^(s ln base)
    largest = exponents.max(axis, keepdims=True)
    powers = np.exp(exponents - np.where(np.isfinite(largest), largest, 0))
    return powers / np.maximum(powers.sum(axis, keepdims=True), np.finfo(float).tiny)


def numpy_attention(
    q,
    k,
    v,
    *,
    scale=1.0,
    keep=None,
    base=np.e,
):
    """Attention with tokens as rows, in float64."""
    found = {"S": q @ k.T}
    found["S'"] = found["S"] / scale
    found["M"] = found["S'"] if keep is None else np.where(keep, found["S'"], -np.inf)
    found["A"] = softmax(found["M"], base)
    found["Z"] = found["A"] @ v
    return found


def sympy_attention(
    q,
    k,
    v,
    *,
    scale=1,
    keep=None,
    base=sympy.E,
):
    """Attention with tokens as rows, exactly."""
    scores = q * k.T
    scaled = scores / sympy.sympify(scale)
    n, m = scaled.shape
    weights = sympy.zeros(n, m)
    for i in range(n):
        seen = [j for j in range(m) if keep is None or keep[i][j]]
        total = sum(base ** scaled[i, j] for j in seen)
        for j in seen:
            weights[i, j] = base ** scaled[i, j] / total
    return {"S": scores, "S'": scaled, "A": weights, "Z": weights * v}


# ------------------------------------------------------------------------------------------------ numbers


def turned(givens):
    """Givens with tokens as columns."""
    return {name: [list(column) for column in zip(*rows, strict=True)] for name, rows in givens.items()}


def floats(matrix):
    """A matrix of ours in float64, each entry by way of its decimals."""
    return np.array([[float(decimal_text(x, 25).replace("∞", "inf")) for x in row] for row in matrix.rows])


def array(rows):
    """Integers, fractions and the tests' own texts in float64."""
    return np.array([[float(sympy.sympify(str(x), rational=True)) for x in row] for row in rows])


def table(rows):
    """The same in SymPy, exactly."""
    return sympy.Matrix([[sympy.sympify(str(x), rational=True) for x in row] for row in rows])


def same(a, b, digits=40):
    """Whether two numbers agree to so many digits; with symbols, at a point of irrational coordinates too."""
    a, b = sympy.sympify(a), sympy.sympify(b)
    if a == b:
        return True
    if a.has(sympy.oo) or b.has(sympy.oo):
        return False
    names = sorted(a.free_symbols | b.free_symbols, key=str)
    point = {x: sympy.sqrt(p) / 7 for x, p in zip(names, sympy.primerange(2, 2000), strict=False)}
    unknown = {g: sympy.sqrt(71) * g.args[0] + 1 for g in (a - b).atoms(sympy.core.function.AppliedUndef)}
    difference = (a - b).subs(unknown).subs(point)
    return abs(sympy.N(difference, digits + 10, maxn=400)) < sympy.Float(10) ** -digits


def same_matrix(a, b):
    return a.shape == b.shape and all(same(x, y) for x, y in zip(a, b, strict=True))


# ------------------------------------------------------------------------------------------------ formulas


def index_of(name, bound):
    """The indices of a name as numbers, index letters replaced by what they are bound to."""
    found = []
    for x in name.sub:
        items = x.items if isinstance(x, f.ListOf) else (x,)
        for item in items:
            found.append(int(item.digits) if isinstance(item, f.Number) else bound[item.base])
    return tuple(found)


def contains(formula, kind):
    return isinstance(formula, kind) or any(contains(x, kind) for x in f.children(formula))


def plain(formula):
    """A formula in one line: q_{1,2}, [1 0; 0 1], softmax(S/√d_x), Q^T."""
    match formula:
        case f.Number():
            return formula.digits
        case f.Text():
            return formula.words
        case f.Infinity():
            return "∞"
        case f.Dots():
            return "·" if formula.kind == "cell" else "…"
        case f.Blank():
            return "□"
        case f.Name():
            sub = ",".join(map(plain, formula.sub))
            base = f"hat({formula.base})" if formula.hat else formula.base
            index = "" if not sub else f"_{sub}" if len(sub) == 1 else f"_{{{sub}}}"
            return base + "'" * formula.primes + index + (f"^{formula.sup}" if formula.sup else "")
        case f.Negative():
            return f"−{plain(formula.body)}"
        case f.Sum():
            joined = " + ".join(map(plain, formula.terms))
            return joined.replace("+ −", "− ")
        case f.Product():
            return (f" {formula.sign} " if formula.sign else " ").join(map(plain, formula.factors))
        case f.Fraction():
            return f"{_tight(formula.above)}/{_tight(formula.below)}"
        case f.Power():
            return f"{_tight(formula.base)}^{_tight(formula.exponent)}"
        case f.Root():
            return f"√{_tight(formula.body)}"
        case f.Transposed():
            return f"{_tight(formula.body)}^T"
        case f.Call():
            return f"{plain(formula.function)}({', '.join(map(plain, formula.arguments))})"
        case f.Bracketed():
            return f"({plain(formula.body)})"
        case f.ListOf():
            left, right = {"⟨": "⟨⟩", "[": "[]", "(": "()", "": ("", "")}[formula.bracket]
            return left + (formula.separator + " ").join(map(plain, formula.items)) + right
        case f.MatrixOf():
            rows = [(formula.separator + " ").join(map(plain, row)) for row in formula.rows]
            if formula.nested:
                rows = [f"[{row}]" for row in rows]
            return "[" + (formula.row_end + "; ").join(rows) + "]"
        case f.Shape():
            rows, columns = plain(formula.rows), plain(formula.columns)
            return f"({rows}, {columns})" if formula.style == "tuple" else f"{rows}×{columns}"
        case f.Annotated(place="index"):
            return f"{plain(formula.body)}_{{{plain(formula.note)}}}"
        case f.Annotated():
            return f"{plain(formula.body)} {plain(formula.note)}"
        case f.BigSum():
            lower = f"={plain(formula.lower)}" if plain(formula.lower) else ""
            upper = f"^{plain(formula.upper)}" if plain(formula.upper) else ""
            return f"Σ_{{{plain(formula.index)}{lower}}}{upper} {plain(formula.body)}"
        case f.Relation():
            text = plain(formula.parts[0])
            for sign, part in zip(formula.signs, formula.parts[1:], strict=True):
                text += f" {sign} {plain(part)}"
            return text.strip()
        case f.Row():
            return "   ".join(map(plain, formula.items))
    raise AssertionError(formula)


def _tight(formula):
    loose = f.Sum | f.Product | f.Negative | f.Relation | f.Fraction
    return f"({plain(formula)})" if isinstance(formula, loose) else plain(formula)


# ------------------------------------------------------------------------------------------------ pages


def page_lines(document, until=""):
    """A document's content in reading order, a line for every paragraph and every formula.

    It stops before the heading that starts with `until`.
    """
    lines = []
    for block in _blocks(settled(document).blocks):
        if until and isinstance(block, Heading) and _words(block.content).startswith(until):
            break
        lines += _block_lines(block)
    return lines


def _blocks(blocks):
    for block in blocks:
        if isinstance(block, Box | Together):
            yield from _blocks(block.blocks)
        else:
            yield block


def _block_lines(block):
    match block:
        case Heading() | Paragraph():
            return [_words(block.content)]
        case Display():
            lead = _words(block.lead) + " " if block.lead else ""
            first, *rest = map(plain, block.lines)
            return [lead + first, *rest]
        case Entries():
            return list(map(plain, block.equations))
        case ItemList():
            return list(map(_words, block.items))
        case Table():
            return ["   ".join(map(_words, row)).rstrip() for row in (block.header, *block.rows)]
        case Diagram():
            layers = ("   ".join([*map(plain, layer.boxes), _words(layer.remark)]) for layer in block.layers)
            return [layer.rstrip() for layer in layers]
    return []


def _words(inlines):
    parts = []
    for inline in spans(inlines):
        if isinstance(inline, Math):
            parts.append(plain(inline.formula))
        elif isinstance(inline, Words | Strong | Code):
            parts.append(inline.text)
    return "".join(parts)


# ------------------------------------------------------------------------------------------------ rounding


def largest_remainder(row, places):
    """Hamilton's apportionment, as its inventor would do it by hand; for rows of positive floats without ties."""
    units = [x * 10**places for x in row]
    given = [int(u) for u in units]
    missing = round(sum(units)) - sum(given)
    by_loss = sorted(range(len(row)), key=lambda i: given[i] - units[i])
    for i in by_loss[:missing]:
        given[i] += 1
    return [Ratio(g, 10**places) for g in given]
