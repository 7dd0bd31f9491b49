"""Notebooks: valid, reproducible, without a key where none belongs, and right when they are run with NumPy alone."""

import ast
import importlib
import json
import math
import pkgutil
import re
from fractions import Fraction
from functools import cache
from inspect import isabstract
from pathlib import Path

import numpy as np
import pytest
from catalogue_sheets import every_row, page, sheet_of
from check_notebook import complaints, sources
from tables import tables_beside
from test_self_check import every_op
from writer_exam_samples import EVERYTHING
from writer_samples import HOSTILE, paragraph, sheet, words

import symattn.derivation.ops
from symattn.api import derive
from symattn.derivation.derivation import Op, StepName
from symattn.derivation.numpy_source import value
from symattn.exact import exact
from symattn.foundation.dice import Dice
from symattn.marking.submissions import entry
from symattn.marking.submissions.code import read_code
from symattn.marking.submissions.tables import Cells
from symattn.page.document import Heading, Program, WorkingSpace
from symattn.page.writers import FORMATS, notebook
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import key, paper
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation import LAYOUTS
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.explanation.program import Computation, functions, identifier
from symattn.teaching.pool import pool
from symattn.teaching.problem import examples
from symattn.teaching.problems import problem_type

TABLES = tables_beside(__file__)


def run(*cells):
    """The names that some cells leave behind."""
    names = {}
    for cell in cells:
        exec(compile(cell, "cell", "exec"), names)
    return names


def program(derivation):
    """Everything in a derivation, step by step."""
    computation, defined = Computation(derivation), set()
    steps = [computation.worked([step]) for step in derivation]
    cells = [cell for step in steps for cell in (functions(step, defined), step)]
    return ["import numpy as np", computation.givens(derivation.givens), *cells]


# ------------------------------------------------------------------------------------------------ the form


@pytest.mark.parametrize("name", list(EVERYTHING))
def test_every_document_is_a_valid_notebook(name):
    assert complaints(EVERYTHING[name]) == []


@pytest.mark.covering(most=5, rest=3)
@every_row
def test_every_key_is_a_notebook_that_runs(row):
    """In its language and layout; in a sheet that is blank nothing can be wrong but its form."""
    assert complaints(page(row, "key")) == []


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", list(examples()))
def test_every_example_is_a_notebook_that_runs(name):
    for corrected in (True, False):
        assert complaints(derive(name, corrected=corrected).document) == []


def test_identities_follow_from_content():
    document = sheet(Heading(words("a")), Program("1"), Heading(words("a")), Program("1"))
    cells = json.loads(notebook.write(document))["cells"]
    more = json.loads(notebook.write(sheet(Program("0"), *document.blocks)))["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells) == 5
    assert {cell["id"] for cell in cells} < {cell["id"] for cell in more}


def test_a_program_is_left_out_everywhere_else():
    for name, writer in FORMATS.items():
        text = writer.write(sheet(paragraph("before"), Program("S_secret = 1"), paragraph("after")))
        assert ("S_secret" in text) == (name == "notebook")


def test_space_for_working_is_a_cell_where_there_is_no_program():
    space = WorkingSpace(30)
    blocks = (Heading(words("a")), space, Program("Q = ..."), Heading(words("b")), space)
    said = sources(sheet(*blocks), "markdown")
    assert [source for source in said if "Working" in source] == ["Working:"]
    assert said.index("## b") + 1 == said.index("Working:")


def test_no_text_of_anybody_stands_in_a_program():
    """Whatever a step is called, its name in Python is one, and none is taken twice."""
    assert [identifier(text).isidentifier() for text in HOSTILE].count(False) == 0
    assert not {"np", "math", "lambda", "softmax"} & set(map(identifier, (*HOSTILE, "np", "lambda", "softmax")))
    d = derive("attention", Q=[[1]], K=[[1]], V=[[1]]).derivation
    for text in HOSTILE[:8]:
        d = d.then(f"{text} of mine", d["Z"].op, "A", "V")
    assert len(set(Computation(d).names.values())) == len(Computation(d).names)
    run(*program(d))


# ------------------------------------------------------------------------------------------------ what it computes


ROUNDED = TABLES["rounded"]


@pytest.mark.parametrize("settings", ROUNDED.values(), ids=ROUNDED)
def test_rounded_weights_agree(settings):
    """Other settings: tests/mechanisms/test_values.py."""
    givens = {"Q": [[1, 2], [3, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 0], [0, "1/2"]]}
    run(*program(derive("attention", **givens, **settings).derivation))


def test_every_operation_has_a_line_of_numpy_that_gives_what_it_gives():
    """Every one that symattn has itself: other tests add some, from folders of their own."""
    folder = Path(symattn.derivation.ops.__file__).parent
    own = {
        importlib.import_module(f"symattn.derivation.ops.{info.name}").__name__
        for info in pkgutil.iter_modules([str(folder)])
    }

    def below(kind):
        return {kind, *(found for sub in kind.__subclasses__() for found in below(sub))}

    kinds = {kind for kind in below(Op) if kind.__module__ in own and not isabstract(kind)}
    assert len(kinds) > 30
    assert [kind.__name__ for kind in kinds if kind.numpy is Op.numpy and not kind.in_numpy] == []
    run(*program(every_op()))  # it asserts the same


def test_every_step_is_compared_with_the_key():
    """That the numbers beside `assert` are right is seen when it runs."""
    for name in ("causal_self_attention", "layer_norm", "softmax_jacobian"):
        problem, code = sheet_of(name).problem, "\n".join(sources(sheet_of(name).key, "code"))
        names = Computation(problem.derivation).names
        compared = re.findall(r"^assert np\.allclose\((\w+),", code, re.MULTILINE)
        assert set(compared) == {names[step.name] for step in problem.steps}


@pytest.mark.parametrize(
    "text", ["1/3", "-7", "sqrt(3)/2", "e^(1/2)", "1/(1+e^2)", "-e^(-1/3)/2", "(1+sqrt(2))*e", "2^(1/3)", "e/(e-1)",
             "3^200*3^200*e", "(3^200*3^100*sqrt(2)+1)/(1+e)"]
)  # fmt: skip
def test_values_as_source(text):
    import sympy

    wanted = float(sympy.sympify(text, locals={"e": sympy.E}))
    assert eval(value(exact(text)), {"np": np}) == pytest.approx(wanted, rel=1e-11)


# ------------------------------------------------------------------------------------------------ what a student gets

_ARRAY = re.compile(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", re.DOTALL)


def printed(markdown):
    """The matrices of numbers that stand in formulas."""
    found = []
    for body in _ARRAY.findall(markdown):
        plain = (
            re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", body)
            .replace("{", "")
            .replace("}", "")
            .replace("operatorname", "")
        )
        rows = [[cell.strip() for cell in row.split("&")] for row in plain.split("\\\\")]
        if all(re.fullmatch(r"-?\d+(/\d+|\.\d+)?|-?\\ln\(\d+\)", cell) for row in rows for cell in row):
            found.append([[_number(cell) for cell in row] for row in rows])
    return found


def _number(cell):
    if logarithm := re.fullmatch(r"(-?)\\ln\((\d+)\)", cell):
        return float(f"{logarithm[1]}1") * math.log(int(logarithm[2]))
    return float(Fraction(cell))


def gives_nothing_away(document):
    """Its programs only repeat matrices that are printed on it, and compute nothing."""
    shown = printed("\n".join(sources(document, "markdown")))
    for node in (node for cell in sources(document, "code") for node in ast.walk(ast.parse(cell))):
        assert not isinstance(node, ast.Assert | ast.MatMult | ast.FunctionDef)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            assert eval(ast.unparse(node.value.args[0]), {"np": np}) in shown
        elif isinstance(node, ast.Assign):
            assert ast.unparse(node.value) == "..."


@pytest.mark.covering(most=5, rest=3)
@every_row
def test_a_worksheet_gives_nothing_away_and_has_a_place_for_every_step(row):
    blank = sheet_of(row.name).worksheet
    gives_nothing_away(blank)
    if row.kind == "mechanism":
        problem, code = sheet_of(row.name).problem, "\n".join(sources(blank, "code"))
        names = Computation(problem.derivation).names
        assert [step.name for step in problem.asked_steps if f"{names[step.name]} = ..." not in code] == []


def test_names_say_what_they_are():
    assert identifier("S'_2") == "S_scaled_2"
    assert identifier("H.3") == "H_token_3"
    assert StepName.of("S'_2").head == 2


# ------------------------------------------------------------------------------------------------ exams

EXAMS = (("full", "choice", "full"), ("drills", "faded"), ("gradient", "find-error"), ("prove", "choice"))


@cache
def asked(name):
    return next(iter(pool(problem_type(name).spec({}), Dice.seeded(4))))


def exam(names, layout="matrix"):
    """A paper with these questions, and its key."""
    spec, questions = ExamSpec("An exam", layout=layout), [asked(name) for name in names]
    return paper(spec, Copy(0, "X"), questions), key(spec, "X", questions)


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("names", EXAMS, ids=str)
def test_exam_papers_and_keys_are_notebooks_that_run(names, layout):
    blank, solved = exam(names, layout)
    gives_nothing_away(blank)
    assert complaints(blank) == complaints(solved) == []


@pytest.mark.parametrize("names", EXAMS[:1], ids=str)
def test_the_questions_of_an_exam_have_the_programs_that_they_have_alone(names):
    """On the paper and in the key; what opens a notebook and the helper functions stand in it once."""
    for document, solutions in zip(exam(names), ("blank", "key"), strict=True):
        single = [question_document(asked(name), solutions=solutions) for name in names]
        alone = [cell for one in single for cell in sources(one, "code")]
        shared = [cell for cell in alone if cell.startswith(("import ", "def "))]
        together = sources(document, "code")
        assert [cell for cell in together if cell not in shared] == [cell for cell in alone if cell not in shared]
        for text in dict.fromkeys(re.findall(r"(?m)^(?:import numpy|def \w+)", "\n".join(shared))):
            assert "\n".join(together).count(text) == 1
        assert ("assert" in "\n".join(together)) == (solutions == "key" and bool(together))


def test_how_to_fill_it_in_is_said_once_before_the_first_program():
    said = [cell for cell in sources(sheet_of("self_attention").worksheet, "markdown") if notebook.EXACT in cell]
    assert len(said) == 1
    cells = json.loads(notebook.write(exam(("full", "full"))[0]))["cells"]
    first = next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code")
    assert [i for i, cell in enumerate(cells) if notebook.EXACT in "".join(cell["source"])] == [first - 1]
    for document in (sheet_of("self_attention").key, exam(("full",))[1], sheet_of("choice").worksheet):
        assert notebook.EXACT not in "".join(sources(document, "markdown"))


def test_what_it_tells_students_to_write_can_be_read():
    code = read_code(notebook.EXACT)
    assert code.names["Q"] == Cells((("1/2", "sqrt(3)"), ("e^2/(1 + e)", "0")))
    assert all(entry(text).readable for row in (("1/2", "sqrt(3)"), ("e^2/(1 + e)", "0")) for text in row)
