"""The last step alone: weights given, values mixed (note 004's h_3 = 0.3 v_1 + 0.5 v_2 + 0.2 v_3)."""

from symattn.derivation.derivation import Derivation, row_of
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.settings import Settings, Sizes
from symattn.derivation.mechanisms.steps import gather, mix, mix_token
from symattn.errors import LetterError


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    if settings.by == "matrix":
        return mix(d, settings)
    n = sizes["n"]
    if not isinstance(n, int):
        raise LetterError("Token by token, the number of tokens must be a number.")
    for t in range(n):
        d = mix_token(d, settings, t, row_of("A", t))
    return gather(d, n)


MECHANISM = Mechanism(
    name="weighted_values",
    title="Given the weights: the weighted values",
    givens={"A": ("n", "m"), "V": ("m", "d_v")},
    uses=frozenset({"by"}),
    is_attention=True,
    derive=derive,
)
