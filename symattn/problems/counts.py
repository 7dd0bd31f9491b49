"""Counting: weights, multiply-adds, scores, where n²d overtakes nd², the cache of keys and values (PEDAGOGY 5, 11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

from symattn.counting import Attention, Count, product
from symattn.dice import pick, sample
from symattn.document import (
    Block,
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
from symattn.formula import Blank, Formula, number, read_formula
from symattn.formula import Number as Digits
from symattn.notation import load_notation
from symattn.problems.asking import Offer, Prose, choice, choices, choices_key
from symattn.problems.base import Family, ProblemType, Spec
from symattn.problems.shapes import output_weights
from symattn.question import Answer, Content, FormulaAnswer, Json, Mark, MatrixAnswer, Part, Question


@dataclass(frozen=True)
class Model:
    """Sizes as published: width d, h heads, layers, and how many heads have keys and values of their own."""

    title: str
    d: int
    h: int
    layers: int
    shared: int


MODELS: Mapping[str, Model] = {
    "transformer": Model("the base Transformer (Vaswani et al. 2017)", 512, 8, 6, 8),
    "transformer-big": Model("the big Transformer (Vaswani et al. 2017)", 1024, 16, 6, 16),
    "bert": Model("BERT base (Devlin et al. 2019)", 768, 12, 12, 12),
    "bert-large": Model("BERT large (Devlin et al. 2019)", 1024, 16, 24, 16),
    "gpt2": Model("the smallest GPT-2 (Radford et al. 2019)", 768, 12, 12, 12),
    "gpt2-medium": Model("GPT-2 medium (Radford et al. 2019)", 1024, 16, 24, 16),
    "gpt2-xl": Model("the largest GPT-2 (Radford et al. 2019)", 1600, 25, 48, 25),
    "llama2": Model("Llama 2 7B (Touvron et al. 2023)", 4096, 32, 32, 32),
    "llama2-70b": Model("Llama 2 70B (Touvron et al. 2023)", 8192, 64, 80, 8),
    "mistral": Model("Mistral 7B (Jiang et al. 2023)", 4096, 32, 32, 8),
}
ENCODERS = ("transformer", "transformer-big", "bert", "bert-large", "gpt2", "gpt2-medium", "gpt2-xl")
CACHED: Mapping[str, tuple[str, ...]] = {
    "standard": ("gpt2", "gpt2-medium", "gpt2-xl"),
    "long": ("llama2-70b", "mistral"),
}
LENGTHS = (100, 128, 200, 250, 256, 300, 400, 500, 512, 600, 750, 800, 1000, 1024)
WIDTHS = (64, 80, 96, 100, 128, 160, 192, 200, 256, 320, 384, 512, 640, 768, 1024)
SEARCHED = 20_000  # far beyond every crossover of these widths


# ------------------------------------------------------------------------------------------------ polynomials


@dataclass(frozen=True)
class Item:
    """Something to be written in letters; `wrong` are what the counting misconceptions make of it."""

    text: str
    count: Callable[[Attention, Count], Count]  # of a layer and the number of layers
    wrong: tuple[tuple[str, str, str], ...]  # misconception, formula as typed, what it means
    bias: bool = False
    output: bool = True
    grouped: bool = False


N1 = ("N1", "4 d^2", "the biases were forgotten: each of the four products has one of width $d$")
ITEMS: Mapping[str, Item] = {
    "weights": Item(
        "the weights of $W_Q$, $W_K$, $W_V$ and $O$, without biases",
        lambda a, _: a.parameters,
        (("N3", "3 d^2", "$O$ was left out"), ("N2", "4 h d^2", "every head was given the full width")),
    ),
    "biased": Item(
        "the parameters of $W_Q$, $W_K$, $W_V$ and $O$, all with biases",
        lambda a, _: a.parameters,
        (N1, ("N3", "3 d^2 + 3 d", "$O$ was left out")),
        bias=True,
    ),
    "inward": Item(
        "the weights of $W_Q$, $W_K$ and $W_V$ alone, without biases",
        lambda a, _: a.parameters,
        (("N2", "3 h d^2", "every head was given the full width"), ("N8", "3 n d^2", "weights are shared by tokens")),
        output=False,
    ),
    "projecting": Item(
        "the multiply-adds of the products that give $Q$, $K$ and $V$",
        lambda a, _: a.projecting,
        (("N4", "6 n d^2", "a multiply-add was counted as two"), ("N8", "3 d^2", "that is for one token")),
        output=False,
    ),
    "scoring": Item(
        "the multiply-adds of all scores, the $h$ heads together",
        lambda a, _: a.scoring,
        (("N2", "h n^2 d", "every head was given the full width"), ("N4", "2 n^2 d", "counted twice")),
    ),
    "operations": Item(
        "the multiply-adds of the whole layer, with $O$",
        lambda a, _: a.operations,
        (
            ("N5", "4 n d^2", "the scores and the weighted values were forgotten"),
            ("N3", "3 n d^2 + 2 n^2 d", "$O$ was left out"),
        ),
    ),
    "flops": Item(
        "the FLOPs (two for a multiply-add) of the whole layer, with $O$",
        lambda a, _: 2 * a.operations,
        (
            ("N4", "4 n d^2 + 2 n^2 d", "only multiplications were counted"),
            ("N5", "8 n d^2", "the scores and the weighted values were forgotten"),
        ),
    ),
    "scores": Item(
        "the entries of the score matrices of all $h$ heads",
        lambda a, _: a.scores,
        (("", "n^2", "that is one head; every head has scores of its own"), ("", "n^2 d", "those are operations")),
    ),
    "cache": Item(
        "the numbers in the cache of keys and values of $L$ layers for $n$ tokens",
        lambda a, layers: a.cache(layers),
        (("", "L n d", "keys and values are both kept"), ("N2", "2 L h n d", "every head was given the full width")),
    ),
    "step": Item(
        "the multiply-adds for one new token, with $O$, when keys and values of $n - 1$ earlier ones are in the cache "
        "(it attends to $n$ tokens, itself included)",
        lambda a, _: a.parameters + 2 * a.n * a.h * a.width,
        (("N5", "4 d^2", "scores and weighted values were forgotten"), ("", "4 n d^2 + 2 n^2 d", "nothing was reused")),
    ),
    "grouped weights": Item(
        "the weights of $W_Q$, $W_K$, $W_V$ and $O$, without biases, when only $g$ of $h$ heads have keys and values",
        lambda a, _: a.parameters,
        (
            ("", "4 d^2", "keys and values are narrower: $g$ heads of width $d/h$"),
            ("", "2 d^2 + 2 g d^2", "a head has width $d/h$"),
        ),
        grouped=True,
    ),
    "grouped cache": Item(
        "the numbers in the cache of $L$ layers for $n$ tokens when only $g$ of $h$ heads have keys and values",
        lambda a, layers: a.cache(layers),
        (("", "2 L n d", "only $g$ heads are kept"), ("", "2 L n g d", "a head has width $d/h$")),
        grouped=True,
    ),
}
EASY = ("weights", "inward", "projecting", "scoring", "scores")
LEVEL_ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": EASY,
    "standard": (*EASY, "biased", "operations", "flops", "cache", "step"),
    "long": ("biased", "operations", "flops", "cache", "step", "grouped weights", "grouped cache"),
}
LETTERS = ("L", "n", "g", "d", "h")


@cache
def polynomial(name: str) -> Any:
    """The item in SymPy symbols named L, n, g, d, h."""
    import sympy

    layers, n, g, d, h = map(sympy.Symbol, LETTERS)
    item = ITEMS[name]
    layer = Attention(d, h, d / h, n, g if item.grouped else h, item.bias, item.output)
    return sympy.expand(item.count(layer, layers))


# ------------------------------------------------------------------------------------------------ crossovers

CROSSOVERS: Mapping[str, tuple[int, int, str, str]] = {
    "one": (1, 1, "the scores (all heads)", "one projection, such as $Q$"),
    "both and three": (2, 3, "the scores and the weighted values", "the products that give $Q$, $K$ and $V$"),
    "both and four": (2, 4, "the scores and the weighted values", "the products with $W_Q$, $W_K$, $W_V$ and $O$"),
    "scores and three": (1, 3, "the scores (all heads)", "the products that give $Q$, $K$ and $V$"),
}
"""a·n²d on one side, b·nd² on the other: (a, b, what they are)."""


def crossover(a: int, b: int, d: int) -> int:
    """The smallest n with a·n²d > b·nd²: the first whole number above b·d/a."""
    return b * d // a + 1


# ------------------------------------------------------------------------------------------------ drawing


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    if spec.sizes or spec.given:
        raise InputError(f"The problem type {spec.type} draws its own sizes; sizes and given were to be left out.")
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
            Display((_shown(value),)),
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
    blank: Inlines = (Math(Blank("decimal")),)
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
        marks=(Mark("M", 1), Mark("A", 3, "one less for every wrong number, with follow-through to the sum")),
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
    a, b, left, right = CROSSOVERS[str(drawn["pair"])]
    (d,) = _whole(drawn, "d")
    n = crossover(a, b, d)
    squared, linear = f"{_factor(a)} n^2 d", f"{_factor(b)} n d^2"
    bound = f"frac({_factor(b)} d, {a}) = {Fraction(b * d, a)}" if a > 1 else f"{_factor(b)} d = {b * d}"
    return _short(
        "crossover",
        say("When attention outgrows the projections"),
        say(
            f"With $d = D$, what is the smallest number of tokens $n$ for which {left} take more multiply-adds than "
            f"{right}?",
            D=Digits(str(d)),
            O=_o(say),
        ),
        n,
        (
            say(
                f"${squared} > {linear}$ means $n > {bound}$, after division by $n d > 0$; the smallest whole number "
                f"above that is {n}."
            ),
            say(f"With one token less, {n - 1}, they do not take more."),
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
        marks=(Mark("M", 1), Mark("A", 1, "both, the bytes with follow-through")),
    )


def _short(
    name: str, title: Inlines, asked: Inlines, value: int, key: tuple[Inlines, ...], marks: tuple[Mark, ...]
) -> Part:
    """A part with one number for its answer."""
    answer: Answer = FormulaAnswer(value)
    room: tuple[Block, ...] = (Paragraph(asked), WorkingSpace(16), _blank("Answer:"))
    return Part(name, title, room, tuple(map(Paragraph, key)), answer, marks)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Counts once more by counting: loops instead of formulas, a search instead of a division."""
    content = question.content
    answers = {part.name: part.answer for part in question.parts}
    layer = _toy(content)
    n, d, h, width = layer.n, layer.d, layer.h, layer.width
    again = [3 * _looped(n, d, d), h * _looped(n, width, n), h * _looped(n, n, width), _looped(n, d, d)]
    _agree("operations", answers["operations"], [*again, sum(again)])
    for k, name in enumerate(cast("list[str]", content["polynomials"]), 1):
        item, formula = ITEMS[name], answers[f"letters {k}"]
        assert isinstance(formula, FormulaAnswer)
        shared = 1 if item.grouped else h
        numbers = Attention(d, h, width, n, shared, item.bias, item.output)
        value = cast(Any, formula.value).subs(dict(zip(LETTERS, (5, n, shared, d, h), strict=True)))
        if value != item.count(numbers, 5):
            raise SelfCheckError(f"The polynomial for {name} gives {value} where counting gives something else.")
    if "crossover" in content:
        drawn = cast("Mapping[str, Json]", content["crossover"])
        a, b, _, _ = CROSSOVERS[str(drawn["pair"])]
        (wide,) = _whole(drawn, "d")
        first = next(n for n in range(1, SEARCHED) if a * n * n * wide > b * n * wide * wide)
        _agree("crossover", answers["crossover"], [first])


def _looped(rows: int, inner: int, columns: int) -> int:
    """Multiply-adds of a product, counted one by one."""
    return sum(1 for _ in range(rows) for _ in range(columns) for _ in range(inner))


def _agree(name: str, answer: Answer, again: list[int]) -> None:
    said = list(answer.value) if isinstance(answer, MatrixAnswer) else [cast(FormulaAnswer, answer).value]
    if said != again:
        raise SelfCheckError(f"The key of {name} says {said}; counted again it is {again}.")


TYPE = ProblemType(name="counts", title="Counting parameters and operations", draw=draw, make=make, prove=prove)
