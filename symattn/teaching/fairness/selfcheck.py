"""No key leaves without having been recomputed by a second route.

The first route is the derivation itself, in exact arithmetic, matrix by matrix.  The second one works the same steps
out in binary floating point by each operation's `witness`, which shares nothing with its rule, and attention besides
token by token, exactly.  They must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import compress

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.witnesses import as_floats, close
from symattn.errors import InputError, SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Outline, decide, exponential, has_symbols, is_symbolic, power
from symattn.exact.sums import total


def self_check(derivation: Derivation) -> None:
    """Raise `SelfCheckError` if the second route gives anything else.  Symbols and shapes alone are not checked."""
    for step in derivation:
        operands = [operand.of(derivation.seen(operand.name)) for operand in step.operands]
        if step.pinned or any(isinstance(m, Outline) or _has_symbols(m) for m in (*operands, step.result)):
            continue
        result = step.result
        assert isinstance(result, Matrix)
        with _said_of(step):
            floats = as_floats(result)
            again = step.op.confirmed(floats, *(as_floats(m) for m in operands if isinstance(m, Matrix)))
        if again is None:
            raise SelfCheckError(
                f"Step {step.name!r}: {type(step.op).__name__} has no second way to its numbers (its method "
                "`witness`), and no key is written that was worked out only once."
            )
        for i, (row, other) in enumerate(zip(floats, again, strict=True)):
            for j, (x, y) in enumerate(zip(row, other, strict=True)):
                if not close(x, y):
                    raise SelfCheckError(
                        f"Step {step.name!r}, entry ({i + 1}, {j + 1}): the key says {result[i, j]}, a second "
                        f"computation {y!r}. Nothing was written; please report this."
                    )
    _by_token(derivation)


@contextmanager
def _said_of(step: Step) -> Iterator[None]:
    """Numbers that no float is near to are told of with their step."""
    try:
        yield
    except OverflowError as error:
        raise InputError(
            f"Step {step.name!r} has numbers beyond 10^308, or closer to 0 than 10^-308, "
            "which cannot be computed a second time."
        ) from error
    except InputError as error:
        raise InputError(f"Step {step.name!r}: {error}") from error


def _by_token(d: Derivation) -> None:
    """Z once more, exactly, from the scores alone: z_ic · Σ_j e^s_ij = Σ_j e^s_ij v_jc, with no division and no A."""
    steps = {step.name for step in d}  # what is given is in d, too
    if not {"A", "Z"} <= steps or "A_rounded" in steps:
        return
    softmax, last = d["A"], d["Z"]
    if not isinstance(softmax.op, Softmax) or not isinstance(last.op, MatMul):
        return
    mixed_in = last.operands[1 if softmax.op.along == "rows" else 0]
    scores, values, output = d.seen(softmax.operands[0].name), mixed_in.of(d.seen(mixed_in.name)), last.result
    if not isinstance(scores, Matrix) or not isinstance(values, Matrix) or not isinstance(output, Matrix):
        return
    if any(map(is_symbolic, scores)) or _has_symbols(values):  # equality is seldom proved there, and long sought
        return
    if softmax.op.along == "columns":
        scores, values, output = scores.T, values.T, output.T
    base = softmax.op.base
    for i, row in enumerate(scores.rows):
        seen = [x is not NEGATIVE_INFINITY for x in row]
        powers = [exponential(x) if base == "e" else power(base, x) for x in compress(row, seen)]
        for c, column in enumerate(values.T.rows):
            mixed = total([p * v for p, v in zip(powers, compress(column, seen), strict=True)])
            if decide(mixed, output[i, c] * total(powers)).equal is False:
                raise SelfCheckError(f"Output ({i + 1}, {c + 1}) differs when it is worked out for its token alone.")


def _has_symbols(matrix: object) -> bool:
    return isinstance(matrix, Matrix) and any(map(has_symbols, matrix))
