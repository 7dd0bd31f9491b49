"""Self-attention with projections: Vaswani et al. 2017, section 3.2.1."""

from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.settings import BY_TOKEN, SCORES, Settings
from symattn.derivation.mechanisms.steps import attend, project
from symattn.exact import Size


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    for role in settings.order:
        d = project(d, role, settings)
    return attend(d, settings, sizes)


MECHANISM = Mechanism(
    name="self_attention",
    title="Self-attention",
    givens={
        "X": ("n", "d_model"),
        "W_Q": ("d_model", "d_k"),
        "W_K": ("d_model", "d_k"),
        "W_V": ("d_model", "d_v"),
    },
    optional={"b_Q": ("1", "d_k"), "b_K": ("1", "d_k"), "b_V": ("1", "d_v"), "B": ("n", "n")},
    uses=SCORES | BY_TOKEN,
    is_attention=True,
    derive=derive,
)
