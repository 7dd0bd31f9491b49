"""Derivations with letters for sizes: what SymPy is given is right, is always the same, and takes what is put in."""

import copy
import pickle
from itertools import product
from shutil import which
from subprocess import run

import oracles
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from sympy import Matrix, MatrixSymbol, Symbol
from sympy.matrices.expressions.matexpr import MatrixElement
from tables import tables_beside
from test_self_check import every_op

import symattn
from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.derivation import symbols
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.ops.gradient import InfinityNorm
from symattn.derivation.sizes import plus, share, times
from symattn.errors import ShapeError

TABLES = tables_beside(__file__)

IN_LETTERS = ["causal_self_attention", "encoder_block", "linear_attention", "multi_head_attention", "rms_norm"]
k = Symbol("k", integer=True, nonnegative=True)


@pytest.fixture(scope="module", params=IN_LETTERS)
def letters(request):
    return symattn.derive(request.param, symbolic=True)


# ------------------------------------------------------------------------------------------------ sums


def bound(expression):
    return {index for total in expression.atoms(sympy.Sum) for index in total.bound_symbols}


def test_an_index_from_outside_is_never_taken_for_that_of_a_sum(letters):
    for step in letters:
        whole = letters.sympy(step.name)
        row = k if whole.shape[0] != 1 else 0
        entry = sympy.sympify(whole[row, 0])
        assert k not in bound(entry), step.name
        assert row == 0 or k in entry.free_symbols, step.name


@pytest.mark.covering(most=2)
def test_what_is_derived_twice_is_equal(letters):
    again = symattn.derive(letters.problem.mechanism, symbolic=True)
    for step in letters:
        assert letters.sympy(step.name) == again.sympy(step.name), step.name
    last = next((name for name in ("Z", "O") if name in letters), letters.steps[-1].name)
    assert letters.expanded().sympy(last) == again.expanded().sympy(last)


@pytest.mark.slow
def test_an_expanded_block_is_a_composition_of_steps_that_can_be_read():
    expanded = symattn.derive("encoder", symbolic=True).expanded()
    last = expanded.sympy(expanded.steps[-1].name)
    named = {symbol.name for symbol in last.atoms(MatrixSymbol)}
    steps = {step.name for step in expanded}
    assert named & steps  # such as R2
    assert named <= steps | set(expanded.givens)
    assert sum(1 for _ in sympy.preorder_traversal(last[0, 0])) < 20_000


@pytest.mark.parametrize("width", [2, 3])
def test_an_expanded_layer_norm_is_as_short_as_it_can_be(width):
    """Two features leave a sign; of more, each square comes once, and nothing can be cancelled."""
    solution = symattn.derive("layer_norm", symbolic=True, sizes={"n": 1, "d_model": width}).expanded()
    x = solution.sympy("X")
    mean = sum(x) / sympy.Integer(width)
    right = [(one - mean) / sympy.sqrt(sum((other - mean) ** 2 for other in x) / width) for one in x]
    for entry, own in zip(solution.sympy("N_hat"), right, strict=True):
        point = dict(zip(x, (sympy.Rational(7, 3), -2, 5), strict=False))
        assert sympy.simplify((entry - own).subs(point)) == 0
        above, below = sympy.fraction(entry)
        assert 1 in (above.as_content_primitive()[0], below.as_content_primitive()[0])
        squares = [power.base for power in below.atoms(sympy.Pow) if power.exp == 2]
        assert len({frozenset((base, sympy.expand(-base))) for base in map(sympy.expand, squares)}) == len(squares)
    if width == 2:
        assert list(solution.sympy("N_hat")) == [(x[0] - x[1]) / abs(x[0] - x[1]), (x[1] - x[0]) / abs(x[0] - x[1])]
        assert r"x_{12} \rvert" in solution.latex("N_hat")


def test_nested_sums_have_indices_of_their_own():
    weights = symattn.derive("self_attention", symbolic=True).expanded().sympy("A")
    totals = list(weights[0, 1].atoms(sympy.Sum))
    assert all(not (bound(total.function) & set(total.bound_symbols)) for total in totals)
    assert len({index.name for index in bound(weights[0, 1])}) == len(bound(weights[0, 1]))  # in print, too


# ------------------------------------------------------------------------------------------- letters and numbers


@pytest.mark.parametrize(
    ("values", "sentence"),
    TABLES["impossible"],
)
def test_what_cannot_be_put_in_is_named(values, sentence):
    solution = symattn.derive("attention", symbolic=True, sizes={"n": 1, "m": 2, "d_k": 1, "d_v": 1})
    with refused_saying(sentence):
        solution.subs(values)


def test_matrices_that_contradict_one_another_are_refused():
    solution = symattn.derive("attention", symbolic=True)
    with pytest.raises(ShapeError, match="K is 1×1, so d_k would be 1; but d_k is 2"):
        solution.subs({"Q": [[1, 0]], "K": [[1]], "V": [[1]]})
    with refused_saying("n is a size; a whole number from 1 or a letter was expected, not 0"):
        solution.subs({"n": 0})


def test_matrix_symbols_are_taken_as_givens():
    n, d = sympy.symbols("n d", integer=True, positive=True)
    q, keys, v = MatrixSymbol("Q", n, d), MatrixSymbol("K", n, d), MatrixSymbol("V", n, 2 * d)
    solution = symattn.derive("attention", Q=q, K=keys, V=v)
    assert solution["V"].result.shape == ("n", "2*d")
    with refused_saying("a MatrixSymbol called Q was expected; this one is called M"):
        symattn.derive("attention", Q=MatrixSymbol("M", n, d), K=keys, V=v)


def test_the_scale_is_the_root_of_whatever_the_size_is_called():
    text = symattn.derive("self_attention", symbolic=True, sizes={"n": "N", "d_k": "p"}).text()
    assert "√p" in text
    assert "√dₖ" not in text


# ------------------------------------------------------------------------------------------------ one step in LaTeX


def test_one_step_in_latex_is_no_document():
    solution = symattn.derive("self_attention", symbolic=True)
    assert solution.latex("S").split("\n") == [
        r"\begin{aligned}",
        r"  S_{n \times n} &= Q_{n \times d_{k}} \, (K^{\top})_{d_{k} \times n} \\",
        r"  s_{ij} &= q_{i} k_{j}^{\top} = \sum_{k=1}^{d_{k}} q_{ik} k_{jk}",
        r"\end{aligned}",
    ]
    assert r"x_{n,d_{\mathrm{model}}}" in solution.latex("X")  # a size as an index is typeset as a size
    with refused_saying("There is no step 'B'; the steps are Q, K, V"):
        solution.latex("B")


@pytest.mark.slow
@pytest.mark.skipif(not which("pdflatex"), reason="pdflatex is not installed")
def test_every_step_in_latex_needs_nothing_but_amsmath(tmp_path):
    notes = [symattn.derive(name) for name in ("note-000", "note-003", "note-004")]
    letters = [in_letters_of(name, {}) for name in sorted(mechanisms())]
    steps = [solution.latex(name) for solution in notes + letters
             for name in (*solution.givens, *(step.name for step in solution))]  # fmt: skip
    body = "\n".join(f"\\[{step}\\]" for step in steps)
    document = f"\\documentclass{{article}}\\usepackage{{amsmath}}\\begin{{document}}{body}\\end{{document}}"
    (tmp_path / "steps.tex").write_text(document, "utf-8")
    made = run(["pdflatex", "-halt-on-error", "steps.tex"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout[-1500:]


# ------------------------------------------------------------------------------------------------ masks

MASKS = st.one_of(
    st.sampled_from(["causal", "past", "causal:top-left"]),
    st.builds("{}:{}".format, st.sampled_from(["padding", "window", "prefix"]), st.integers(1, 3)),
    st.builds("window:{}:both".format, st.integers(1, 3)),
    st.just("causal+padding:2"),
)


@pytest.mark.property
@given(mask=MASKS, rows=st.integers(1, 4), more=st.integers(0, 3))
def test_a_mask_in_letters_hides_what_it_hides_in_numbers(mask, rows, more):
    columns = max(rows + more, 3)
    solution = symattn.derive("attention", symbolic=True, mask=mask)
    n, m = (Symbol(x, integer=True, positive=True) for x in "nm")
    right = oracles.kept(mask, rows, columns).tolist()
    assert [list(row) for row in masks(mask).keep(rows, columns)] == right
    masked = solution.sympy("M")
    for i, j in product(range(rows), range(columns)):
        entry = masked[i, j].subs({n: rows, m: columns})
        assert (entry is not sympy.S.NegativeInfinity) == right[i][j]
        assert entry in (sympy.S.NegativeInfinity, MatrixSymbol("S'", rows, columns)[i, j])


def test_a_mask_lies_as_the_scores_lie_where_tokens_are_columns():
    masked = symattn.derive("self_attention", symbolic=True, mask="causal", orientation="columns").sympy("M")
    assert masked[2, 1] is sympy.S.NegativeInfinity  # key 3 is later than query 2
    assert masked[1, 2].func is sympy.matrices.expressions.matexpr.MatrixElement


def test_a_mask_by_its_rows_is_read_entry_by_entry_beside_a_letter():
    masked = symattn.derive("self_attention", symbolic=True, sizes={"n": 2}, mask=[[1, 1], [0, 1]]).sympy("M")
    assert [[masked[i, j] is sympy.S.NegativeInfinity for j in range(2)] for i in range(2)] == [
        [False, False], [True, False],
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------ copies


def test_a_derivation_can_be_pickled_and_copied():
    """One with every operation, and one in letters."""
    for solution in (every_op(), symattn.derive("attention", symbolic=True).derivation):
        assert pickle.loads(pickle.dumps(solution)) == copy.deepcopy(solution) == solution


# ------------------------------------------------------------------------------------------------ sizes

LETTERS = st.sampled_from(["n", "d_k", "d_v", 1, 2, 3])
SIZES = st.lists(st.tuples(st.integers(1, 4), LETTERS), min_size=1, max_size=4).map(
    lambda terms: plus(*(times(number, letter) for number, letter in terms))
)


@pytest.mark.property
@given(a=SIZES, b=SIZES, count=st.integers(1, 4))
def test_sizes_are_added_and_shared_as_sympy_does(a, b, count):
    assert size_in_sympy(plus(a, b)) == size_in_sympy(a) + size_in_sympy(b)
    assert size_in_sympy(times(count, a)) == count * size_in_sympy(a)
    assert share(times(count, a), count) == a
    shared = share(a, count)
    divisible = all(
        c % count == 0
        for c in sympy.Poly(size_in_sympy(a), *sympy.symbols("n d_k d_v", integer=True, positive=True)).coeffs()
    )
    assert (shared is not None) == divisible


# ------------------------------------------------------------------------------------------------ parameters

PARAMETERS = TABLES["parameters"]


@pytest.mark.parametrize(("name", "setting", "text", "letter", "number"), PARAMETERS)
def test_a_number_in_place_of_a_parameter_gives_what_the_number_gives(name, setting, text, letter, number):
    sizes = dict.fromkeys(mechanisms()[name].letters, 2)
    in_letters = symattn.derive(name, symbolic=True, sizes=sizes, **{setting: text})
    assert letter in in_letters.symbols
    right = symattn.derive(name, symbolic=True, sizes=sizes, **{setting: text.replace(letter, str(number))})
    for put_in in (in_letters.subs({letter: number}), in_letters.subs({in_letters.symbols[letter]: number})):
        for step in right:
            assert oracles.same_matrix(Matrix(put_in.sympy(step.name)), Matrix(right.sympy(step.name))), step.name


def test_parameters_stay_when_sizes_are_put_in_and_the_other_way_round():
    s = symattn.derive("attention", symbolic=True, temperature="T")
    t = s.symbols["T"]
    assert s.subs({"n": 2, "m": 2, "d_k": 1, "d_v": 1}).sympy("S_T")[0, 0].free_symbols >= {t}
    assert s.subs({t: 2}).subs({"n": 3}).sympy("S_T") == s.subs({"n": 3, "T": 2}).sympy("S_T")
    assert symattn.derive("attention", symbolic=True, temperature=t).sympy("A") == s.sympy("A")


def test_what_a_temperature_does_to_weights_is_their_derivative():
    s = symattn.derive("attention", Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none", temperature="T")
    t = s.symbols["T"]
    right = 1 / (1 + sympy.exp(1 / t))
    assert sympy.simplify(s.diff("A", "T")[0, 0] - sympy.diff(right, t)) == 0
    run = s.lambdify()
    weights = run(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]], T=3)["A"]
    assert weights[0][0] == pytest.approx(float(right.subs(t, 3)))
    with refused_saying("T is missing; this takes Q, K, V, T"):
        run(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]])


# ------------------------------------------------------------------------------------------- letters and numbers

SIZES = {"n": 3, "m": 4, "d_model": 4, "d_k": 4, "d_v": 2, "d_h": 2, "d_ff": 3, "d_out": 2, "d_vocab": 3, "d_source": 2}
STEPS_IN_NUMBERS = {
    "backpropagation_through_time", "cross_entropy_gradient", "kv_cache", "online_softmax", "recurrent_jacobian",
    "recurrent_network",
}  # fmt: skip
"""Mechanisms of which a letter says no how many steps there are: they ask for that number, and no other."""
SETTINGS = [*((name, {}) for name in sorted(mechanisms())), *TABLES["settings"]]


def in_letters_of(name, settings):
    stated = {letter: SIZES[letter] for letter in ("n", "m") if letter in mechanisms()[name].letters}
    sizes = stated if name in STEPS_IN_NUMBERS else {}
    if name == "cross_entropy_gradient":
        sizes = {"n": 3}
    return symattn.derive(name, symbolic=True, sizes=sizes, **settings)


def any_numbers(solution):
    """A number for every entry of every matrix, as itself where it is one; those that share a name share the number."""
    entries, matrices = {}, {}
    for name in (*solution.givens, *(step.name for step in solution)):
        own = solution.sympy(name)
        named = symbols(name, *own.shape, solution.derivation.orientation)
        for symbol, x in zip(named, own, strict=True):
            entries.setdefault(symbol, sympy.Rational(len(entries) * 7 % 11 + 1, 4) if x.free_symbols else x)
        matrices[name] = Matrix(*own.shape, [entries[symbol] for symbol in named])
    return entries, matrices


def spread(rows, columns):
    """Places in every row and every column, on both sides of the diagonal."""
    return {(k % rows, k % columns) for k in range(max(rows, columns))} | {(0, columns - 1), (rows - 1, 0)}


@pytest.mark.covering(most=1, rest=4)
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_every_step_in_letters_is_the_step_in_numbers(name, settings):
    """Every matrix before a step is made any numbers, in its expression in letters as in that entry by entry."""
    in_letters = in_letters_of(name, settings)
    sizes = {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    in_numbers = symattn.derive(name, symbolic=True, sizes=sizes, **settings)
    size_of = {Symbol(letter, integer=True, positive=True): size for letter, size in sizes.items()}
    entries, matrices = any_numbers(in_numbers)
    assert [step.name for step in in_letters] == [step.name for step in in_numbers]
    for step in in_letters:
        if isinstance(step.op, InfinityNorm):
            with refused_saying("The norm is the largest of several sums, so that d_h must be a number"):
                in_letters.sympy(step.name)
            continue
        whole, numbers = in_letters.sympy(step.name), in_numbers.sympy(step.name)
        for i, j in spread(*numbers.shape):
            entry = sympy.sympify(whole[i, j]).subs(size_of).doit()
            entry = entry.replace(
                lambda x: isinstance(x, MatrixElement), lambda x: matrices[x.parent.name][int(x.i), int(x.j)]
            )
            right = sympy.sympify(numbers[i, j]).xreplace(entries)
            assert entry.free_symbols == right.free_symbols <= {Symbol("r", positive=True)}
            assert oracles.same(entry.subs("r", 3), right.subs("r", 3)), (step.name, i, j, entry, right)
