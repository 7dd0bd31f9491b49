"""What somebody who knows SymPy tries with what symattn gives: each operation beside what SymPy alone makes of it."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
import sympy
from sympy import Matrix, MatrixSymbol, Symbol, exp, sqrt
from sympy.abc import t, x, y

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
    "the shape of a transpose": lambda: (letters().sympy("S").T.shape, (m, n)),
    "transposed": lambda: (letters().sympy("S").T.doit(), K * Q.T),
    "twice": lambda: ((letters().sympy("S") + letters().sympy("S")).doit(), 2 * Q * K.T),
    "minus itself": lambda: ((letters().sympy("S") - letters().sympy("S")).doit(), sympy.ZeroMatrix(n, m)),
    "times a number": lambda: (2 * letters().sympy("S"), 2 * Q * K.T),
    "a product with a matrix of one's own": lambda: (
        (letters().sympy("Z") * MatrixSymbol("W", d_v, d_v)).shape,
        (n, d_v),
    ),
    "an entry": lambda: (letters().sympy("S'")[0, 0], S[0, 0] / sqrt(d_k)),
    "any entry": lambda: (letters().sympy("S'")[i, j], S[i, j] / sqrt(d_k)),
    "an entry of a given": lambda: (letters().sympy("Q")[1, 0], Q[1, 0]),
    "an entry of a product": lambda: (
        letters().sympy("S")[0, 0].subs({d_k: 2}).doit(),
        (Q.subs(d_k, 2)[0, 0] * K.subs(d_k, 2)[0, 0] + Q.subs(d_k, 2)[0, 1] * K.subs(d_k, 2)[0, 1]),
    ),
    "a row": lambda: (letters().sympy("S")[0, :].shape, (1, m)),
    "a column": lambda: (letters().sympy("S")[:, 0].shape, (n, 1)),
    "the symbols": lambda: (letters().sympy("S'").free_symbols, {S, d_k}),
    "a weight's numerator": lambda: (letters().sympy("A")[0, 0].as_numer_denom()[0], exp(S_[0, 0])),
    "subs of a size in an entry": lambda: (letters().sympy("S'")[0, 0].subs(d_k, 4), S.subs(d_k, 4)[0, 0] / 2),
    "subs of a size": lambda: (letters().subs({"d_k": 4}).sympy("S'"), S / 2),
    "subs of SymPy's symbol": lambda: (letters().subs({d_k: 4}).sympy("S'"), S / 2),
    "subs of a plain symbol": lambda: (letters().subs({Symbol("d_k"): 4}).sympy("S'"), S / 2),
    "subs of one size by another": lambda: (letters().subs({"m": "n"}).sympy("S").shape, (n, n)),
    "subs of all matrices": lambda: (Matrix(letters().subs(GIVENS).sympy("S")), scores),
    "subs of SymPy's matrices": lambda: (Matrix(letters().subs({"Q": q, "K": keys, "V": v}).sympy("S")), scores),
    "latex": lambda: (sympy.latex(letters().sympy("S")), sympy.latex(Q * K.T)),
    "pretty": lambda: (sympy.pretty(letters().sympy("S")), sympy.pretty(Q * K.T)),
    "srepr": lambda: (sympy.srepr(letters().sympy("S")), sympy.srepr(Q * K.T)),
    "str": lambda: (str(letters().sympy("S'")), str(S / sqrt(d_k))),
    "hash": lambda: (hash(letters().sympy("S")), hash(Q * K.T)),
    "as a key": lambda: ({letters().sympy("S"): 1}[Q * K.T], 1),
    "pickled": lambda: (pickle.loads(pickle.dumps(letters().sympy("S"))), Q * K.T),
    "copied": lambda: (copy.deepcopy(letters().sympy("S")), Q * K.T),
    "atoms": lambda: (letters().sympy("S").atoms(MatrixSymbol), {Q, K}),
    "has": lambda: (letters().sympy("S").has(Q), True),
    "xreplace": lambda: (
        letters().sympy("S").xreplace({Q: MatrixSymbol("P", n, d_k)}),
        MatrixSymbol("P", n, d_k) * K.T,
    ),
    "args": lambda: (set(letters().sympy("S").args), {Q, K.T}),
    "func": lambda: (letters().sympy("S").func, sympy.MatMul),
    "trace": lambda: (sympy.Trace(letters().subs({"m": "n"}).sympy("S")).arg, Q * MatrixSymbol("K", n, d_k).T),
    "a block matrix of two": lambda: (
        sympy.BlockMatrix([[letters().sympy("S"), letters().sympy("S")]]).shape,
        (n, 2 * m),
    ),
    "an identity times it": lambda: ((sympy.Identity(n) * letters().sympy("S")).doit(), Q * K.T),
    "a zero matrix and it": lambda: ((letters().sympy("S") + sympy.ZeroMatrix(n, m)).doit(), Q * K.T),
    "Hadamard with itself": lambda: (sympy.hadamard_product(letters().sympy("S"), S).shape, (n, m)),
    "is a matrix": lambda: (letters().sympy("A").is_Matrix, True),
    "its rows": lambda: (letters().sympy("A").rows, n),
    "its columns": lambda: (letters().sympy("A").cols, m),
    "the same twice": lambda: (letters().sympy("A"), symattn.derive("attention", symbolic=True).sympy("A")),
    "a Lambda of an entry": lambda: (sympy.Lambda((i, j), letters().sympy("S'")[i, j])(0, 1), S[0, 1] / sqrt(d_k)),
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
    "shape": lambda: (small().sympy("S").shape, (2, 2)),
    "an entry": lambda: (small().sympy("S")[0, 1], (q_in * k_in.T)[0, 1]),
    "transposed": lambda: (Matrix(small().sympy("S").T), k_in * q_in.T),
    "the determinant": lambda: (sympy.expand(small().sympy("S").det() - (q_in * k_in.T).det()), 0),
    "the trace": lambda: (sympy.expand(small().sympy("S").trace()), sympy.expand((q_in * k_in.T).trace())),
    "rank": lambda: (small().sympy("S").rank(), (q_in * k_in.T).rank()),
    "applyfunc": lambda: (Matrix(small().sympy("S").applyfunc(exp)), (q_in * k_in.T).applyfunc(exp)),
    "a row": lambda: (Matrix(small().sympy("S")[0, :]), (q_in * k_in.T)[0, :]),
    "tolist": lambda: (small().sympy("S").tolist(), (q_in * k_in.T).tolist()),
    "free symbols": lambda: (small().sympy("S").free_symbols, set(q_in) | set(k_in)),
    "a Jacobian": lambda: (
        Matrix(small().sympy("S")).reshape(4, 1).jacobian(list(q_in)),
        (q_in * k_in.T).reshape(4, 1).jacobian(list(q_in)),
    ),
    "diff of an entry": lambda: (small().sympy("S")[0, 0].diff(entry("q_11")), k_in[0, 0]),
    "diff of a matrix": lambda: (Matrix(small().sympy("S").diff(entry("q_11"))), (q_in * k_in.T).diff(q_in[0, 0])),
    "diff by a given": lambda: (small().diff("S", "Q")[0, 0, 0, 1], k_in[0, 1]),
    "integrate": lambda: (
        sympy.integrate(small().sympy("S")[0, 0], entry("q_11")),
        sympy.integrate((q_in * k_in.T)[0, 0], q_in[0, 0]),
    ),
    "solve": lambda: (sympy.solve(small().sympy("S")[0, 0], entry("q_11")), [-q_in[0, 1] * k_in[0, 1] / k_in[0, 0]]),
    "simplify": lambda: (sympy.simplify(sum(small().expanded().sympy("A")[0, :])), 1),
    "factor": lambda: (sympy.factor(small().sympy("S")[0, 0] * 2), sympy.factor(2 * (q_in * k_in.T)[0, 0])),
    "collect": lambda: (sympy.collect(small().sympy("S")[0, 0], entry("q_11")).coeff(entry("q_11")), k_in[0, 0]),
    "series": lambda: (
        sympy.series(exp(t * small().sympy("S")[0, 0]), t, 0, 2).removeO().coeff(t, 1).expand(),
        (q_in * k_in.T)[0, 0],
    ),
    "expand": lambda: (sympy.expand(small().sympy("S")[0, 0] ** 2), sympy.expand((q_in * k_in.T)[0, 0] ** 2)),
    "cse": lambda: (len(sympy.cse(small().expanded().sympy("A")[0, 0])[0]) >= 1, True),
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
    "xreplace": lambda: (
        Matrix(small().sympy("S").xreplace({q_in[0, 0]: x}))[0, 0],
        x * k_in[0, 0] + q_in[0, 1] * k_in[0, 1],
    ),
    "evalf": lambda: (abs(small().subs(GIVENS).evalf(30)["A"][0, 0] - weights[0, 0].evalf(30)) < 1e-28, True),
    "lambdify": lambda: (np.allclose(small().lambdify()(**GIVENS)["Z"], np.array(weights * v, dtype=float)), True),
    "lambdify by SymPy": lambda: (
        np.allclose(sympy.lambdify([*q_in, *k_in], small().sympy("S"))(*q, *keys), np.array(scores, dtype=float)),
        True,
    ),
    "latex": lambda: (sympy.latex(small().sympy("S")), sympy.latex(q_in * k_in.T)),
    "latex in Matrix form": lambda: ("begin{matrix}" in sympy.latex(small().sympy("Q")), True),
    "pretty": lambda: (sympy.pretty(small().sympy("Q")), sympy.pretty(q_in)),
    "sympify of its srepr": lambda: (sympy.sympify(sympy.srepr(small().sympy("S")[0, 0])), (q_in * k_in.T)[0, 0]),
    "a symbol by its name": lambda: (small().symbols["q_11"], q_in[0, 0]),
    "a symbol is real": lambda: (small().symbols["q_11"].is_real, True),
    "count_ops": lambda: (small().sympy("S")[0, 0].count_ops(), 3),
    "as a polynomial": lambda: (sympy.Poly(small().sympy("S")[0, 0], *q_in[0, :]).degree(), 1),
    "a gradient of the sum": lambda: (
        sympy.derive_by_array(sum(small().sympy("S")), list(q_in[0, :])).tolist(),
        [sum(k_in[:, 0]), sum(k_in[:, 1])],
    ),
    "a Hessian": lambda: (sympy.hessian(small().sympy("S")[0, 0], list(q_in[0, :])), sympy.zeros(2, 2)),
    "inverse": lambda: ((Matrix(small().sympy("S")).inv() * (q_in * k_in.T)).applyfunc(sympy.simplify), sympy.eye(2)),
    "eigenvalues of the numbers": lambda: (Matrix(numbers().sympy("S")).eigenvals(), scores.eigenvals()),
    "weights with mask": lambda: (Matrix(small(mask="causal").sympy("A"))[0, :], Matrix([[1, 0]])),
    "masked scores": lambda: (small(mask="causal").sympy("M")[0, 1], -sympy.oo),
    "expanded weights": lambda: (
        sympy.simplify(Matrix(small().expanded().sympy("A")) - softmax(q_in * k_in.T / sqrt(2))),
        sympy.zeros(2, 2),
    ),
    "hstack": lambda: (Matrix.hstack(small().sympy("S"), small().sympy("S")).shape, (2, 4)),
    "a product": lambda: (Matrix(small().sympy("Q") * small().sympy("K").T), q_in * k_in.T),
    "equal": lambda: (small().sympy("S") == small().sympy("Q") * small().sympy("K").T, True),
}

IN_NUMBERS = {
    "scores": lambda: (Matrix(numbers().sympy("S")), scores),
    "weights": lambda: (Matrix(numbers().sympy("A") - weights).applyfunc(sympy.simplify), sympy.zeros(2, 2)),
    "a row of weights sums to 1": lambda: (sympy.simplify(sum(numbers().sympy("A")[0, :])), 1),
    "output": lambda: (Matrix(numbers().sympy("Z") - weights * v).applyfunc(sympy.simplify), sympy.zeros(2, 1)),
    "evalf": lambda: (abs(numbers().sympy("A")[0, 0].evalf(50) - weights[0, 0].evalf(50)) < 1e-48, True),
    "exact": lambda: (numbers().sympy("S'")[0, 0], scores[0, 0] / sqrt(2)),
    "simplify": lambda: (sympy.simplify(numbers().sympy("A")[0, 0] - weights[0, 0]), 0),
    "equals": lambda: (numbers().sympy("A")[0, 0].equals(weights[0, 0]), True),
    "latex": lambda: (sympy.latex(numbers().sympy("S")), sympy.latex(scores)),
    "norm": lambda: (Matrix(numbers().sympy("S")).norm(), scores.norm()),
    "inverse": lambda: (Matrix(numbers().sympy("S")).inv(), scores.inv()),
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


# What SymPy cannot do with such expressions, whoever made them: when it can, these are operations like the others.


def test_sympy_does_not_read_the_text_of_a_symbol_with_braces():
    for symbol in (small().symbols["q_11"], Symbol("q_{11}")):
        with pytest.raises(sympy.SympifyError):
            sympy.sympify(str(symbol))


def test_sympy_sums_over_another_index_each_time_an_entry_of_a_product_is_taken():
    assert (Q * K.T)[0, 0] != (Q * K.T)[0, 0]


def test_sympy_reads_the_text_of_a_size_as_a_symbol_of_which_nothing_is_known():
    size = letters().sympy("Q").rows
    assert sympy.sympify(str(size)) != size
    assert sympy.sympify(str(size), locals={"n": size}) == size
