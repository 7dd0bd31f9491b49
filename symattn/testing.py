"""For courses in which students write attention themselves: one call that tries an implementation on cases that tell.

    from symattn.testing import assert_attention

    def test_attention():
        assert_attention(student.attention, library="torch", mask="keep")

It works under pytest, in notebooks and under nbgrader: what fails is an `AssertionError` that says which step departs
first, and by which misconception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from symattn.api import Solution, derive
from symattn.errors import InputError, offered
from symattn.marking.implementations.comparison import judged
from symattn.marking.implementations.report import Comparison
from symattn.marking.implementations.running import (
    Array,
    Call,
    Library,
    Outcome,
    Runner,
    array,
    checked,
    dtype_of,
    running,
)

MaskStyle = Literal["", "keep", "hide", "additive"]
Rows = Sequence[Sequence[int]]

CAUSAL = ((1, 0, 0), (1, 1, 0), (1, 1, 1))
PADDING = ((1, 1, 1, 0), (1, 1, 1, 0), (1, 1, 1, 0))
SCATTERED = ((1, 0, 1, 0), (0, 1, 1, 1), (1, 1, 0, 1))


@dataclass(frozen=True)
class Case:
    """One call: what it is called in a failure, queries, keys and values, and what may be seen."""

    name: str
    queries: Rows
    keys: Rows
    values: Rows
    keep: Rows = ()

    @property
    def matrices(self) -> dict[str, Rows]:
        return {"Q": self.queries, "K": self.keys, "V": self.values}

    @property
    def shapes(self) -> Sequence[tuple[int, int]]:
        """Those of scores and weights, and of the output."""
        return (len(self.queries), len(self.keys)), (len(self.queries), len(self.values[0]))

    def solution(self) -> Solution:
        """The exact derivation."""
        setting: dict[str, Any] = {"mask": self.keep} if self.keep else {}
        return derive("attention", Q=self.queries, K=self.keys, V=self.values, **setting)


QUERIES = ((1, 0, 2, -1), (0, 1, -1, 2), (2, 1, 0, 0))
KEYS = ((1, 2, 0, 1), (0, -1, 1, 1), (2, 0, 1, -2), (-1, 1, 0, 2))
VALUES = ((3, -1), (0, 2), (-2, 1), (1, 4))

CASES = (
    Case("3 tokens", QUERIES, KEYS[:3], VALUES[:3]),
    Case("3 queries, 4 keys", QUERIES, KEYS, VALUES),
    Case("1 query, 2 keys", QUERIES[:1], KEYS[:2], VALUES[:2]),
    Case("1 token", QUERIES[:1], KEYS[:1], VALUES[:1]),
)
MASKED = (
    Case("a causal mask", QUERIES, KEYS[:3], VALUES[:3], CAUSAL),
    Case("a mask that hides the last key", QUERIES, KEYS, VALUES, PADDING),
    Case("a mask with holes", QUERIES, KEYS, VALUES, SCATTERED),
)
CALLED = {"Q": "queries", "K": "keys", "V": "values", "mask": "mask"}
LARGE = Case("scores of 900", tuple(tuple(300 * x for x in row) for row in QUERIES), KEYS, VALUES)


def assert_attention(
    attention: Callable[..., Any] | str | Path,
    *,
    library: Library = "numpy",
    precision: str = "",
    dtype: str = "",
    mask: MaskStyle = "",
    batch: int = 0,
    stable: bool = False,
    trusted: bool = False,
    time_limit: float = 10,
) -> None:
    """Try `attention(q, k, v)`, or `attention(q, k, v, mask)`, on cases that tell misconceptions apart.

    Scaled dot-product attention, softmax(QKᵀ/√d_k)V (Vaswani et al. 2017, section 3.2.1), with q n × d_k, k m × d_k and
    v m × d_v, arrays of the `library` (numpy, torch; python for nested lists).  They are given by name where the
    parameters have these names (q, query, queries …), whatever their order, else in this one.  It returns the output, a
    tuple or a list with the output first, or a dict of steps (Z is the output).

    Arrays have a `dtype` (float64, for torch float32), and results have to be as near as a program comes that works in
    a `precision`: float32 unless another is stated, which is then the dtype as well (tf32 has float32).

    `mask` says what a mask, n × m also for a batch, is to the function: "keep" (True where a key may be seen, as in
    PyTorch's scaled_dot_product_attention), "hide" (True where it may not, as in its MultiheadAttention) or "additive"
    (0 and −∞, added to the scores); without it no masks are tried.  `batch` is how many dimensions stand before these
    two: 1 for a batch, 2 for a batch of heads; each sequence must come out as it does alone.  `stable` also tries
    scores of 900, whose powers are too large unless the greatest score is subtracted first.

    The program runs apart from this process: a function in a forked child, a file or a module, named as
    "student.py:attention" or "package.module:attention", in a process of its own, which never holds an answer.  Only
    numbers come back.  Each call may take `time_limit` seconds of processor time, and ten times as many by the clock.
    A `trusted` one runs in this process; what it raises is not caught, and has the case added.

    `AssertionError` says on which case which step departs, and by which misconception, that the function changed what
    it was given, returned no array, raised an error, ended itself or did not end.  `InputError` for a setting that
    there is not, and for a function where the system cannot fork.

    >>> import numpy as np
    >>> def attention(q, k, v):
    ...     weights = np.exp(q @ k.T / np.sqrt(k.shape[-1]))
    ...     return weights / weights.sum(axis=-1, keepdims=True) @ v
    >>> assert_attention(attention)
    """
    if batch not in (0, 1, 2):
        raise InputError(f"batch is {batch!r}; 0, 1 or 2 dimensions were expected.")
    if mask not in get_args(MaskStyle):
        raise InputError(f"mask is {mask!r}; {offered(mask, get_args(MaskStyle), 'one of {} was expected')}")
    dtype = dtype or (dtype_of(precision) if precision else "float32" if library == "torch" else "float64")
    judge = _Judge(library, checked(precision or "float32"), checked(dtype), mask, batch)
    with running(attention, {}, trusted, time_limit) as run:
        for case in (*(MASKED if mask else ()), *CASES, *((LARGE,) if stable else ())):
            judge.alone(case, run)
        if batch:
            judge.together(MASKED[2] if mask else CASES[1], run)


@dataclass(frozen=True)
class _Judge:
    """How a function is called, and what it has to return."""

    library: Library
    precision: str
    dtype: str
    mask: MaskStyle
    batch: int

    def alone(self, case: Case, run: Runner) -> None:
        """One sequence."""
        given = {name: _within(_rows(rows), self.batch) for name, rows in case.matrices.items()}
        outcome = self._called(run, given, case, shapes=case.shapes)
        _demand_right(self._judged(case, outcome), case.name, outcome, given)

    def together(self, case: Case, run: Runner) -> None:
        """Sequences in a batch: others beside it may change nothing."""
        cases = [replace(case, queries=_shifted(case.queries, k), values=_shifted(case.values, k)) for k in range(4)]
        count = 2**self.batch
        stacks = {name: [_rows(one.matrices[name]) for one in cases[:count]] for name in "QKV"}
        given = {name: _split(stack, self.batch) for name, stack in stacks.items()}
        outcome = self._called(run, given, case, dimensions=2 + self.batch)
        if outcome.failure:
            _demand_right(self._judged(case, outcome), f"{case.name}, {count} in a batch", outcome, given)
        per_case = {step: _one_by_one(result, self.batch) for step, result in outcome.results.items()}
        for number, one in enumerate(cases[:count]):
            name = f"{case.name}, sequence {number + 1} of {count} in a batch"
            own = {step: results[number] for step, results in per_case.items()}
            _demand_right(self._judged(one, Outcome(own)), name, outcome, given)

    def _judged(self, case: Case, outcome: Outcome) -> Comparison:
        solution = case.solution()
        return judged(solution.derivation, solution.problem.notation, outcome, self.precision)

    def _called(self, run: Runner, given: Mapping[str, Any], case: Case, **how: Any) -> Outcome:
        """What the function returns; what it was given must be as it was."""
        given = {**given, **self._mask(case)}
        formats = {"mask": self.dtype if self.mask == "additive" else "bool"}
        try:
            outcome = run(Call(given, "Z", self.library, self.dtype, formats, **how))
        except Exception as error:
            error.add_note(f"This came up with {case.name}: {_shapes(given)}.")
            raise
        if outcome.failure is None:
            for name, one in given.items():
                same = name in outcome.after and outcome.after[name].nested == one
                _demand(same, f"With {case.name}: the function changed the {CALLED[name]} that it was given.")
            _demand(not outcome.nothing, f"With {case.name}: the function returned None.")
            for step, why in outcome.no_arrays.items():
                _demand(False, f"With {case.name}: what the function returned for {step} is no array. {why}")
        return outcome

    def _mask(self, case: Case) -> dict[str, object]:
        """The mask as the function wants it, if it wants one; where nothing is hidden, one that hides nothing."""
        if not self.mask:
            return {}
        keep = case.keep or tuple((1,) * len(case.keys) for _ in case.queries)
        if self.mask == "additive":
            return {"mask": [[0.0 if seen else -math.inf for seen in row] for row in keep]}
        return {"mask": [[bool(one) == (self.mask == "keep") for one in row] for row in keep]}


def _demand_right(comparison: Comparison, name: str, outcome: Outcome, given: Mapping[str, Any]) -> None:
    if outcome.failure is not None:
        name = f"{name} ({_shapes(given)})"
    _demand(comparison.right, f"With {name}:\n\n{comparison}")


def _shapes(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {'×'.join(map(str, array(one).shape))}" for name, one in given.items())


def _demand(held: bool, otherwise: str) -> None:
    """As `assert`, which Python drops under -O: there everybody would pass."""
    if not held:
        raise AssertionError(otherwise)


def _within(nested: list[Any], dimensions: int) -> list[Any]:
    """Nested lists in a batch of one, with `dimensions` dimensions."""
    for _ in range(dimensions):
        nested = [nested]
    return nested


def _split(stack: list[Any], dimensions: int) -> list[Any]:
    """As many matrices as there are in a batch of two, or of two by two."""
    return stack if dimensions < 2 else [stack[:2], stack[2:]]


def _one_by_one(result: Array, dimensions: int) -> list[Array]:
    """The results of the sequences of a batch, as they stand in its first dimensions."""
    _demand(len(result.shape) > dimensions, f"The function returned {len(result.shape)} dimensions for a batch.")
    if dimensions == 0:
        return [result]
    return [one for k in range(result.shape[0]) for one in _one_by_one(result[k], dimensions - 1)]


def _shifted(rows: Rows, by: int) -> Rows:
    return tuple(tuple(x + by * ((i + j) % 3 - 1) for j, x in enumerate(row)) for i, row in enumerate(rows))


def _rows(rows: Rows) -> list[list[float]]:
    return [list(map(float, row)) for row in rows]


__all__ = ["assert_attention"]
