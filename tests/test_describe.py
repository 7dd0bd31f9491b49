"""What mechanisms and problem types say of themselves: the examples run, and what is told is so."""

import contextlib
import io
import re
import shlex
from functools import cache

import pytest
from commands import run
from tables import tables_beside

import symattn
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError
from symattn.teaching.description import in_letters
from symattn.teaching.problems import problem_type, problem_types

TABLES = tables_beside(__file__)

MECHANISMS = list(mechanisms())
describe = cache(symattn.describe)
OTHERWISE = TABLES["otherwise"]
"""Values of settings, other ones than those by which `describe` finds out what matters."""


def printed_by(program):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, names)
    return names["d"], printed.getvalue()


@pytest.mark.covering(most=16, rest=3)
@pytest.mark.parametrize("name", [*MECHANISMS, "custom"])
def test_the_example_runs_as_it_is(name):
    solution, printed = printed_by(describe(name).example.python)
    assert printed == f"{solution.output!r}\n"
    assert solution.problem.mechanism == name


@pytest.mark.covering(most=11)
@pytest.mark.parametrize("name", MECHANISMS)
def test_givens_steps_and_shapes_are_those_of_a_derivation_in_numbers(name):
    told = describe(name)
    solution, _ = printed_by(told.example.python)
    assert {g.name for g in told.givens if not g.optional and "{" not in g.name} <= set(solution.givens)
    settings = Settings.read(mechanism(name).defaults)
    sizes = {"h": settings.heads, "g": settings.groups, **problem_type("full").spec({"mechanism": name}).chosen_sizes()}

    def number(size):
        factor, _, letter = size.rpartition("·")
        return int(sizes.get(letter) or letter) * int(sizes.get(factor) or factor or 1)

    for one in told.givens:
        if one.name in solution.givens:
            assert tuple(map(number, one.shape)) == solution.givens[one.name].shape, one
    expected = set(mechanism(name).expected(settings))
    if set(solution.givens) == expected and not mechanism(name).drawn:  # else other settings give other steps
        assert [step.name for step in told.steps] == [step.name for step in solution.steps]
        for step in told.steps:
            assert tuple(map(number, step.shape)) == solution[step.name].result.shape, step
    else:
        assert [step.name for step in told.steps][-1] == solution.steps[-1].name


@pytest.mark.covering(most=12, rest=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_settings_that_are_left_out_change_nothing_or_are_refused(name):
    chosen, told = mechanism(name), {setting.name for setting in describe(name).settings}
    own = dict(chosen.defaults)
    steps = [(s.name, s.op, s.operands) for s in in_letters(chosen, Settings.read(own))[0]]
    for setting in ABOUT:
        for value in OTHERWISE.get(setting, ()) if setting not in told else ():
            try:
                other = in_letters(chosen, Settings.read({**own, setting: value}))[0]
            except InputError:
                continue
            assert [(s.name, s.op, s.operands) for s in other] == steps, (setting, value)


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("name", MECHANISMS)
def test_defaults_are_what_is_used_where_nothing_is_said(name):
    """Stated as they are told, as on the command line, they change nothing."""
    own = mechanism(name).defaults
    for setting in describe(name).settings:
        stated = Settings.read({**own, setting.name: setting.default})
        assert getattr(stated, setting.name) == getattr(Settings.read(own), setting.name), setting


def test_a_setting_that_says_how_it_is_in_any_case_is_none_to_refuse():
    assert symattn.derive("layer_norm", X=[[1, 2]], mask="none", epsilon=1, scale=None).output.shape == (1, 2)
    weights = {"X": [[1]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
    assert symattn.derive("kv_cache", **weights, mask="causal").output.sympy()[0, 0] == 1


def test_the_page_has_everything():
    told = describe("layer_norm")
    page = str(told)
    assert repr(told) == page
    assert page.startswith("layer_norm: Layer norm\n\nLayer norm: Ba, Kiros and Hinton 2016, section 3")
    assert max(map(len, page.splitlines())) <= 100
    for line in ("  gamma  1 × d_model  may be left out", "  N_hat    n × d_model  N̂ = (X − μ)/√(σ²)"):
        assert line in page
    for part in (*(s.about.split()[0] for s in told.settings), *told.example.python.splitlines(), told.example.shell):
        assert part in page
    assert "  epsilon      0 " in page
    assert "  Q_2   n × d_k    Q^(2) = columns_{dₖ + 1,…,2·dₖ}(Q)" in str(describe("multi_head_attention"))
    assert re.search(r"Steps, for .*n = 3", str(describe("kv_cache")))
    with pytest.raises(AttributeError):
        told.name = "other"


def test_problem_types_are_told_of_as_well():
    told = describe("masks")
    assert told.title == problem_type("masks").title
    assert [s.name for s in told.settings] == list(problem_type("masks").options)
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(told.example.python, names)
    assert names["sheet"].key.title == told.title
    assert all(str(describe(name)) for name in problem_types())
    assert not set(problem_types()) & {*mechanisms(), "custom"}  # or one of them could not be asked for


def test_the_command_line_says_the_same():
    for what, name in (("mechanism", "layer_norm"), ("mechanism", "layer-norm"), ("mechanism", "custom"),
                       ("problem", "masks")):  # fmt: skip
        done = run("list", what, name)
        assert (done.exit_code, done.output) == (0, f"{describe(name)}\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", *problem_types(), "custom"])
def test_the_command_of_the_example_runs_as_it_is(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*shlex.split(describe(name).example.shell)[1:])
    assert done.exit_code == 0, done.output
    assert all((tmp_path / line).stat().st_size for line in done.output.splitlines() if line.endswith(".md"))
