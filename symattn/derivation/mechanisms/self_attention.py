"""Self-attention with projections: Vaswani et al. 2017, section 3.2.1."""

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.settings import BY_TOKEN, SCORES, Settings, Sizes
from symattn.derivation.mechanisms.steps import BIASES, PROJECTIONS, attend, project


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    for role in settings.order:
        d = project(d, role, settings)
    return attend(d, settings, sizes)


MECHANISM = Mechanism(
    name="self_attention",
    title="Self-attention",
    givens={"X": ("n", "d_model"), **PROJECTIONS},
    optional={**BIASES, "B": ("n", "n")},
    uses=SCORES | BY_TOKEN,
    is_attention=True,
    derive=derive,
)
