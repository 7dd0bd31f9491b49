"""Counting: weights, multiply-adds, scores, caches, whole models, where one overtakes another (rules.md 5, 11)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from symattn.derivation.counting import Attention, Count, product
from symattn.derivation.misconceptions import COUNTING
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.exact.reading import read
from symattn.formula import Blank, Formula, Relation, number, read_formula
from symattn.foundation.dice import pick, sample
from symattn.foundation.languages import capitalised, counted, message
from symattn.page.document import (
    Code,
    Display,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Table,
    Words,
    sentence,
)
from symattn.page.notation import kept_notation, load_notation
from symattn.teaching.problems.asking import (
    Offer,
    Prose,
    TableRow,
    choice_part,
    counted_again,
    in_digits,
    number_part,
    put_in,
    table_part,
)
from symattn.teaching.problems.base import ATTENTION, Family, ProblemType, Spec, turn_of
from symattn.teaching.problems.counted import CROSSOVERS, ITEMS, LETTERS, MODELS, count_of, language_model, polynomial
from symattn.teaching.problems.shapes import output_weights
from symattn.teaching.question import FormulaAnswer, KnownError, Mark, MatrixAnswer, OneLess, Part, Question

ENCODERS = ("transformer", "transformer-big", "bert", "bert-large", "gpt2", "gpt2-medium", "gpt2-xl")
CACHED: Mapping[str, tuple[str, ...]] = {
    "standard": ("gpt2", "gpt2-medium", "gpt2-xl"),
    "long": ("llama2-70b", "mistral"),
}
MINIATURES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "standard": ((1000, 2000, 3000, 5000), (50, 64, 100), (10, 16, 20, 32), (2, 3, 4, 5)),
    "long": ((10_000, 20_000, 32_000, 50_257), (512, 1024), (256, 512, 768), (4, 6, 8, 12)),
}
"""Words, positions, width and layers of a language model whose parameters are counted."""
LENGTHS = (100, 128, 200, 250, 256, 300, 400, 500, 512, 600, 750, 800, 1000, 1024)
WIDTHS = (64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 384, 512, 640, 768, 1024)
LARGEST = 2048
"""The largest size that may be stated: everything is counted once more, one by one."""

SEARCHED = 20_000  # far beyond every crossover of these widths


EASY = ("weights", "inward", "projecting", "scoring", "scores")
LEVEL_ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": EASY,
    "standard": (
        *EASY, "biased", "operations", "flops", "cache", "step", "feed forward", "feeding forward", "norms", "block",
    ),
    "long": (
        "biased", "operations", "flops", "cache", "step", "grouped weights", "grouped cache",
        "cross", "block", "block operations", "decoder block", "stack", "model", "logits",
    ),
}  # fmt: skip
# ------------------------------------------------------------------------------------------------ drawing


@dataclass(frozen=True)
class Toy:
    """A layer that is small enough to be counted by hand."""

    n: int
    h: int
    width: int

    @property
    def layer(self) -> Attention:
        return Attention(self.h * self.width, self.h, self.width, self.n, self.h)


@dataclass(frozen=True)
class Parameters:
    """Whether of a published model or of the toy, with biases or without, and where the right option stands."""

    model: str
    bias: bool
    at: int


@dataclass(frozen=True)
class Scores:
    n: int
    h: int


@dataclass(frozen=True)
class Whole:
    """The sizes of a language model."""

    words: int
    positions: int
    d: int
    layers: int


@dataclass(frozen=True)
class Overtaking:
    pair: str
    d: int


@dataclass(frozen=True)
class Cache:
    model: str
    n: int
    bytes: int


@dataclass(frozen=True)
class Content:
    """What a variant is made from; starters have no whole model, crossover and cache."""

    type: str
    notation: str
    toy: Toy
    parameters: Parameters
    polynomials: tuple[str, ...]
    scores: Scores
    whole: Whole | None = None
    crossover: Overtaking | None = None
    cache: Cache | None = None


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    starter = spec.level == "starter"
    h, width = pick(rng, [(2, 2), (2, 3), (2, 4), (3, 2), (4, 2), (2, 5), (3, 3), (3, 4)])
    at = (turn_of(number, family) - 1) % 4
    content = Content(
        type=spec.type,
        notation=kept_notation(spec.notation),
        toy=Toy(pick(rng, [n for n in range(3, 10) if n not in (h, h * width)]), h, width),
        parameters=Parameters(
            model="" if starter else pick(rng, ENCODERS),
            bias=at == 3 or (at > 0 and rng.random() < 0.5),
            at=at,
        ),
        polynomials=tuple(sample(rng, LEVEL_ITEMS[spec.level], 1 if starter else 2)),
        scores=Scores(pick(rng, LENGTHS), pick(rng, [4, 6, 8, 12, 16, 20, 32])),
    )
    if spec.sizes:
        toy = as_stated(content.toy, spec.sizes)
        own = replace(content.parameters, model="")
        content = replace(content, toy=toy, parameters=own, scores=Scores(toy.n, toy.h))
    if starter:
        return content
    return replace(
        content,
        whole=Whole(*(pick(rng, choices) for choices in MINIATURES[spec.level])),
        crossover=Overtaking(pick(rng, list(CROSSOVERS)), pick(rng, WIDTHS)),
        cache=Cache(pick(rng, CACHED[spec.level]), pick(rng, LENGTHS), pick(rng, [1, 2, 4])),
    )


def as_stated(toy: Toy, sizes: Mapping[str, int]) -> Toy:
    """The layer with the sizes that are stated, where d_model is h·d_k, and others that go with them.

    `InputError` for too large a layer, for heads that do not share d_model, and for sizes by which a wrong count comes
    out as another one does: one head, one token, or as many heads as tokens.
    """
    for name, size in sizes.items():
        if not (1 if name == "d_k" else 2) <= size <= LARGEST:
            raise InputError(f"{name} is {size}; for counting, a size from 2 to {LARGEST} was expected.")
    n, d = sizes.get("n", toy.n), sizes.get("d_model")
    heads = [sizes["h"]] if "h" in sizes else [toy.h, *range(2, 9)]
    if d is not None and "d_k" in sizes and "h" not in sizes:
        heads = [d // sizes["d_k"]]
    for h in heads:
        width = sizes.get("d_k", toy.width if d is None else d // h if h else 0)
        if h > 1 and d in (None, h * width) and (n != h or "n" not in sizes):
            return Toy(n if n != h else h + 1, h, width)
    if sizes.get("n") == sizes.get("h", 0):
        raise InputError(f"n and h are both {n}, so that different mistakes have one result; two sizes were expected.")
    stated = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    raise InputError(f"There are no 2 or more heads for {stated}; h·d_k = d_model was expected.")


# ------------------------------------------------------------------------------------------------ the question


def make(content: Content) -> Question:
    say = signs(content.notation)
    parts = [_parameters(content, say)]
    parts += [_polynomial(name, k, say) for k, name in enumerate(content.polynomials, 1)]
    parts += [_operations(content.toy.layer, say), _scores(content.scores, say)]
    if content.crossover:
        parts.append(_crossover(content.crossover, say))
    if content.cache:
        parts.append(_cache(content.cache, say))
    if content.whole:
        parts.append(_whole_model(content.whole, say))
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        introduction=(
            Paragraph(
                say("Count exactly, and show how: a product of sizes is enough as working."),
                typed=say("Count exactly."),
            ),
        ),
        given=(),
        parts=tuple(parts),
        content=content,
        conventions=(
            say(
                "A multiply-add is one operation (two FLOPs): the product of an $a$×$b$ and a $b$×$c$ matrix takes "
                "$a b c$ of them. Scaling, masks and softmax are not counted."
            ),
            say("$n$ tokens, $d$ the width of the model, $h$ heads of width $d/h$ each; $O$ is $d$×$d$."),
        ),
        spelling=(
            sentence(
                "Write a product of letters with a multiplication sign or with a space: {example}.",
                example=Code("4 n d^2"),
            ),
        ),
        features={"load": float(len(parts)), "size": float(content.toy.layer.operations)},
        positions={"parameters": str(content.parameters.at)},
    )


class Signs(Prose):
    """Sentences in a notation's signs; n, d and h are what students type, and O is its matrix of the output."""

    def formula(self, text: str | Formula, **shown: Formula) -> Formula:
        return super().formula(text, **{"O": output_weights(self.notation), **shown})


def signs(notation: str) -> Signs:
    return Signs(replace(load_notation(notation), letters={}))


def _shown(value: Count) -> Formula:
    return number(value, {letter: read_formula(letter) for letter in LETTERS})


def _blank(label: Inlines) -> FillIns:
    return FillIns((FillIn(label, 60),))


def _parameters(content: Content, say: Prose) -> Part:
    drawn, toy = content.parameters, content.toy.layer
    model = MODELS.get(drawn.model)
    d, h, n = (model.d, model.h, content.scores.n) if model else (toy.d, toy.h, toy.n)
    offers = parameter_offers(d, h, n, drawn.bias, drawn.at, say)
    asked = (
        "{where}, $d = {width}$ and $h = {heads}$. How many parameters do $W_Q$, $W_K$, $W_V$ and $O$ of one "
        "self-attention layer have together, without biases, when it reads {tokens} tokens?"
    )
    if drawn.bias:
        asked = (
            "{where}, $d = {width}$ and $h = {heads}$. How many parameters do $W_Q$, $W_K$, $W_V$ and $O$ of one "
            "self-attention layer have together, with biases, when it reads {tokens} tokens?"
        )
    where = message("In {model}", model=model.title) if model else "In one layer"
    ask = say.paragraph(asked, where=where, width=d, heads=h, tokens=n)
    return choice_part("parameters", (Words("Parameters"),), [ask], offers)


def parameter_offers(d: int, h: int, n: int, bias: bool, at: int, say: Prose) -> tuple[Offer, ...]:
    """Four counts in order of size, the right one at position `at`, the others by the counting misconceptions."""
    layer = Attention(d, h, d // h, n, h, bias)
    right, plain = layer.parameters, Attention(d, h, d // h).parameters
    smaller = [
        (Attention(d, h, d // h, bias=bias, output=False).parameters, "N3", "$O$ was left out."),
        (right // h, "", "That is one head; all of them together have the full width."),
    ]
    larger = [
        (h * right, "N2", "Every head was given the full width $d$; it has $d/h$."),
        (n * right, "N8", "All tokens share the same weights."),
    ]
    if bias:
        smaller.insert(0, (plain, "N1", "The biases were forgotten."))
    else:
        larger.insert(0, (plain + 4 * d, "N1", "Biases were counted, and there are none."))
    terms = f"4·{d}·{d}" + (f" + 4·{d}" if bias else "")
    key = Offer((Words(in_digits(right)),), (Words(f"{terms} = {in_digits(right)}."),), True)
    wrong = sorted((*smaller[:at], *larger[: 3 - at]))
    offers = [Offer((Words(in_digits(count)),), say(why), False, diagnosis) for count, diagnosis, why in wrong]
    return put_in(offers, at, key)


def _polynomial(name: str, k: int, say: Prose) -> Part:
    item, value = ITEMS[name], polynomial(name)
    wrong = tuple(
        (
            *((Words(f"{diagnosis} – "),) if diagnosis else ()),
            *sentence("{formula}: {meaning}.", formula=read_formula(typed), meaning=say(means)),
        )
        for diagnosis, typed, means in item.wrong
    )
    return Part(
        name=f"letters {k}",
        title=(Words("In letters"),),
        ask=(say.paragraph(item.ask), _blank(say("Count:"))),
        key=(Display((Relation((read_formula(item.how), _shown(value)), ("=",)),)), ItemList(wrong)),
        answer=FormulaAnswer(
            value,
            tuple(KnownError(read(t, symbols=True).value, id, _typed(means)) for id, t, means in item.wrong),
        ),
        marks=(Mark("B", 1),),
    )


def _typed(text: str) -> str:
    """A text in which formulas stand as people type them."""
    return message(text, **{f"${formula}$": formula for formula in text.split("$")[1::2]})


def operation_lines(layer: Attention) -> list[tuple[str, str, int]]:
    """What is multiplied, its multiply-adds as a product of sizes, and their number."""
    n, d, h, width = layer.n, layer.d, layer.h, layer.width
    return [
        ("$Q$, $K$ and $V$ of all heads", f"3·{n}·{d}·{d}", 3 * product(n, d, d)),
        ("Scores of all heads", f"{h}·{n}·{width}·{n}", layer.scoring),
        ("Weights times values, all heads", f"{h}·{n}·{n}·{width}", layer.mixing),
        ("The product with $O$", f"{n}·{d}·{d}", product(n, d, d)),
        ("Total", "", layer.operations),
    ]


def _line(what: Inlines, how: str, count: str, value: int) -> TableRow:
    return TableRow(what, value, (Words(f"{how} = {count}" if how else count),))


def _operations(layer: Attention, say: Prose) -> Part:
    projected = product(layer.n, layer.d, layer.d)
    slips = (
        say("N2 – scores {count}: every head was given the full width.", count=in_digits(layer.h * layer.scoring)),
        say("N4 – all numbers doubled, {count} in total: those are FLOPs.", count=in_digits(2 * layer.operations)),
        say(
            "N5 – {projections} in total: scores and weighted values were forgotten; N3 – {less} in total: $O$ was "
            "left out.",
            projections=in_digits(4 * projected),
            less=in_digits(layer.operations - projected),
        ),
    )
    errors = (
        KnownError(layer.h * layer.scoring, "N2", row=1),
        *(KnownError(2 * count, "N4", row=k) for k, (_, _, count) in enumerate(operation_lines(layer))),
        KnownError(4 * projected, "N5", row=4),
        KnownError(layer.operations - projected, "N3", row=4),
    )
    return table_part(
        "operations",
        say("Operations of one layer"),
        say(
            "Multi-head self-attention with $n = {tokens}$, $d = {width}$ and $h = {heads}$. Fill in the table.",
            tokens=layer.n,
            width=layer.d,
            heads=layer.h,
        ),
        (say("Product"), say("Multiply-adds")),
        [_line(say(what), how, in_digits(count), count) for what, how, count in operation_lines(layer)],
        Mark("M", 1),
        Mark("A", 3, "deduct one for every wrong number, with follow-through to the sum", OneLess(), "sum"),
        kind="word",
        errors=errors,
        slips=slips,
    )


def _scores(drawn: Scores, say: Prose) -> Part:
    n, h = drawn.n, drawn.h
    count = h * n * n
    return _short(
        "scores",
        say("Memory for scores"),
        say(
            "A layer with {heads} heads reads {tokens} tokens. How many scores are there in all heads together?",
            heads=h,
            tokens=n,
        ),
        count,
        (
            say(
                "Every head has {tokens}×{tokens} scores: {heads}·{tokens}·{tokens} = {count}.",
                tokens=n,
                heads=h,
                count=in_digits(count),
            ),
            say(
                "{head}: one head only. {token}: one token only.",
                head=in_digits(n * n),
                token=in_digits(h * n),
            ),
        ),
        (Mark("B", 1),),
        errors=(
            KnownError(n * n, says=message("one head only was counted")),
            KnownError(h * n, says=message("one token only was counted")),
        ),
    )


def _crossover(drawn: Overtaking, say: Prose) -> Part:
    pair, d = CROSSOVERS[drawn.pair], drawn.d
    n = pair.first(d)
    bound = f"{_factor(pair.b)} d = {pair.b * d}"
    if pair.a > 1:
        bound = f"frac({_factor(pair.b)} d, {pair.a}) = {Fraction(pair.b * d, pair.a)}"
    return _short(
        "crossover",
        say("When one cost overtakes another"),
        say(pair.ask, width=d),
        n,
        (
            say(
                "${costs}$ means ${shorter}$, after both sides are divided by ${common} > 0$, so that $n > {bound}$; "
                "the smallest whole number above that is {smallest}.",
                costs=f"{pair.more} > {pair.less}",
                shorter=f"{_factor(pair.a)} n > {_factor(pair.b)} d",
                common=pair.common,
                bound=bound,
                smallest=in_digits(n),
            ),
            say("With one token fewer, {tokens}, it does not hold.", tokens=in_digits(n - 1)),
        ),
        (Mark("M", 1, "both counts"), Mark("A", 1)),
    )


def _factor(number: int) -> str:
    """A coefficient as it is written: 1 is left out."""
    return str(number) if number > 1 else ""


def _cache(drawn: Cache, say: Prose) -> Part:
    model, n = MODELS[drawn.model], drawn.n
    width = model.d // model.h
    numbers = Attention(model.d, model.h, width, n, model.shared).cache(model.layers)
    slips = [say("{count} numbers: keys or values, not both.", count=in_digits(numbers // 2))]
    errors = [KnownError(numbers // 2, says=message("keys or values were counted, not both"))]
    heads = message("{heads} heads of width {width}", heads=model.h, width=width)
    if model.shared != model.h:
        sharing = "{heads} query heads of width {width} that share {shared} heads of keys and values"
        heads = message(sharing, heads=model.h, width=width, shared=model.shared)
        own = numbers * model.h // model.shared
        slips.append(say("{count} numbers: as if every query head had its own.", count=in_digits(own)))
        errors.append(KnownError(own, says=message("every query head was given keys and values of its own")))
    asked = say.paragraph(
        "{model} has {layers} layers with {heads}. How large is the cache for {tokens} tokens, when a number takes "
        "{size}?",
        model=capitalised(model.title),
        layers=model.layers,
        heads=heads,
        tokens=n,
        size=counted("{n} byte", "{n} bytes", n=drawn.bytes),
    )
    worked = say.paragraph(
        "{product} = {numbers} numbers (keys and values, layers, tokens, heads, width); times {size}: {bytes} bytes.",
        product=f"2·{model.layers}·{n}·{model.shared}·{width}",
        numbers=in_digits(numbers),
        size=drawn.bytes,
        bytes=in_digits(numbers * drawn.bytes),
    )
    blank: Inlines = (Math(Blank("word")),)
    rows = ((say("Numbers"), blank), (say("Bytes"), blank))
    return Part(
        name="cache",
        title=(Words("Key/value cache"),),
        ask=(asked, Table((say("Cache"), say("Count")), rows, row_heads=True)),
        key=(worked, ItemList(tuple(slips))),
        answer=MatrixAnswer(Matrix([[numbers], [numbers * drawn.bytes]]), errors=tuple(errors)),
        marks=(Mark("M", 1), Mark("A", 1, "both, the bytes with follow-through", follows="quotient")),
    )


def _whole_model(sizes: Whole, say: Prose) -> Part:
    words, positions, d, layers = sizes.words, sizes.positions, sizes.d, sizes.layers
    model = language_model(words, positions, d, layers)
    attention, forward = (part.parameters for part in model.block.parts)
    blocks = layers * model.block.parameters
    counts = [
        (say("Word embedding"), f"{in_digits(words)}·{d}", words * d),
        (say("Position embedding"), f"{positions}·{d}", positions * d),
        (say("Attention of one block, with biases"), f"4·({d}·{d} + {d})", attention),
        (say("Feed-forward network of one block, with biases"), f"{d}·{4 * d} + {4 * d} + {4 * d}·{d} + {d}", forward),
        (say("Two layer norms of one block"), f"2·2·{d}", 2 * model.block.norm.parameters),
        (say("All {layers} blocks", layers=layers), f"{layers}·{in_digits(model.block.parameters)}", blocks),
        (say("Last layer norm"), f"2·{d}", model.block.norm.parameters),
        (say("Total"), "", model.parameters),
    ]
    twice = language_model(words, positions, d, layers, tied=False).parameters
    halved = language_model(words, positions, d, layers, shift=False).parameters
    slips = (
        say("N6 – {count} in total: {miscount}.", count=in_digits(twice), miscount=COUNTING["N6"].name),
        say("N7 – {count} in total: a layer norm was given d parameters.", count=in_digits(halved)),
    )
    norm = model.block.norm.parameters
    errors = (
        KnownError(4 * d * d, "N1", row=2),
        KnownError(8 * d * d, "N1", row=3),
        KnownError(norm, "N7", row=4),
        KnownError(norm // 2, "N7", row=6),
        KnownError(halved, "N7", row=7),
        KnownError(twice, "N6", row=7),
    )
    return table_part(
        "whole",
        say("A whole language model"),
        say(
            "A model like GPT-2 has a vocabulary of {words} words, {positions} learned position embeddings, $d = "
            "{width}$ and {blocks} blocks. Each block has attention with $O$, a feed-forward network of inner width "
            "{inner}, and two layer norms; one more layer norm follows the last block. All linear layers have "
            "biases except the output layer, which is tied to the word embedding. Count the parameters of the model.",
            words=in_digits(words),
            positions=positions,
            width=d,
            blocks=layers,
            inner=4 * d,
        ),
        (say("Parameters of"), say("Number")),
        [_line(what, how, in_digits(count), count) for what, how, count in counts],
        Mark("M", 1),
        Mark("A", 3, "deduct one for every wrong number, with follow-through to the sums", OneLess(), "sum"),
        kind="word",
        sums={5: dict.fromkeys((2, 3, 4), layers), 7: dict.fromkeys((0, 1, 5, 6), 1)},
        errors=errors,
        slips=slips,
    )


def _short(
    name: str, title: Inlines, asked: Inlines, value: int, key: tuple[Inlines, ...], marks: tuple[Mark, ...],
    errors: tuple[KnownError, ...] = (),
) -> Part:  # fmt: skip
    """A part with one number for its answer."""
    label: Inlines = (Words("Answer:"),)
    part = number_part(name, title, asked, label, value, [*map(Paragraph, key)], *marks, room=14, width=60)
    return replace(part, answer=FormulaAnswer(value, errors))


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Counts once more by counting: loops instead of formulas, a search instead of a division."""
    from sympy import Expr, lambdify

    content: Content = question.content
    answers = {part.name: part.answer for part in question.parts}
    layer = content.toy.layer
    n, d, h, width = layer.n, layer.d, layer.h, layer.width
    again = [3 * _looped(n, d, d), h * _looped(n, width, n), h * _looped(n, n, width), _looped(n, d, d)]
    counted_again(question, operations=[*again, sum(again)])
    for k, name in enumerate(content.polynomials, 1):
        formula = answers[f"letters {k}"]
        assert isinstance(formula, FormulaAnswer) and isinstance(formula.value, Expr)
        sizes = (5, n, 1 if ITEMS[name].grouped else h, d, h, n + 2, 11)
        value = formula.value.subs(dict(zip(LETTERS, sizes, strict=True)))
        if value != count_of(name, *sizes):
            raise SelfCheckError(f"The polynomial for {name} gives {value} where counting gives something else.")
    if whole := content.whole:
        counted_again(question, whole=_listed(whole.words, whole.positions, whole.d, whole.layers))
    if drawn := content.crossover:
        pair = CROSSOVERS[drawn.pair]
        more, less = (lambdify(("n", "d", "L"), read(text, symbols=True).value) for text in (pair.more, pair.less))
        first = next(n for n in range(1, SEARCHED) if more(n, drawn.d, 1) > less(n, drawn.d, 1))
        counted_again(question, crossover=[first])


def _listed(words: int, positions: int, d: int, layers: int) -> list[int]:
    """The parameters of a language model, every matrix and vector in a list of its own."""
    attention = sum(rows * columns for rows, columns in [(d, d), (1, d)] * 4)
    forward = sum(rows * columns for rows, columns in [(d, 4 * d), (1, 4 * d), (4 * d, d), (1, d)])
    norms = sum(d for _ in ("γ", "β") for _ in range(2))
    blocks = sum(attention + forward + norms for _ in range(layers))
    parts = [words * d, positions * d, attention, forward, norms, blocks, 2 * d]
    return [*parts, sum((*parts[:2], *parts[5:]))]


def _looped(rows: int, inner: int, columns: int) -> int:
    """Multiply-adds of a product, counted entry by entry."""
    return sum(inner for _ in range(rows) for _ in range(columns))


TYPE = ProblemType(
    name="counts",
    title="Counting parameters and operations",
    draw=draw,
    make=make,
    content=Content,
    proof=prove,
    mechanisms=ATTENTION,
    draws=("given",),
    own_sizes=("n", "h", "d_model", "d_k"),
)
