"""Attention beside recurrence and convolution: cost, waiting, distance, and claims to judge (rules.md 5, type 15).

The three kinds of layer are those of Vaswani et al. 2017, table 1, with every number counted instead of O(…): in
derivations of a layer of these sizes, where there is one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import cast

from symattn.counting import chain, depth, independent, multiply_adds
from symattn.derivation import Derivation
from symattn.dice import pick, sample, shuffled, whole
from symattn.document import (
    Choices,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Strong,
    Table,
    Words,
    WorkingSpace,
)
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix, Outline
from symattn.formula import Blank, read_formula
from symattn.mechanisms import Settings, mechanism
from symattn.problems.asking import LETTERS
from symattn.problems.base import Family, ProblemType, Spec
from symattn.question import (
    ChoiceAnswer,
    Content,
    FormulaAnswer,
    Json,
    Lesser,
    Mark,
    MatrixAnswer,
    OneLess,
    Option,
    Part,
    Question,
    RubricAnswer,
)

# ------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Statement:
    """A claim, whether it is true, why in one sentence, and what to write instead if it is false.

    Formulas stand between dollar signs.  Of claims that share a `topic` only one is set at a time: they would answer
    one another.
    """

    text: str
    true: bool
    why: str
    correction: str = ""
    topic: str = ""


STATEMENTS: Mapping[str, Statement] = {
    "parallel": Statement(
        "In training, the outputs of a self-attention layer for all positions can be worked out at the same time.",
        True,
        "No output of the layer is an input of another output of the same layer.",
        topic="parallel",
    ),
    "rn parallel": Statement(
        "No part of the work of a recurrent layer can be done in parallel.",
        False,
        "The products of the weights with the inputs do not wait for one another, and sequences of a batch do not.",
        "The hidden states must be worked out one after the other; other parts can run in parallel.",
        "rn",
    ),
    "rn waits": Statement(
        "A recurrent layer cannot work out its hidden state at position 5 before it has the one at position 4.",
        True,
        "Each hidden state is a function of the one before it.",
        topic="rn",
    ),
    "generation": Statement(
        "When a decoder with causal self-attention generates text, it works out all new tokens at the same time.",
        False,
        "Each new token is an input for the next one, so generation is sequential.",
        "Only in training, where the whole text is known, are all positions worked out at the same time.",
    ),
    "unstable": Statement(
        "Recurrent networks are not numerically stable.",
        False,
        "That is too strong: with $h_t = w h_{t-1} + x_t$, the derivative of $h_n$ by $h_0$ is $w^n$, which vanishes "
        "for $w = 1/2$, explodes for $w = 2$ and is 1 for $w = 1$; gates and clipping help.",
        "Gradients through many time steps of a recurrent network may vanish or explode.",
        "gradients",
    ),
    "gradients": Statement(
        "In a recurrent network, gradients that go back through many time steps may vanish or explode.",
        True,
        "They are products of one Jacobian for every step.",
        topic="gradients",
    ),
    "aware": Statement(
        "Without a mask, every output of a self-attention layer may depend on every input of the sequence.",
        True,
        "Its weights are all positive, and they depend on every key.",
        topic="aware",
    ),
    "causal aware": Statement(
        "With a causal mask, the output at position 3 may depend on the input at position 7.",
        False,
        "Later positions have weight exactly 0, and they are left out of the denominator too.",
        "It depends on the inputs at positions 1, 2 and 3 only.",
        "aware",
    ),
    "order": Statement(
        "Without positional encodings and masks, self-attention notices the order of its inputs.",
        False,
        "Exchanging two inputs exchanges their outputs and changes nothing else.",
        "It is permutation equivariant: it needs positional encodings to notice order.",
        "order",
    ),
    "rn order": Statement(
        "A recurrent layer can notice the order of its inputs without positional encodings.",
        True,
        "It reads them one after the other.",
        topic="order",
    ),
    "path": Statement(
        "In one self-attention layer without a mask, information from any position reaches any other in one layer.",
        True,
        "Every query meets every key directly.",
        topic="path",
    ),
    "path grows": Statement(
        "In self-attention, the path from the first position to the last one grows with the length of the sequence.",
        False,
        "Every query meets every key directly, however far away it is.",
        "It has length 1 for every sequence length; in a recurrent layer it grows.",
        "path",
    ),
    "quadratic": Statement(
        "When a sequence becomes twice as long, a self-attention layer has four times as many scores.",
        True,
        "There are $n^2$ scores in a head, and $(2 n)^2 = 4 n^2$.",
        topic="quadratic",
    ),
    "linear": Statement(
        "When a sequence becomes twice as long, a self-attention layer has twice as many scores.",
        False,
        "There are $n^2$ scores in a head, and $(2 n)^2 = 4 n^2$.",
        "It has four times as many scores.",
        "quadratic",
    ),
    "rn linear": Statement(
        "When a sequence becomes twice as long, a recurrent layer takes twice as many multiply-adds.",
        True,
        "It does the same work at every position.",
        topic="rn cost",
    ),
    "rn weights": Statement(
        "A longer sequence needs a recurrent layer with more weights.",
        False,
        "The same weights are used at every position.",
        "The number of weights does not depend on the length of the sequence.",
        "weights",
    ),
    "attention weights": Statement(
        "The matrices $W_Q$, $W_K$ and $W_V$ become larger when the sequence becomes longer.",
        False,
        "They are $d_model$ × $d_k$ and $d_model$ × $d_v$, and the same for every token.",
        "Their sizes do not depend on the length of the sequence.",
        "weights",
    ),
    "shared": Statement(
        "All tokens of a sequence are multiplied by the same matrices $W_Q$, $W_K$ and $W_V$.",
        True,
        "There is one of each in a head, whatever the number of tokens.",
        topic="weights",
    ),
    "cheaper": Statement(
        "For short sequences and wide models ($n$ much smaller than $d$), the scores of self-attention take fewer "
        "multiply-adds than the products of a recurrent layer.",
        True,
        "$n^2 d$ is smaller than $n d^2$ when $n$ is smaller than $d$.",
        topic="cost",
    ),
    "always cheaper": Statement(
        "The scores of self-attention take fewer multiply-adds than a recurrent layer for every sequence length.",
        False,
        "$n^2 d$ grows faster in $n$ than $2 n d^2$ and is larger when $n$ is larger than $2 d$.",
        "Only as long as $n$ is smaller than $2 d$, with two $d$ × $d$ products at each step of the recurrent layer.",
        "cost",
    ),
    "convolution": Statement(
        "One convolution of width 3 lets every position depend on every other of a long sequence.",
        False,
        "It reaches three neighbouring positions; further ones need more layers, or dilation.",
        "One such layer reaches three neighbouring positions; a stack of them reaches further.",
        "convolution",
    ),
    "convolution parallel": Statement(
        "The outputs of a convolutional layer can be worked out at the same time for all positions.",
        True,
        "None of them is an input of another.",
        topic="convolution",
    ),
    "dilated": Statement(
        "With dilations 1, $k$, $k^2$, …, the number of causal convolutions needed to reach a distance grows like its "
        "logarithm.",
        True,
        "$L$ layers of width $k$ see $k^L$ positions.",
        topic="dilated",
    ),
    "lost": Statement(
        "A recurrent layer keeps the states of all positions, and each step reads all of them.",
        False,
        "A step reads the state before it and the input; earlier inputs reach it only through that state.",
        "Each step reads only the state before it and its own input.",
        "memory",
    ),
    "cache": Statement(
        "When a Transformer generates text with cached keys and values, the cache grows with every token.",
        True,
        "Every token adds a key and a value in every layer.",
        topic="memory",
    ),
    "constant state": Statement(
        "When a recurrent network generates text, the state that it carries along grows with every token.",
        False,
        "The hidden state has the same width at every step.",
        "The state has a fixed size, however long the text is.",
        "state",
    ),
    "multihead": Statement(
        "The heads of multi-head attention must be worked out one after the other.",
        False,
        "No head reads the result of another; they meet only where they are put side by side.",
        "All heads of a layer can be worked out at the same time.",
        "heads",
    ),
    "multihead parallel": Statement(
        "The heads of a layer of multi-head attention can be worked out at the same time.",
        True,
        "No head reads the result of another.",
        topic="heads",
    ),
    "layers": Statement(
        "All layers of a Transformer can be worked out at the same time, since it has no recurrence.",
        False,
        "Each layer reads the output of the layer below it.",
        "Positions are independent within a layer; the layers follow one another.",
        "layers",
    ),
    "layers wait": Statement(
        "The second layer of a Transformer has to wait for the first one.",
        True,
        "Its inputs are the first layer's outputs.",
        topic="layers",
    ),
}

# ------------------------------------------------------------------------------------------------ counting


def attention_products(n: int, d: int) -> int:
    """Multiply-adds of Q, K and V: three n × d times d × d."""
    return 3 * n * d * d


def attention_pairs(n: int, d: int) -> int:
    """Multiply-adds of the scores, n × d times d × n, and of the weighted values, n × n times n × d."""
    return 2 * n * n * d


def recurrent_operations(n: int, d: int) -> int:
    """Multiply-adds of h_t = f(W x_t + U h_{t−1}) at n positions: two d × d products at each."""
    return 2 * n * d * d


def convolution_operations(n: int, d: int, k: int) -> int:
    """Multiply-adds of a convolution of width k: at each position k products with a d × d matrix."""
    return k * n * d * d


def stacked_layers(distance: int, k: int) -> int:
    """Causal convolutions of width k, one on another, to reach back `distance` positions: each reaches k − 1."""
    return -(-distance // (k - 1))


def dilated_layers(distance: int, k: int) -> int:
    """The same with dilations 1, k, k², …: L layers see k^L positions, which are distances 0 to k^L − 1."""
    return next(layers for layers in count() if k**layers > distance)


# ------------------------------------------------------------------------------------------------ derivations


@lru_cache(maxsize=32)
def attention_layer(n: int, d: int, by: str = "matrix") -> Derivation:
    """Self-attention over n tokens of width d, in shapes alone; its scores are scaled."""
    weights = {name: Outline((d, d)) for name in ("W_Q", "W_K", "W_V")}
    return mechanism("self_attention").run({"X": Outline((n, d)), **weights}, Settings.read({"by": by}))


@lru_cache(maxsize=32)
def recurrent_layer(n: int, d: int, by: str = "matrix") -> Derivation:
    """A recurrent layer over n tokens of width d, from a state that is given, in shapes alone."""
    weights = {name: Outline((d, d)) for name in ("W_x", "W_h")}
    givens = {"X": Outline((n, d)), **weights, "H_0": Outline((1, d))}
    return mechanism("recurrent_network").run(givens, Settings.read({"by": by, "function": "tanh"}))


@dataclass(frozen=True)
class Work:
    """Steps of a layer of three positions that may or may not be done at the same time, and why."""

    text: str
    layer: str
    steps: tuple[str, ...]
    why: str

    @property
    def parallel(self) -> bool:
        """Whether none of them waits for another: told by the derivation."""
        layer = attention_layer if self.layer == "attention" else recurrent_layer
        return independent(layer(3, 2, "token" if "." in self.steps[0] else "matrix"), self.steps)


def _each(*stems: str) -> tuple[str, ...]:
    return tuple(f"{stem}.{t}" for stem in stems for t in (1, 2, 3))


WORK: Mapping[str, Work] = {
    "projections": Work(
        "self-attention: the products that give $Q$, $K$ and $V$",
        "attention",
        ("Q", "K", "V"),
        "All three read $X$ and weights only.",
    ),
    "scores": Work(
        "self-attention: the scores of all queries",
        "attention",
        _each("S"),
        "The scores of one query need no scores of another.",
    ),
    "softmaxes": Work(
        "self-attention: the softmax of all rows",
        "attention",
        _each("A"),
        "Every row has a sum of its own.",
    ),
    "outputs": Work(
        "self-attention: the outputs of all tokens",
        "attention",
        _each("Z"),
        "No output is read by another one of the same layer.",
    ),
    "scores and weights": Work(
        "self-attention: the scores of a token and its weights",
        "attention",
        ("S.1", "A.1"),
        "The weights are made of the scores.",
    ),
    "weights and output": Work(
        "self-attention: the weights of a token and its output",
        "attention",
        ("A.2", "Z.2"),
        "The values are multiplied by the weights.",
    ),
    "inputs": Work(
        "recurrent layer: the products $W x_t$ of all positions",
        "recurrent",
        _each("H_x"),
        "They read inputs only, and no state.",
    ),
    "input and state": Work(
        "recurrent layer: $W x_t$ and $U h_{t-1}$ of the same position",
        "recurrent",
        ("H_x.2", "H_h.2"),
        "Neither needs the other; they are added afterwards.",
    ),
    "recurrences": Work(
        "recurrent layer: the products $U h_{t-1}$ of all positions",
        "recurrent",
        _each("H_h"),
        "$h_{t-1}$ is there only when the product before it is.",
    ),
    "states": Work(
        "recurrent layer: the states $h_t$ of all positions",
        "recurrent",
        _each("H"),
        "Each state is made of the one before it.",
    ),
    "product and function": Work(
        "recurrent layer: $U h_{t-1}$ and $f$ of the same position",
        "recurrent",
        ("H_h.2", "H.2"),
        "$f$ is applied to a sum that has the product in it.",
    ),
}

# ------------------------------------------------------------------------------------------------ drawing

SIZES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "starter": ((4, 5, 6, 7, 8, 9), (2, 3, 4, 5)),
    "standard": ((10, 12, 15, 20, 25, 30, 40, 50), (4, 6, 8, 10, 16, 20, 32)),
    "long": ((50, 64, 80, 100, 128, 200, 250), (16, 32, 48, 64, 100, 128)),
}
"""Numbers of tokens, and widths."""
WIDTHS = (24, 36, 40, 48, 56, 60, 64, 72, 80, 96, 100, 112, 120, 128, 144, 160, 192, 200, 256, 300, 320, 384, 512)
CLAIMS: Mapping[str, int] = {"starter": 4, "standard": 6, "long": 8}
"""Statements to judge; half of them are true."""


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    if spec.sizes or spec.given:
        raise InputError(f"The problem type {spec.type} draws its own sizes; leave sizes and given out.")
    tokens, widths = SIZES[spec.level]
    n = pick(rng, tokens)
    d = pick(rng, [width for width in widths if width != n])
    first = whole(rng, 1, max(1, n // 4))
    return {
        "type": spec.type,
        "n": n,
        "d": d,
        "k": pick(rng, [k for k in (2, 3, 4, 5, 7) if k not in (n, d)]),
        "from": first,
        "to": whole(rng, first + max(2, n // 2), n),
        "wide": pick(rng, [width for width in WIDTHS if width != d]),
        "statements": cast("list[Json]", _statements(CLAIMS[spec.level] // 2, rng)),
        "parallel": cast("list[Json]", _works(rng)),
        "through": whole(rng, 4, 9),
        "slope": pick(rng, ("2", "3", "3/2", "4")),
    }


def _works(rng: random.Random) -> list[str]:
    """Three pieces of work that can be done at once and three that cannot, in random order."""
    sorts = [[name for name, work in WORK.items() if work.parallel == parallel] for parallel in (True, False)]
    return shuffled(rng, [name for names in sorts for name in sample(rng, names, 3)])


def _statements(each: int, rng: random.Random) -> list[str]:
    """So many true claims and so many false ones, on different topics, in random order."""
    chosen: list[str] = []
    topics: set[str] = set()
    wanted = {True: each, False: each}
    for name in shuffled(rng, list(STATEMENTS)):
        claim = STATEMENTS[name]
        if wanted[claim.true] and (not claim.topic or claim.topic not in topics):
            wanted[claim.true] -= 1
            topics.add(claim.topic)
            chosen.append(name)
    return chosen


# ------------------------------------------------------------------------------------------------ the question


def make(content: Content) -> Question:
    parts = [_cost(content), _steps(content)]
    if "parallel" in content:
        parts += [_chains(content), _parallel(content)]
    parts += [_paths(content), _overtaking(content)]
    if "through" in content:
        parts.append(_gradients(content))
    parts += _claims(content)
    names = _names(content)
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        introduction=(
            Paragraph(
                (Words("Three kinds of layer read the same sequence. Give exact numbers, not orders of growth."),)
            ),
        ),
        given=(
            Paragraph(_math(f"A sequence of $n = {_n(content, 'n')}$ tokens, every vector of width $d = D$:", content)),
            ItemList(
                (
                    _math("self-attention with one head, no mask, $d_k = d_v = d$, and no output matrix;", content),
                    _math("a recurrent layer $h_t = f(W x_t + U h_{t-1})$, with $W$ and $U$ of size $d$×$d$;", content),
                    _math(
                        f"a causal convolution of width $k = {_n(content, 'k')}$: output $t$ is the sum of $k$ "
                        "products of a $d$×$d$ matrix with one of the inputs $t - k + 1$ to $t$; where there is no "
                        "input, zeros are put in and multiplied as well.",
                        content,
                    ),
                )
            ),
        ),
        parts=tuple(parts),
        content=content,
        conventions=(
            _math("A multiply-add is one operation; softmax, scaling, biases and $f$ are not counted.", content),
            (
                Words(
                    "Sequential steps: the fewest steps in which a layer can be worked out, when all positions that do "
                    "not wait for one another are done in one step."
                ),
            ),
        ),
        features={"load": float(8 + len(names)), "true": float(sum(STATEMENTS[name].true for name in names))},
        positions={"true": "".join("TF"[not STATEMENTS[name].true] for name in names)},
    )


def _n(content: Content, name: str) -> int:
    return cast(int, content[name])


def _names(content: Content) -> list[str]:
    return cast("list[str]", content["statements"])


def _math(text: str, content: Content) -> Inlines:
    """Text with formulas between dollar signs, in which D is the number d."""
    pieces = text.split("$")
    return tuple(
        Math(read_formula(piece.replace("D", str(_n(content, "d"))))) if k % 2 else Words(piece)
        for k, piece in enumerate(pieces)
        if piece
    )


def _table(
    header: tuple[str, str], lines: Sequence[tuple[str, str, int | Fraction]], content: Content
) -> tuple[Table, Table]:
    """A table to fill in, and the same filled in: (what, how it is counted, number)."""
    heads = tuple((Words(text),) for text in header)
    blank: Inlines = (Math(Blank("exponential")),)
    asked = tuple((_math(what, content), blank) for what, _, _ in lines)
    solved = tuple((_math(what, content), (*_math(how, content), Strong(str(value)))) for what, how, value in lines)
    return Table(heads, asked, row_heads=True), Table(heads, solved, row_heads=True)


def _tabled(
    name: str,
    title: str,
    asked: str,
    header: tuple[str, str],
    lines: Sequence[tuple[str, str, int | Fraction]],
    marks: tuple[Mark, ...],
    content: Content,
) -> Part:
    blank, solved = _table(header, lines, content)
    return Part(
        name=name,
        title=(Words(title),),
        ask=(Paragraph(_math(asked, content)), blank),
        key=(solved,),
        answer=MatrixAnswer(Matrix([[value] for _, _, value in lines])),
        marks=marks,
    )


def _cost(content: Content) -> Part:
    n, d, k = (_n(content, name) for name in "ndk")
    lines = [
        ("Self-attention: $Q$, $K$ and $V$", f"3·{n}·{d}·{d} = ", attention_products(n, d)),
        ("Self-attention: scores and weighted values", f"2·{n}·{n}·{d} = ", attention_pairs(n, d)),
        ("Recurrent layer", f"{n}·2·{d}·{d} = ", recurrent_operations(n, d)),
        ("Convolution", f"{n}·{k}·{d}·{d} = ", convolution_operations(n, d, k)),
    ]
    asked = "How many multiply-adds does each layer take for the whole sequence?"
    marks = (Mark("M", 1), Mark("A", 2, "all four; A1 for three", Lesser(Fraction(3, 4))))
    return _tabled("cost", "Operations", asked, ("Layer", "Multiply-adds"), lines, marks, content)


def _steps(content: Content) -> Part:
    n = _n(content, "n")
    lines = [
        ("Self-attention", "no output waits for another: ", 1),
        ("Recurrent layer", "each state waits for the one before it: ", n),
        ("Convolution", "no output waits for another: ", 1),
    ]
    asked = "How many sequential steps does each layer need?"
    return _tabled("steps", "Sequential steps", asked, ("Layer", "Sequential steps"), lines, (Mark("B", 1),), content)


def _chains(content: Content) -> Part:
    n, d = _n(content, "n"), _n(content, "d")
    lines = []
    for tokens in (n, 2 * n):
        names = ", ".join(f"${step.name}$" for step in chain(attention_layer(tokens, d)))
        lines.append((f"Self-attention, {tokens} tokens", f"{names}: ", depth(attention_layer(tokens, d))))
    for tokens in (n, 2 * n):
        how = f"$U h_{{t-1}}$, the sum and $f$ at each position; $W x_t$ is done meanwhile: 3·{tokens} = "
        lines.append((f"Recurrent layer, {tokens} tokens", how, depth(recurrent_layer(tokens, d))))
    asked = (
        "Now finer: a product with a matrix (of one row or of all), a sum, a scaling, a softmax and $f$ are a step "
        "each. A step can start when all that it reads is there, and any number of steps can run at once. How many "
        "steps has the longest chain of steps that wait for one another? (Self-attention scales its scores; $h_0$ is "
        "given.)"
    )
    marks = (Mark("M", 1), Mark("A", 1, "all four"))
    return _tabled("chains", "Longest chain", asked, ("Layer", "Steps in a chain"), lines, marks, content)


def _parallel(content: Content) -> Part:
    works = [WORK[name] for name in cast("list[str]", content["parallel"])]
    items = tuple(_math(work.text, content) for work in works)
    right = frozenset(k for k, work in enumerate(works) if work.parallel)
    reasons = tuple((Strong(f"{LETTERS[k]} "), *_math(work.why, content)) for k, work in enumerate(works))
    return Part(
        name="parallel",
        title=(Words("At the same time"),),
        ask=(
            Paragraph((Words("Tick everything that can be done at the same time, and nothing else."),)),
            Choices(items, several=True),
        ),
        key=(Choices(items, several=True, ticked=right), ItemList(reasons)),
        answer=ChoiceAnswer(tuple(Option(item, k in right) for k, item in enumerate(items)), several=True),
        marks=(Mark("B", 2, "one less for every wrong tick or missing one", OneLess()),),
    )


def _gradients(content: Content) -> Part:
    steps, large = _n(content, "through"), Fraction(str(content["slope"]))
    lines = [
        (f"$w = {w}$", f"${_base(w)}^{steps}$, which {what}: ", w**steps)
        for w, what in ((1 / large, "vanishes"), (Fraction(1), "stays"), (large, "explodes"))
    ]
    asked = (
        "A recurrent layer of width 1 without a function, $h_t = w h_{t-1} + x_t$. What is the derivative of "
        f"$h_{steps}$ by $h_0$?"
    )
    part = _tabled(
        "gradients", "Gradients through time", asked, ("Weight", "Derivative"), lines, (Mark("B", 1),), content
    )
    said = (
        "Every step multiplies by $w$. With a function $f$ it multiplies by $w$ times a slope of $f$, which for tanh "
        "and ReLU is at most 1: gradients vanish more easily then. So a recurrent network is not numerically unstable "
        "as such: it depends on its weights."
    )
    return replace(part, key=(*part.key, Paragraph(_math(said, content))))


def _base(w: Fraction) -> str:
    return f"({w})" if w.denominator > 1 else str(w)


def _paths(content: Content) -> Part:
    first, last, k = (_n(content, name) for name in ("from", "to", "k"))
    distance = last - first
    dilated = dilated_layers(distance, k)
    reach = f"{k}^{dilated} - 1 = {k**dilated - 1} ≥ {distance} > {k}^{dilated - 1} - 1 = {k ** (dilated - 1) - 1}"
    lines = [
        ("Self-attention layers", "every query meets every key: ", 1),
        ("Steps from state to state in one recurrent layer", f"{last} − {first} = ", distance),
        (
            f"Convolutions of width {k}, one on another",
            f"each reaches {k - 1} back; {distance}/{k - 1}, rounded up: ",
            stacked_layers(distance, k),
        ),
        (
            f"Such convolutions with dilations 1, {k}, {k * k}, …",
            f"$L$ of them reach ${k}^L - 1$ back, ${reach}$: ",
            dilated,
        ),
    ]
    asked = (
        f"Information must travel from input {first} to output {last}. Through how many of these does it have to pass, "
        "at least? (With dilation $a$, the inputs of a convolution are $a$ positions apart.)"
    )
    marks = (Mark("B", 1, "self-attention and recurrence"), Mark("B", 1, "both convolutions"))
    return _tabled("paths", "Distance", asked, ("What is passed", "How many"), lines, marks, content)


def _overtaking(content: Content) -> Part:
    d, k = _n(content, "wide"), _n(content, "k")
    n = k * d // 2 + 1  # the first whole number above k·d/2
    return Part(
        name="overtaking",
        title=(Words("When the scores cost more"),),
        ask=(
            Paragraph(
                _math(
                    f"Now $d = {d}$. From how many tokens on do the scores and weighted values of self-attention take "
                    "more multiply-adds than the convolution? Give the smallest $n$.",
                    content,
                )
            ),
            WorkingSpace(24),
            FillIns((FillIn(_math("$n$ =", content), 30),)),
        ),
        key=(
            Paragraph(
                _math(
                    f"$2 n^2 d > {k} n d^2$ means $n > frac({k} d, 2) = {Fraction(k * d, 2)}$; the smallest whole "
                    f"number above that is {n}.",
                    content,
                )
            ),
        ),
        answer=FormulaAnswer(n),
        marks=(Mark("M", 1), Mark("A", 1)),
    )


def _claims(content: Content) -> tuple[Part, Part]:
    claims = [STATEMENTS[name] for name in _names(content)]
    items = tuple(_math(claim.text, content) for claim in claims)
    true = frozenset(i for i, claim in enumerate(claims) if claim.true)
    reasons = tuple(
        (Strong(f"{LETTERS[i]}: {'true' if claim.true else 'false'}. "), *_math(claim.why, content))
        for i, claim in enumerate(claims)
    )
    false = [(LETTERS[i], claim) for i, claim in enumerate(claims) if not claim.true]
    points = tuple(_math(f"{letter}: {claim.correction}", content) for letter, claim in false)
    judged = Part(
        name="claims",
        title=(Words("True or false"),),
        ask=(Paragraph((Words("Tick every statement that is true, and no other."),)), Choices(items, several=True)),
        key=(Choices(items, several=True, ticked=true), ItemList(reasons)),
        answer=ChoiceAnswer(tuple(Option(item, i in true) for i, item in enumerate(items)), several=True),
        marks=(Mark("B", 2, "one less for every wrong tick or missing one", OneLess()),),
    )
    corrected = Part(
        name="corrections",
        title=(Words("Put right"),),
        ask=(
            Paragraph((Words("Write each false statement so that it is true. Give its letter first."),)),
            WorkingSpace(16 * max(3, len(false)), ruled=True),
        ),
        key=(
            Paragraph((Words("Any true sentence on the same matter that is not a mere denial; for example:"),)),
            ItemList(points),
        ),
        answer=RubricAnswer(points),
        marks=(Mark("B", len(false), "one for each"),),
    )
    return judged, corrected


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Counts by loops over positions, and distances by walking through the layers."""
    content = question.content
    n, d, k = (_n(content, name) for name in "ndk")
    answers = {part.name: part.answer for part in question.parts}
    distance = _n(content, "to") - _n(content, "from")
    walked = [
        1,
        sum(1 for _ in range(_n(content, "from"), _n(content, "to"))),
        _walk(distance, k, dilated=False),
        _walk(distance, k, dilated=True),
    ]
    per_token = d * d
    counted = [
        sum(per_token for _ in range(n) for _ in "QKV"),
        sum(2 * d for _ in range(n) for _ in range(n)),
        sum(per_token for _ in range(n) for _ in "WU"),
        sum(per_token for _ in range(n) for _ in range(k)),
    ]
    wide = _n(content, "wide")
    first = next(n for n in count(1) if 2 * n * n * wide > k * n * wide * wide)
    if answers["overtaking"] != FormulaAnswer(first):
        raise SelfCheckError(f"The key of overtaking says {answers['overtaking']}; a search finds {first}.")
    products = [multiply_adds(attention_layer(n, d)), multiply_adds(recurrent_layer(n, d))]
    if products != [counted[0] + counted[1], counted[2]]:
        raise SelfCheckError(f"The layers take {products} multiply-adds; counted position by position: {counted}.")
    checked = [("cost", counted), ("paths", walked)]
    if "parallel" in content:
        checked.append(("chains", [_projected(), _projected(), _unrolled(n), _unrolled(2 * n)]))
    for name, again in checked:
        answer = answers[name]
        assert isinstance(answer, MatrixAnswer)
        if list(answer.value) != again:
            raise SelfCheckError(f"The key of {name} says {list(answer.value)}; counted again it is {again}.")


def _projected() -> int:
    """When the outputs of self-attention are there, if every step takes 1: for all tokens at the same time."""
    queries = keys = values = 1
    scores = max(queries, keys) + 1
    weights = scores + 1 + 1  # scaled, then the softmax
    return max(weights, values) + 1


def _unrolled(n: int) -> int:
    """When the last state of a recurrent layer is there."""
    inputs, state = 1, 0
    for _ in range(n):
        total = max(inputs, state + 1) + 1
        state = total + 1
    return state


def _walk(distance: int, k: int, dilated: bool) -> int:
    """Layers until a position so far back is reached, spreading layer by layer from the last position."""
    reached, layers = {0}, 0
    while distance not in reached:
        step = k**layers if dilated else 1
        reached = {back + step * a for back in reached for a in range(k) if back + step * a <= distance}
        layers += 1
    return layers


TYPE = ProblemType(name="recurrence", title="Attention beside recurrence", draw=draw, make=make, prove=prove)
