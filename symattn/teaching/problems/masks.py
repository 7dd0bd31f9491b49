"""Masks: shade what is hidden, write the mask down, work weights out under it, and read one (rules.md 5, type 4)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, groupby
from typing import Literal, get_args

from symattn.derivation.derivation import Derivation, turned
from symattn.derivation.ops import Mask, Softmax
from symattn.derivation.ops.attention import MARKED, Keep, MaskStyle, causal, padding, window
from symattn.derivation.ops.attention import blocks as in_blocks
from symattn.errors import InputError
from symattn.exact import Matrix, indices
from symattn.exact.sums import total
from symattn.formula import Dots, Formula, MatrixOf, Name, Number, equal
from symattn.foundation.dice import pick, sample, whole
from symattn.foundation.languages import Message, counted, listed, message, sentences
from symattn.page.document import (
    AnswerGrid,
    Block,
    Display,
    HeatMap,
    Paragraph,
    Quoted,
    Together,
    as_text,
    sentence,
    table,
)
from symattn.page.notation import load_notation
from symattn.teaching.explanation.steps import Detail, cell_kind, entries, working_space
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem, read_given
from symattn.teaching.problems.asking import Offer, bank, blocks, choice_part, make_part, put_in, series
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, one_of, question
from symattn.teaching.question import CellsAnswer, EntriesAnswer, Mark, MatrixAnswer, Part

# ------------------------------------------------------------------------------------------------ kinds
# Who sees whom, and in which words; and scores under which every mistake with a mask shows.

Kind = Literal["causal", "padding", "window", "prefix", "blocks", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STYLES: tuple[MaskStyle, ...] = ("additive", "keep", "block")
FEWEST, MOST = 3, 6
KIND_NAMES: Mapping[Kind, Message] = {
    "causal": message("causal"),
    "padding": message("padding"),
    "window": message("window"),
    "prefix": message("prefix"),
    "blocks": message("blocks"),
    "cross": message("cross"),
}


def keep_of(kind: str, parameters: Sequence[int], rows: int, columns: int) -> Keep:
    """Which keys each query sees; `parameters` are what the kind leaves open."""
    match kind, parameters:
        case "causal" | "cross", ():
            return causal(rows, columns)
        case "padding", (real,):
            return padding(rows, columns, real)
        case "window", (width,):
            return window(rows, columns, width)
        case "prefix", (length,):
            return prefix(rows, length)
        case "blocks", sizes:
            return in_blocks(sizes)
    raise InputError(f"There is no mask {kind!r} with {list(parameters)}; the kinds are {', '.join(KINDS)}.")


def prefix(tokens: int, length: int) -> Keep:
    """Every token sees the first `length` tokens; from there on it is causal (Raffel et al. 2020, section 3.2.1)."""
    return tuple(tuple(j < length or j <= i for j in range(tokens)) for i in range(tokens))


def drawn_parameters(kind: Kind, tokens: int, rng: random.Random) -> tuple[int, ...]:
    match kind:
        case "padding":
            return (whole(rng, 2, tokens - 1),)
        case "window" | "prefix":
            return (whole(rng, 2, max(2, tokens - 2)),)
        case "blocks":
            first = whole(rng, 2, tokens - 2) if tokens > FEWEST else whole(rng, 1, 2)
            return (first, tokens - first)
    return ()


def rule(kind: Kind, parameters: Sequence[int], rows: int, columns: int, turned: bool = False) -> str:
    """What the mask is for, in words from which it can be drawn; `turned`: a column is a query."""
    match kind, parameters:
        case "causal", ():
            return "The mask is causal: no token sees a later one."
        case "padding", (real,) if turned:
            return counted(
                "The last token is padding. No token sees padding; the columns of the padding itself are kept, "
                "but their output is not used.",
                "The last {n} tokens are padding. No token sees padding; the columns of the padding itself are kept, "
                "but their output is not used.",
                n=columns - real,
            )
        case "padding", (real,):
            return counted(
                "The last token is padding. No token sees padding; the rows of the padding itself are kept, "
                "but their output is not used.",
                "The last {n} tokens are padding. No token sees padding; the rows of the padding itself are kept, "
                "but their output is not used.",
                n=columns - real,
            )
        case "window", (width,):
            return counted(
                "The mask is a local window of width {width}: a token sees itself and the token before it, "
                "and nothing else.",
                "The mask is a local window of width {width}: a token sees itself and the {n} tokens before it, "
                "and nothing else.",
                n=width - 1,
                width=width,
            )
        case "prefix", (length,):
            return message(
                "The first {length} tokens are a prompt (a prefix): every token sees all of them. In "
                "addition, a token sees itself and every earlier one, and no others.",
                length=length,
            )
        case "blocks", (first, _):
            return message(
                "Two texts share one sequence: {first} and {second}. A token sees its own text and nothing of the "
                "other.",
                first=_span(1, first),
                second=_span(first + 1, columns),
            )
    return counted(
        "There are {keys} keys but only {queries} queries: the first token is in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        "There are {keys} keys but only {queries} queries: the first {n} tokens are in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        n=columns - rows,
        keys=columns,
        queries=rows,
    )


def _span(first: int, last: int) -> str:
    if first == last:
        return message("token {token}", token=first)
    return message("tokens {first} to {last}", first=first, last=last)


# ------------------------------------------------------------------------------------------------ pictures

Sees = Callable[[int, int], bool]

PICTURES: Mapping[str, tuple[Sees, str, str]] = {
    "causal": (lambda i, j: j <= i, "A token sees itself and all earlier tokens.", ""),
    "future": (lambda i, j: j >= i, "A token sees itself and all later tokens.", "M2"),
    "others": (lambda i, j: j < i, "A token sees all earlier tokens, but not itself.", "M3"),
    "ahead": (lambda i, j: j <= i + 1, "A token sees itself, all earlier tokens and the next one.", "M6"),
    "window": (lambda i, j: i - 1 <= j <= i, "A token sees itself and the token before it.", ""),
    "prefix": (lambda i, j: j < 2 or j <= i, "A token sees the first two tokens, itself and all earlier ones.", ""),
    "padding": (lambda i, j: j < 3, "Every token sees the first three tokens and no others.", ""),
    "blocks": (lambda i, j: (i < 2) == (j < 2), "The first two tokens see each other, and so do the last three.", ""),
}
"""Masks of five tokens, no two alike: who sees whom, the same in words, the misconception that draws it."""
PICTURED = 5


# ------------------------------------------------------------------------------------------------ scores

LARGEST_SUM = 20  # of the powers in a row, in lowest terms
APART = 0.05  # what two wrong answers must differ by in some weight (rules.md 4.8)
TRIES = 2000
Scores = tuple[tuple[str, ...], ...]

LOGS = {
    "-ln(2)": Fraction(1, 2),
    "0": Fraction(1),
    "ln(2)": Fraction(2),
    "ln(3)": Fraction(3),
    "ln(4)": Fraction(4),
}
"""Scores whose powers of e are rational."""


def telling_scores(keep: Keep, asked: Sequence[int], softmax: str, logs: bool, rng: random.Random) -> Scores:
    """Scaled scores of which masking mistakes show: hidden ones of every sign (rules.md 2.4, D4), no two rows equal."""
    for _ in range(TRIES):
        rows = tuple(_row(seen, i in asked, softmax, logs, rng) for i, seen in enumerate(keep))
        hidden = [
            _sign(x) for row, seen in zip(rows, keep, strict=True) for x, s in zip(row, seen, strict=True) if not s
        ]
        signs = {_sign(rows[i][j]) for i in asked for j, s in enumerate(keep[i]) if not s}
        if len(set(rows)) < len(rows) or signs == {1}:
            continue
        if len(set(hidden)) == 3 or len(hidden) < 3:
            return rows
    raise InputError("No scores were found under which every mistake with this mask would show.")


def _row(seen: Sequence[bool], asked: bool, softmax: str, logs: bool, rng: random.Random) -> tuple[str, ...]:
    choices_: Sequence[str] = list(LOGS) if logs else [str(x) for x in (-1, 0, 1, 2)]
    for _ in range(TRIES):
        row = tuple(pick(rng, choices_) for _ in seen)
        if softmax == "equal":
            row = tuple(row[0] if s else x for x, s in zip(row, seen, strict=True))
        if not asked or _pretty(row, seen, softmax, logs):
            return row
    raise InputError(f"No row of scores gives pretty weights with softmax = {softmax!r} here.")


def _pretty(row: Sequence[str], seen: Sequence[bool], softmax: str, logs: bool) -> bool:
    """Whether weights are worth working out: mistakes show, of a small sum, not all equal unless that is wished for."""
    visible = [x for x, s in zip(row, seen, strict=True) if s]
    if not _telling(row, seen, float(softmax[-1]) if softmax.startswith("base") else math.e):
        return False
    if softmax == "equal":
        return True
    if len(set(visible)) < 2:
        return False
    if softmax == "e" and not logs:
        return True
    powers = [LOGS[x] if logs else Fraction(int(softmax[-1])) ** int(x) for x in visible]
    total = sum(powers) / min(powers)
    small = total.denominator * total <= LARGEST_SUM
    return small and (logs or all(_terminates(p / sum(powers)) for p in powers))


def _telling(row: Sequence[str], seen: Sequence[bool], base: float) -> bool:
    """Whether no mask (M1), 0 for −∞ (M4) and masking after softmax (M5) give three other rows of weights."""
    powers = [float(LOGS[x]) if x in LOGS else base ** int(x) for x in row]
    unmasked = _shares(powers)
    answers = [
        _shares([p if s else 0.0 for p, s in zip(powers, seen, strict=True)]),
        unmasked,
        _shares([p if s else 1.0 for p, s in zip(powers, seen, strict=True)]),
        [w if s else 0.0 for w, s in zip(unmasked, seen, strict=True)],
    ]
    return all(max(abs(x - y) for x, y in zip(a, b, strict=True)) >= APART for a, b in combinations(answers, 2))


def _shares(powers: Sequence[float]) -> list[float]:
    return [power / sum(powers) for power in powers]


def _terminates(x: Fraction) -> bool:
    return bool(10**12 % x.denominator == 0)


def _sign(score: str) -> int:
    return -1 if score.startswith("-") else 0 if score == "0" else 1


TOKENS = {"starter": 3, "standard": 4, "long": 5}
ASKED = {"starter": 1, "standard": 2, "long": 2}


TEXTS: Mapping[int, tuple[str, ...]] = {
    size: tuple(texts)
    for size, texts in groupby(bank(dict[str, tuple[str, ...]], "masks")["texts"], key=lambda text: len(text.split()))
}
"""Short sentences by their number of words."""
PAD = "[pad]"

# ------------------------------------------------------------------------------------------------ drawing


def draw_variant(rng: random.Random, draw: Draw) -> Record:
    spec, turn = draw.spec, draw.turn
    round_, place = divmod(draw.number - 1, len(KINDS))
    kind = draw.option("kind") or KINDS[place]
    style = draw.option("style") or STYLES[(round_ + place) % len(STYLES)]
    columns = spec.sizes.get("m" if kind == "cross" else "n", spec.sizes.get("n", TOKENS[spec.level]))
    if not FEWEST <= columns <= MOST:
        raise InputError(f"Masks are drawn for {FEWEST} to {MOST} tokens; {columns} came.")
    rows = columns
    if kind == "cross":
        rows = spec.sizes["n"] if {"n", "m"} <= set(spec.sizes) else columns - 1
        if not 2 <= rows < columns:
            raise InputError(f"A mask of kind cross has at least 2 queries and more keys; {rows} and {columns} came.")
    parameters = drawn_parameters(kind, columns, rng)
    keep = keep_of(kind, parameters, rows, columns)
    suited = [i for i, row in enumerate(keep) if 2 <= sum(row) < columns]  # with something to hide and to weigh
    asked = tuple(sorted(sample(rng, suited, 1 if columns == FEWEST else ASKED[spec.level])))
    logs = spec.softmax == "e" and bool(draw.option("logs"))
    return {
        "exact": spec.exact,
        "places": spec.places,
        "kind": kind,
        "parameters": parameters,
        "style": style,
        "base": int(spec.softmax[-1]) if spec.softmax.startswith("base") else "e",
        "tokens": _words(kind, parameters, columns, rng),
        "scores": telling_scores(keep, asked, spec.softmax, logs, rng),
        "asked": asked,
        "read": _reading(kind, columns, turn, rng),
        "drawn": _drawing(turn, rng),
    }


def _words(kind: Kind, parameters: Sequence[int], tokens: int, rng: random.Random) -> tuple[str, ...]:
    """A short sentence, one word a token; two for a mask with blocks; filled up with padding."""
    if kind == "blocks":
        return tuple(word for size in parameters for word in pick(rng, TEXTS[size]).split())
    real = parameters[0] if kind == "padding" else tokens
    return (*pick(rng, TEXTS[real]).split(), *[PAD] * (tokens - real))


# ---------------------------------------------------------------------------- reading a mask: what may be drawn


def _reading(other: Kind, tokens: int, number: int, rng: random.Random) -> Record:
    """One in which every way of misreading shows."""
    kinds: list[Kind] = [kind for kind in KINDS if kind not in (other, "cross", "blocks")]
    for _ in range(TRIES):
        kind = pick(rng, kinds)
        parameters = drawn_parameters(kind, tokens, rng)
        query = whole(rng, 0, tokens - 1)
        if len(_readings(keep_of(kind, parameters, tokens, tokens), query)) >= 4:
            style, at = STYLES[number % len(STYLES)], (number - 1) % 4
            return {"kind": kind, "parameters": parameters, "query": query, "style": style, "at": at}
    raise InputError(f"No mask of {tokens} tokens can be misread in three ways.")


def _readings(keep: Keep, query: int, columns: bool = False) -> list[tuple[frozenset[int], str, str]]:
    """The keys that a query sees, and what misreadings make of them: (keys, misconception, why it is wrong).

    The first is right; none comes twice.  With `columns` a column of the mask as it is printed is a query.
    """
    n, row = len(keep), query + 1
    right = frozenset(j for j in range(n) if keep[query][j])
    sees = message("Row {row} belongs to query {row}; it sees the keys that are not hidden there.", row=row)
    seen = message("That is column {column}: the queries that see key {column}.", column=row)
    if columns:
        sees = message(
            "Column {column} belongs to query {column}; it sees the keys that are not hidden there.", column=row
        )
        seen = message("That is row {row}: the queries that see key {row}.", row=row)
    wrongs = [
        (right, "", sees),
        (frozenset(j for j in range(n) if keep[j][query]), "M9", seen),
        (frozenset(range(n)) - right, "M2", "Those are the hidden ones: 0 and 1 were taken the wrong way round."),
        (right - {query}, "M3", message("The diagonal is not hidden: token {token} sees itself.", token=row)),
        (
            right | {max(right) + 1},
            "M6",
            message("Token {token} is hidden from token {query}.", token=max(right) + 2, query=row),
        ),
    ]
    different: list[tuple[frozenset[int], str, str]] = []
    for keys, diagnosis, why in wrongs:
        if keys and max(keys) < n and all(keys != other for other, *_ in different):
            different.append((keys, diagnosis, why))
    return different


def _drawing(number: int, rng: random.Random) -> Record:
    """A picture, and three others whose sentences are wrong."""
    right, *wrong = sample(rng, list(PICTURES), 4)
    return {"right": right, "wrong": wrong, "at": number % 4}


# ------------------------------------------------------------------------------------------------ the question


def ask(draw: Draw) -> ProvedQuestion:
    notation = load_notation(draw.notation())
    draw.together(lambda rng: draw_variant(rng, draw))
    c: Record = {name: draw[name] for name in draw.record}
    rows, columns = len(c["scores"]), len(c["tokens"])
    keep, turned = keep_of(c["kind"], c["parameters"], rows, columns), notation.settings.get("orientation") == "columns"
    problem = _problem(c, Mask(keep, c["style"], c["kind"]), Problem("Masks", "", Derivation({}), notation, ("A",)))
    wording, mask, weights = Wording(problem.derivation, notation), problem["M"].op, problem["A"].result
    assert isinstance(mask, Mask) and isinstance(weights, Matrix)
    belongs, taken = _LYING[turned]

    weighted = tuple(tuple(w != 0 for w in row) for row in weights.rows)

    def unweighted() -> set[tuple[int, int]]:
        return {(i, j) for i, row in enumerate(weighted) for j, seen in enumerate(row) if not seen}

    def wrong_sums(part: Part) -> str:
        sums = [total(row) for row in (weights.T if turned else weights).rows]
        return "" if all(x == 1 for x in sums) else f"the weights sum to {sums}"

    return question(
        draw,
        [
            Item(_shading(mask, turned), again=unweighted),
            Item(_matrix(mask), again=lambda: Mask(weighted, mask.style).values),
            Item(_weights(c["asked"], problem, wording), wrong_sums),
            _read(c["read"], columns, turned),
            _picture(c["drawn"], turned),
        ],
        introduction="Draw the mask, write it down, and work out weights under it.",
        given=_given(c, wording),
        problem=problem,
        conventions=(
            wording.inlines(belongs, {}),
            as_text("A hidden score is −∞ before softmax, so its weight is exactly 0."),
            sentence(taken, base=wording.read("e") if c["base"] == "e" else Number(str(c["base"]))),
        ),
        features={
            "load": float(sum(sum(keep[i]) for i in c["asked"]) + len(keep) * len(keep[0])),
            "hidden": float(sum(not x for row in keep for x in row)),
        },
        positions={
            "mask": KIND_NAMES[c["kind"]],
            "reading": str(c["read"]["at"]),
            "picture": str(c["drawn"]["at"]),
        },
    )


def _problem(c: Record, mask: Mask, problem: Problem) -> Problem:
    derivation = Derivation({"S'": read_given("S'", c["scores"])}).then("M", mask, "S'")
    derivation = derivation.then("A", Softmax(base=c["base"]), "M")
    if problem.notation.settings.get("orientation") == "columns":
        derivation = turned(derivation)
    return replace(problem, derivation=derivation, exact=c["exact"], places=c["places"])


_MARKS: Mapping[MaskStyle, str] = {
    **MARKED,
    "additive": "In the mask, 0 means visible and −∞ means hidden; it is added to the scores.",
}
_LYING = {
    False: (
        "Row $i$ of scores, mask and weights belongs to query $i$, column $j$ to key $j$.",
        "Softmax is taken along each row, with base {base}.",
    ),
    True: (
        "Column $i$ of scores, mask and weights belongs to query $i$, row $j$ to key $j$.",
        "Softmax is taken along each column, with base {base}.",
    ),
}
"""What rows and columns are, by whether tokens are columns."""


def _given(c: Record, wording: Wording) -> tuple[Block, ...]:
    rows, columns, turned = len(c["scores"]), len(c["tokens"]), wording.orientation == "columns"
    scores = equal(wording.name("S'"), wording.values(wording.derivation.value("S'")))
    numbered = table(["Token", *_labels(columns)], [["Word", *(as_text(Quoted(word)) for word in c["tokens"])]])
    told = rule(c["kind"], c["parameters"], rows, columns, turned)
    return (Together((numbered,)), *blocks([told, "The scaled scores are"]), Display((scores,)))


def _labels(count: int) -> tuple[Formula, ...]:
    return tuple(Number(str(i + 1)) for i in range(count))


def _shading(mask: Mask, turned: bool) -> Part:
    """The cells as they are printed; where they are `turned`, a column is a query."""
    rows, columns = len(mask.keep), len(mask.keep[0])
    hidden = frozenset((i, j) for i, j in indices((rows, columns)) if not mask.keep[i][j])
    cells = ((Dots("cell"),) * columns,) * rows
    shaded = MatrixOf(cells, row_labels=_labels(rows), column_labels=_labels(columns), excluded=hidden)
    shade = "Shade every cell (query, key) that is hidden; leave the others white."
    if turned:
        shade = "Shade every cell (key, query) that is hidden; leave the others white."
    return make_part(
        "The hidden cells",
        [
            shade,
            AnswerGrid(
                Name("mask"), rows, columns, shade=True, row_labels=_labels(rows), column_labels=_labels(columns)
            ),
        ],
        [
            Display((shaded,)),  # without "mask =", which is read as one with the number of a row: mask = 2
            _hidden_keys(hidden, (rows, columns), turned),
        ],
        CellsAnswer((rows, columns), hidden, turned),
        Mark("M", 1, "the right kind of mask"),
        Mark("A", 1, "every cell"),
        name="shade",
    )


def _hidden_keys(cells: frozenset[tuple[int, int]], shape: tuple[int, int], turned: bool) -> str:
    """Hidden keys: query 1: 2, 3; query 2: 3; query 3: none."""
    of_query = sorted((j, i) for i, j in cells) if turned else sorted(cells)
    queries = shape[1 if turned else 0]
    keys = [", ".join(str(j + 1) for k, j in of_query if k == i) or message("none") for i in range(queries)]
    listed = series(message("query {query}: {keys}", query=i, keys=listed) for i, listed in enumerate(keys, 1))
    return message("Hidden keys: {keys}.", keys=listed)


def _matrix(mask: Mask) -> Part:
    return make_part(
        "The mask as a matrix",
        [_MARKS[mask.style], AnswerGrid(Name("mask"), *mask.values.shape, "integer")],
        [
            Display((equal(Name("mask"), mask.matrix()),)),
            "A matrix that fits the student's own shading earns the mark.",
        ],
        MatrixAnswer(mask.values),
        Mark("B", 1, "follows the shading, marks as stated", follows="shading"),
        name="mask",
    )


def _weights(asked: Sequence[int], problem: Problem, wording: Wording) -> Part:
    step, turned = problem["A"], wording.orientation == "columns"
    assert isinstance(step.result, Matrix)
    rows, columns = shape = step.result.shape
    cells = tuple(cell for cell in indices(shape) if cell[1 if turned else 0] in asked)
    rest = tuple((cell, Dots("cell")) for cell in indices(shape) if cell not in cells)
    kind, name, numbers = cell_kind(step.result, problem.exact), wording.name("A"), listed([str(i + 1) for i in asked])
    if turned:
        what = counted(
            "Mask the scores and work out column {columns} of the weights.",
            "Mask the scores and work out columns {columns} of the weights.",
            n=len(asked),
            columns=numbers,
        )
        slips = (
            "Every column sums to 1. Hidden keys with weight above 0: masked with 0 instead of −∞ (M4) or not at all "
            "(M1). A sum below 1: masked after softmax (M5)."
        )
    else:
        what = counted(
            "Mask the scores and work out row {rows} of the weights.",
            "Mask the scores and work out rows {rows} of the weights.",
            n=len(asked),
            rows=numbers,
        )
        slips = (
            "Every row sums to 1. Hidden keys with weight above 0: masked with 0 instead of −∞ (M4) or not at all "
            "(M1). A sum below 1: masked after softmax (M5)."
        )
    detail = Detail(entries=cells, places=None if problem.exact and kind == "fraction" else problem.places)
    form = "Give exact values."
    if not problem.exact:
        form = message("Give decimals with {places} places.", places=problem.places)
    unasked = "Columns with dots need not be filled in." if turned else "Rows with dots need not be filled in."
    dots = unasked if rest else ""
    return make_part(
        sentence("Weights {name}", name=name),
        [
            Paragraph(as_text(sentences(what, form, dots)), typed=as_text(sentences(what, dots))),
            replace(working_space(step, problem.derivation, problem.exact), count=len(asked)),
            AnswerGrid(name, rows, columns, kind, rest),
        ],
        [
            Display((equal(wording.name("M"), wording.values(problem["M"].result)),)),
            *(block for block in entries(step, wording, detail) if not isinstance(block, Paragraph)),
            slips,
        ],
        EntriesAnswer("A", cells),
        Mark("M", 1, "hidden keys get no weight", "hidden"),
        Mark("A", 2 * len(asked), "two for every column" if turned else "two for every row", "rows"),
        name="weights",
    )


def _read(drawn: Record, n: int, turned: bool) -> Part:
    """A square mask of another kind in numbers, and the query whose keys are to be read off it."""
    keep = keep_of(drawn["kind"], drawn["parameters"], n, n)
    right, *wrong = [
        Offer(_tokens(keys), why, not diagnosis, diagnosis)
        for keys, diagnosis, why in _readings(keep, drawn["query"], turned)
    ]
    asked = message("Which tokens does token {token} see under this mask?", token=drawn["query"] + 1)
    shown = equal(Name("mask"), Mask(_laid(keep, turned), drawn["style"]).matrix())
    ask = sentences(_MARKS[drawn["style"]], asked), Display((shown,))
    return choice_part("Another mask in numbers", ask, put_in(wrong[:3], drawn["at"], right), name="read")


def _laid(keep: Keep, turned: bool) -> Keep:
    """A mask as it is printed: `turned`, a column is a query."""
    return tuple(zip(*keep, strict=True)) if turned else keep


def _tokens(keys: frozenset[int]) -> str:
    tokens = listed([str(j + 1) for j in sorted(keys)])
    return counted("token {tokens}", "tokens {tokens}", n=len(keys), tokens=tokens)


def _picture(drawn: Record, turned: bool) -> Part:
    sees = PICTURES[drawn["right"]][0]
    offers = [_pictured(name, drawn["right"]) for name in put_in(drawn["wrong"], drawn["at"], drawn["right"])]
    keep = _laid(tuple(tuple(sees(i, j) for j in range(PICTURED)) for i in range(PICTURED)), turned)
    levels = tuple(tuple(0 if seen else 4 for seen in row) for row in keep)
    hidden = frozenset((i, j) for i, row in enumerate(levels) for j, level in enumerate(row) if level)
    labels = _labels(PICTURED)
    told = _hidden_keys(hidden, (PICTURED, PICTURED), turned)
    picture = HeatMap(levels, told, row_labels=labels, column_labels=labels)
    asked = "Rows are queries, columns are keys, and dark cells are hidden. Which mask is drawn?"
    if turned:
        asked = "Columns are queries, rows are keys, and dark cells are hidden. Which mask is drawn?"
    return choice_part("A mask drawn", [asked, picture], offers, name="picture")


def _pictured(name: str, right: str) -> Offer:
    """One sentence as an option; a wrong one is refuted by a cell."""
    (sees, says, diagnosis), right_sees = PICTURES[name], PICTURES[right][0]
    if name == right:
        return Offer(says, "Every cell agrees.", True)
    i, j = next((i, j) for i in range(PICTURED) for j in range(PICTURED) if sees(i, j) != right_sees(i, j))
    why = "Then token {query} would not see token {key}; the picture says otherwise."
    if sees(i, j):
        why = "Then token {query} would see token {key}; the picture says otherwise."
    return Offer(says, message(why, query=i + 1, key=j + 1), False, diagnosis if right == "causal" else "")


TYPE = ProblemType(
    ask,
    name="masks",
    title="Masks: draw them, write them, use them, read them",
    options={
        "kind": ("", f"the mask: {', '.join(KINDS)}; all of them in turn if left out", one_of(KINDS)),
        "style": (
            "",
            "how it is written: additive (0, −∞), keep (1, 0), block (1 hidden); in turn if left out",
            one_of(STYLES),
        ),
        "logs": (True, "scores as logarithms, so that weights are fractions; otherwise whole numbers"),
    },
    draws=("given",),
)
