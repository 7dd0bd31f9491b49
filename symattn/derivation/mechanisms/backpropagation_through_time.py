"""A recurrent network unrolled, and back through time (Werbos 1990; Goodfellow et al. 2016, section 10.2.2).

The gradient with respect to the states, or to the outputs where there are any, is given.  Every state but the last gets
a gradient from its own place and one from the state after it, and W_h one from every position.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import recurrent_network
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.descent import GRADIENTS
from symattn.derivation.mechanisms.drawing import (
    LARGEST_SHOWN,
    MOST_TRIES,
    Rows,
    entries,
    first_success,
    numbers,
    product,
)
from symattn.derivation.mechanisms.feed_forward_gradient import complaint as no_kink
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.derivation.ops.linear import Multiple
from symattn.errors import InputError
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    of = "Y" if "W_y" in d.givens else "H"
    if [name for name in ("dH", "dY") if name in d.givens] != [f"d{of}"]:
        raise InputError(f"The loss is that of {of} here, so that d{of} must be given, and no other gradient.")
    d = backward(recurrent_network.derive(d, settings, sizes), of)
    if "dW_h" not in d:  # a single position with nothing before it: whatever W_h is, the states are the same
        d = d.then("dW_h", Multiple(0), "W_h", section=GRADIENTS)
    return d


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Small whole numbers; no bias, and the first state is that of the first input alone.  With ReLU no state is 0."""
    n, d_model, d_h = numbers(sizes, "n", "d_model", "d_h")
    shapes = {"X": (n, d_model), "W_x": (d_model, d_h), "W_h": (d_h, d_h), "dH": (n, d_h)}

    def drawn() -> Givens | None:
        given = {name: entries(*shape, rng) for name, shape in shapes.items()}
        if settings.function == "relu" and not _goes_on(given):
            return None
        return {name: Matrix(rows) for name, rows in given.items()}

    return first_success(drawn, "states other than 0", MOST_TRIES)


def _goes_on(given: Mapping[str, Rows]) -> bool:
    """Whether states are neither 0 nor large nor like the one before, and nothing is 0 before ReLU."""
    state = [0] * len(given["W_h"])
    for own in product(given["X"], given["W_x"]):
        earlier, (before,) = state, product([state], given["W_h"])
        sums = [x + y for x, y in zip(own, before, strict=True)]
        state = [max(0, x) for x in sums]
        if state == earlier or not any(state) or not all(sums) or max(map(abs, (*before, *sums))) > LARGEST_SHOWN:
            return False
    return True


def complaint(d: Derivation) -> str:
    """States that say nothing, or a 0 before ReLU."""
    return recurrent_network.complaint(d) or no_kink(d)


MECHANISM = Mechanism(
    name="backpropagation_through_time",
    title="A recurrent network and its gradients through time",
    givens={"X": ("n", "d_model"), "W_x": ("d_model", "d_h"), "W_h": ("d_h", "d_h")},
    optional={
        "b": ("1", "d_h"),
        "H_0": ("1", "d_h"),
        "W_y": ("d_h", "d_out"),
        "c": ("1", "d_out"),
        "dH": ("n", "d_h"),
        "dY": ("n", "d_out"),
    },
    usual=("dH",),
    uses=frozenset({"function"}) | DESCENT,
    default_sizes={"n": 3, "d_model": 2, "d_h": 2},
    derive=derive,
    draw=draw,
    complaint=complaint,
)
