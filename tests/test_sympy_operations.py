"""What symattn gives is SymPy's own: the expression that SymPy alone makes of the same letters and numbers.

Where two expressions are one tree of the same classes with the same assumptions, whatever SymPy does with one it does
with the other; so only what symattn itself is asked to do is tried besides.
"""

from functools import cache

import numpy as np
import pytest
import sympy
from sympy import ImmutableMatrix, Matrix, MatrixSymbol, Symbol, exp, sqrt, srepr
from sympy.abc import x, y

import symattn


def positive(name):
    return Symbol(name, integer=True, positive=True)


n, m, d_k, d_v = map(positive, ("n", "m", "d_k", "d_v"))
i, j = (Symbol(name, integer=True, nonnegative=True) for name in "ij")
T, c = (Symbol(name, positive=True) for name in "Tc")
Q, K, V = MatrixSymbol("Q", n, d_k), MatrixSymbol("K", m, d_k), MatrixSymbol("V", m, d_v)
S, S_, A = (MatrixSymbol(name, n, m) for name in ("S", "S'", "A"))
GIVENS = {"Q": [[1, 2], [0, 1]], "K": [[1, 0], [1, 1]], "V": [[1], [3]]}
q, keys, v = (ImmutableMatrix(rows) for rows in GIVENS.values())


@cache
def letters(**settings):
    return symattn.derive("attention", symbolic=True, **settings)


@cache
def small(**settings):
    return symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 1}, **settings)


@cache
def numbers():
    return symattn.derive("attention", **GIVENS)


def in_entries(letter, rows, columns):
    return ImmutableMatrix(rows, columns, lambda r, k: Symbol(f"{letter}_{{{r + 1}{k + 1}}}", real=True))


def softmax(rows):
    powers = rows.applyfunc(exp)
    return Matrix(*rows.shape, lambda r, k: powers[r, k] / sum(powers[r, :]))


q_in, k_in, v_in = in_entries("q", 2, 2), in_entries("k", 2, 2), in_entries("v", 2, 1)
scores, weights = q * keys.T, softmax(q * keys.T / sqrt(2))

THE_SAME_TREE = {
    "a given": lambda: (letters().sympy("Q"), Q),
    "a product": lambda: (letters().sympy("S"), Q * K.T),
    "scaled": lambda: (letters().sympy("S'"), S / sqrt(d_k)),
    "the output": lambda: (letters().sympy("Z"), A * V),
    "expanded scores": lambda: (letters().expanded().sympy("S'"), Q * K.T / sqrt(d_k)),
    "any entry": lambda: (letters().sympy("S'")[i, j], S[i, j] / sqrt(d_k)),
    "a weight's numerator": lambda: (letters().sympy("A")[0, 0].as_numer_denom()[0], exp(S_[0, 0])),
    "subs of a size": lambda: (letters().subs({"d_k": 4}).sympy("S'"), S / 2),
    "subs of SymPy's symbol": lambda: (letters().subs({d_k: 4}).sympy("S'"), S / 2),
    "subs of a plain symbol": lambda: (letters().subs({Symbol("d_k"): 4}).sympy("S'"), S / 2),
    "subs of one size by another": lambda: (letters().subs({"m": "n"}).sympy("S"), Q * K.subs(m, n).T),
    "subs of all matrices": lambda: (letters().subs(GIVENS).sympy("S"), scores),
    "subs of SymPy's matrices": lambda: (letters().subs({"Q": q, "K": keys, "V": v}).sympy("S"), scores),
    "with a temperature": lambda: (letters(temperature="T").sympy("S_T"), S_ / T),
    "with a scale": lambda: (letters(scale="c").sympy("S'"), S / c),
    "masked by columns": lambda: (letters(mask="causal").subs({"m": "n"}).sympy("M")[0, 1], -sympy.oo),
    "seen by columns": lambda: (letters(mask="causal").subs({"m": "n"}).sympy("M")[1, 0], S_.subs(m, n)[1, 0]),
    "a MatrixSymbol as a given": lambda: (symattn.derive("attention", Q=Q, K=K, V=V).sympy("S"), Q * K.T),
    "a size that is a sum": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"d_k": "2*d"}).sympy("Q"),
        Q.subs(d_k, 2 * positive("d")),
    ),
    "a size that is a symbol": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"n": Symbol("N")}).sympy("Q"),
        Q.subs(n, positive("N")),
    ),
    "entries of a given": lambda: (small().sympy("Q"), q_in),
    "entries of a product": lambda: (small().sympy("S"), q_in * k_in.T),
    "a symbol by its name": lambda: (small().symbols["q_11"], q_in[0, 0]),
    "diff by a given": lambda: (small().diff("S", "Q")[0, 0, 0, 1], k_in[0, 1]),
    "subs of one entry": lambda: (small().subs({"q_11": 0}).sympy("S")[0, 0], q_in[0, 1] * k_in[0, 1]),
    "subs of one entry by a letter": lambda: (
        small().subs({"q_11": x}).sympy("S")[0, 0],
        x * k_in[0, 0] + q_in[0, 1] * k_in[0, 1],
    ),
    "subs of a matrix": lambda: (small().subs({"Q": q}).sympy("S"), q * k_in.T),
    "subs of a matrix of letters": lambda: (
        small().subs({"Q": [[x, y], [0, 1]]}).sympy("S")[0, 0],
        x * k_in[0, 0] + y * k_in[0, 1],
    ),
    "masked entries": lambda: (small(mask="causal").sympy("M")[0, 1], -sympy.oo),
    "weights with a mask": lambda: (small(mask="causal").sympy("A")[0, :], ImmutableMatrix([[1, 0]])),
    "scores in numbers": lambda: (numbers().sympy("S"), scores),
    "a result in SymPy": lambda: (numbers()["S"].result.sympy(), scores),
    "SymPy's numbers as givens": lambda: (
        symattn.derive("attention", Q=Matrix([[sqrt(2), 1]]), K=Matrix([[sqrt(2), 0]]), V=[[1]], scale="none").sympy(
            "S"
        ),
        ImmutableMatrix([[2]]),
    ),
    "a limit by a parameter": lambda: (
        sympy.limit(symattn.derive("attention", **GIVENS, temperature="T").sympy("A")[0, 0], T, sympy.oo),
        sympy.Rational(1, 2),
    ),
}


@pytest.mark.parametrize("pair", THE_SAME_TREE.values(), ids=THE_SAME_TREE)
def test_an_expression_is_the_one_that_sympy_alone_makes(pair):
    found, expected = pair()
    assert srepr(found) == srepr(expected)


def test_what_is_worked_out_has_the_value_that_sympy_gives():
    for found, expected in (
        (numbers().sympy("A"), weights),
        (numbers().sympy("Z"), weights * v),
        (small().expanded().sympy("A"), softmax(q_in * k_in.T / sqrt(2))),
        (small().subs(GIVENS).sympy("A"), weights),
    ):
        assert sympy.simplify(Matrix(found) - expected) == sympy.zeros(*expected.shape)
    in_floats = np.array(weights * v, dtype=float)
    assert np.allclose(small().lambdify()(**GIVENS)["Z"], in_floats)
    assert all(abs(x) < 1e-28 for x in small().subs(GIVENS).evalf(30)["Z"] - (weights * v).evalf(30))
