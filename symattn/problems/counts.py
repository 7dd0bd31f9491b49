"""Counting: weights, multiply-adds, scores, caches, whole models, where one overtakes another (rules.md 5, 11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

from symattn.counting import Attention, Block, Count, Embedding, FeedForward, Model, Norm, product
from symattn.dice import pick, sample
from symattn.document import Block as Shown
from symattn.document import (
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
    WorkingSpace,
)
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.exact.reading import read
from symattn.formula import Blank, Formula, Relation, number, read_formula
from symattn.formula import Number as Digits
from symattn.misconceptions import COUNTING
from symattn.notation import load_notation
from symattn.problems.asking import Offer, Prose, choice, choices, choices_key
from symattn.problems.base import Family, ProblemType, Spec
from symattn.problems.shapes import output_weights
from symattn.question import Answer, Content, FormulaAnswer, Json, Mark, MatrixAnswer, OneLess, Part, Question


@dataclass(frozen=True)
class Published:
    """Sizes as published: width d, h heads, layers, and how many heads have keys and values of their own."""

    title: str
    d: int
    h: int
    layers: int
    shared: int


MODELS: Mapping[str, Published] = {
    "transformer": Published("the base Transformer (Vaswani et al. 2017)", 512, 8, 6, 8),
    "transformer-big": Published("the big Transformer (Vaswani et al. 2017)", 1024, 16, 6, 16),
    "bert": Published("BERT base (Devlin et al. 2019)", 768, 12, 12, 12),
    "bert-large": Published("BERT large (Devlin et al. 2019)", 1024, 16, 24, 16),
    "gpt2": Published("the smallest GPT-2 (Radford et al. 2019)", 768, 12, 12, 12),
    "gpt2-medium": Published("GPT-2 medium (Radford et al. 2019)", 1024, 16, 24, 16),
    "gpt2-xl": Published("the largest GPT-2 (Radford et al. 2019)", 1600, 25, 48, 25),
    "llama2": Published("Llama 2 7B (Touvron et al. 2023)", 4096, 32, 32, 32),
    "llama2-70b": Published("Llama 2 70B (Touvron et al. 2023)", 8192, 64, 80, 8),
    "mistral": Published("Mistral 7B (Jiang et al. 2023)", 4096, 32, 32, 8),
}
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
SEARCHED = 20_000  # far beyond every crossover of these widths


# ------------------------------------------------------------------------------------------------ polynomials


@dataclass(frozen=True)
class Around:
    """What stands around a layer: how many layers, tokens of the memory (of the encoder), and words there are."""

    layers: Count
    memory: Count
    words: Count


@dataclass(frozen=True)
class Item:
    """Something to be written in letters; `how` is it part by part, `wrong` what miscounting makes of it."""

    text: str
    how: str
    count: Callable[[Attention, Around], Count]
    wrong: tuple[tuple[str, str, str], ...]  # misconception, formula as typed, what it means
    bias: bool = False
    output: bool = True
    grouped: bool = False


BLOCK = "attention with $O$ and a feed-forward network from $d$ to $4 d$ and back, all with biases, and two layer norms"


def _feed_forward(a: Attention) -> FeedForward:
    return FeedForward(a.d, 4 * a.d, a.n)


def _block(a: Attention) -> Block:
    return Block(replace(a, bias=True), _feed_forward(a), Norm(a.d))


N1 = ("N1", "4 d^2", "the biases were forgotten: each of the four products has one of width $d$")
ITEMS: Mapping[str, Item] = {
    "weights": Item(
        "the weights of $W_Q$, $W_K$, $W_V$ and $O$, without biases",
        "3·d·d + d·d",
        lambda a, _: a.parameters,
        (("N3", "3 d^2", "$O$ was left out"), ("N2", "4 h d^2", "every head was given the full width")),
    ),
    "biased": Item(
        "the parameters of $W_Q$, $W_K$, $W_V$ and $O$, all with biases",
        "4·(d·d + d)",
        lambda a, _: a.parameters,
        (N1, ("N3", "3 d^2 + 3 d", "$O$ was left out")),
        bias=True,
    ),
    "inward": Item(
        "the weights of $W_Q$, $W_K$ and $W_V$ alone, without biases",
        "3·d·d",
        lambda a, _: a.parameters,
        (("N2", "3 h d^2", "every head was given the full width"), ("N8", "3 n d^2", "weights are shared by tokens")),
        output=False,
    ),
    "projecting": Item(
        "the multiply-adds of the products that give $Q$, $K$ and $V$",
        "3·n·d·d",
        lambda a, _: a.projecting,
        (("N4", "6 n d^2", "a multiply-add was counted as two"), ("N8", "3 d^2", "that is for one token")),
        output=False,
    ),
    "scoring": Item(
        "the multiply-adds of all scores, the $h$ heads together",
        "h·n·(d/h)·n",
        lambda a, _: a.scoring,
        (("N2", "h n^2 d", "every head was given the full width"), ("N4", "2 n^2 d", "counted twice")),
    ),
    "operations": Item(
        "the multiply-adds of the whole layer, with $O$",
        "3·n·d·d + h·n·(d/h)·n + h·n·n·(d/h) + n·d·d",
        lambda a, _: a.operations,
        (
            ("N5", "4 n d^2", "the scores and the weighted values were forgotten"),
            ("N3", "3 n d^2 + 2 n^2 d", "$O$ was left out"),
        ),
    ),
    "flops": Item(
        "the FLOPs (two for a multiply-add) of the whole layer, with $O$",
        "2·(4·n·d·d + 2·n·n·d)",
        lambda a, _: 2 * a.operations,
        (
            ("N4", "4 n d^2 + 2 n^2 d", "only multiplications were counted"),
            ("N5", "8 n d^2", "the scores and the weighted values were forgotten"),
        ),
    ),
    "scores": Item(
        "the entries of the score matrices of all $h$ heads",
        "h·n·n",
        lambda a, _: a.scores,
        (("", "n^2", "that is one head; every head has scores of its own"), ("", "n^2 d", "those are operations")),
    ),
    "cache": Item(
        "the numbers in the cache of keys and values of $L$ layers for $n$ tokens",
        "2·L·n·h·(d/h)",
        lambda a, around: a.cache(around.layers),
        (("", "L n d", "keys and values are both kept"), ("N2", "2 L h n d", "every head was given the full width")),
    ),
    "step": Item(
        "the multiply-adds for one new token, with $O$, when keys and values of $n - 1$ earlier ones are in the cache "
        "(it attends to $n$ tokens, itself included)",
        "4·d·d + h·(d/h)·n + h·n·(d/h)",
        lambda a, _: a.parameters + 2 * a.n * a.h * a.width,
        (("N5", "4 d^2", "scores and weighted values were forgotten"), ("", "4 n d^2 + 2 n^2 d", "nothing was reused")),
    ),
    "grouped weights": Item(
        "the weights of $W_Q$, $W_K$, $W_V$ and $O$, without biases, when only $g$ of $h$ heads have keys and values",
        "d·d + 2·d·g·(d/h) + d·d",
        lambda a, _: a.parameters,
        (
            ("", "4 d^2", "keys and values are narrower: $g$ heads of width $d/h$"),
            ("", "2 d^2 + 2 g d^2", "a head has width $d/h$"),
        ),
        grouped=True,
    ),
    "grouped cache": Item(
        "the numbers in the cache of $L$ layers for $n$ tokens when only $g$ of $h$ heads have keys and values",
        "2·L·n·g·(d/h)",
        lambda a, around: a.cache(around.layers),
        (("", "2 L n d", "only $g$ heads are kept"), ("", "2 L n g d", "a head has width $d/h$")),
        grouped=True,
    ),
    "feed forward": Item(
        "the parameters of a feed-forward network from width $d$ to $4 d$ and back, with biases",
        "d·4·d + 4·d + 4·d·d + d",
        lambda a, _: _feed_forward(a).parameters,
        (("N1", "8 d^2", "the biases were forgotten: $4 d$ and $d$"), ("", "8 d^2 + 2 d", "the inner bias has $4 d$")),
    ),
    "feeding forward": Item(
        "the multiply-adds of a feed-forward network from width $d$ to $4 d$ and back",
        "n·d·4·d + n·4·d·d",
        lambda a, _: _feed_forward(a).operations,
        (("N8", "8 d^2", "that is for one token"), ("N4", "16 n d^2", "a multiply-add was counted as two")),
    ),
    "norms": Item(
        "the parameters of the two layer norms of an encoder block",
        "2·(d + d)",
        lambda a, _: 2 * Norm(a.d).parameters,
        (("N7", "2 d", "each has γ and β"), ("N8", "4 n d", "all tokens share γ and β")),
    ),
    "cross": Item(
        "the multiply-adds of the scores of all $h$ heads when $n$ queries of a decoder meet the keys of $m$ tokens of "
        "the encoder",
        "h·n·(d/h)·m",
        lambda a, around: replace(a, memory=around.memory).scoring,
        (("", "n^2 d", "the keys are those of the encoder's tokens"), ("N2", "h m n d", "heads have width $d/h$")),
    ),
    "block": Item(
        f"the parameters of an encoder block ({BLOCK})",
        "4·(d·d + d) + 8·d·d + 5·d + 2·2·d",
        lambda a, _: _block(a).parameters,
        (
            ("N1", "12 d^2 + 4 d", "the biases were forgotten"),
            ("N7", "12 d^2 + 11 d", "a layer norm has γ and β"),
            ("N3", "11 d^2 + 12 d", "$O$ was left out"),
        ),
    ),
    "block operations": Item(
        f"the multiply-adds of an encoder block ({BLOCK})",
        "4·n·d·d + 2·n·n·d + 8·n·d·d",
        lambda a, _: _block(a).operations,
        (
            ("N5", "12 n d^2", "the scores and the weighted values were forgotten"),
            ("N4", "24 n d^2 + 4 n^2 d", "a multiply-add was counted as two"),
        ),
    ),
    "decoder block": Item(
        "the parameters of a decoder block (self-attention and cross-attention with $O$, a feed-forward network from "
        "$d$ to $4 d$ and back, all with biases, and three layer norms)",
        "2·4·(d·d + d) + 8·d·d + 5·d + 3·2·d",
        lambda a, _: replace(_block(a), cross=replace(a, bias=True)).parameters,
        (
            ("", "12 d^2 + 13 d", "the cross-attention was left out"),
            ("N1", "16 d^2 + 6 d", "the biases were forgotten"),
            ("N7", "16 d^2 + 16 d", "a layer norm has γ and β"),
        ),
    ),
    "stack": Item(
        f"the parameters of a stack of $L$ encoder blocks ({BLOCK})",
        "L·(12·d·d + 13·d)",
        lambda a, around: around.layers * _block(a).parameters,
        (
            ("", "12 d^2 + 13 d", "that is one block, and each has weights of its own"),
            ("N1", "12 L d^2 + 4 L d", "the biases were forgotten"),
        ),
    ),
    "model": Item(
        f"the parameters of a language model: embeddings of $w$ words and of $n$ positions, $L$ blocks ({BLOCK}), a "
        "last layer norm, and an output layer tied to the embedding",
        "w·d + n·d + L·(12·d·d + 13·d) + 2·d",
        lambda a, around: Model(Embedding(around.words, a.d, a.n), _block(a), around.layers).parameters,
        (
            ("N6", "2 w d + n d + 12 L d^2 + 13 L d + 2 d", "tied, the output layer has no weights of its own"),
            ("N7", "w d + n d + 12 L d^2 + 11 L d + d", "a layer norm has γ and β"),
        ),
    ),
    "logits": Item(
        "the multiply-adds of the logits of $n$ tokens, for a vocabulary of $w$ words",
        "n·d·w",
        lambda a, around: Embedding(around.words, a.d).operations(a.n),
        (("N8", "w d", "that is for one token"), ("", "n w", "that is how many logits there are")),
    ),
}
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
LETTERS = ("L", "n", "g", "d", "h", "m", "w")


@cache
def polynomial(name: str) -> Any:
    """The item in SymPy symbols named L, n, g, d, h, m, w."""
    import sympy

    return sympy.expand(_counted(ITEMS[name], *map(sympy.Symbol, LETTERS)))


def _counted(item: Item, layers: Count, n: Count, g: Count, d: Count, h: Count, m: Count, words: Count) -> Count:
    """The item for these sizes, numbers or letters."""
    width = d // h if isinstance(d, int) else d / h
    layer = Attention(d, h, width, n, g if item.grouped else h, item.bias, item.output)
    return item.count(layer, Around(layers, m, words))


# ------------------------------------------------------------------------------------------------ crossovers


@dataclass(frozen=True)
class Crossover:
    """Two costs in letters, the first of which is larger from some number of tokens on: where a·n > b·d."""

    left: str
    right: str
    more: str
    less: str
    a: int
    b: int
    common: str = "n d"
    verb: str = "take more multiply-adds than"

    def first(self, d: int) -> int:
        """The smallest n with a·n > b·d: the first whole number above b·d/a."""
        return self.b * d // self.a + 1


_BOTH = "the scores and the weighted values"
CROSSOVERS: Mapping[str, Crossover] = {
    "one": Crossover("the scores (all heads)", "one projection, such as $Q$", "n^2 d", "n d^2", 1, 1),
    "both and three": Crossover(_BOTH, "the products that give $Q$, $K$ and $V$", "2 n^2 d", "3 n d^2", 2, 3),
    "both and four": Crossover(_BOTH, "the products with $W_Q$, $W_K$, $W_V$ and $O$", "2 n^2 d", "4 n d^2", 2, 4),
    "scores and three": Crossover(
        "the scores (all heads)", "the products that give $Q$, $K$ and $V$", "n^2 d", "3 n d^2", 1, 3
    ),
    "both and feed forward": Crossover(
        _BOTH, "the feed-forward network from $d$ to $4 d$ and back", "2 n^2 d", "8 n d^2", 2, 8
    ),
    "attention and feed forward": Crossover(
        "the products of the whole attention, with $O$,",
        "the feed-forward network from $d$ to $4 d$ and back",
        "4 n d^2 + 2 n^2 d",
        "8 n d^2",
        2,
        4,
    ),
    "cache and weights": Crossover(
        "the cached keys and values of $n$ tokens in $L$ layers",
        "the weights of the $L$ blocks, $12 d^2$ in each",
        "2 L n d",
        "12 L d^2",
        2,
        12,
        "L d",
        "are more numbers than",
    ),
}


# ------------------------------------------------------------------------------------------------ drawing


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    if spec.sizes or spec.given:
        raise InputError(f"The problem type {spec.type} draws its own sizes; leave sizes and given out.")
    starter = spec.level == "starter"
    h, width = pick(rng, [(2, 2), (2, 3), (2, 4), (3, 2), (4, 2), (2, 5), (3, 3), (3, 4)])
    at = (number - 1) % 4
    content: dict[str, Json] = {
        "type": spec.type,
        "notation": spec.notation,
        "toy": {"n": pick(rng, [n for n in range(3, 10) if n not in (h, h * width)]), "h": h, "width": width},
        "parameters": {
            "model": "" if starter else pick(rng, ENCODERS),
            "bias": at == 3 or (at > 0 and rng.random() < 0.5),
            "at": at,
        },
        "polynomials": cast("list[Json]", sample(rng, LEVEL_ITEMS[spec.level], 1 if starter else 2)),
        "scores": {"n": pick(rng, LENGTHS), "h": pick(rng, [4, 6, 8, 12, 16, 20, 32])},
    }
    if not starter:
        sizes = [pick(rng, choices) for choices in MINIATURES[spec.level]]
        content["whole"] = dict(zip(("words", "positions", "d", "layers"), cast("list[Json]", sizes), strict=True))
        content["crossover"] = {"pair": pick(rng, list(CROSSOVERS)), "d": pick(rng, WIDTHS)}
        content["cache"] = {
            "model": pick(rng, CACHED[spec.level]),
            "n": pick(rng, LENGTHS),
            "bytes": pick(rng, [1, 2, 4]),
        }
    return content


def _whole(table: object, *names: str) -> list[int]:
    return [cast(int, cast("Mapping[str, Json]", table)[name]) for name in names]


def _toy(content: Content) -> Attention:
    n, h, width = _whole(content["toy"], "n", "h", "width")
    return Attention(h * width, h, width, n, h)


# ------------------------------------------------------------------------------------------------ the question


def make(content: Content) -> Question:
    say = Prose(replace(load_notation(str(content["notation"])), letters={}))  # n, d, h are what students type
    parts = [_parameters(content, say)]
    names = cast("list[str]", content["polynomials"])
    parts += [_polynomial(name, k, say) for k, name in enumerate(names, 1)]
    parts += [_operations(content, say), _scores(content, say)]
    if "crossover" in content:
        parts += [_crossover(content, say), _cache(content, say)]
    if "whole" in content:
        parts.append(_whole_model(content, say))
    toy = _toy(content)
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        introduction=(say.paragraph("Count exactly, and show how: a product of sizes is enough as working."),),
        given=(),
        parts=tuple(parts),
        content=content,
        conventions=(
            say(
                "A multiply-add is one operation (two FLOPs): the product of an $a$×$b$ and a $b$×$c$ matrix takes "
                "$a b c$ of them. Scaling, masks and softmax are not counted."
            ),
            say("$n$ tokens, $d$ the width of the model, $h$ heads of width $d/h$ each; $O$ is $d$×$d$.", O=_o(say)),
            (Words("Between letters a product is written with a sign or a space: "), Code("4 n d^2"), Words(".")),
        ),
        features={"load": float(len(parts)), "size": float(toy.operations)},
        positions={"parameters": str(cast("Mapping[str, Json]", content["parameters"])["at"])},
    )


def _o(say: Prose) -> Formula:
    return output_weights(say.notation)


def _shown(value: Count) -> Formula:
    return number(value, {letter: read_formula(letter) for letter in LETTERS})


def _blank(label: str, width: int = 60) -> FillIns:
    return FillIns((FillIn((Words(label),), width),))


def _parameters(content: Content, say: Prose) -> Part:
    drawn = cast("Mapping[str, Json]", content["parameters"])
    model = MODELS.get(str(drawn["model"]))
    toy = _toy(content)
    d, h = (model.d, model.h) if model else (toy.d, toy.h)
    bias, at = bool(drawn["bias"]), cast(int, drawn["at"])
    n = _whole(content["scores"], "n")[0] if model else toy.n
    offers = parameter_offers(d, h, n, bias, at, say)
    where = f"In {model.title}" if model else "In one layer"
    each = "with biases" if bias else "without biases"
    return Part(
        name="parameters",
        title=(Words("Parameters"),),
        ask=(
            say.paragraph(
                f"{where}, $d = D$ and $h = H$. How many parameters do $W_Q$, $W_K$, $W_V$ and $O$ of one "
                f"self-attention layer have together, {each}, when it reads {n} tokens?",
                D=Digits(str(d)),
                H=Digits(str(h)),
                O=_o(say),
            ),
            choices(offers),
        ),
        key=choices_key(offers),
        answer=choice(offers),
        marks=(Mark("B", 1),),
    )


def parameter_offers(d: int, h: int, n: int, bias: bool, at: int, say: Prose) -> list[Offer]:
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
    key = Offer((Words(_digits(right)),), (Words(f"{terms} = {_digits(right)}."),), True)
    wrong = sorted((*smaller[:at], *larger[: 3 - at]))
    offers = [Offer((Words(_digits(count)),), say(why, O=_o(say)), False, diagnosis) for count, diagnosis, why in wrong]
    return [*offers[:at], key, *offers[at:]]


def _digits(count: int) -> str:
    """With gaps between thousands, which read alike where the comma is the decimal mark: 1 048 576."""
    return f"{count:,}".replace(",", "\N{NO-BREAK SPACE}")


def _polynomial(name: str, k: int, say: Prose) -> Part:
    item, value = ITEMS[name], polynomial(name)
    return Part(
        name=f"letters {k}",
        title=(Words("In letters"),),
        ask=(
            Paragraph((Words("Write a formula in letters that counts "), *say(item.text, O=_o(say)), Words("."))),
            _blank("Count:"),
        ),
        key=(
            Display((Relation((read_formula(item.how), _shown(value)), ("=",)),)),
            ItemList(
                tuple(
                    (*_named(diagnosis), Math(read_formula(typed)), Words(": "), *say(means, O=_o(say)), Words("."))
                    for diagnosis, typed, means in item.wrong
                )
            ),
        ),
        answer=FormulaAnswer(value),
        marks=(Mark("B", 1),),
    )


def _named(diagnosis: str) -> Inlines:
    return (Words(f"{diagnosis} "),) if diagnosis else ()


Line = tuple[str, str, int]


def operation_lines(layer: Attention) -> list[Line]:
    """What is multiplied, its multiply-adds as a product of sizes, and their number."""
    n, d, h, width = layer.n, layer.d, layer.h, layer.width
    return [
        ("$Q$, $K$ and $V$ of all heads", f"3·{n}·{d}·{d}", 3 * product(n, d, d)),
        ("Scores of all heads", f"{h}·{n}·{width}·{n}", layer.scoring),
        ("Weights times values, all heads", f"{h}·{n}·{n}·{width}", layer.mixing),
        ("The product with $O$", f"{n}·{d}·{d}", product(n, d, d)),
        ("Together", "", layer.operations),
    ]


def _operations(content: Content, say: Prose) -> Part:
    layer = _toy(content)
    lines = operation_lines(layer)
    header = (say("Product"), say("Multiply-adds"))
    blank: Inlines = (Math(Blank("word")),)
    asked = tuple((say(what, O=_o(say)), blank) for what, _, _ in lines)
    solved = tuple(
        (say(what, O=_o(say)), (Words(f"{how} = {count}" if how else str(count)),)) for what, how, count in lines
    )
    sizes: dict[str, Formula | str | int] = {
        "N": Digits(str(layer.n)),
        "D": Digits(str(layer.d)),
        "H": Digits(str(layer.h)),
    }
    n, d = layer.n, layer.d
    return Part(
        name="operations",
        title=(Words("Operations of one layer"),),
        ask=(
            say.paragraph("Multi-head self-attention with $n = N$, $d = D$ and $h = H$. Fill in the table.", **sizes),
            Table(header, asked, row_heads=True),
        ),
        key=(
            Table(header, solved, row_heads=True),
            ItemList(
                (
                    (Words(f"N2 Scores {layer.h * layer.scoring}: every head was given the full width."),),
                    (Words(f"N4 All numbers doubled, {2 * layer.operations} together: those are FLOPs."),),
                    (
                        Words(f"N5 {4 * product(n, d, d)} together: scores and weighted values were forgotten; "),
                        *say("N3 {less} together: $O$ was left out.", O=_o(say), less=layer.operations - n * d * d),
                    ),
                )
            ),
        ),
        answer=MatrixAnswer(Matrix([[count] for _, _, count in lines])),
        marks=(
            Mark("M", 1),
            Mark("A", 3, "one less for every wrong number, with follow-through to the sum", OneLess(), "sum"),
        ),
    )


def _scores(content: Content, say: Prose) -> Part:
    n, h = _whole(content["scores"], "n", "h")
    return _short(
        "scores",
        say("Memory for scores"),
        say(f"A layer with {h} heads reads {n} tokens. How many scores are there, all heads together?"),
        h * n * n,
        (
            say(f"Every head has {n}×{n} scores: {h}·{n}·{n} = {_digits(h * n * n)}."),
            say(f"{_digits(n * n)}: one head only. {_digits(h * n)}: one token only."),
        ),
        (Mark("B", 1),),
    )


def _crossover(content: Content, say: Prose) -> Part:
    drawn = cast("Mapping[str, Json]", content["crossover"])
    pair = CROSSOVERS[str(drawn["pair"])]
    (d,) = _whole(drawn, "d")
    n = pair.first(d)
    bound = f"frac({_factor(pair.b)} d, {pair.a}) = {Fraction(pair.b * d, pair.a)}"
    if pair.a == 1:
        bound = f"{_factor(pair.b)} d = {pair.b * d}"
    return _short(
        "crossover",
        say("When one cost overtakes another"),
        say(
            f"With $d = D$, what is the smallest number of tokens $n$ for which {pair.left} {pair.verb} {pair.right}?",
            D=Digits(str(d)),
            O=_o(say),
        ),
        n,
        (
            say(
                f"${pair.more} > {pair.less}$ means ${_factor(pair.a)} n > {_factor(pair.b)} d$, after both sides are "
                f"divided by ${pair.common} > 0$, so that $n > {bound}$; the smallest whole number above that is {n}."
            ),
            say(f"With one token less, {n - 1}, that is not so."),
        ),
        (Mark("M", 1, "both counts"), Mark("A", 1)),
    )


def _factor(number: int) -> str:
    """A coefficient as it is written: 1 is left out."""
    return str(number) if number > 1 else ""


def _cache(content: Content, say: Prose) -> Part:
    drawn = cast("Mapping[str, Json]", content["cache"])
    model = MODELS[str(drawn["model"])]
    n, size = _whole(drawn, "n", "bytes")
    width = model.d // model.h
    numbers = Attention(model.d, model.h, width, n, model.shared).cache(model.layers)
    heads = f"{model.h} heads of width {width}"
    if model.shared != model.h:
        heads = f"{model.h} query heads of width {width} that share {model.shared} heads of keys and values"
    unit = "1 byte" if size == 1 else f"{size} bytes"
    header = (say("Cache"), say("Count"))
    blank: Inlines = (Math(Blank("word")),)
    wrong = [f"{_digits(numbers // 2)} numbers: keys or values, not both."]
    if model.shared != model.h:
        wrong.append(f"{_digits(numbers * model.h // model.shared)} numbers: as if every query head had its own.")
    return Part(
        name="cache",
        title=(Words("Cache of keys and values"),),
        ask=(
            say.paragraph(
                f"{model.title[0].upper()}{model.title[1:]} has {model.layers} layers with {heads}. How large is the "
                f"cache for {n} tokens, when a number takes {unit}?"
            ),
            Table(header, ((say("Numbers"), blank), (say("Bytes"), blank)), row_heads=True),
        ),
        key=(
            Paragraph(
                (
                    Words(
                        f"2·{model.layers}·{n}·{model.shared}·{width} = {_digits(numbers)} numbers "
                        f"(keys and values, layers, tokens, heads, width); times {size}: {_digits(numbers * size)} "
                        "bytes."
                    ),
                )
            ),
            ItemList(tuple((Words(line),) for line in wrong)),
        ),
        answer=MatrixAnswer(Matrix([[numbers], [numbers * size]])),
        marks=(Mark("M", 1), Mark("A", 1, "both, the bytes with follow-through", follows="quotient")),
    )


def language_model(words: int, positions: int, d: int, layers: int, tied: bool = True, shift: bool = True) -> Model:
    """A model like GPT-2 (Radford et al. 2019): learned positions, biases everywhere, inner width 4 d, a last norm.

    How many heads share the width makes no difference to the number of parameters.
    """
    block = Block(Attention(d, 1, d, bias=True), FeedForward(d, 4 * d), Norm(d, shift))
    return Model(Embedding(words, d, positions, tied), block, layers)


def _whole_model(content: Content, say: Prose) -> Part:
    words, positions, d, layers = _whole(content["whole"], "words", "positions", "d", "layers")
    model = language_model(words, positions, d, layers)
    attention, forward = (part.parameters for part in model.block.parts)
    lines: list[Line] = [
        ("Embedding of words", f"{words}·{d}", words * d),
        ("Embedding of positions", f"{positions}·{d}", positions * d),
        ("Attention of one block, with biases", f"4·({d}·{d} + {d})", attention),
        ("Feed-forward network of one block, with biases", f"{d}·{4 * d} + {4 * d} + {4 * d}·{d} + {d}", forward),
        ("Two layer norms of one block", f"2·2·{d}", 2 * model.block.norm.parameters),
        (f"All {layers} blocks", f"{layers}·{model.block.parameters}", layers * model.block.parameters),
        ("Last layer norm", f"2·{d}", model.block.norm.parameters),
        ("Together", "", model.parameters),
    ]
    header, blank = (say("Parameters of"), say("Number")), (Math(Blank("word")),)
    asked = tuple((say(what), blank) for what, _, _ in lines)
    solved = tuple(
        (say(what), (Words(f"{how} = {_digits(count)}" if how else _digits(count)),)) for what, how, count in lines
    )
    twice = language_model(words, positions, d, layers, tied=False).parameters
    halved = language_model(words, positions, d, layers, shift=False).parameters
    return Part(
        name="whole",
        title=(Words("A whole language model"),),
        ask=(
            say.paragraph(
                f"A model like GPT-2 has {words} words, {positions} learned positions, $d = D$ and {layers} blocks. "
                f"Each block has attention with $O$, a feed-forward network of inner width {4 * d}, and two layer "
                "norms; one more layer norm follows the last block. All products have biases but the output layer, "
                "which is tied to the embedding of words. Count its parameters.",
                D=Digits(str(d)),
                O=_o(say),
            ),
            Table(header, asked, row_heads=True),
        ),
        key=(
            Table(header, solved, row_heads=True),
            ItemList(
                (
                    (Words(f"N6 {_digits(twice)} together: {COUNTING['N6'].name}."),),
                    (Words(f"N7 {_digits(halved)} together: a layer norm was given d parameters."),),
                )
            ),
        ),
        answer=MatrixAnswer(Matrix([[count] for _, _, count in lines])),
        marks=(
            Mark("M", 1),
            Mark("A", 3, "one less for every wrong number, with follow-through to the sums", OneLess(), "sum"),
        ),
    )


def _short(
    name: str, title: Inlines, asked: Inlines, value: int, key: tuple[Inlines, ...], marks: tuple[Mark, ...]
) -> Part:
    """A part with one number for its answer."""
    answer: Answer = FormulaAnswer(value)
    room: tuple[Shown, ...] = (Paragraph(asked), WorkingSpace(14), _blank("Answer:"))
    return Part(name, title, room, tuple(map(Paragraph, key)), answer, marks)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Counts once more by counting: loops instead of formulas, a search instead of a division."""
    from sympy import lambdify

    content = question.content
    answers = {part.name: part.answer for part in question.parts}
    layer = _toy(content)
    n, d, h, width = layer.n, layer.d, layer.h, layer.width
    again = [3 * _looped(n, d, d), h * _looped(n, width, n), h * _looped(n, n, width), _looped(n, d, d)]
    _agree("operations", answers["operations"], [*again, sum(again)])
    for k, name in enumerate(cast("list[str]", content["polynomials"]), 1):
        item, formula = ITEMS[name], answers[f"letters {k}"]
        assert isinstance(formula, FormulaAnswer)
        sizes = (5, n, 1 if item.grouped else h, d, h, n + 2, 11)
        value = cast(Any, formula.value).subs(dict(zip(LETTERS, sizes, strict=True)))
        if value != _counted(item, *sizes):
            raise SelfCheckError(f"The polynomial for {name} gives {value} where counting gives something else.")
    if "whole" in content:
        words, positions, d, layers = _whole(content["whole"], "words", "positions", "d", "layers")
        _agree("whole", answers["whole"], _listed(words, positions, d, layers))
    if "crossover" in content:
        drawn = cast("Mapping[str, Json]", content["crossover"])
        (wide,) = _whole(drawn, "d")
        pair = CROSSOVERS[str(drawn["pair"])]
        more, less = (lambdify(("n", "d", "L"), read(text, symbols=True).value) for text in (pair.more, pair.less))
        first = next(n for n in range(1, SEARCHED) if more(n, wide, 1) > less(n, wide, 1))
        _agree("crossover", answers["crossover"], [first])


def _listed(words: int, positions: int, d: int, layers: int) -> list[int]:
    """The parameters of a language model, every matrix and vector in a list of its own."""
    attention = sum(rows * columns for rows, columns in [(d, d), (1, d)] * 4)
    forward = sum(rows * columns for rows, columns in [(d, 4 * d), (1, 4 * d), (4 * d, d), (1, d)])
    norms = sum(d for _ in ("γ", "β") for _ in range(2))
    blocks = sum(attention + forward + norms for _ in range(layers))
    parts = [words * d, positions * d, attention, forward, norms, blocks, 2 * d]
    return [*parts, sum((*parts[:2], *parts[5:]))]


def _looped(rows: int, inner: int, columns: int) -> int:
    """Multiply-adds of a product, counted one by one."""
    return sum(1 for _ in range(rows) for _ in range(columns) for _ in range(inner))


def _agree(name: str, answer: Answer, again: list[int]) -> None:
    said = list(answer.value) if isinstance(answer, MatrixAnswer) else [cast(FormulaAnswer, answer).value]
    if said != again:
        raise SelfCheckError(f"The key of {name} says {said}; counted again it is {again}.")


TYPE = ProblemType(name="counts", title="Counting parameters and operations", draw=draw, make=make, prove=prove)
