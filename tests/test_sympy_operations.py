"""What somebody who knows SymPy tries with what symattn gives: each operation beside what SymPy alone makes of it."""

import pickle
from functools import cache

import numpy as np
import pytest
import sympy
from sympy import Matrix, MatrixSymbol, Symbol, exp, sqrt
from sympy.abc import x, y

import symattn

n, m, d_k, d_v = (Symbol(name, integer=True, positive=True) for name in ("n", "m", "d_k", "d_v"))
Q, K, V = MatrixSymbol("Q", n, d_k), MatrixSymbol("K", m, d_k), MatrixSymbol("V", m, d_v)
S, S_ = MatrixSymbol("S", n, m), MatrixSymbol("S'", n, m)
GIVENS = {"Q": [[1, 2], [0, 1]], "K": [[1, 0], [1, 1]], "V": [[1], [3]]}
q, keys, v = (Matrix(rows) for rows in GIVENS.values())


@cache
def letters(**settings):
    return symattn.derive("attention", symbolic=True, **settings)


@cache
def small(**settings):
    return symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 1}, **settings)


@cache
def numbers():
    return symattn.derive("attention", **GIVENS)


def softmax(rows):
    powers = rows.applyfunc(exp)
    return Matrix(*rows.shape, lambda r, c: powers[r, c] / sum(powers[r, :]))


scores = q * keys.T
weights = softmax(scores / sqrt(2))
q_in, k_in = (Matrix(2, 2, lambda r, c, w=w: Symbol(f"{w}_{{{r + 1}{c + 1}}}", real=True)) for w in "qk")

OPERATIONS = {
    "a given is a MatrixSymbol": lambda: (letters().sympy("Q"), Q),
    "a product is a MatMul": lambda: (letters().sympy("S"), Q * K.T),
    "scaled": lambda: (letters().sympy("S'"), S / sqrt(d_k)),
    "expanded scores": lambda: (letters().expanded().sympy("S'"), Q * K.T / sqrt(d_k)),
    "an entry": lambda: (letters().sympy("S'")[0, 0], S[0, 0] / sqrt(d_k)),
    "subs of a size": lambda: (letters().subs({"d_k": 4}).sympy("S'"), S / 2),
    "subs of SymPy's symbol": lambda: (letters().subs({d_k: 4}).sympy("S'"), S / 2),
    "subs of a plain symbol": lambda: (letters().subs({Symbol("d_k"): 4}).sympy("S'"), S / 2),
    "subs of one size by another": lambda: (letters().subs({"m": "n"}).sympy("S").shape, (n, n)),
    "subs of all matrices": lambda: (Matrix(letters().subs(GIVENS).sympy("S")), scores),
    "subs of SymPy's matrices": lambda: (Matrix(letters().subs({"Q": q, "K": keys, "V": v}).sympy("S")), scores),
    "pickled": lambda: (pickle.loads(pickle.dumps(letters().sympy("S"))), Q * K.T),
    "with a temperature": lambda: (letters(temperature="T").sympy("S_T"), S_ / Symbol("T", positive=True)),
    "with a scale": lambda: (letters(scale="c").sympy("S'"), S / Symbol("c", positive=True)),
    "a causal mask above the diagonal": lambda: (letters(mask="causal").subs({"m": "n"}).sympy("M")[0, 1], -sympy.oo),
    "a MatrixSymbol as a given": lambda: (symattn.derive("attention", Q=Q, K=K, V=V).sympy("S"), Q * K.T),
    "a size that is a sum": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"d_k": "2*d"}).sympy("Q").shape,
        (n, 2 * Symbol("d", integer=True, positive=True)),
    ),
    "a size that is a symbol": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"n": Symbol("N")}).sympy("Q").rows,
        Symbol("N", integer=True, positive=True),
    ),
    "scores of entries": lambda: (Matrix(small().sympy("S")), q_in * k_in.T),
    "diff of an entry": lambda: (small().sympy("S")[0, 0].diff(small().symbols["q_11"]), k_in[0, 0]),
    "diff by a given": lambda: (small().diff("S", "Q")[0, 0, 0, 1], k_in[0, 1]),
    "subs of one entry": lambda: (Matrix(small().subs({"q_11": 0}).sympy("S"))[0, 0], q_in[0, 1] * k_in[0, 1]),
    "subs of one entry by a letter": lambda: (
        Matrix(small().subs({"q_11": x}).sympy("S"))[0, 0],
        x * k_in[0, 0] + q_in[0, 1] * k_in[0, 1],
    ),
    "subs of a matrix of letters": lambda: (
        Matrix(small().subs({"Q": [[x, y], [0, 1]]}).sympy("S"))[0, 0],
        x * k_in[0, 0] + y * k_in[0, 1],
    ),
    "subs of everything": lambda: (
        Matrix(small().subs(GIVENS).sympy("A")).applyfunc(sympy.simplify),
        weights.applyfunc(sympy.simplify),
    ),
    "evalf": lambda: (abs(small().subs(GIVENS).evalf(30)["A"][0, 0] - weights[0, 0].evalf(30)) < 1e-28, True),
    "lambdify": lambda: (np.allclose(small().lambdify()(**GIVENS)["Z"], np.array(weights * v, dtype=float)), True),
    "a symbol by its name": lambda: (small().symbols["q_11"], q_in[0, 0]),
    "masked scores": lambda: (small(mask="causal").sympy("M")[0, 1], -sympy.oo),
    "weights": lambda: (Matrix(numbers().sympy("A") - weights).applyfunc(sympy.simplify), sympy.zeros(2, 2)),
    "evalf of numbers": lambda: (abs(numbers().sympy("A")[0, 0].evalf(50) - weights[0, 0].evalf(50)) < 1e-48, True),
    "a result in SymPy": lambda: (numbers()["S"].result.sympy(), sympy.ImmutableMatrix(scores)),
    "letters among numbers": lambda: (
        Matrix(symattn.derive("attention", Q=[[x, 0]], K=[[1, 0]], V=[[y]], scale="none").sympy("S")),
        Matrix([[x]]),
    ),
    "SymPy's numbers as givens": lambda: (
        Matrix(
            symattn.derive(
                "attention", Q=Matrix([[sqrt(2), 1]]), K=Matrix([[sqrt(2), 0]]), V=[[1]], scale="none"
            ).sympy("S")
        ),
        Matrix([[2]]),
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_gives_what_sympy_alone_gives(operation):
    found, expected = operation()
    assert found == expected
