"""What may be done to scores: temperature, soft cap, bias and other weights, exactly and as pages write it.

In floats they are tried by test_values.py, in letters by tests/test_letters.py."""

from fractions import Fraction

import oracles
import pytest
from printed_lines import is_written_out
from sentences import refused_saying
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.ops.scores import alibi_slope
from symattn.exact import decide, decimal_text
from symattn.page.writers import FORMATS

TABLES = tables_beside(__file__)

Q, K, V = [[1, 2], [0, 1], [2, -1]], [[1, 1], [2, 1], [1, 3]], [[1, 2], [0, 3], [4, -1]]


# ------------------------------------------------------------------------------------------ exactly


def test_the_slopes_of_alibi_are_those_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, …, 1/256; for 16 the same with their geometric means."""
    assert [alibi_slope(k, 8) for k in range(1, 9)] == [Fraction(1, 2**k) for k in range(1, 9)]
    sixteen = [alibi_slope(k, 16) for k in range(1, 17)]
    assert sixteen[1::2] == [Fraction(1, 2**k) for k in range(1, 9)]
    assert [decide(x * x, Fraction(1, 2**k)).equal for k, x in enumerate(sixteen, 1)] == [True] * 16
    half = Fraction(1, 2)
    assert [alibi_slope(k, 6) for k in range(1, 7)] == [half**2, half**4, half**6, half**8, half, half**3]


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 12, 31, 32])
def test_slopes_of_any_number_of_heads_differ(heads):
    """2^(−8k/h) in floats, where h is a power of two; elsewhere every second one of twice as many is put in."""
    lower = max(2**a for a in range(6) if 2**a <= heads)
    expected = [2 ** (-8 * k / lower) for k in range(1, lower + 1)]
    expected += [2 ** (-4 * k / lower) for k in range(1, 2 * lower, 2)][: heads - lower]
    found = [float(decimal_text(alibi_slope(k, heads), 12)) for k in range(1, heads + 1)]
    assert found == pytest.approx(expected, abs=1e-11)
    assert len(set(expected)) == heads


# ------------------------------------------------------------------------------------------ written, checked, marked


SHOWN = [
    *TABLES["shown"],
    *({"name": "linear_attention", "feature": feature, "mask": mask}
      for feature in ("elu+1", "relu", "square", "identity") for mask in ("none", "causal")),
]  # fmt: skip


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("settings", SHOWN, ids=str)
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_what_is_written_out_is_what_comes_of_it(settings, orientation):
    chosen = {"name": "attention", **settings}
    given = {"Q": Q, "K": K, "V": V, **({"B": chosen.pop("B")} if "B" in chosen else {})}
    given = oracles.turned(given) if orientation == "columns" else given
    d = derive(chosen.pop("name"), **given, **chosen, orientation=orientation)
    assert is_written_out(d.derivation) > 20
    assert d.worksheet().key


def test_hardmax_of_letters_is_refused():
    with refused_saying("letters"):
        derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 1, "d_v": 1}, weights="hardmax")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism_name", "settings", "said"),
    TABLES["conventions"],
    ids=str,
)
def test_every_choice_is_declared_among_the_conventions(mechanism_name, settings, said):
    sheet = derive(mechanism_name, Q=Q, K=K, V=V, **settings).worksheet()
    text = " ".join(FORMATS["text"].write(sheet.worksheet).replace("│", " ").split())
    assert said in text
