"""Matrices as users of NumPy expect them: indices, floats, and matrices of other libraries; NumPy is the witness."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import exact_witness as witness
import mpmath
import numpy
import pytest
import sympy
from commands import python
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sentences import refused_saying

import symattn
from symattn import Matrix
from symattn.errors import InputError, OutsideError
from symattn.exact import NEGATIVE_INFINITY, divide, exponential, square_root
from symattn.exact.real import as_real
from symattn.exact.rounding import nearest_float
from symattn.exact.values import SHORT, shortest

E = exponential(1)
ATTENTION = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
indices = st.integers(-5, 5)
slices = st.builds(slice, st.none() | indices, st.none() | indices, st.sampled_from([None, 1, 2, -1, -2]))


# ------------------------------------------------------------------------------------------------ indices


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_indices_and_slices_give_what_numpy_gives(rows, columns, data):
    numbers = numpy.arange(rows * columns).reshape(rows, columns)
    matrix = Matrix(numbers)
    one = indices | slices
    index = data.draw(one | st.tuples(one, one))
    try:
        right = numbers[index]
    except IndexError:
        right = None
    if right is None or (right.ndim == 2 and not right.size):  # NumPy has matrices without entries
        with pytest.raises(OutsideError):
            matrix[index]
        return
    ours = matrix[index]
    kind = {0: int, 1: tuple, 2: Matrix}[right.ndim]
    assert isinstance(ours, kind)
    assert (ours.rows if right.ndim == 2 else ours) == tuple_of(right)


def tuple_of(x):
    return tuple(map(tuple_of, x)) if getattr(x, "ndim", 0) else int(x)


def test_a_column_and_entries_by_whole_numbers_of_numpy():
    matrix = Matrix([[1, 2, 3], [4, 5, 6]])
    assert matrix[:, 1] == (2, 5)
    assert matrix[numpy.int64(1), numpy.uint8(2)] == 6
    assert matrix[numpy.int64(1)] == (4, 5, 6)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ((2, 0), "There is no entry [2, 0] in a matrix of shape (2, 3)."),
        (7, "There is no entry [7, slice(None, None, None)] in a matrix of shape (2, 3)."),
        ("a", "'a' is not an index of a matrix; a whole number or a slice was expected."),
        (True, "True is not an index of a matrix; a whole number or a slice was expected."),
        ([0, 1], "[0, 1] is not an index of a matrix; a whole number or a slice was expected."),
        ((0, 1.0), "1.0 is not an index of a matrix; a whole number or a slice was expected."),
        ((0, 0, 0), "A matrix has rows and columns, two indices; 3 came."),
        (slice(2, None), "The slices leave nothing of a matrix of shape (2, 3)."),
    ],
)
def test_what_is_no_index_is_said_in_a_sentence(index, says):
    matrix = Matrix([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(OutsideError) as error:
        matrix[index]
    assert str(error.value) == says.replace("[7, slice(None, None, None)]", "[7, :]")
    assert isinstance(error.value, IndexError)


# ------------------------------------------------------------------------------------------------ floats


@given(witness.sums)
def test_float_is_the_nearest_float(recipe):
    with mpmath.workdps(60):
        right = float(witness.in_mpmath(recipe))
    ours = witness.ours(recipe)
    assert float(ours) == right
    assert nearest_float(as_real(ours)) == right


def test_floats_are_right_where_terms_cancel():
    near = sympy.Rational(str(sympy.N(sympy.E, 25)))
    ours = E - Fraction(near.p, near.q)
    assert float(ours) == float((sympy.E - near).evalf(30)) != 0
    nothing = square_root(exponential(2) + 2 * E + 1) - E - 1
    assert math.copysign(1, float(nothing)) == 1
    assert float(nothing) == 0


def test_every_kind_of_entry_as_a_float():
    entries = [3, Fraction(1, 3), E, divide(1, E + 1), as_real(E), NEGATIVE_INFINITY, sympy.log(2)]
    right = [3.0, 1 / 3, math.e, float(sympy.N(1 / (sympy.E + 1), 30)), math.e, -math.inf, math.log(2)]
    assert Matrix([entries]).floats() == (tuple(right),)
    found = numpy.asarray(Matrix([entries]), dtype=float)
    assert found.dtype == float
    assert found.tolist() == [right]
    assert [float(x) for x in entries if x is not entries[4]] == [x for i, x in enumerate(right) if i != 4]


@pytest.mark.parametrize("entry", [exponential(1000), 10**400, -(10**400), Fraction(10**400, 3), exponential(10**30)])
def test_what_floats_cannot_hold_is_refused(entry):
    with refused_saying(r"^Entry \(1, 2\): .* is beyond the range of floats"):
        numpy.asarray(Matrix([[1, entry]]), dtype=float)
    assert Matrix([[exponential(-1000)]]).floats() == ((0.0,),)


def test_letters_are_no_floats():
    with refused_saying(r"^Entry \(2, 1\): a has symbols"):
        Matrix([[1], [sympy.Symbol("a")]]).floats()


def test_rational_entries_are_fractions_and_others_are_told():
    m = symattn.derive("attention", **ATTENTION, scale=2)["S'"].result
    assert [Fraction(x) for x in m] == [Fraction(1, 2), 0]
    for x in (E, divide(1, E + 1)):
        with pytest.raises((InputError, TypeError)):  # before Python 3.14 the sentence is Python's own
            Fraction(x)
        with refused_saying(r"no Fraction; float\(\) is near it"):
            x.as_integer_ratio()


def test_numpy_has_exact_entries_unless_another_type_is_asked_for():
    exactly = Matrix([[2**60 + 1, Fraction(1, 2)], [E, 0]])
    found = numpy.array(exactly)
    assert found.dtype == object
    assert [*found.flat] == [*exactly]
    assert numpy.asarray(exactly[0:1, 0:1], dtype=numpy.int64).tolist() == [[2**60 + 1]]
    assert numpy.asarray(exactly, dtype=numpy.float32).dtype == numpy.float32
    assert numpy.asarray(exactly, dtype=complex)[1, 0] == math.e
    assert numpy.asarray(exactly, dtype=str)[0, 1] == "1/2"
    with refused_saying("the entry 1/2, which is not a whole number"):
        numpy.asarray(exactly, dtype=int)
    with pytest.raises(ValueError, match="have to be copied"):
        numpy.array(exactly, copy=False)


def test_sympy_takes_nothing_with_a_float_for_one():
    for x in (E, divide(1, E + 1)):
        assert (sympy.Integer(1) + sympy.sympify(x)).has(sympy.Float) is False
        assert not sympy.exp(x).has(sympy.Float)
    assert (sympy.Symbol("x", real=True) + NEGATIVE_INFINITY) is NEGATIVE_INFINITY
    assert sympy.Integer(1) + NEGATIVE_INFINITY is NEGATIVE_INFINITY


# ------------------------------------------------------------------------------------------------ from other libraries


@given(arrays.arrays(numpy.float32, (2, 3), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_numbers_of_float32_are_the_decimals_that_numpy_prints(found):
    right = tuple(tuple(Fraction(str(x)) for x in row) for row in found)
    assert Matrix(found).rows == right
    assert Matrix(list(found)).rows == right


@given(st.floats(width=16, allow_nan=False, allow_infinity=False))
def test_a_short_number_is_the_shortest_decimal_that_is_rounded_to_it(x):
    assert shortest(x, "float16") == float(str(numpy.float16(x)))


@given(st.floats(-(2.0**126), 2.0**126, width=32))
def test_a_short_number_is_rounded_back_to_itself(torch, x):
    for kind in SHORT:
        number = torch.tensor(x, dtype=getattr(torch, kind))
        if not torch.isfinite(number):
            continue
        near = shortest(number.item(), kind)
        assert torch.tensor(near, dtype=number.dtype).item() == number.item()
        with localcontext() as context:
            context.prec = max(1, len(Decimal(repr(near)).normalize().as_tuple().digits) - 1)
            fewer = +Decimal(number.item())
        if context.prec < len(Decimal(repr(near)).normalize().as_tuple().digits):
            assert torch.tensor(float(fewer), dtype=number.dtype).item() != number.item()


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16", "int32", "uint8"])
def test_tensors_are_taken_wherever_a_matrix_is_given(kind, torch):
    given = {name: torch.tensor(rows, dtype=getattr(torch, kind)) for name, rows in ATTENTION.items()}
    d = symattn.derive("attention", **given, mask=torch.tensor([[True, True]]))
    right = symattn.derive("attention", **ATTENTION, mask=[[1, 1]])
    assert [step.result for step in d.steps] == [step.result for step in right.steps]
    assert (
        symattn.check(right, {"S": torch.tensor([[1, 0]], dtype=getattr(torch, kind))}).reports[0].verdicts[0].accepted
    )
    assert Matrix(given["V"]) == Matrix([*given["V"]]) == Matrix([[1], [2]])


def test_tensors_of_short_numbers_that_need_a_gradient(torch):
    found = Matrix(torch.tensor([[0.1, 0.3], [1e-5, 2.0]], requires_grad=True))
    assert found.rows == ((Fraction(1, 10), Fraction(3, 10)), (Fraction(1, 10**5), 2))
    assert symattn.decide(torch.tensor(0.1), "1/10").equal


def test_answers_in_float32_are_the_decimals_that_they_show():
    d = symattn.derive("attention", **ATTENTION)
    answer = numpy.array([[0.6698, 0.3302]], dtype=numpy.float32)
    marking = symattn.check(d, {"A": answer})
    right = symattn.check(d, {"A": [["0.6698", "0.3302"]]})
    assert marking.json()["questions"] == right.json()["questions"]
    assert "0.6698" in marking.text()


@pytest.mark.parametrize("kind", [int, float, bool])
def test_arrays_are_masks(kind):
    mask = numpy.tril(numpy.ones((3, 3), dtype=kind))
    given = {"Q": numpy.eye(3), "K": numpy.eye(3), "V": numpy.eye(3)}
    by_name = symattn.derive("attention", **given, mask="causal")
    assert symattn.derive("attention", **given, mask=mask)["A"].result == by_name["A"].result


def test_tuples_are_lists_letters_included():
    rows = symattn.derive("attention", Q=(("a", 1),), K=[("b", 0)], V=((1,),))
    assert rows["S"].result == symattn.derive("attention", Q=[["a", 1]], K=[["b", 0]], V=[[1]])["S"].result


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (numpy.zeros((2, 2, 2)), "A matrix has two axes, rows and columns; an array of shape (2, 2, 2) came."),
        (numpy.zeros((0, 2)), "A matrix needs at least one row and one column."),
        (numpy.array(5), "A matrix is a list of rows; array(5) came."),
        (5, "A matrix is a list of rows; 5 came."),
        ("abc", "A matrix is a list of rows; 'abc' came."),
        ({"a": 1}, "A matrix is a list of rows; {'a': 1} came."),
        ([[1], 2], "Row 2 of the matrix is 2; a list of entries was expected."),
        (numpy.array([[1j]]), "Entry (1, 1): 1j of type complex is not a number that can be used exactly"),
        (numpy.array([[math.nan]]), "Entry (1, 1): NaN is not a number that can be used exactly"),
    ],
)
def test_what_is_no_matrix_is_said_in_a_sentence(given, says):
    with pytest.raises(InputError) as error:
        Matrix(given)
    assert str(error.value).startswith(says)


@pytest.mark.slow
def test_nothing_of_ours_imports_numpy():
    program = (
        "import sys; sys.modules['numpy'] = None; import symattn\n"
        "d = symattn.derive('attention', Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])\n"
        "print(d['A'].result.floats(), d['A'].result[0, 0:1])"
    )
    done = python("-c", program)
    assert done.returncode == 0, done.stderr
