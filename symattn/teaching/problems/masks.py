"""Masks: shade what is hidden, write the mask down, work weights out under it, and read one (rules.md 5, type 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, groupby, islice
from random import Random

from symattn.derivation.derivation import Derivation, oriented
from symattn.derivation.ops.attention import MARKED, Keep, Mask, MaskStyle, Pattern, Softmax
from symattn.errors import InputError
from symattn.exact import Matrix, indices
from symattn.exact.sums import total
from symattn.formula import Dots, Formula, MatrixOf, Name, Number, equal
from symattn.foundation.dice import pick, sample, whole
from symattn.foundation.languages import Message, counted, in_context, listed, message, sentences, series
from symattn.page.document import (
    AnswerGrid,
    Blocks,
    Display,
    HeatMap,
    Paragraph,
    Quoted,
    Together,
    as_text,
    sentence,
    table,
)
from symattn.teaching.explanation.parts import answer_form
from symattn.teaching.explanation.steps import Detail, cell_kind, entries, working_space
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem, read_given
from symattn.teaching.problems.asking import Offer, Prose, bank, blocks, choice_part, make_part, put_in
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, one_of, question
from symattn.teaching.question import CellsAnswer, EntriesAnswer, Mark, MatrixAnswer, Part

# ------------------------------------------------------------------------------------------------ kinds
# Who sees whom, and in which words; and scores under which every mistake with a mask shows.

STYLES: tuple[MaskStyle, ...] = ("additive", "keep", "block")
FEWEST, MOST = 3, 6


@dataclass(frozen=True)
class MaskKind:
    """What a mask is for, in words from which it can be drawn.

    They go by the numbers of queries and keys, and by `parameters`, what the kind leaves open; these are drawn for a
    number of tokens.
    """

    name: Message
    rule: Callable[..., str]
    parameters: Callable[[int, Random], tuple[int, ...]] = lambda tokens, rng: ()


def _padded(say: Prose, rows: int, columns: int, real: int) -> str:
    return say.either(
        counted(
            "The last token is padding. No token sees padding; the rows of the padding itself are kept, "
            "but their output is not used.",
            "The last {n} tokens are padding. No token sees padding; the rows of the padding itself are kept, "
            "but their output is not used.",
            n=columns - real,
        ),
        counted(
            "The last token is padding. No token sees padding; the columns of the padding itself are kept, "
            "but their output is not used.",
            "The last {n} tokens are padding. No token sees padding; the columns of the padding itself are kept, "
            "but their output is not used.",
            n=columns - real,
        ),
    )


def _local(say: Prose, rows: int, columns: int, width: int) -> str:
    return counted(
        "The mask is a local window of width {width}: a token sees itself and the token before it, and nothing else.",
        "The mask is a local window of width {width}: a token sees itself and the {n} tokens before it, "
        "and nothing else.",
        n=width - 1,
        width=width,
    )


def _prompted(say: Prose, rows: int, columns: int, length: int) -> str:
    return message(
        "The first {length} tokens are a prompt (a prefix): every token sees all of them. In "
        "addition, a token sees itself and every earlier one, and no others.",
        length=length,
    )


def _packed(say: Prose, rows: int, columns: int, first: int, second: int) -> str:
    return message(
        "Two texts share one sequence: {first} and {second}. A token sees its own text and nothing of the other.",
        first=_span(1, first),
        second=_span(first + 1, columns),
    )


def _span(first: int, last: int) -> str:
    if first == last:
        return message("token {token}", token=first)
    return message("tokens {first} to {last}", first=first, last=last)


def _cached(say: Prose, rows: int, columns: int) -> str:
    return counted(
        "There are {keys} keys but only {queries} queries: the first token is in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        "There are {keys} keys but only {queries} queries: the first {n} tokens are in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        n=columns - rows,
        keys=columns,
        queries=rows,
    )


def _some_tokens(tokens: int, rng: Random) -> tuple[int, ...]:
    return (whole(rng, 2, max(2, tokens - 2)),)


def _two_texts(tokens: int, rng: Random) -> tuple[int, ...]:
    first = whole(rng, 2, tokens - 2) if tokens > FEWEST else whole(rng, 1, 2)
    return (first, tokens - first)


KINDS: Mapping[str, MaskKind] = {
    "causal": MaskKind(message("causal"), lambda *_: "The mask is causal: no token sees a later one."),
    "padding": MaskKind(message("padding"), _padded, lambda tokens, rng: (whole(rng, 2, tokens - 1),)),
    "window": MaskKind(message("window"), _local, _some_tokens),
    "prefix": MaskKind(message("prefix"), _prompted, _some_tokens),
    "blocks": MaskKind(message("blocks"), _packed, _two_texts),
    "cross": MaskKind(message("cross"), _cached),
}


def keep_of(kind: str, parameters: Sequence[int], rows: int, columns: int) -> Keep:
    """Which keys each query sees."""
    return Pattern("causal" if kind == "cross" else kind, tuple(parameters)).keep(rows, columns)  # type: ignore[arg-type]


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


def picture_of(name: str) -> Keep:
    sees, *_ = PICTURES[name]
    return tuple(tuple(sees(i, j) for j in range(PICTURED)) for i in range(PICTURED))


# ------------------------------------------------------------------------------------------------ scores

LARGEST_SUM = 20  # of the powers in a row, in lowest terms
APART = 0.05  # what two wrong answers must differ by in some weight (rules.md 4.8)
TRIES = 2000
Scores = tuple[tuple[str, ...], ...]

Powers = Mapping[str, Fraction] | Mapping[str, float]
"""The scores that are drawn, as text, with their powers; these are fractions where weights shall be pretty."""

LOGS = {
    "-ln(2)": Fraction(1, 2),
    "0": Fraction(1),
    "ln(2)": Fraction(2),
    "ln(3)": Fraction(3),
    "ln(4)": Fraction(4),
}
"""Scores whose powers of e are rational."""


def powers_for(softmax: str, logs: bool) -> Powers:
    """Logarithms, or whole numbers, with the powers that softmax takes."""
    if softmax == "e" and logs:
        return LOGS
    if softmax.startswith("base"):
        return {str(x): Fraction(int(softmax[-1])) ** x for x in (-1, 0, 1, 2)}
    return {str(x): math.e**x for x in (-1, 0, 1, 2)}


def telling_scores(keep: Keep, asked: Sequence[int], softmax: str, powers: Powers, rng: Random) -> Scores:
    """Scaled scores of which masking mistakes show: hidden ones of every sign (rules.md 2.4, D4), no two rows equal."""
    for _ in range(TRIES):
        rows = tuple(_row(seen, i in asked, softmax, powers, rng) for i, seen in enumerate(keep))
        hidden = [[_sign(x) for x, s in zip(*both, strict=True) if not s] for both in zip(rows, keep, strict=True)]
        signs = [sign for row in hidden for sign in row]
        if len(set(rows)) < len(rows) or {sign for i in asked for sign in hidden[i]} == {1}:
            continue
        if len(set(signs)) == 3 or len(signs) < 3:
            return rows
    raise InputError("No scores were found under which every mistake with this mask would show.")


def _row(seen: Sequence[bool], asked: bool, softmax: str, powers: Powers, rng: Random) -> tuple[str, ...]:
    for _ in range(TRIES):
        row = tuple(pick(rng, list(powers)) for _ in seen)
        if softmax == "equal":
            row = tuple(row[0] if s else x for x, s in zip(row, seen, strict=True))
        if not asked or _is_pretty([powers[x] for x in row], seen, softmax):
            return row
    raise InputError(f"No row of scores gives pretty weights with softmax = {softmax!r} here.")


def _is_pretty(row: Sequence[Fraction | float], seen: Sequence[bool], softmax: str) -> bool:
    """Whether weights are worth working out: mistakes show, of a small sum, not all equal unless that is wished for."""
    visible = [power for power, s in zip(row, seen, strict=True) if s]
    if not _is_telling(list(map(float, row)), seen):
        return False
    if softmax == "equal":
        return True
    if len(set(visible)) < 2:
        return False
    fractions = [power for power in visible if isinstance(power, Fraction)]
    if not fractions:
        return True
    whole = sum(fractions) / min(fractions)
    ends = softmax == "e" or all(10**12 % (power / sum(fractions)).denominator == 0 for power in fractions)
    return whole.denominator * whole <= LARGEST_SUM and ends


def _is_telling(powers: Sequence[float], seen: Sequence[bool]) -> bool:
    """Whether no mask (M1), 0 for −∞ (M4) and masking after softmax (M5) give three other rows of weights."""

    def shares(hidden: float) -> list[float]:
        row = [power if s else hidden for power, s in zip(powers, seen, strict=True)]
        return [power / sum(row) for power in row]

    unmasked = [power / sum(powers) for power in powers]
    answers = [shares(0.0), unmasked, shares(1.0), [w if s else 0.0 for w, s in zip(unmasked, seen, strict=True)]]
    return all(max(abs(x - y) for x, y in zip(a, b, strict=True)) >= APART for a, b in combinations(answers, 2))


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


def draw_variant(rng: Random, draw: Draw) -> Record:
    spec = draw.spec
    round_, place = divmod(draw.number - 1, len(KINDS))
    kind = draw.option("kind") or list(KINDS)[place]
    style = draw.option("style") or STYLES[(round_ + place) % len(STYLES)]
    rows, columns = _sizes(kind, spec.sizes, TOKENS[spec.level])
    parameters = KINDS[kind].parameters(columns, rng)
    keep = keep_of(kind, parameters, rows, columns)
    suited = [i for i, row in enumerate(keep) if 2 <= sum(row) < columns]  # with something to hide and to weigh
    asked = tuple(sorted(sample(rng, suited, 1 if columns == FEWEST else ASKED[spec.level])))
    powers = powers_for(spec.softmax, bool(draw.option("logs")))
    return {
        "exact": spec.exact,
        "places": spec.places,
        "kind": kind,
        "parameters": parameters,
        "style": style,
        "base": int(spec.softmax[-1]) if spec.softmax.startswith("base") else "e",
        "tokens": _words(kind, parameters, columns, rng),
        "scores": telling_scores(keep, asked, spec.softmax, powers, rng),
        "asked": asked,
        "read": _reading(kind, columns, draw.turn, rng),
        "drawn": _drawing(draw.turn, rng),
    }


def _sizes(kind: str, stated: Mapping[str, int], usual: int) -> tuple[int, int]:
    """How many queries and keys there are."""
    columns = stated.get("m" if kind == "cross" else "n", stated.get("n", usual))
    if not FEWEST <= columns <= MOST:
        raise InputError(f"Masks are drawn for {FEWEST} to {MOST} tokens; {columns} came.")
    if kind != "cross":
        return columns, columns
    rows = stated["n"] if {"n", "m"} <= set(stated) else columns - 1
    if not 2 <= rows < columns:
        raise InputError(f"A mask of kind cross has at least 2 queries and more keys; {rows} and {columns} came.")
    return rows, columns


def _words(kind: str, parameters: Sequence[int], tokens: int, rng: Random) -> tuple[str, ...]:
    """A short sentence, one word a token; two for a mask with blocks; filled up with padding."""
    lengths = _text_lengths(kind, parameters, tokens)
    words = [word for length in lengths for word in pick(rng, TEXTS[length]).split()]
    return (*words, *[PAD] * (tokens - len(words)))


def _text_lengths(kind: str, parameters: Sequence[int], tokens: int) -> Sequence[int]:
    """How many words each sentence has."""
    return parameters if kind in ("blocks", "padding") else (tokens,)


# ---------------------------------------------------------------------------- reading a mask: what may be drawn


def _reading(other: str, tokens: int, number: int, rng: Random) -> Record:
    """One in which every way of misreading shows."""
    kinds = [kind for kind in KINDS if kind not in (other, "cross", "blocks")]
    for _ in range(TRIES):
        kind = pick(rng, kinds)
        parameters = KINDS[kind].parameters(tokens, rng)
        query = whole(rng, 0, tokens - 1)
        if len(_readings(keep_of(kind, parameters, tokens, tokens), query)) >= 4:
            style, at = STYLES[number % len(STYLES)], (number - 1) % 4
            return {"kind": kind, "parameters": parameters, "query": query, "style": style, "at": at}
    raise InputError(f"No mask of {tokens} tokens can be misread in three ways.")


def _readings(keep: Keep, query: int) -> Mapping[frozenset[int], str]:
    """The keys that a query sees, with "", and what misreadings make of them, with the misconception; none twice."""
    n = len(keep)
    right = frozenset(j for j in range(n) if keep[query][j])
    readings = {
        "": right,
        "M9": frozenset(j for j in range(n) if keep[j][query]),
        "M2": frozenset(range(n)) - right,
        "M3": right - {query},
        "M6": right | {max(right) + 1},
    }
    different: dict[frozenset[int], str] = {}
    for diagnosis, keys in readings.items():
        if keys and max(keys) < n:
            different.setdefault(keys, diagnosis)
    return different


def _drawing(number: int, rng: Random) -> Record:
    """A picture, and three others whose sentences are wrong."""
    right, *wrong = sample(rng, list(PICTURES), 4)
    return {"right": right, "wrong": wrong, "at": number % 4}


# ------------------------------------------------------------------------------------------------ the question


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose()
    draw.together(draw_variant)
    keep = keep_of(draw["kind"], draw["parameters"], len(draw["scores"]), len(draw["tokens"]))
    derivation = Derivation({"S'": read_given("S'", draw["scores"])})
    derivation = derivation.then("M", Mask(keep, draw["style"], draw["kind"]), "S'").then(
        "A", Softmax(base=draw["base"]), "M"
    )
    derivation = oriented(derivation, say.either("rows", "columns"))
    problem = Problem("Masks", "", derivation, say.notation, ("A",), exact=draw["exact"], places=draw["places"])
    wording, mask, weights = Wording(problem.derivation, say.notation), problem["M"].op, problem["A"].result
    assert isinstance(mask, Mask) and isinstance(weights, Matrix)
    weighted = tuple(tuple(w != 0 for w in row) for row in weights.rows)

    def unweighted() -> set[tuple[int, int]]:
        return {(i, j) for i, row in enumerate(weighted) for j, seen in enumerate(row) if not seen}

    def wrong_sums(part: Part) -> str:
        sums = [total(row) for row in say.turned(weights).rows]
        return "" if all(x == 1 for x in sums) else f"the weights sum to {sums}"

    return question(
        draw,
        [
            Item(_shading(keep, mask, say), again=unweighted),
            Item(_matrix(mask), again=lambda: Mask(weighted, mask.style).values),
            Item(_weights(draw["asked"], problem, wording, say), wrong_sums),
            _read(draw["read"], len(draw["tokens"]), say),
            _picture(draw["drawn"], say),
        ],
        introduction="Draw the mask, write it down, and work out weights under it.",
        given=_given(draw, wording, say),
        problem=problem,
        conventions=(
            say(
                "Row $i$ of scores, mask and weights belongs to query $i$, column $j$ to key $j$.",
                "Column $i$ of scores, mask and weights belongs to query $i$, row $j$ to key $j$.",
            ),
            as_text("A hidden score is −∞ before softmax, so its weight is exactly 0."),
            say(
                "Softmax is taken along each row, with base {base}.",
                "Softmax is taken along each column, with base {base}.",
                base=wording.read("e") if draw["base"] == "e" else Number(str(draw["base"])),
            ),
        ),
        features={
            "load": float(sum(sum(keep[i]) for i in draw["asked"]) + len(keep) * len(keep[0])),
            "hidden": float(sum(not x for row in keep for x in row)),
        },
        positions={
            "mask": KINDS[draw["kind"]].name,
            "reading": str(draw["read"]["at"]),
            "picture": str(draw["drawn"]["at"]),
        },
    )


_MARKS: Mapping[MaskStyle, str] = {
    **MARKED,
    "additive": "In the mask, 0 means visible and −∞ means hidden; it is added to the scores.",
}


def _given(draw: Draw, wording: Wording, say: Prose) -> Blocks:
    rows, columns = len(draw["scores"]), len(draw["tokens"])
    scores = equal(wording.name("S'"), wording.values(wording.derivation.value("S'")))
    words = token_words(draw["tokens"], _text_lengths(draw["kind"], draw["parameters"], columns))
    numbered = table(["Token", *_labels(columns)], [["Word", *map(as_text, words)]])
    told = KINDS[draw["kind"]].rule(say, rows, columns, *draw["parameters"])
    return (Together((numbered,)), *blocks([told, "The scaled scores are"]), Display((scores,)))


def token_words(words: Sequence[str], lengths: Sequence[int]) -> Iterator[str]:
    """The words of sentences as messages, each in the context of its sentence, and the padding after them."""
    rest = iter(words)
    for length in lengths:
        text = tuple(islice(rest, length))
        yield from (in_context(" ".join(text), word) for word in text)
    yield from map(Quoted, rest)


def _labels(count: int) -> tuple[Formula, ...]:
    return tuple(Number(str(i + 1)) for i in range(count))


def _laid(keep: Keep, say: Prose) -> Keep:
    """A mask as it is printed: where tokens are columns, a column is a query."""
    return tuple(zip(*keep, strict=True)) if say.columns else keep


def _shading(keep: Keep, mask: Mask, say: Prose) -> Part:
    rows, columns = shape = mask.values.shape
    down, across = _labels(rows), _labels(columns)
    hidden = frozenset((i, j) for i, j in indices(shape) if not mask.keep[i][j])
    shaded = MatrixOf(((Dots("cell"),) * columns,) * rows, row_labels=down, column_labels=across, excluded=hidden)
    return make_part(
        "The hidden cells",
        [
            say.either(
                "Shade every cell (query, key) that is hidden; leave the others white.",
                "Shade every cell (key, query) that is hidden; leave the others white.",
            ),
            AnswerGrid(Name("mask"), rows, columns, shade=True, row_labels=down, column_labels=across),
        ],
        [
            Display((shaded,)),  # without "mask =", which is read as one with the number of a row: mask = 2
            _hidden_keys(keep),
        ],
        CellsAnswer((rows, columns), hidden, say.columns),
        Mark("M", 1, "the right kind of mask"),
        Mark("A", 1, "every cell"),
        name="shade",
    )


def _hidden_keys(keep: Keep) -> str:
    """Hidden keys: query 1: 2, 3; query 2: 3; query 3: none."""
    keys = [", ".join(str(j) for j, seen in enumerate(row, 1) if not seen) or message("none") for row in keep]
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


def _weights(asked: Sequence[int], problem: Problem, wording: Wording, say: Prose) -> Part:
    step = problem["A"]
    assert isinstance(step.result, Matrix)
    rows, columns = shape = step.result.shape
    cells = tuple(cell for cell in indices(shape) if cell[1 if say.columns else 0] in asked)
    rest = tuple((cell, Dots("cell")) for cell in indices(shape) if cell not in cells)
    kind, name, numbers = cell_kind(step.result, problem.exact), wording.name("A"), listed([str(i + 1) for i in asked])
    what = say.either(
        counted(
            "Mask the scores and work out row {rows} of the weights.",
            "Mask the scores and work out rows {rows} of the weights.",
            n=len(asked),
            rows=numbers,
        ),
        counted(
            "Mask the scores and work out column {columns} of the weights.",
            "Mask the scores and work out columns {columns} of the weights.",
            n=len(asked),
            columns=numbers,
        ),
    )
    form = answer_form(problem.exact, problem.places)
    unasked = say.either("Rows with dots need not be filled in.", "Columns with dots need not be filled in.")
    dots = unasked if rest else ""
    detail = Detail(entries=cells, places=None if problem.exact and kind == "fraction" else problem.places)
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
            say.either(
                "Every row sums to 1. Hidden keys with weight above 0: masked with 0 instead of −∞ (M4) or not at all "
                "(M1). A sum below 1: masked after softmax (M5).",
                "Every column sums to 1. Hidden keys with weight above 0: masked with 0 instead of −∞ (M4) or not at "
                "all (M1). A sum below 1: masked after softmax (M5).",
            ),
        ],
        EntriesAnswer("A", cells),
        Mark("M", 1, "hidden keys get no weight", "hidden"),
        Mark("A", 2 * len(asked), say.either("two for every row", "two for every column"), "rows"),
        name="weights",
    )


def _read(drawn: Record, n: int, say: Prose) -> Part:
    """A square mask of another kind in numbers, and the query whose keys are to be read off it."""
    keep, query = keep_of(drawn["kind"], drawn["parameters"], n, n), drawn["query"] + 1
    readings = _readings(keep, drawn["query"])
    more = max(next(iter(readings))) + 2
    why = {
        "": say.either(
            message("Row {row} belongs to query {row}; it sees the keys that are not hidden there.", row=query),
            message(
                "Column {column} belongs to query {column}; it sees the keys that are not hidden there.", column=query
            ),
        ),
        "M9": say.either(
            message("That is column {column}: the queries that see key {column}.", column=query),
            message("That is row {row}: the queries that see key {row}.", row=query),
        ),
        "M2": "Those are the hidden ones: 0 and 1 were taken the wrong way round.",
        "M3": message("The diagonal is not hidden: token {token} sees itself.", token=query),
        "M6": message("Token {token} is hidden from token {query}.", token=more, query=query),
    }
    right, *wrong = [Offer(_tokens(keys), why[id], not id, id) for keys, id in readings.items()]
    asked = message("Which tokens does token {token} see under this mask?", token=query)
    shown = equal(Name("mask"), Mask(_laid(keep, say), drawn["style"]).matrix())
    ask = sentences(_MARKS[drawn["style"]], asked), Display((shown,))
    return choice_part("Another mask in numbers", ask, put_in(wrong[:3], drawn["at"], right), name="read")


def _tokens(keys: frozenset[int]) -> str:
    tokens = listed([str(j + 1) for j in sorted(keys)])
    return counted("token {tokens}", "tokens {tokens}", n=len(keys), tokens=tokens)


def _picture(drawn: Record, say: Prose) -> Part:
    keep, labels = picture_of(drawn["right"]), _labels(PICTURED)
    levels = tuple(tuple(0 if seen else 4 for seen in row) for row in _laid(keep, say))
    offers = [_pictured(name, drawn["right"]) for name in put_in(drawn["wrong"], drawn["at"], drawn["right"])]
    asked = say.either(
        "Rows are queries, columns are keys, and dark cells are hidden. Which mask is drawn?",
        "Columns are queries, rows are keys, and dark cells are hidden. Which mask is drawn?",
    )
    picture = HeatMap(levels, _hidden_keys(keep), row_labels=labels, column_labels=labels)
    return choice_part("A mask drawn", [asked, picture], offers, name="picture")


def _pictured(name: str, right: str) -> Offer:
    """One sentence as an option; a wrong one is refuted by a cell."""
    _, says, diagnosis = PICTURES[name]
    if name == right:
        return Offer(says, "Every cell agrees.", True)
    keep, drawn = picture_of(name), picture_of(right)
    i, j = next((i, j) for i, j in indices((PICTURED, PICTURED)) if keep[i][j] != drawn[i][j])
    why = "Then token {query} would not see token {key}; the picture says otherwise."
    if keep[i][j]:
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
