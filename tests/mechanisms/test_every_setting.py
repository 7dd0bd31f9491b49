"""A setting that is stated is used or refused: no default overrides it, nor what makes random numbers come out."""

from contextlib import suppress
from dataclasses import replace
from itertools import product, zip_longest

import pytest
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.mechanisms.settings import layered
from symattn.errors import InputError
from symattn.exact import Outline
from symattn.teaching.description import settings_of
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.draws import DEFAULT_SIZES

SETTINGS = tables_beside(__file__, "settings.toml")
TWO, WITH = SETTINGS["two"], SETTINGS["with"]


GRADIENTS = [name for name in mechanisms() if name.endswith("_gradient")]
REFUSED = {
    *((name, "rounding") for name in (*GRADIENTS, "online_softmax")),  # no gradient; no weights
    ("cross_entropy_gradient", "base"), ("linear_attention", "scale"),
    *((name, one) for name in ("attention_gradient", "cross_attention_gradient")
      for one in ("heads", "kv_heads", "split")),  # heads want another gradient than dZ
}  # fmt: skip
"""What is told to be impossible, whatever its value."""

OF_NO_STEP = ("arithmetic", "stop_at")


def programs(chosen, settings):
    """The steps, with all usual givens and without each of them; none where a given or a setting is refused."""
    sizes = {"n": 3, "m": 3, **chosen.default_sizes} if chosen.default_sizes else dict(DEFAULT_SIZES)
    for usual in (chosen.usual, *(tuple(n for n in chosen.usual if n != left_out) for left_out in chosen.usual)):
        with suppress(InputError):
            shapes = replace(chosen, usual=usual).given_shapes(sizes, settings)
            d = chosen.run({name: Outline(shape) for name, shape in shapes.items()}, settings)
            yield [(step.name, step.op, step.operands) for step in d]


def chosen_with(name, stated, random):
    """The settings for givens of one's own, or for random ones."""
    if not random:
        return Settings.read(layered(mechanism(name).defaults, stated))
    return problem_type("full").spec({"mechanism": name, "settings": stated}).chosen_settings()


@pytest.mark.covering(most=24)
@pytest.mark.parametrize("name", mechanisms())
def test_a_stated_setting_is_used(name):
    """With random numbers too, where these have settings of their own."""
    chosen, known = mechanism(name), settings_of(name)
    kinds = [False, True] if chosen.drawn or name == "attention" else [False]
    for setting, random in product([one for one in known if one not in OF_NO_STEP], kinds):
        along = {key: value for key, value in WITH.get(setting, {}).items() if key in known}
        found = []
        for value in TWO[setting]:
            if isinstance(value, list):  # of positions, those that are added, or those that rotate
                value = value["rotary" in str(chosen.defaults.get("position"))]
            found.append(programs(chosen, chosen_with(name, {**along, setting: value}, random)))
        pairs = zip_longest(*found)
        first = next(pairs, None)
        assert first or (name, setting) in REFUSED, setting
        assert not first or first[0] != first[1] or any(one != other for one, other in pairs), setting


def test_a_wavelength_takes_the_place_of_angles_that_nobody_stated():
    """Vaswani et al. 2017, section 3.5: with no setting, a position turns by 1 in the first pair of features."""
    givens = {"E": [[0] * 4] * 2, "W_Q": [[1]] * 4, "W_K": [[1]] * 4, "W_V": [[1]] * 4}
    usual, hundred = (
        derive("positional_self_attention", **givens),
        derive("positional_self_attention", **givens, wavelength=100),
    )
    assert [str(p.at(1)[1]) for p in usual["P"].op.angles] == ["sin(1)", "sin(1/100)"]
    assert [str(p.at(1)[1]) for p in hundred["P"].op.angles] == ["sin(1)", "sin(1/10)"]
