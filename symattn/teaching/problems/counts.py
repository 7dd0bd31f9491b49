"""Counting: weights, multiply-adds, scores, caches, whole models, where one overtakes another (rules.md 5, 11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, cast

from symattn.derivation.counting import Attention, Block, Count, Embedding, FeedForward, Model, Norm
from symattn.derivation.misconceptions.base import COUNTING
from symattn.errors import InputError
from symattn.exact.reading import read
from symattn.formula import equal, number, read_formula
from symattn.foundation.dice import pick, sample
from symattn.foundation.languages import capitalised, counted, message
from symattn.page.document import (
    Code,
    Display,
    Inlines,
    ItemList,
    Paragraph,
    TextLike,
    as_text,
    sentence,
)
from symattn.page.notation import load_notation
from symattn.teaching.problems.asking import (
    BlockLike,
    Offer,
    Prose,
    TableRow,
    bank,
    choice_part,
    comes_to,
    fill_in,
    in_digits,
    make_part,
    number_part,
    put_in,
    table_part,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, question
from symattn.teaching.problems.shapes import output_weights
from symattn.teaching.question import FormulaAnswer, KnownError, Mark, OneLess, Part

# ------------------------------------------------------------------------------------------------ what is counted


@dataclass(frozen=True)
class CountedItem:
    """Something to be written in letters: `how` is it part by part, `wrong` what miscounting makes of it.

    Each of these is a misconception, the formula as typed, and what it means.
    """

    ask: str
    how: str
    wrong: tuple[tuple[str, str, str], ...]
    bias: bool = False
    output: bool = True
    grouped: bool = False


@dataclass(frozen=True)
class Crossover:
    """Two costs in letters, the first of which is larger from some number of tokens on: where a·n > b·d."""

    ask: str
    more: str
    less: str
    a: int
    b: int
    common: str = "n d"

    def first(self, d: int) -> int:
        """The smallest n with a·n > b·d: the first whole number above b·d/a."""
        return self.b * d // self.a + 1


@dataclass(frozen=True)
class Published:
    """Sizes as published: width d, h heads, layers, and how many heads have keys and values of their own."""

    title: str
    d: int
    h: int
    layers: int
    shared: int


@dataclass(frozen=True)
class CountsBank:
    """What `counts.toml` has."""

    items: Mapping[str, CountedItem]
    crossovers: Mapping[str, Crossover]
    models: Mapping[str, Published]


_BANK = bank(CountsBank, "counts")
ITEMS, CROSSOVERS, MODELS = _BANK.items, _BANK.crossovers, _BANK.models


def _feed_forward(a: Attention) -> FeedForward:
    return FeedForward(a.d, 4 * a.d, a.n)


def _block(a: Attention) -> Block:
    return Block(replace(a, bias=True), _feed_forward(a), Norm(a.d))


COUNTED: Mapping[str, Callable[..., Count]] = {
    **dict.fromkeys(("weights", "biased", "inward", "grouped weights"), lambda a, *_: a.parameters),
    "projecting": lambda a, *_: a.projecting,
    "scoring": lambda a, *_: a.scoring,
    "operations": lambda a, *_: a.operations,
    "flops": lambda a, *_: 2 * a.operations,
    "scores": lambda a, *_: a.scores,
    **dict.fromkeys(("cache", "grouped cache"), lambda a, layers, *_: a.cache(layers)),
    "step": lambda a, *_: a.parameters + 2 * a.n * a.h * a.width,
    "feed forward": lambda a, *_: _feed_forward(a).parameters,
    "feeding forward": lambda a, *_: _feed_forward(a).operations,
    "norms": lambda a, *_: 2 * Norm(a.d).parameters,
    "cross": lambda a, _, memory, *__: replace(a, memory=memory).scoring,
    "block": lambda a, *_: _block(a).parameters,
    "block operations": lambda a, *_: _block(a).operations,
    "decoder block": lambda a, *_: replace(_block(a), cross=replace(a, bias=True)).parameters,
    "stack": lambda a, layers, *_: layers * _block(a).parameters,
    "model": lambda a, layers, _, words: Model(Embedding(words, a.d, a.n), _block(a), layers).parameters,
    "logits": lambda a, _, __, words: Embedding(words, a.d).operations(a.n),
}
"""By the layer, and what stands around it: how many layers, tokens of the memory (of the encoder), and words."""
LETTERS = ("L", "n", "g", "d", "h", "m", "w")


@cache
def polynomial(name: str) -> Any:
    """The item in SymPy symbols named L, n, g, d, h, m, w."""
    import sympy

    return sympy.expand(count_of(name, *map(sympy.Symbol, LETTERS)))


def count_of(name: str, layers: Count, n: Count, g: Count, d: Count, h: Count, m: Count, words: Count) -> Count:
    """The item for these sizes, numbers or letters."""
    item, width = ITEMS[name], d // h if isinstance(d, int) else d / h
    layer = Attention(d, h, width, n, g if item.grouped else h, item.bias, item.output)
    return COUNTED[name](layer, layers, m, words)


def language_model(words: int, positions: int, d: int, layers: int, tied: bool = True, shift: bool = True) -> Model:
    """A model like GPT-2 (Radford et al. 2019): learned positions, biases everywhere, inner width 4 d, a last norm.

    How many heads share the width makes no difference to the number of parameters.
    """
    block = Block(Attention(d, 1, d, bias=True), FeedForward(d, 4 * d), Norm(d, shift))
    return Model(Embedding(words, d, positions, tied), block, layers)


ENCODERS = ("transformer", "transformer-big", "bert", "bert-large", "gpt2", "gpt2-medium", "gpt2-xl")
CACHED = {
    "standard": ("gpt2", "gpt2-medium", "gpt2-xl"),
    "long": ("llama2-70b", "mistral"),
}
WHOLE = ("words", "positions", "d", "layers")
MINIATURES = {
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
LEVEL_ITEMS = {
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


def layer_of(toy: Record) -> Attention:
    """A layer that is small enough to be counted by hand."""
    return Attention(toy["h"] * toy["width"], toy["h"], toy["width"], toy["n"], toy["h"])


def draw_variant(rng: Random, draw: Draw) -> Record:
    """What a variant is made from; starters have no whole model, crossover and cache."""
    level, sizes = draw.spec.level, draw.spec.sizes
    starter, at = level == "starter", (draw.turn - 1) % 4
    h, width = pick(rng, [(2, 2), (2, 3), (2, 4), (3, 2), (4, 2), (2, 5), (3, 3), (3, 4)])
    n = pick(rng, [n for n in range(3, 10) if n not in (h, h * width)])
    toy = {"n": n, "h": h, "width": width}
    model = "" if starter else pick(rng, ENCODERS)
    bias = at == 3 or (at > 0 and rng.random() < 0.5)
    polynomials = sample(rng, LEVEL_ITEMS[level], 1 if starter else 2)
    scores = {"n": pick(rng, LENGTHS), "h": pick(rng, [4, 6, 8, 12, 16, 20, 32])}
    if sizes:
        toy, model = as_stated(toy, sizes), ""
        scores = {"n": toy["n"], "h": toy["h"]}
    formulas = {
        "toy": toy,
        "parameters": {"model": model, "bias": bias, "at": at},
        "polynomials": polynomials,
        "scores": scores,
    }
    if starter:
        return formulas
    whole = [pick(rng, choices) for choices in MINIATURES[level]]
    return formulas | {
        "whole": dict(zip(WHOLE, whole, strict=True)),
        "crossover": {"pair": pick(rng, list(CROSSOVERS)), "d": pick(rng, WIDTHS)},
        "cache": {"model": pick(rng, CACHED[level]), "n": pick(rng, LENGTHS), "bytes": pick(rng, [1, 2, 4])},
    }


def as_stated(toy: Record, sizes: Mapping[str, int]) -> Record:
    """The layer with the sizes that are stated, where d_model is h·d_k, and others that go with them.

    `InputError` for too large a layer, for heads that do not share d_model, and for sizes by which a wrong count comes
    out as another one does: one head, one token, or as many heads as tokens.
    """
    for name, size in sizes.items():
        if not (1 if name == "d_k" else 2) <= size <= LARGEST:
            raise InputError(f"{name} is {size}; for counting, a size from 2 to {LARGEST} was expected.")
    n, d = sizes.get("n", toy["n"]), sizes.get("d_model")
    heads = [sizes["h"]] if "h" in sizes else [toy["h"], *range(2, 9)]
    if d is not None and "d_k" in sizes and "h" not in sizes:
        heads = [d // sizes["d_k"]]
    for h in heads:
        width = sizes.get("d_k", toy["width"] if d is None else d // h if h else 0)
        if h > 1 and d in (None, h * width) and (n != h or "n" not in sizes):
            return {"n": n if n != h else h + 1, "h": h, "width": width}
    if sizes.get("n") == sizes.get("h", 0):
        raise InputError(f"n and h are both {n}, so that different mistakes have one result; two sizes were expected.")
    stated = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    raise InputError(f"There are no 2 or more heads for {stated}; h·d_k = d_model was expected.")


# ------------------------------------------------------------------------------------------------ the question


def signs(notation: str) -> Prose:
    """Sentences in a notation's signs; n, d and h are what students type, and O is its matrix of the output."""
    loaded = replace(load_notation(notation), letters={})
    return Prose(loaded, signs={"O": output_weights(loaded)})


def ask(draw: Draw) -> ProvedQuestion:
    say = signs(draw.notation())
    draw.together(draw_variant)
    layer, parameters, scores = layer_of(draw["toy"]), draw["parameters"], draw["scores"]
    parts: list[Part | Item] = [
        _parameters(parameters, scores["n"] if parameters["model"] else layer.n, layer, say),
        *(_polynomial(name, k, layer, say) for k, name in enumerate(draw["polynomials"], 1)),
        _operations(layer, say),
        _scores(scores["n"], scores["h"], say),
        *(make(draw[name], say) for name, make in _MORE.items() if name in draw.record),
    ]
    return question(
        draw,
        parts,
        introduction=Paragraph(
            as_text("Count exactly, and show how: a product of sizes is enough as working."),
            typed=as_text("Count exactly."),
        ),
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
        features={"load": float(len(parts)), "size": float(layer.operations)},
        positions={"parameters": str(parameters["at"])},
    )


def _parameters(drawn: Record, n: int, layer: Attention, say: Prose) -> Part:
    """Those of a published model or of the layer, with biases or without; `at` is where the right option stands."""
    model = MODELS.get(drawn["model"])
    d, h = (model.d, model.h) if model else (layer.d, layer.h)
    asked = (
        "{where}, $d = {width}$ and $h = {heads}$. How many parameters do $W_Q$, $W_K$, $W_V$ and $O$ of one "
        "self-attention layer have together, without biases, when it reads {tokens} tokens?"
    )
    if drawn["bias"]:
        asked = (
            "{where}, $d = {width}$ and $h = {heads}$. How many parameters do $W_Q$, $W_K$, $W_V$ and $O$ of one "
            "self-attention layer have together, with biases, when it reads {tokens} tokens?"
        )
    where = message("In {model}", model=model.title) if model else "In one layer"
    offers = parameter_offers(d, h, n, drawn["bias"], drawn["at"], say)
    return choice_part("Parameters", [say(asked, where=where, width=d, heads=h, tokens=n)], offers, name="parameters")


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
    key = Offer(in_digits(right), f"{terms} = {in_digits(right)}.", True)
    wrong = sorted((*smaller[:at], *larger[: 3 - at]))
    offers = [Offer(in_digits(count), say(why), False, diagnosis) for count, diagnosis, why in wrong]
    return put_in(offers, at, key)


def _polynomial(name: str, k: int, layer: Attention, say: Prose) -> Item:
    item, value = ITEMS[name], polynomial(name)

    def check(part: Part) -> str:
        """Counted for sizes in numbers."""
        assert isinstance(part.answer, FormulaAnswer)
        sizes = (5, layer.n, 1 if item.grouped else layer.h, layer.d, layer.h, layer.n + 2, 11)
        put_in = cast(Any, part.answer.value).subs(dict(zip(LETTERS, sizes, strict=True)))
        return "" if put_in == count_of(name, *sizes) else f"the polynomial for {name} gives {put_in}"

    wrong: list[Inlines] = [
        (
            *as_text(f"{diagnosis} – " if diagnosis else ""),
            *sentence("{formula}: {meaning}.", formula=read_formula(typed), meaning=say(means)),
        )
        for diagnosis, typed, means in item.wrong
    ]
    errors = (KnownError(read(t, symbols=True).value, id, _typed(means)) for id, t, means in item.wrong)
    shown = number(value, {letter: read_formula(letter) for letter in LETTERS})
    part = make_part(
        "In letters",
        [say(item.ask), fill_in(message("Count:"), 60)],
        [Display((equal(read_formula(item.how), shown),)), ItemList(tuple(wrong))],
        FormulaAnswer(value, tuple(errors)),
        name=f"letters {k}",
    )
    return Item(part, check)


def _typed(text: str) -> str:
    """A text in which formulas stand as people type them."""
    return message(text, **{f"${formula}$": formula for formula in text.split("$")[1::2]})


def _lines(worked: Sequence[tuple[TextLike, str]], total: int) -> list[TableRow]:
    """Lines of a table: what is counted, as a product of sizes, and what it comes to; then the total."""
    counts = [TableRow(what, comes_to(how), f"{how} = {in_digits(comes_to(how))}") for what, how in worked]
    return [*counts, TableRow("Total", total, in_digits(total))]


def _operations(layer: Attention, say: Prose) -> Item:
    n, d, h, width = layer.n, layer.d, layer.h, layer.width

    def again() -> list[int]:
        counts = [3 * _looped(n, d, d), h * _looped(n, width, n), h * _looped(n, n, width), _looped(n, d, d)]
        return [*counts, sum(counts)]

    projected = n * d * d
    lines = _lines(
        [
            (say("$Q$, $K$ and $V$ of all heads"), f"3·{n}·{d}·{d}"),
            ("Scores of all heads", f"{h}·{n}·{width}·{n}"),
            ("Weights times values, all heads", f"{h}·{n}·{n}·{width}"),
            (say("The product with $O$"), f"{n}·{d}·{d}"),
        ],
        layer.operations,
    )
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
        *(KnownError(2 * line.value, "N4", row=k) for k, line in enumerate(lines)),
        KnownError(4 * projected, "N5", row=4),
        KnownError(layer.operations - projected, "N3", row=4),
    )
    part = table_part(
        "Operations of one layer",
        say(
            "Multi-head self-attention with $n = {tokens}$, $d = {width}$ and $h = {heads}$. Fill in the table.",
            tokens=n,
            width=d,
            heads=h,
        ),
        ("Product", message("Multiply-adds")),
        lines,
        Mark("M", 1),
        Mark("A", 3, "deduct one for every wrong number, with follow-through to the sum", OneLess(), "sum"),
        name="operations",
        kind="word",
        errors=errors,
        slips=slips,
    )
    return Item(part, again=again)


def _scores(n: int, h: int, say: Prose) -> Part:
    count = h * n * n
    return _short(
        "Memory for scores",
        say(
            "A layer with {heads} heads reads {tokens} tokens. How many scores are there in all heads together?",
            heads=h,
            tokens=n,
        ),
        count,
        [
            say(
                "Every head has {tokens}×{tokens} scores: {heads}·{tokens}·{tokens} = {count}.",
                tokens=n,
                heads=h,
                count=in_digits(count),
            ),
            say("{head}: one head only. {token}: one token only.", head=in_digits(n * n), token=in_digits(h * n)),
        ],
        name="scores",
        errors=(
            KnownError(n * n, says=message("one head only was counted")),
            KnownError(h * n, says=message("one token only was counted")),
        ),
    )


def _crossover(drawn: Record, say: Prose) -> Item:
    pair, d = CROSSOVERS[drawn["pair"]], drawn["d"]

    def again() -> int:
        """Searched, and not divided."""
        from sympy import lambdify

        more, less = (lambdify(("n", "d", "L"), read(text, symbols=True).value) for text in (pair.more, pair.less))
        return next(n for n in range(1, SEARCHED) if more(n, d, 1) > less(n, d, 1))

    n = pair.first(d)
    bound = f"{_factor(pair.b)} d = {pair.b * d}"
    if pair.a > 1:
        bound = f"frac({_factor(pair.b)} d, {pair.a}) = {Fraction(pair.b * d, pair.a)}"
    part = _short(
        "When one cost overtakes another",
        say(pair.ask, width=d),
        n,
        [
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
        ],
        Mark("M", 1, "both counts"),
        Mark("A", 1),
        name="crossover",
    )
    return Item(part, again=again)


def _factor(number: int) -> str:
    """A coefficient as it is written: 1 is left out."""
    return str(number) if number > 1 else ""


def _cache(drawn: Record, say: Prose) -> Part:
    model, n, bytes = MODELS[drawn["model"]], drawn["n"], drawn["bytes"]
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
    worked = say(
        "{product} = {numbers} numbers (keys and values, layers, tokens, heads, width); times {size}: {bytes} bytes.",
        product=f"2·{model.layers}·{n}·{model.shared}·{width}",
        numbers=in_digits(numbers),
        size=bytes,
        bytes=in_digits(numbers * bytes),
    )
    part = table_part(
        "Key/value cache",
        say(
            "{model} has {layers} layers with {heads}. How large is the cache for {tokens} tokens, when a number takes "
            "{size}?",
            model=capitalised(model.title),
            layers=model.layers,
            heads=heads,
            tokens=n,
            size=counted("{n} byte", "{n} bytes", n=bytes),
        ),
        ("Cache", "Count"),
        [TableRow("Numbers", numbers, ""), TableRow("Bytes", numbers * bytes, "")],
        Mark("M", 1),
        Mark("A", 1, "both, the bytes with follow-through", follows="quotient"),
        name="cache",
        kind="word",
        errors=errors,
    )
    return replace(part, key=(Paragraph(worked), ItemList(tuple(slips))))


def _whole_model(sizes: Record, say: Prose) -> Item:
    words, positions, d, layers = (int(sizes[name]) for name in WHOLE)
    model = language_model(words, positions, d, layers)
    norm = model.block.norm.parameters
    counts: list[tuple[TextLike, str]] = [
        ("Word embedding", f"{in_digits(words)}·{d}"),
        ("Position embedding", f"{positions}·{d}"),
        ("Attention of one block, with biases", f"4·({d}·{d} + {d})"),
        ("Feed-forward network of one block, with biases", f"{d}·{4 * d} + {4 * d} + {4 * d}·{d} + {d}"),
        ("Two layer norms of one block", f"2·2·{d}"),
        (say("All {layers} blocks", layers=layers), f"{layers}·{in_digits(model.block.parameters)}"),
        ("Last layer norm", f"2·{d}"),
    ]
    twice = language_model(words, positions, d, layers, tied=False).parameters
    halved = language_model(words, positions, d, layers, shift=False).parameters
    slips = (
        say("N6 – {count} in total: {miscount}.", count=in_digits(twice), miscount=COUNTING["N6"].name),
        say("N7 – {count} in total: a layer norm was given $d$ parameters.", count=in_digits(halved)),
    )
    errors = (
        KnownError(4 * d * d, "N1", row=2),
        KnownError(8 * d * d, "N1", row=3),
        KnownError(norm, "N7", row=4),
        KnownError(norm // 2, "N7", row=6),
        KnownError(halved, "N7", row=7),
        KnownError(twice, "N6", row=7),
    )
    part = table_part(
        "A whole language model",
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
        ("Parameters of", "Number"),
        _lines(counts, model.parameters),
        Mark("M", 1),
        Mark("A", 3, "deduct one for every wrong number, with follow-through to the sums", OneLess(), "sum"),
        name="whole",
        kind="word",
        sums={5: dict.fromkeys((2, 3, 4), layers), 7: dict.fromkeys((0, 1, 5, 6), 1)},
        errors=errors,
        slips=slips,
    )
    return Item(part, again=lambda: _one_by_one(**sizes))


_MORE: Mapping[str, Callable[[Record, Prose], Part | Item]] = {
    "crossover": _crossover,
    "cache": _cache,
    "whole": _whole_model,
}


def _short(
    title: str, asked: BlockLike, value: int, key: Sequence[BlockLike], *marks: Mark,
    name: str, errors: tuple[KnownError, ...] = (),
) -> Part:  # fmt: skip
    """A part with one number for its answer."""
    label = message("Answer:")
    return number_part(title, [asked], label, value, key, *marks, name=name, room=14, width=60, errors=errors)


# ------------------------------------------------------------------------------------------------ by another route


def _one_by_one(words: int, positions: int, d: int, layers: int) -> list[int]:
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
    ask,
    name="counts",
    title="Counting parameters and operations",
    draws=("given",),
    own_sizes=("n", "h", "d_model", "d_k"),
)
