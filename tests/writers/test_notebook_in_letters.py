"""Notebooks of derivations in letters: SymPy alone runs them, and they end in a comparison that can fail."""

import ast
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
import sympy
from catalogue_sheets import sheet_of
from check_notebook import sources
from sympy import Lambda, Matrix
from test_letters import STEPS_IN_NUMBERS
from trials import at_least_one

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.page.document import Program, all_blocks
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.documents import derivation_document
from symattn.teaching.explanation.program import identifier

SIZES = {"n": 3, "m": 4}  # every other size is 2
SETTINGS = [
    *((name, {}) for name in sorted(mechanisms())),
    ("attention", {"temperature": "T"}), ("attention", {"cap": "c"}),
    ("attention", {"mask": "causal", "bias": "alibi:r"}), ("attention", {"mask": "padding:0", "empty": "zero"}),
    ("self_attention", {"orientation": "columns"}), ("multi_head_attention", {"split": "interleaved"}),
    ("rotary_attention", {"position": "rotary-halves"}), ("feed_forward", {"function": "gelu"}),
    ("positional_encoding", {"position": "sinusoidal-halves", "embedding": "scaled", "first_position": 1}),
]  # fmt: skip
FEW = [
    ("attention", {}), ("layer_norm", {}), ("feed_forward", {"function": "gelu"}), ("recurrent_network", {}),
    ("rotary_attention", {"position": "rotary-halves"}), ("cross_entropy_gradient", {}),
    ("self_attention", {"orientation": "columns"}),
]  # fmt: skip


def sizes_of(name):
    return {letter: SIZES.get(letter, 2) for letter in mechanisms()[name].letters}


def in_letters(name, **settings):
    sizes = {letter: size for letter, size in sizes_of(name).items() if letter in ("n", "m")}
    return symattn.derive(name, symbolic=True, sizes=sizes if name in STEPS_IN_NUMBERS else {}, **settings)


def in_symbols(name, **settings):
    return symattn.derive(name, symbolic=True, sizes=sizes_of(name), **settings)


FORMS = {"letters": in_letters, "symbols": in_symbols}


@cache
def cells_of(form, name, **settings):
    return sources(FORMS[form](name, **settings).document, "code")


def run(cells, names):
    """What the last expression of some cells is, where there is one."""
    value = None
    for cell in cells:
        program = ast.parse(cell)
        last = program.body.pop() if isinstance(program.body[-1], ast.Expr) else None
        exec(compile(program, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    return value


def compared(cells):
    """The matrices that the last cell compares."""
    return re.findall(r"are_equal\((\w+), ", cells[-1])


# ------------------------------------------------------------------------------------------------ they run


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "settings"), FEW, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_the_last_cell_finds_the_result_equal(form, name, settings):
    """With SymPy alone."""
    cells = sources(FORMS[form](name, **settings).document, "code")
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell))]
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert modules <= {"sympy", "random", "sympy.matrices.expressions.matexpr"}
    assert not any(isinstance(node, ast.Import) for node in nodes)
    assert run(cells, {}) is True


@pytest.mark.parametrize(("form", "name"), [("letters", "attention"), ("symbols", "layer_norm")])
def test_one_wrong_entry_is_found(form, name):
    """One more in the first entry of each result that is compared, and of that alone."""
    cells, names = cells_of(form, name), {}
    run(cells[:-1], names)
    i, j = sympy.symbols("i j", integer=True, nonnegative=True)
    for found in at_least_one(compared(cells)):
        right = names[found]
        first = sympy.KroneckerDelta(i, 0) * sympy.KroneckerDelta(j, 0)
        one = sympy.FunctionMatrix(*right.shape, Lambda((i, j), first))
        names[found] = right + (Matrix(one) if isinstance(right, sympy.MatrixBase) else one)
        assert run(cells[-1:], names) is False, found
        names[found] = right
        break


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("S/sqrt(d_k)", "S/d_k"), ("Q*K.T", "2*Q*K.T"), ("Z = A*V", "Z = 2*A*V"), ("(k_1, 0, m - 1)", "(k_1, 1, m - 1)")],
)
def test_a_cell_with_a_mistake_is_found(right, wrong):
    cells = cells_of("letters", "attention")
    changed = [cell.replace(right, wrong) if "are_equal" not in cell else cell for cell in cells]
    assert changed != cells
    assert run(changed, {}) is False


# ------------------------------------------------------------------------------------------------ they are right


def in_decimals(matrix):
    return Matrix(*matrix.shape, lambda i, j: sympy.N(sympy.sympify(matrix[i, j]).doit(), 15))


@pytest.mark.covering(most=1, product=False, rest=3)
@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_every_cell_with_numbers_gives_what_symattn_gives(form, name, settings):
    """The cells are run with numbers for sizes, parameters and matrices; symattn works these out by its own rules."""
    symbolic = in_symbols(name, **settings)
    letters = {"T": 2, "c": 3, "r": sympy.Rational(1, 3)}
    given = {
        of: [[Fraction((5 * i + 3 * j + 2 * at) % 7 + 1, 4) for j in range(m.shape[1])] for i in range(m.shape[0])]
        for at, (of, m) in enumerate(symbolic.givens.items())
    }
    filled = symbolic.subs({x: letters[x] for x in symbolic.symbols if x in letters}).derivation
    numbers = replace(filled, staged=False, arithmetic="decimal").replay(givens=given)
    cells = sources(FORMS[form](name, **settings).document, "code")
    names = {"i": sympy.Symbol("i", integer=True, nonnegative=True), "j": sympy.Symbol("j", integer=True)}
    exec("from sympy import *", names)
    indices = re.findall(r"\bk_\d+\b", "\n".join(cells))
    names |= {k: sympy.Dummy(k, integer=True, nonnegative=True) for k in indices} | letters
    names |= {letter: sympy.Integer(size) for letter, size in sizes_of(name).items()}  # d_k/2 is no float
    names |= {identifier(of): Matrix([[sympy.Rational(x) for x in row] for row in rows]) for of, rows in given.items()}
    for step in at_least_one(numbers):
        called = identifier(step.name)
        right = Matrix([[sympy.Float(x) if x > -math.inf else -sympy.oo for x in row] for row in step.result.floats()])
        [cell] = [cell for cell in cells if re.match(rf"(# .*\n)?{called}(_whole)? = ", cell)]
        if not cell.startswith("#"):
            line = ast.parse(cell).body[0]
            exec(compile(ast.Module([line], []), "cell", "exec"), names)
            found = in_decimals(names[line.targets[0].id])
            assert all(x == y or abs(x - y) < 1e-9 for x, y in zip(found, right, strict=True)), step.name
        names[called] = right


# ------------------------------------------------------------------------------------------------ where they stand


def is_step(program):
    return "np.allclose(" in program.source


@pytest.mark.parametrize("name", ["rotary_attention", "cross_entropy_gradient", "recurrent_network"])
def test_every_program_in_numpy_stands_below_its_step(name):
    problem = sheet_of(name).problem
    blocks = list(derivation_document(problem).blocks)
    steps = [i for i, block in enumerate(blocks) if isinstance(block, Program) and is_step(block)]
    assert len(steps) == len(problem.steps)
    between = [any(not isinstance(block, Program) for block in blocks[a + 1 : b]) for a, b in pairwise(steps)]
    assert all(between)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex", "typst"])
def test_other_formats_are_the_same_with_programs_and_without(form):
    problem = symattn.derive("note-002").problem
    with_programs, without = derivation_document(problem), derivation_document(problem, besides=frozenset())
    assert any(isinstance(block, Program) for block in all_blocks(with_programs.blocks))
    assert not any(isinstance(block, Program) for block in all_blocks(without.blocks))
    assert FORMATS[form].write(with_programs) == FORMATS[form].write(without)


def test_sizes_that_nobody_writes_out_are_compared_as_they_stand():
    cells = sources(symattn.derive("note-001").document, "code")
    assert 'MatrixSymbol("X", 2, 512)' in "\n".join(cells)
    assert run(cells, {}) is True


def test_an_operation_without_a_formula_says_so_and_the_rest_goes_on():
    cells = cells_of("letters", "attention", weights="hardmax")
    [said] = [cell for cell in cells if cell.startswith("# Step 'A'")]
    assert "has no formula in symbols" in said
    assert run(cells, {}) is True
