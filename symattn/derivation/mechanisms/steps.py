"""Steps that mechanisms have in common: projections, and the way from Q, K and V to the output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.derivation import Derivation, Op, Operand, row_of, transposed
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.mechanisms.settings import SIZE, Settings, Sizes, parameter, read_number, read_parameter
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver
from symattn.derivation.sizes import Axis, letters_of
from symattn.errors import InputError, LetterError, ReadError
from symattn.exact import Size, Value, has_symbols, is_symbolic, sign
from symattn.exact.reading import read
from symattn.foundation.languages import message
from symattn.foundation.typed import Place

if TYPE_CHECKING:
    from symattn.derivation.ops.scores import Bias


# ------------------------------------------------------------------------------------------ where steps stand


def layer_words(place: str) -> str:
    """A layer in words, from its place in names: self-attention of Q^self, block 2 of Q^2; "" where there is none."""
    return message("block {block}", block=place) if place.isdecimal() else _ATTENTIONS.get(place, place)


_ATTENTIONS = {"self": message("self-attention"), "cross": message("cross-attention")}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where steps stand: in which of how many heads, in which layer, for which token.  Names end in it: S_1^self.2."""

    head: int | None = None
    place: str = ""
    of: int = 1
    token: int | None = None

    def __call__(self, stem: str) -> str:
        head, place = f"_{self.head}" if self.head else "", f"^{self.place}" if self.place else ""
        return stem + head + place + (f".{self.token}" if self.token else "")

    @property
    def section(self) -> str:
        if self.token:
            return message("token {token}", token=self.token)
        if not self.head:
            return layer_words(self.place)
        if not self.place:
            return message("head {head}", head=self.head)
        return message("head {head}, {place}", head=self.head, place=layer_words(self.place))


NO_SCOPE = Scope()
"""Of steps that are in no head, layer or token."""


@dataclass
class Section:
    """A part of a derivation that is being written: steps under one heading, in the names of their scope."""

    d: Derivation
    scope: Scope
    heading: str | None = None

    def add(self, stem: str, op: Op, *operands: str | Operand) -> str:
        """One more step; what it is called."""
        name, heading = self.scope(stem), self.scope.section if self.heading is None else self.heading
        self.d = self.d.then(name, op, *operands, section=heading)
        return name


# ------------------------------------------------------------------------------------------ what settings ask of scores


SIZE_NAMES = ("n", "m", "h", "g", "d_model", "d_k", "d_v", "d_ff")
_SIZES = re.compile(rf"\b(?:{'|'.join(SIZE_NAMES)})\b")


def scale_op(spec: object, sizes: Sizes) -> Scale | None:
    """The scaling step that `spec` asks for: none, √d_k, a number, an expression in the sizes."""
    if spec is None or (isinstance(spec, str) and spec.strip().lower() in ("", "none")):
        return None
    if not isinstance(spec, str):
        return Scale(_divisor(read_number(spec, Place().at("scale")), spec))
    of = re.sub(r"\bd_x\b", "d_model", spec.strip())
    used = [name for name in SIZE_NAMES if name in _SIZES.findall(of)]
    if missing := [name for name in used if name not in sizes]:
        raise InputError(f"The scale is {spec!r}, but {missing[0]} is not known here; {', '.join(sizes)} are.")
    free = (letter for letter in "abcdfghjklmnopqrstuvwxyz" if not re.search(rf"\b{letter}\b", of))
    short = {name: next(free) for name in used if isinstance(sizes[name], str)}  # d_k is no name that can be read
    filled = _SIZES.sub(lambda name: short.get(name[0], f"({sizes[name[0]]})"), of)
    try:
        divisor = _formula_of_sizes(filled)
    except ReadError as error:
        raise InputError(f"The scale {spec!r} cannot be read: {error}") from error
    if has_symbols(divisor):
        meant = {letter: size_in_sympy(sizes[name]) for name, letter in short.items()}
        meant |= {x.name: _letter_of(x.name, spec, sizes) for x in divisor.free_symbols if x.name not in meant}
        divisor = divisor.xreplace({x: meant[x.name] for x in divisor.free_symbols})
    return Scale(_divisor(divisor, spec), _SIZES.sub(lambda name: _own_letter(name[0], sizes), of) if used else "")


def _letter_of(letter: str, scale: str, sizes: Sizes) -> Any:
    """What a letter of a scale that names no size stands for: what a size is called here, or a number of its own."""
    if any(letter in letters_of(size) for size in sizes.values()):
        return size_in_sympy(letter)
    if SIZE.fullmatch(letter):
        raise InputError(f"The scale is {scale!r}, but {letter} is not known here; {', '.join(sizes)} are.")
    return parameter(letter)


def _own_letter(name: str, sizes: Sizes) -> str:
    """The letter that a size has here: p for d_k where d_k is p; its name where it is a number."""
    size = sizes[name]
    if not isinstance(size, str):
        return name
    return size if size.isidentifier() else f"({size})"


@lru_cache(maxsize=64)
def _formula_of_sizes(text: str) -> Value:
    """The same for all variants of a pool."""
    return read(text, symbols=True).value


def _divisor(divisor: Value, spec: object) -> Value:
    if not is_symbolic(divisor) and divisor == 0:
        raise InputError(f"The scale is {spec!r}, which is 0; scores cannot be divided by 0.")
    return divisor


def mask_op(settings: Settings, rows: Size, columns: Size) -> Mask | Bias | None:
    """The masking step: what is hidden becomes −∞; finite values are added; none for no mask."""
    mask = masks(settings.mask)
    if mask is None:
        return None
    if not isinstance(rows, int) or not isinstance(columns, int):
        return Mask((), settings.mask_style, mask.kind, mask.patterns(rows, columns))
    keep = mask.keep(rows, columns)
    if added := mask.added(keep):
        from symattn.derivation.ops.scores import Bias

        return Bias(added)
    return Mask(keep, settings.mask_style, mask.kind, mask.rules(columns))


def score_changes(
    d: Derivation, settings: Settings, scope: Scope, shape: tuple[Size, Size]
) -> Iterator[tuple[str, Op, *tuple[str, ...]]]:
    """The steps between scale and mask: S_T over the temperature, S_cap capped, S_B with a bias."""
    own = f"B_{scope.head or 1}"
    biases = [name for name in dict.fromkeys(("B", own)) if name in d.givens]
    if settings.bias and biases:
        raise InputError(f"A bias is given as {biases[0]} and as {settings.bias!r}; only one can be added.")
    if len(biases) > 1:
        raise InputError(f"A bias is given as B for all heads and as {own}; only one can be added.")
    if scope.head and not biases and any(re.fullmatch(r"B_\d+", name) for name in d.givens):
        raise InputError(f"A bias is given for some heads, and {own} is missing; all heads have one, or none.")
    if settings.temperature is not None:
        from symattn.derivation.ops.scores import Temperature

        temperature = Temperature(require_positive("temperature", settings.temperature))
        yield "S_T", replace(temperature, of="") if has_symbols(settings.temperature) else temperature
    if settings.cap is not None:
        from symattn.derivation.ops.scores import SoftCap

        yield "S_cap", SoftCap(require_positive("cap", settings.cap))
    if settings.bias:
        yield "S_B", _alibi(settings.bias, scope, shape)
    if biases:
        yield "S_B", Add(), biases[0]


def require_positive(setting: str, number: Value) -> Value:
    if not is_symbolic(number) and sign(number) <= 0:
        raise InputError(f"The {setting} is {number}; a positive number was expected.")
    return number


def _alibi(bias: str, scope: Scope, shape: tuple[Size, Size]) -> Op:
    """A head's bias, with ALiBi's own slope or the one that is stated for it."""
    from symattn.derivation.ops.scores import alibi, alibi_slope

    rows, columns = shape
    kind, colon, listed = bias.partition(":")
    if kind != "alibi":
        raise InputError(f"bias is {bias!r}; alibi, or alibi:1/2,1/4 (a slope for every head), was expected.")
    head = scope.head or 1
    if not colon:
        return alibi(alibi_slope(head, scope.of), rows, columns)
    slopes = listed.split(",")
    if len(slopes) != scope.of:
        raise InputError(f"bias is {bias!r}; a slope for every head, and so {scope.of} of them, were expected.")
    return alibi(read_parameter(slopes[head - 1], Place().at("bias")), rows, columns)


def weights_op(settings: Settings) -> Op:
    """How a row of scores becomes a row of weights."""
    if settings.weights != "softmax" and settings.base != "e":
        raise InputError(f"The base is {settings.base}, but the weights are {settings.weights}, without any powers.")
    if settings.weights == "softmax":
        return Softmax(base=settings.base, empty=settings.empty)
    from symattn.derivation.ops.scores import Hardmax, OverSum

    return (OverSum if settings.weights == "sum" else Hardmax)(empty=settings.empty)


# ------------------------------------------------------------------------------------------ steps


def affine(
    d: Derivation,
    name: str,
    source: str | Operand,
    weights: str,
    bias: str,
    function: str = "identity",
    section: str = "",
) -> Derivation:
    """f(source · weights + bias), with the bias if it is given; what comes before is Q_product and Q_linear for Q."""
    linear = name if function == "identity" else _unfinished(name, "linear")
    product = _unfinished(name, "product") if bias in d.givens else linear
    d = d.then(product, MatMul(), source, weights, section=section)
    if product != linear:
        d = d.then(linear, Add(), product, bias, section=section)
    return d if linear == name else d.then(name, Activation(function), linear, section=section)


def _unfinished(name: str, so_far: str) -> str:
    """Q_linear^self for Q^self."""
    return re.sub(r"(?=[\^.])|$", f"_{so_far}", name, count=1)


PROJECTIONS = {"W_Q": ("d_model", "d_k"), "W_K": ("d_model", "d_k"), "W_V": ("d_model", "d_v")}
BIASES = {"b_Q": ("1", "d_k"), "b_K": ("1", "d_k"), "b_V": ("1", "d_v")}
"""What `project` takes of a single head: weights, and biases that there may be."""


def project(d: Derivation, role: str, settings: Settings, source: str = "X", place: str = "") -> Derivation:
    """Q = X W_Q, with a bias and an activation where there are any.

    `source` is what is projected, in place of X; `place` says in which layer: Q^self = X W_Q^self.
    """
    at = f"^{place}" if place else ""
    return affine(d, role + at, source, f"W_{role}{at}", f"b_{role}{at}", settings.activation, layer_words(place))


def attend(
    d: Derivation,
    settings: Settings,
    sizes: Sizes,
    scope: Scope = NO_SCOPE,
    operands: tuple[str, str, str] | None = None,
) -> Derivation:
    """softmax(Q Kᵀ / √d_k + mask) V (Vaswani et al. 2017, section 3.2.1, equation 1).

    `operands` are the names of Q, K and V where they are not those of the scope (heads that share keys).  Scores may be
    changed on the way: divided by a temperature, capped, biased; the order is that of scale, temperature, cap, bias,
    mask.
    """
    n, m = sizes["n"], sizes.get("m", sizes["n"])
    q, k, v = operands or (scope("Q"), scope("K"), scope("V"))
    scale = scale_op(settings.scale, sizes)
    mask = mask_op(settings, n, m)
    if settings.by == "token":
        if not isinstance(n, int):
            raise LetterError("Token by token, the number of tokens must be a number.")
        changed = [name for name in ("temperature", "cap", "bias") if getattr(settings, name)]
        changed += ["B"] if "B" in d.givens else []
        if changed or scope != NO_SCOPE or settings.weights != "softmax" or not isinstance(mask, Mask | None):
            raise InputError(
                "Token by token there is one head, a softmax, and only scale and mask before it; what else is done "
                "to scores goes matrix by matrix (by = 'matrix')."
            )
        return _attend_by_token(d, settings, n, scale, mask)
    lines = Section(d, scope)
    last = lines.add("S", MatMul(), q, transposed(k))  # n × m, row i: query i against every key
    if scale:
        last = lines.add("S'", scale, last)
    for stem, op, *others in score_changes(d, settings, scope, (n, m)):
        last = lines.add(stem, op, last, *others)
    if mask:
        last = lines.add("M", mask, last)
    lines.add("A", weights_op(settings), last)
    return mix(lines.d, settings, scope, v)


def mix(d: Derivation, settings: Settings, scope: Scope = NO_SCOPE, values: str = "V") -> Derivation:
    """From the weights A to the output Z: the values weighted and summed, with the weights rounded first if asked."""
    lines, weights = Section(d, scope), scope("A")
    if settings.rounding:
        weights = lines.add("A_rounded", settings.rounding.op(), weights)
    lines.add("Z", MatMul(), weights, values)  # n × d_v
    return lines.d


def _attend_by_token(d: Derivation, settings: Settings, n: int, scale: Scale | None, mask: Mask | None) -> Derivation:
    """The same, one token after the other: its scores, its weights, the values times the weights, their sum."""
    upright = settings.scores == "column"
    along: Axis = "columns" if upright else "rows"
    for t in range(n):
        lines = Section(d, Scope(token=t + 1))
        last = lines.add("S", MatMul(), *(("K", transposed("Q", t)) if upright else (row_of("Q", t), transposed("K"))))
        if scale:
            last = lines.add("S'", scale, last)
        if mask:
            own = replace(mask, keep=mask.keep[t : t + 1])
            last = lines.add("M", own.turn() if upright else own, last)
        weights = lines.add("A", Softmax(along, settings.base, settings.empty), last)
        d = mix_token(lines.d, settings, t, Operand(weights), along)
    return gather(d, n)


def mix_token(d: Derivation, settings: Settings, t: int, weights: Operand, along: Axis = "rows") -> Derivation:
    """One token's output: every value times its weight, then the sum; weights stand `along` a row or a column."""
    lines = Section(d, Scope(token=t + 1))
    if settings.rounding:
        weights = Operand(lines.add("A_rounded", settings.rounding.op(along), weights))
    below = weights.flipped if along == "rows" else weights
    weighted = lines.add("weighted", Hadamard(), below, "V")  # n × d_v
    lines.add("Z", SumOver("rows"), weighted)  # 1 × d_v
    return lines.d


def gather(d: Derivation, n: int) -> Derivation:
    """The tokens' outputs put together: Z."""
    return d.then("Z", Stack("rows"), *(f"Z.{t + 1}" for t in range(n)))
