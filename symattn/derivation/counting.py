"""How much a layer costs, counted and not quoted: weights, multiply-adds, scores, the cache of keys and values.

Every size may be a whole number or a SymPy symbol, so the same line gives a number or a polynomial.  A multiply-add is
one operation (two FLOPs): the product of an a × b and a b × c matrix takes a·b·c of them.

The second half counts in derivations: their multiply-adds, the longest chain of steps that wait for one another, and
how far apart two rows are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from symattn.derivation.algebra import MINUS_INFINITY, Entries, Index, size_in_sympy
from symattn.derivation.derivation import Derivation, Operand, Step, View
from symattn.derivation.ops.linear import MatMul
from symattn.errors import InputError, offered
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix
from symattn.formula import Formula, Name

Count = Any
"""An int, or a SymPy polynomial: what both have in common is + and ·."""


def product(a: Count, b: Count, c: Count) -> Count:
    """Multiply-adds of an a × b times a b × c matrix: b for each of the a·c entries."""
    return a * b * c


@dataclass(frozen=True)
class Attention:
    """Multi-head attention of n tokens of width d = h·width (Vaswani et al. 2017, section 3.2.2).

    `shared` is the number of key and value heads: h in multi-head attention, 1 in multi-query (Shazeer 2019), between
    them in grouped-query attention (Ainslie et al. 2023).  `memory` is the number of tokens that keys and values are
    made of, where they are not the n tokens themselves (cross-attention), and `memory_width` their width, where it is
    not d.  `value_width` is d_v, where it is not d_k, and `out` the width of the output, where it is not d.  Where
    values are made of something else than keys, `value_memory_width` is its width (PyTorch's kdim is `memory_width`,
    its vdim `value_memory_width`).  With no n, what depends on it is not asked for.
    """

    d: Count
    h: Count
    width: Count
    n: Count = 0
    shared: Count | None = None
    bias: bool = False
    output: bool = True
    memory: Count | None = None
    value_width: Count | None = None
    memory_width: Count | None = None
    out: Count | None = None
    value_memory_width: Count | None = None

    @property
    def keys(self) -> Count:
        """How many tokens have keys and values."""
        return self.n if self.memory is None else self.memory

    @property
    def groups(self) -> Count:
        """How many heads keys and values have."""
        return self.h if self.shared is None else self.shared

    @property
    def key_width(self) -> Count:
        """All keys of one token next to one another."""
        return self.groups * self.width

    @property
    def own_value_width(self) -> Count:
        """The width d_v of one head's values."""
        return self.width if self.value_width is None else self.value_width

    @property
    def projections(self) -> tuple[tuple[Count, Count], ...]:
        """The shapes of W_Q, W_K, W_V and, if there is one, W_O."""
        source = self.d if self.memory_width is None else self.memory_width
        value_source = source if self.value_memory_width is None else self.value_memory_width
        values = value_source, self.groups * self.own_value_width
        inward = (self.d, self.h * self.width), (source, self.key_width), values
        outward = (self.h * self.own_value_width, self.d if self.out is None else self.out)
        return (*inward, outward) if self.output else inward

    @property
    def parameters(self) -> Count:
        return sum(rows * columns + (columns if self.bias else 0) for rows, columns in self.projections)

    @property
    def projecting(self) -> Count:
        """Multiply-adds of all products with weights."""
        tokens = (self.n, self.keys, self.keys, self.n)
        shapes = zip(tokens, self.projections, strict=False)  # without W_O there are three
        return sum(product(n, rows, columns) for n, (rows, columns) in shapes)

    @property
    def scoring(self) -> Count:
        """Multiply-adds of Q Kᵀ, all heads together."""
        return self.h * product(self.n, self.width, self.keys)

    @property
    def mixing(self) -> Count:
        """Multiply-adds of A V, all heads together."""
        return self.h * product(self.n, self.keys, self.own_value_width)

    @property
    def operations(self) -> Count:
        return self.projecting + self.scoring + self.mixing

    @property
    def scores(self) -> Count:
        """Entries of the score matrices of all heads."""
        return self.h * self.n * self.keys

    def cache(self, layers: Count) -> Count:
        """Numbers kept for the keys and values of n tokens in all layers."""
        return layers * self.keys * self.groups * (self.width + self.own_value_width)


@dataclass(frozen=True)
class Linear:
    """A linear layer of n tokens: `inward` features to `outward`, perhaps with a bias."""

    inward: Count
    outward: Count
    n: Count = 0
    bias: bool = True

    @property
    def parameters(self) -> Count:
        return self.inward * self.outward + (self.outward if self.bias else 0)

    @property
    def operations(self) -> Count:
        return product(self.n, self.inward, self.outward)


@dataclass(frozen=True)
class Recurrent:
    """A recurrent layer h_t = f(x_t W_x + h_{t−1} W_h + b) of n tokens (Elman 1990), from `d` features to `hidden`.

    `gates` is how many such sums a state is made of: 1; 4 in an LSTM (Hochreiter and Schmidhuber 1997), 3 in a GRU
    (Cho et al. 2014).  `biases` is how many biases each sum has, where it has any: one, as in these papers, or two, one
    for each product, as in PyTorch.  The product with the first state counts, which is the product with 0 where there
    is none.
    """

    d: Count
    hidden: Count
    n: Count = 0
    bias: bool = True
    gates: Count = 1
    biases: Count = 1

    @property
    def parameters(self) -> Count:
        return self.gates * (self.d + self.hidden + (self.biases if self.bias else 0)) * self.hidden

    @property
    def operations(self) -> Count:
        return self.gates * (product(self.n, self.d, self.hidden) + product(self.n, self.hidden, self.hidden))


@dataclass(frozen=True)
class AdditiveScores:
    """Scores v · tanh(q W_1 + k W_2) of n queries and m keys, with `inner` hidden units (Bahdanau et al. 2015, A.1.2).

    Queries are `query` features wide and keys `key`; either may be projected once and used with all of the other.
    """

    query: Count
    key: Count
    inner: Count
    n: Count = 0
    m: Count = 0
    bias: bool = False

    @property
    def parameters(self) -> Count:
        return (self.query + self.key + 1 + (1 if self.bias else 0)) * self.inner

    @property
    def operations(self) -> Count:
        projected = product(self.n, self.query, self.inner) + product(self.m, self.key, self.inner)
        return projected + self.n * product(self.m, self.inner, 1)


@dataclass(frozen=True)
class FeedForward:
    """The feed-forward network of a block: d to `inner` and back (Vaswani et al. 2017, section 3.3).

    With `gated`, a third matrix makes a gate for the inner units (Shazeer 2020, "GLU Variants Improve Transformer").
    """

    d: Count
    inner: Count
    n: Count = 0
    bias: bool = True
    gated: bool = False

    @property
    def shapes(self) -> tuple[tuple[Count, Count], ...]:
        return (*((self.d, self.inner),) * (2 if self.gated else 1), (self.inner, self.d))

    @property
    def parameters(self) -> Count:
        return sum(rows * columns + (columns if self.bias else 0) for rows, columns in self.shapes)

    @property
    def operations(self) -> Count:
        return sum(product(self.n, rows, columns) for rows, columns in self.shapes)


@dataclass(frozen=True)
class Norm:
    """Layer norm has γ and β, d numbers each (Ba et al. 2016); RMS norm has γ alone (Zhang and Sennrich 2019)."""

    d: Count
    shift: bool = True

    @property
    def parameters(self) -> Count:
        return 2 * self.d if self.shift else self.d


@dataclass(frozen=True)
class Embedding:
    """A row for every word and, where positions are learned, for every position; the output layer back to words.

    Tied, the output layer has the same weights (Press and Wolf 2017): they are there once, and multiplied all the same.
    """

    words: Count
    d: Count
    positions: Count = 0
    tied: bool = True

    @property
    def parameters(self) -> Count:
        return self.words * self.d * (1 if self.tied else 2) + self.positions * self.d

    def operations(self, n: Count) -> Count:
        """Multiply-adds of the logits of n tokens; looking a row up takes none."""
        return product(n, self.d, self.words)


@dataclass(frozen=True)
class Block:
    """An encoder block (also what GPT is made of), or with `cross` a decoder block (Vaswani et al. 2017, section 3.1).

    Each part of it has a norm of its own.
    """

    attention: Attention
    feed_forward: FeedForward
    norm: Norm
    cross: Attention | None = None

    @property
    def parts(self) -> tuple[Attention | FeedForward, ...]:
        return (self.attention, *((self.cross,) if self.cross else ()), self.feed_forward)

    @property
    def parameters(self) -> Count:
        return sum(part.parameters + self.norm.parameters for part in self.parts)

    @property
    def operations(self) -> Count:
        return sum(part.operations for part in self.parts)


@dataclass(frozen=True)
class Model:
    """A language model like GPT: embeddings, `layers` blocks, perhaps a last norm, the output layer."""

    embedding: Embedding
    block: Block
    layers: Count
    last_norm: bool = True

    @property
    def parameters(self) -> Count:
        last = self.block.norm.parameters if self.last_norm else 0
        return self.embedding.parameters + self.layers * self.block.parameters + last

    @property
    def operations(self) -> Count:
        return self.layers * self.block.operations + self.embedding.operations(self.block.attention.n)

    @property
    def cache(self) -> Count:
        """Numbers kept for keys and values of n tokens."""
        return self.block.attention.cache(self.layers)


# ------------------------------------------------------------------------------------------ verbs

Layer = Attention | FeedForward | Norm | Embedding | Linear | Recurrent | AdditiveScores | Block | Model
"""Whatever has parameters."""


def sizes(names: str) -> tuple[Any, ...]:
    """Letters for sizes, as SymPy symbols that stand for positive integers.

    >>> n, d = sizes("n d")
    >>> formula(Attention(d, 1, d, n).operations)
    4*d**2*n + 2*d*n**2
    """
    import sympy

    return tuple(sympy.Symbol(name, integer=True, positive=True) for name in re.split(r"[,\s]+", names.strip()))


def formula(count: Count) -> Count:
    """A count multiplied out: a whole number as it is, a polynomial as a sum of its terms."""
    import sympy

    return sympy.expand(count) if isinstance(count, sympy.Basic) else count


def parameters(layer: Layer) -> Count:
    """How many numbers a layer has to learn.

    >>> parameters(Linear(512, 64)), parameters(Attention(512, 8, 64))
    (32832, 1048576)
    """
    return formula(layer.parameters)


def operations(layer: Layer, n: Count | None = None) -> Count:
    """The multiply-adds of all products of a layer; n is needed for an embedding alone, which has none of its own.

    `InputError` for a norm, which multiplies no matrices.

    >>> operations(FeedForward(512, 2048, n=10))
    20971520
    """
    if isinstance(layer, Norm):
        raise InputError("A norm has no products of matrices, whose multiply-adds are counted.")
    if isinstance(layer, Embedding):
        if n is None:
            raise InputError("The operations of an embedding are those of n tokens; n is missing.")
        return formula(layer.operations(n))
    return formula(layer.operations)


def cache(layer: Attention | Block | Model, layers: Count = 1) -> Count:
    """How many numbers are kept for the keys and values of n tokens in all layers; a model has its own number of them.

    `InputError` for what has no keys.

    >>> cache(Attention(4096, 32, 128, n=1024, shared=8), layers=32)
    67108864
    """
    if isinstance(layer, Model):
        if layers != 1:
            raise InputError(f"A model has its own number of layers, {layer.layers}; leave out layers={layers}.")
        return formula(layer.cache)
    if isinstance(layer, Block):
        layer = layer.attention
    if not isinstance(layer, Attention):
        raise InputError(
            f"{type(layer).__name__} has no keys and values to be kept; attention, a block or a model has."
        )
    return formula(layer.cache(layers))


def scores(layer: Attention) -> Count:
    """How many entries the score matrices of all heads have together.

    >>> scores(Attention(512, 8, 64, n=100))
    80000
    """
    return formula(layer.scores)


BYTES: Mapping[str, int] = MappingProxyType(
    {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "float8": 1}
)


def memory(numbers: Count, format: str = "float32") -> Count:
    """The bytes that a number of parameters, scores or cached numbers takes.

    >>> memory(Attention(4096, 32, 128, n=1024).cache(32), "float16")  # half a gigabyte
    536870912
    """
    if format not in BYTES:
        raise InputError(f"format is {format!r}; {offered(format, BYTES, 'one of {} was expected')}")
    return formula(BYTES[format] * numbers)


def training(numbers: Count, tokens: Count) -> Count:
    """6·N·D: the floating-point operations of training N parameters on D tokens (Kaplan et al. 2020, section 2.1).

    A multiply-add is two of them, and the way back takes twice as much as the way there.  Products of queries with keys
    and of weights with values are left out, which have no parameters.

    >>> training(175 * 10**9, 300 * 10**9)  # GPT-3, 3.15 · 10²³
    315000000000000000000000
    """
    return formula(6 * numbers * tokens)


# ------------------------------------------------------------------------------------------ counted in derivations


def multiply_adds(d: Derivation) -> Count:
    """Multiply-adds of all products of matrices, from their shapes; nothing else is counted.

    A polynomial where sizes are letters.  A derivation that weights the values token by token has no product there.
    """
    total: Count = 0
    for step in d:
        if isinstance(step.op, MatMul):
            (a, b), (_, c) = (matrix.shape for matrix in d.operands(step))
            total += product(*(size if isinstance(size, int) else size_in_sympy(size) for size in (a, b, c)))
    return formula(total)


def works(step: Step) -> bool:
    """Whether a step takes work, and not only puts what is there into another place."""
    return not (step.op.trivial or step.op.moves)


def chain(d: Derivation) -> tuple[Step, ...]:
    """A longest chain of steps each of which waits for the one before it.

    Its length is the depth (or span) of the derivation: the time that it takes when everything that does not wait is
    done at once (Blelloch 1996, "Programming Parallel Algorithms").
    """
    ending: dict[str, tuple[Step, ...]] = {}
    for step in d:
        before = max((ending.get(operand.name, ()) for operand in step.operands), key=len, default=())
        ending[step.name] = (*before, step) if works(step) else before
    return max(ending.values(), key=len, default=())


def depth(d: Derivation) -> int:
    """The length of the longest chain of steps that wait for one another."""
    return len(chain(d))


def independent(d: Derivation, names: Collection[str]) -> bool:
    """Whether all these steps can be done at the same time: none of them needs what another one gives."""
    return not any(d.before(d[name].name) & frozenset(names) for name in names)


UNREACHED = 10**9
FIXED = 2 * UNREACHED
"""Distances of what the start does not reach, and of what no given reaches: weights that a mask has made 0."""


def distance(d: Derivation, start: tuple[str, int], end: tuple[str, int]) -> int | None:
    """The fewest steps on a way from a row of a given to a row of a result; None where there is no way.

    Rows count from 0.  An entry is worked out from those that its `working` names.
    """
    name, row = start
    if name not in d.givens:
        raise InputError(f"{name!r} is not a given; {offered(name, d.givens, 'a way starts from one of {}')}")
    reached = {given: _filled(matrix, lambda i, j: UNREACHED) for given, matrix in d.givens.items()}
    reached[name] = _filled(d.givens[name], lambda i, j: 0 if i == row else UNREACHED)
    for step in d:
        reached[step.name] = _filled(step.result, partial(_away, d, step, reached))
    fewest = min(cast(tuple[int, ...], reached[end[0]].rows[end[1]]))
    return fewest if fewest < UNREACHED else None


def _filled(matrix: AnyMatrix, entry: Callable[[int, int], int]) -> Matrix:
    rows, columns = matrix.shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise InputError(f"A matrix is {rows}×{columns}; ways are followed through matrices with sizes in numbers.")
    return Matrix.of([entry(i, j) for j in range(columns)] for i in range(rows))


def _away(d: Derivation, step: Step, reached: dict[str, Matrix], i: int, j: int) -> int:
    """How many steps away entry (i, j) of a step is from the start."""
    if isinstance(step.result, Matrix) and step.result[i, j] is NEGATIVE_INFINITY:
        return FIXED
    read: list[int] = []
    views = [_recording(d, operand, reached[operand.name], read) for operand in step.operands]
    step.op.working(i, j, *views)
    if isinstance(step.op, MatMul):  # a product with a weight that is 0 for ever passes nothing on
        read = [way for pair in zip(read[::2], read[1::2], strict=True) if FIXED not in pair for way in pair]
    nearest = min(read, default=FIXED)
    return nearest + works(step) if nearest < UNREACHED else nearest


def _recording(d: Derivation, operand: Operand, reached: Matrix, read: list[int]) -> View:
    """An operand that takes down how far away the entries are that are asked for."""
    values, ways = d.operand(operand), operand.of(reached)

    def entry(i: Index, j: Index) -> Formula:
        assert isinstance(ways, Matrix)
        i, j = int(i), int(j)
        if isinstance(values, Matrix) and values[i, j] is NEGATIVE_INFINITY:
            return MINUS_INFINITY
        read.append(cast(int, ways[i, j]))
        return Name("x")

    return Entries(ways.shape, entry)
