"""Encoder blocks against PyTorch's, over heads, biases, norms and functions; and random ones."""

import random
from fractions import Fraction

import pytest
from sentences import refused_saying

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError, ShapeError
from symattn.foundation.dice import Counted
from symattn.teaching.description import describe
from symattn.teaching.fairness import self_check

NORMS = [{}, {"epsilon": 1}, {"variance": "sample"}, {"norm_place": "pre"}, {"norm": "rms"}]


@pytest.mark.covering(most=7)
@pytest.mark.parametrize(
    ("name", "stated", "until"),
    [
        *(("layer_norm", stated, "") for stated in NORMS[:3]), *(("rms_norm", stated, "") for stated in NORMS[:2]),
        *(("block_after_attention", stated, "") for stated in NORMS),
        ("encoder_block", {"base": 2}, ""), ("encoder_block", {"norm_place": "pre"}, "N1"),
    ],
)  # fmt: skip
def test_what_is_drawn_comes_out_in_rational_numbers(name, stated, until):
    chosen = mechanism(name)
    for seed in range(3):
        givens = chosen.draw(Settings(**stated), chosen.default_sizes, random.Random(seed))
        d = chosen.run(givens, Settings(**stated, stop_at=until))
        assert all(isinstance(x, int | Fraction) for step in d for x in step.result)
        self_check(d)


@pytest.mark.slow
def test_powers_of_fractions_are_not_set_as_exact_ones():
    """2^(1/3) is nothing to work with by hand: in pre-norm, base 2 needs decimals."""
    chosen = mechanism("encoder_block")
    with pytest.raises(InputError):
        chosen.draw(Settings(base=2, norm_place="pre"), chosen.default_sizes, Counted(1))
    settings = Settings(base=2, norm_place="pre", arithmetic="decimal")
    d = chosen.run(chosen.draw(settings, chosen.default_sizes, Counted(1)), settings)
    assert d.last.name == "R2"


def test_the_scales_of_norms_may_be_written_as_biases_are():
    """gamma_1 beside b_1; both spellings at once are one too many."""
    eye = [[1, 0], [0, 1]]
    givens = {"X": [[1, 2], [3, 5]], **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"), eye)}
    numbered = derive("encoder_block", **givens, gamma_1=[[2, 1]], beta_2=[[1, 3]], arithmetic="decimal")
    assert numbered.derivation == derive(
        "encoder_block", **givens, gamma1=[[2, 1]], beta2=[[1, 3]], arithmetic="decimal"
    ).derivation  # fmt: skip
    assert "gamma_1" in numbered.givens  # and so it is called wherever it is spoken of
    said = str(describe("encoder_block"))
    assert "gamma_1" in said
    assert "gamma1" not in said
    with pytest.raises(ShapeError, match="gamma_1 is 1×3"):
        derive("encoder_block", **givens, gamma1=[[2, 1, 1]])
    with refused_saying("gamma1 and gamma_1 are the same matrix"):
        derive("encoder_block", **givens, gamma1=[[2, 1]], gamma_1=[[2, 1]])
