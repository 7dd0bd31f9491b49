"""With letters for numbers: entries by name, expressions put back in, and sizes that stay open."""

import math
import re

import oracles
import pytest
import sympy
from commands import run
from sentences import refused_saying
from sympy import Matrix
from tables import tables_beside

import symattn
from symattn.api import derive

TABLES = tables_beside(__file__)

SMALL = {"n": 2, "d_model": 2, "d_k": 2, "d_v": 2}


def named(letter, rows, columns):
    return Matrix(rows, columns, lambda i, j: sympy.Symbol(f"{letter}_{{{i + 1}{j + 1}}}", real=True))


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_expanded_it_is_what_sympy_works_out_directly(by, mask, orientation):
    solution = derive(
        "self_attention", symbolic=True, sizes=SMALL | {"d_v": 1}, by=by, mask=mask, orientation=orientation
    )
    givens = {name: Matrix(m.sympy()) for name, m in solution.givens.items()}
    if orientation == "columns":
        givens = {name: m.T for name, m in givens.items()}
    q, k, v = (givens["X"] * givens[f"W_{role}"] for role in "QKV")
    witness = oracles.sympy_attention(q, k, v, scale=sympy.sqrt(2), keep=oracles.kept(mask, 2, 2))

    found = Matrix(solution.derivation.expanded().value("Z").sympy())

    assert oracles.same_matrix(found.T if orientation == "columns" else found, witness["Z"])


def test_a_letter_among_numbers():
    # the question "for which a …": X has an a in it
    solution = derive(
        "self_attention", X=[["a", 1], [0, 2]], W_Q=[[1, 0], [0, 1]], W_K=[[1, 0], [0, 1]], W_V=[[1], [3]], scale="none"
    )
    [a] = solution["S"].result.sympy().free_symbols
    x = Matrix([[a, 1], [0, 2]])
    witness = oracles.sympy_attention(x, x, x * Matrix([[1], [3]]))
    for name, right in witness.items():
        if name in solution.derivation:
            assert oracles.same_matrix(Matrix(solution[name].result.sympy()), right), name
    assert solution["S"].result.sympy()[0, 0].expand() == a**2 + 1
    assert "a" in solution.text()
    assert "a" in solution.text("latex")


def test_rounding_is_left_out_with_letters():
    solution = derive("note-002", symbolic=True, corrected=False)
    assert "A_rounded.1" not in solution.derivation
    with refused_saying("contains a symbol"):
        derive("attention", Q=[["a"]], K=[[1], [2]], V=[[1], [2]], rounding={"places": 1})


@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_entries_are_called_the_same_by_token_and_by_matrix(by, orientation):
    # s_12 is one number, whichever way it is come by
    solution = derive("self_attention", symbolic=True, sizes=SMALL, by=by, orientation=orientation)
    outputs = Matrix(solution["Z"].result.sympy())
    if by == "token":
        assert outputs == named("z", 2, 2)
    else:
        mixed = named("a", 2, 2) * named("v", 2, 2) if orientation == "rows" else named("v", 2, 2) * named("a", 2, 2)
        assert outputs == mixed


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_values_of_width_1_are_called_by_their_token(orientation):
    # z_2 of one entry is a row, a column and a matrix at once
    sizes = {"n": 2, "d_model": 2, "d_k": 2, "d_v": 1}
    found = derive("self_attention", symbolic=True, sizes=sizes, by="token", orientation=orientation)
    page = oracles.page_lines(found.document)
    name = "z_{2,1}" if orientation == "rows" else "z_{1,2}"
    assert any(line.startswith(f"{name} = ") for line in page), page


def test_a_function_known_by_name_only_is_carried_through():
    # note 004: q = f(W_q c), where nobody says what f is
    given = {"X": [[1, 2]], "W_Q": [[1], [1]], "W_K": [[0], [1]], "W_V": [[2], [0]]}
    found = derive("self_attention", activation="f", scale="none", **given)
    f = sympy.Function("f")
    assert found["Q"].result.sympy() == Matrix([[f(3)]])
    assert found["S"].result.sympy() == Matrix([[f(3) * f(2)]])
    assert found["Z"].result.sympy() == Matrix([[f(2)]])
    for form in ("text", "latex", "markdown", "typst"):
        assert "f" in found.text(form)
    assert any("f(3)" in line for line in oracles.page_lines(found.worksheet().key))
    with refused_saying("symbol"):
        derive("self_attention", activation="f", rounding={"places": 1}, **{**given, "X": [[1, 2], [2, 1]]})


def test_what_f_gives_is_equal_only_to_itself():
    f = sympy.Function("f")
    assert symattn.decide(f(1) + f(2), f(2) + f(1)).equal is True
    assert symattn.decide(f(1), f(2)).equal is not True
    assert symattn.decide(f(1), 1).equal is not True


def test_a_rotation_is_written_out_for_its_last_token():
    d = derive("rotary_attention", sizes={"n": 3, "d_k": 4}, angles="90")
    angle = math.radians(d.derivation["R_Q"].op.angles[-1].degrees * 2)  # at position 2
    assert (round(math.sin(angle)), round(math.cos(angle))) == (0, -1)
    assert "q₃₄^rot = q₃₃·0 + q₃₄·(−1)" in d.text("text")


def test_the_norm_of_a_jacobian_of_any_size_is_a_largest_sum():
    d = derive("recurrent_jacobian", sizes={"n": 2})
    norms = [step for step in d.derivation if step.result.shape == (1, 1) and "norm" in step.op.title.lower()]
    assert norms
    assert "maxᵢ" in d.text("text")


# ------------------------------------------------------------------------------------------------ what SymPy does then

GIVEN = TABLES["given"]


@pytest.fixture(scope="module")
def attention():
    return derive("self_attention", symbolic=True, sizes=SMALL)


def test_what_cannot_be_put_in_says_why(attention):
    with refused_saying("X is 2×2; a matrix of 1×2 was put in"):
        attention.subs({"X": [[1, 0]]})
    with refused_saying("sizes in numbers"):
        derive("self_attention", symbolic=True).subs({"X": [[1, 0]]})


def test_the_derivative_is_the_quotient_of_small_differences():
    numpy = pytest.importorskip("numpy")
    exact = derive("self_attention", mask="causal", **GIVEN)
    derivative = exact.diff("Z", "W_Q")
    assert derivative.shape == (2, 2, 2, 2)
    work_out, h = exact.lambdify("numpy"), 1e-6
    for k, m in ((0, 0), (1, 0), (0, 1), (1, 1)):
        step = numpy.zeros((2, 2))
        step[k, m] = h
        up, down = (work_out(**{**GIVEN, "W_Q": numpy.array(GIVEN["W_Q"]) + sign * step})["Z"] for sign in (1, -1))
        mine = [[float(derivative[i, j, k, m]) for j in range(2)] for i in range(2)]
        assert numpy.allclose(mine, (up - down) / (2 * h), atol=1e-8)
    assert set(exact.diff("Z", "W_V")[0, 0, :, 1]) == {0}  # column 1 of Z does not depend on column 2 of W_V


def test_one_letter_in_two_places_has_a_derivative_by_each():
    solution = derive("attention", Q=[["a", "2*a"]], K=[["a", 1], [0, 1]], V=[[1], [2]], scale="none")
    derivative = solution.diff("S", "Q")
    assert [str(derivative[0, 0, 0, j]) for j in range(2)] == ["a", "1"]  # s_11 = q_11·a + q_12
    with refused_saying("a symbol that stands nowhere else"):
        solution.subs({"K": [[1, 1], [0, 1]]})


def test_what_cannot_be_compiled_is_said_in_a_sentence(attention):
    with refused_saying("no module 'nosuch'"):
        attention.lambdify("nosuch")
    with refused_saying("W_V is not 2×2"):
        attention.lambdify("math")(**{**GIVEN, "W_V": [[1, 2, 3], [4, 5, 6]]})


def test_expanded_on_the_command_line():
    arguments = ("derive", "self_attention", "--symbolic", "--size", "n=1,d_model=1,d_k=1,d_v=1")
    assert "v₁₁ = x₁₁·w₁₁^V" in run(*arguments).output
    expanded = run(*arguments, "--expanded").output
    assert "x₁₁²" in expanded.replace(" ", "")
    refused = run("derive", "note-000", "--expanded")
    assert refused.exit_code
    assert "it goes with --symbolic" in refused.output


@pytest.mark.parametrize("name", ["recurrent_network", "kv_cache", "online_softmax", "cross_entropy_gradient"])
def test_a_size_that_has_to_be_a_number_is_asked_for_as_the_shell_and_python_take_it(name):
    with refused_saying(r"For example: --size \S+=\d+\S*, in Python sizes=\{…\}\.$") as refused:
        symattn.derive(name, symbolic=True)
    sizes = re.search(r"--size (\S+),", str(refused.value))[1]
    given = {name: int(size) for name, size in (one.split("=") for one in sizes.split(","))}
    assert symattn.derive(name, symbolic=True, sizes=given).problem.steps  # what is advised works
