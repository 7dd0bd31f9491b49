"""What somebody who knows SymPy tries with what symattn gives: each operation beside what SymPy alone makes of it."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
import sympy
from sympy import Matrix, MatrixSymbol, Symbol, exp, sqrt
from sympy.abc import x, y

import symattn

n, m, d_k, d_v, d_model = (Symbol(name, integer=True, positive=True) for name in ("n", "m", "d_k", "d_v", "d_model"))
i, j = (Symbol(name, integer=True, nonnegative=True) for name in "ij")
Q, K, V = MatrixSymbol("Q", n, d_k), MatrixSymbol("K", m, d_k), MatrixSymbol("V", m, d_v)
S, S_, A = MatrixSymbol("S", n, m), MatrixSymbol("S'", n, m), MatrixSymbol("A", n, m)
GIVENS = {"Q": [[1, 2], [0, 1]], "K": [[1, 0], [1, 1]], "V": [[1], [3]]}
q, keys, v = (Matrix(rows) for rows in GIVENS.values())


@cache
def letters(**settings):
    return symattn.derive("attention", symbolic=True, **settings)


@cache
def small(**settings):
    return symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 1}, **settings)


@cache
def numbers(**settings):
    return symattn.derive("attention", **GIVENS, **settings)


def entry(name):
    return small().symbols[name]


def softmax(rows):
    powers = rows.applyfunc(exp)
    return Matrix(*rows.shape, lambda r, c: powers[r, c] / sum(powers[r, :]))


scores = q * keys.T
weights = softmax(scores / sqrt(2))
q_in, k_in, v_in = (Matrix(2, c, lambda r, k, w=w: Symbol(f"{w}_{{{r + 1}{k + 1}}}", real=True)) for w, c in
                    (("q", 2), ("k", 2), ("v", 1)))  # fmt: skip

IN_LETTERS = {
    "a given is a MatrixSymbol": lambda: (letters().sympy("Q"), Q),
    "a product is a MatMul": lambda: (letters().sympy("S"), Q * K.T),
    "scaled": lambda: (letters().sympy("S'"), S / sqrt(d_k)),
    "the output": lambda: (letters().sympy("Z"), A * V),
    "expanded scores": lambda: (letters().expanded().sympy("S'"), Q * K.T / sqrt(d_k)),
    "the shape": lambda: (letters().sympy("S").shape, (n, m)),
    "an entry": lambda: (letters().sympy("S'")[0, 0], S[0, 0] / sqrt(d_k)),
    "any entry": lambda: (letters().sympy("S'")[i, j], S[i, j] / sqrt(d_k)),
    "an entry of a product": lambda: (
        letters().sympy("S")[0, 0].subs({d_k: 2}).doit(),
        (Q.subs(d_k, 2)[0, 0] * K.subs(d_k, 2)[0, 0] + Q.subs(d_k, 2)[0, 1] * K.subs(d_k, 2)[0, 1]),
    ),
    "the symbols": lambda: (letters().sympy("S'").free_symbols, {S, d_k}),
    "a weight's numerator": lambda: (letters().sympy("A")[0, 0].as_numer_denom()[0], exp(S_[0, 0])),
    "subs of a size in an entry": lambda: (letters().sympy("S'")[0, 0].subs(d_k, 4), S.subs(d_k, 4)[0, 0] / 2),
    "subs of a size": lambda: (letters().subs({"d_k": 4}).sympy("S'"), S / 2),
    "subs of SymPy's symbol": lambda: (letters().subs({d_k: 4}).sympy("S'"), S / 2),
    "subs of a plain symbol": lambda: (letters().subs({Symbol("d_k"): 4}).sympy("S'"), S / 2),
    "subs of one size by another": lambda: (letters().subs({"m": "n"}).sympy("S").shape, (n, n)),
    "subs of all matrices": lambda: (Matrix(letters().subs(GIVENS).sympy("S")), scores),
    "subs of SymPy's matrices": lambda: (Matrix(letters().subs({"Q": q, "K": keys, "V": v}).sympy("S")), scores),
    "pickled": lambda: (pickle.loads(pickle.dumps(letters().sympy("S"))), Q * K.T),
    "copied": lambda: (copy.deepcopy(letters().sympy("S")), Q * K.T),
    "trace": lambda: (sympy.Trace(letters().subs({"m": "n"}).sympy("S")).arg, Q * MatrixSymbol("K", n, d_k).T),
    "its rows": lambda: (letters().sympy("A").rows, n),
    "the same twice": lambda: (letters().sympy("A"), symattn.derive("attention", symbolic=True).sympy("A")),
    "a sum over rows": lambda: (sympy.Sum(letters().sympy("S'")[i, 0], (i, 0, n - 1)).free_symbols >= {S, n}, True),
    "a derivative by a size": lambda: (
        sympy.diff(letters().sympy("S'")[0, 0], d_k),
        -S[0, 0] / (2 * d_k ** sympy.Rational(3, 2)),
    ),
    "a limit by a parameter": lambda: (
        sympy.limit(
            symattn.derive("attention", **GIVENS, temperature="T").sympy("A")[0, 0],
            Symbol("T", positive=True),
            sympy.oo,
        ),
        sympy.Rational(1, 2),
    ),
    "with a temperature": lambda: (letters(temperature="T").sympy("S_T"), S_ / Symbol("T", positive=True)),
    "with a scale": lambda: (letters(scale="c").sympy("S'"), S / Symbol("c", positive=True)),
    "a causal mask above the diagonal": lambda: (letters(mask="causal").subs({"m": "n"}).sympy("M")[0, 1], -sympy.oo),
    "a causal mask below the diagonal": lambda: (
        letters(mask="causal").subs({"m": "n"}).sympy("M")[1, 0],
        MatrixSymbol("S'", n, n)[1, 0],
    ),
    "self-attention expanded": lambda: (
        symattn.derive("self_attention", symbolic=True).expanded().sympy("S").free_symbols
        >= {MatrixSymbol("X", n, d_model), MatrixSymbol("W_Q", d_model, d_k)},
        True,
    ),
    "heads side by side": lambda: (
        symattn.derive("multi_head_attention", symbolic=True).sympy("C").shape,
        (n, 2 * d_v),
    ),
    "a MatrixSymbol as a given": lambda: (symattn.derive("attention", Q=Q, K=K, V=V).sympy("S"), Q * K.T),
    "a size that is a sum": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"d_k": "2*d"}).sympy("Q").shape,
        (n, 2 * Symbol("d", integer=True, positive=True)),
    ),
    "a size that is a symbol": lambda: (
        symattn.derive("attention", symbolic=True, sizes={"n": Symbol("N")}).sympy("Q").rows,
        Symbol("N", integer=True, positive=True),
    ),
}

ENTRY_BY_ENTRY = {
    "a given": lambda: (Matrix(small().sympy("Q")), q_in),
    "scores": lambda: (Matrix(small().sympy("S")), q_in * k_in.T),
    "is a matrix": lambda: (isinstance(small().sympy("S"), sympy.MatrixBase), True),
    "diff of an entry": lambda: (small().sympy("S")[0, 0].diff(entry("q_11")), k_in[0, 0]),
    "diff by a given": lambda: (small().diff("S", "Q")[0, 0, 0, 1], k_in[0, 1]),
    "simplify": lambda: (sympy.simplify(sum(small().expanded().sympy("A")[0, :])), 1),
    "subs in SymPy": lambda: (Matrix(small().sympy("S").subs(dict(zip(q_in, q, strict=True)))), q * k_in.T),
    "subs of one entry": lambda: (Matrix(small().subs({"q_11": 0}).sympy("S"))[0, 0], q_in[0, 1] * k_in[0, 1]),
    "subs of one entry by a letter": lambda: (
        Matrix(small().subs({"q_11": x}).sympy("S"))[0, 0],
        x * k_in[0, 0] + q_in[0, 1] * k_in[0, 1],
    ),
    "subs of a matrix": lambda: (Matrix(small().subs({"Q": q}).sympy("S")), q * k_in.T),
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
    "a symbol is real": lambda: (small().symbols["q_11"].is_real, True),
    "weights with mask": lambda: (Matrix(small(mask="causal").sympy("A"))[0, :], Matrix([[1, 0]])),
    "masked scores": lambda: (small(mask="causal").sympy("M")[0, 1], -sympy.oo),
    "expanded weights": lambda: (
        sympy.simplify(Matrix(small().expanded().sympy("A")) - softmax(q_in * k_in.T / sqrt(2))),
        sympy.zeros(2, 2),
    ),
    "equal": lambda: (small().sympy("S") == small().sympy("Q") * small().sympy("K").T, True),
}

IN_NUMBERS = {
    "scores": lambda: (Matrix(numbers().sympy("S")), scores),
    "weights": lambda: (Matrix(numbers().sympy("A") - weights).applyfunc(sympy.simplify), sympy.zeros(2, 2)),
    "output": lambda: (Matrix(numbers().sympy("Z") - weights * v).applyfunc(sympy.simplify), sympy.zeros(2, 1)),
    "evalf": lambda: (abs(numbers().sympy("A")[0, 0].evalf(50) - weights[0, 0].evalf(50)) < 1e-48, True),
    "exact": lambda: (numbers().sympy("S'")[0, 0], scores[0, 0] / sqrt(2)),
    "numpy": lambda: (np.allclose(np.array(numbers().sympy("A"), dtype=float), np.array(weights, dtype=float)), True),
    "float": lambda: (float(numbers().sympy("A")[0, 0]), pytest.approx(float(weights[0, 0]))),
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

OPERATIONS = {
    f"{form}: {what}": operation
    for form, listed in (("letters", IN_LETTERS), ("entries", ENTRY_BY_ENTRY), ("numbers", IN_NUMBERS))
    for what, operation in listed.items()
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_gives_what_sympy_alone_gives(operation):
    found, expected = operation()
    assert found == expected
