"""Problem files: what they can say, and one sentence for everything that is wrong with one."""

import random
import re
import tomllib
from pathlib import Path

import oracles
import pytest
import sympy

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanisms
from symattn.errors import InputError
from symattn.page.notation import load_notation, notations
from symattn.teaching.examples import examples, load_example
from symattn.teaching.problem_file import problem_file, read_problem_file

GOOD = """
title = "Two tokens"
mechanism = "attention"
scale = "none"
base = 2

[given]
Q = [[1, 0], [0, "1/2"]]
K = [[1, 1], [2, 0]]
V = [[1], ["2/3"]]

[ask]
steps = ["S", "A", "Z"]
places = 3
exact = false
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, text: str, name: str = "problem.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_problem_is_read_and_worked_out(folder):
    solution = derive(written(folder, GOOD))
    half = sympy.Rational(1, 2)
    assert solution["S"].result.sympy() == sympy.Matrix([[1, 2], [half, 0]])
    assert solution["A"].result.sympy()[0, :] == sympy.Matrix([["1/3", "2/3"]])
    assert solution.problem.title == "Two tokens"
    assert [s.name for s in solution.problem.asked_steps] == ["S", "A", "Z"]
    assert (solution.problem.places, solution.problem.exact) == (3, False)


def test_the_worksheet_asks_for_the_steps_that_were_asked(folder):
    from symattn.page.document import AnswerGrid, all_blocks

    sheet = derive(written(folder, GOOD)).worksheet()
    blocks = list(all_blocks(sheet.worksheet.blocks))
    asked = [oracles.plain(b.name) for b in blocks if isinstance(b, AnswerGrid)]
    assert asked == ["S", "A", "Z"]
    assert [b.kind for b in blocks if isinstance(b, AnswerGrid)][1:] == ["decimal", "decimal"]


def test_a_program_of_ones_own_steps(folder):
    program = """
    mechanism = "custom"
    [given]
    A = [[1, 2], [3, 4]]
    B = [[1, 0], [0, 1], [1, 1]]
    row = [[10, 20]]
    [[step]]
    name = "C"
    op = "matmul"
    operands = ["A", "B^T"]
    [[step]]
    name = "T"
    op = "transpose"
    operands = "C"
    [[step]]
    name = "D"
    op = "add"
    operands = ["A", "row"]
    [[step]]
    name = "E"
    op = "hadamard"
    operands = ["A", "A[2]"]
    [[step]]
    name = "F"
    op = "sum"
    operands = ["E"]
    over = "columns"
    [[step]]
    name = "G"
    op = "scale"
    operands = ["D"]
    by = "sqrt(4)"
    [[step]]
    name = "H"
    op = "stack"
    operands = ["A", "row"]
    [[step]]
    name = "O"
    op = "mask"
    operands = ["A"]
    mask = "causal"
    [[step]]
    name = "P"
    op = "softmax"
    operands = ["O"]
    base = 2
    [[step]]
    name = "K"
    op = "round"
    operands = ["P"]
    places = 2
    [[step]]
    name = "L"
    op = "activation"
    operands = ["N"]
    function = "relu"
    [[step]]
    name = "M"
    op = "softmax"
    operands = ["A"]
    along = "columns"
    base = 3
    """
    program = program.replace("row = [[10, 20]]", "row = [[10, 20]]\n    N = [[-1, 5]]")
    solution = derive(written(folder, program))
    right = {
        "C": [[1, 2, 3], [3, 4, 7]],
        "T": [[1, 3], [2, 4], [3, 7]],
        "D": [[11, 22], [13, 24]],
        "E": [[3, 8], [9, 16]],
        "F": [[11], [25]],
        "G": [["11/2", 11], ["13/2", 12]],
        "H": [[1, 2], [3, 4], [10, 20]],
        "O": [[1, -sympy.oo], [3, 4]],
        "P": [[1, 0], ["1/3", "2/3"]],
        "K": [[1, 0], ["33/100", "67/100"]],
        "L": [[0, 5]],
        "M": [["1/10", "1/10"], ["9/10", "9/10"]],
    }
    for name, rows in right.items():
        assert solution[name].result.sympy() == sympy.Matrix(rows), name
    assert solution.worksheet().key.blocks


@pytest.mark.parametrize(
    "name", ["I", "J", "T", "E", "N", "i", "e", "ab", "a b", "Σ", "for", "sqrt", "x_1_2", "W_Q", "2", "S'"]
)
def test_a_matrix_may_have_any_name(name):
    # I for an identity matrix, J for a Jacobian: their letters are also those of indices
    from symattn.api import Solution

    first = {"name": name, "op": "matmul", "operands": ["G", "G"]}
    second = {"name": "H", "op": "transpose", "operands": [name]}
    data = {"mechanism": "custom", "given": {"G": [[1, 2], [0, 1]]}, "step": [first, second]}
    for form in ("text", "latex", "markdown", "typst"):
        assert "4" in Solution(problem_file(data, "it").problem()).text(form)


def test_the_settings_of_a_file_are_those_of_the_mechanism(folder):
    path = written(
        folder,
        'mechanism = "attention"\nmask = [[1, 0], [1, 1]]\nscale = 2\n[rounding]\nplaces = 1\n'
        'method = "truncate"\n[given]\nQ = [[2], [2]]\nK = [[1], [0]]\nV = [[1], [2]]\n',
    )
    found = derive(path)
    assert found["A_rounded"].result.sympy() == sympy.Matrix([[1, 0], ["7/10", "1/5"]])


def test_letters_and_shapes_are_givens_too(folder):
    letters = derive(written(folder, 'mechanism = "attention"\n[given]\nQ = [["a"]]\nK = [[1]]\nV = [["2b"]]\n'))
    assert {s.name for s in letters["Z"].result.sympy().free_symbols} == {"b"}
    shapes = derive(
        written(
            folder,
            'mechanism = "attention"\n[given]\nQ = {rows = "N", columns = 4}\nK = {rows = "N", columns = 4}\n'
            'V = {rows = "N", columns = 2}\n',
        )
    )
    assert shapes["Z"].result.shape == ("N", 2)


# ------------------------------------------------------------------------------------------------ what is wrong

Q = "[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n"
A = 'mechanism = "attention"\n'
CUSTOM = 'mechanism = "custom"\n[given]\nA = [[1, 2], [3, 4]]\n[[step]]\nname = "B"\n'

BAD = {
    "not TOML": ("title = \nx = 1", ["not valid TOML", "line 1"]),
    "half a table": ("[given\nQ = 1", ["not valid TOML"]),
    "ragged": (A + "[given]\nQ = [[1, 0]]\nK = [[1, 0], [1]]\nV = [[1], [2]]\n", ["Given K", "ragged", "row 2"]),
    "empty matrix": (A + "[given]\nQ = []\nK = [[1]]\nV = [[1]]\n", ["Given Q", "at least one row"]),
    "empty row": (A + "[given]\nQ = [[]]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "at least one row"]),
    "rows and numbers": (A + "[given]\nQ = [[1], 2]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "ow 2"]),
    "a word for a matrix": (A + '[given]\nQ = "abc"\nK = [[1]]\nV = [[1]]\n', ["Given Q", "list of rows"]),
    "a number for a matrix": (A + "[given]\nQ = 5\nK = [[1]]\nV = [[1]]\n", ["Given Q", "list of rows"]),
    "a truth value": (A + "[given]\nQ = [[true]]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "(1, 1)", "truth value"]),
    "a date": (A + "[given]\nQ = [[2020-01-01]]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "(1, 1)"]),
    "an infinite entry": (A + "[given]\nQ = [[inf]]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "(1, 1)"]),
    "no number": (A + "[given]\nQ = [[nan]]\nK = [[1]]\nV = [[1]]\n", ["Given Q", "(1, 1)"]),
    "unreadable": (A + '[given]\nQ = [[1, "2 +"]]\nK = [[1, 1]]\nV = [[1]]\n', ["Given Q", "(1, 2)", "'2 +'"]),
    "hostile entry": (A + '[given]\nQ = [["__import__(1)"]]\nK = [[1]]\nV = [[1]]\n', ["Given Q", "(1, 1)"]),
    "division by 0": (A + '[given]\nQ = [["1/0"]]\nK = [[1]]\nV = [[1]]\n', ["Given Q", "(1, 1)"]),
    "a table for a matrix": (A + "[given]\nQ = {x = 1}\nK = [[1]]\nV = [[1]]\n", ["Given Q", "rows"]),
    "a shape of 0": (A + "[given]\nQ = {rows = 0, columns = 1}\nK = [[1]]\nV = [[1]]\n", ["Given Q", "0"]),
    "shapes that contradict": (
        A + "[given]\nQ = [[1, 0, 2]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n", ["K is 2×2", "d_k", "Q (1×3)"],
    ),
    "keys and values": (A + "[given]\nQ = [[1]]\nK = [[1], [0]]\nV = [[1]]\n", ["V is 1×1", "m", "K (2×1)"]),
    "a given missing": (A + "[given]\nQ = [[1]]\nK = [[1]]\n", ["V is missing"]),
    "no givens": (A, ["missing"]),
    "a given too many": (A + Q + "X = [[1]]\n", ["'X'", "Q, K, V"]),
    "given is no table": ("given = 5\n", ["given", "table"]),
    "unknown mechanism": ('mechanism = "selfish"\n' + Q, ["'selfish'", "see symattn list mechanisms."]),
    "mechanism is a number": ("mechanism = 3\n" + Q, ["3", "self_attention"]),
    "mechanism is a list": ('mechanism = ["attention"]\n' + Q, ["mechanism"]),
    "unknown notation": ('notation = "mine"\n' + A + Q, ["'mine'", "standard"]),
    "notation is a number": ("notation = 3\n" + A + Q, ["notation", "3"]),
    "notation file missing": ('notation = "mine.toml"\n' + A + Q, ["mine.toml"]),
    "unknown key": (A + 'scael = "none"\n' + Q, ["'scael'", "scale"]),
    "unknown ask": (A + Q + "[ask]\nstep = ['S']\n", ["'step'", "steps"]),
    "asked step unknown": (A + Q + "[ask]\nsteps = ['W']\n", ["W"]),
    "asked steps are a word": (A + Q + "[ask]\nsteps = 'S'\n", ["steps"]),
    "places are words": (A + Q + "[ask]\nplaces = 'four'\n", ["places", "'four'"]),
    "places negative": (A + Q + "[ask]\nplaces = -1\n", ["places", "-1"]),
    "exact is a word": (A + Q + "[ask]\nexact = 'no'\n", ["exact"]),
    "unknown mask": (A + 'mask = "casual"\n' + Q, ["'casual'", "causal"]),
    "mask of another shape": (A + "mask = [[1]]\n" + Q, ["mask", "1×2"]),
    "mask with a 2": (A + "mask = [[1, 2]]\n" + Q, ["mask", "0 (hidden)"]),
    "mask is a number": (A + "mask = 5\n" + Q, ["mask"]),
    "ragged mask": (A + "mask = [[1, 0], [1]]\n" + Q, ["mask"]),
    "fully masked row": (A + "mask = [[0, 0]]\n" + Q, ["'A'", "Row 1", "no visible score"]),
    "padding too wide": (A + 'mask = "padding:9"\n' + Q, ["'padding:9'"]),
    "window of 0": (A + 'mask = "window:0"\n' + Q, ["'window:0'"]),
    "unknown mask style": (A + 'mask_style = "subtractive"\n' + Q, ["mask_style", "additive"]),
    "unreadable scale": (A + 'scale = "sqrt("\n' + Q, ["scale", "sqrt("]),
    "scale of 0": (A + "scale = 0\n" + Q, ["scale", "0"]),
    "scale not known here": (A + 'scale = "sqrt(d_model)"\n' + Q, ["d_model"]),
    "scale with a size unknown here": (A + 'scale = "d"\n' + Q, ["scale", "d"]),
    "scale is a list": (A + "scale = [1]\n" + Q, ["scale"]),
    "base of 1": (A + "base = 1\n" + Q, ["base", "1"]),
    "negative base": (A + "base = -2\n" + Q, ["base", "-2"]),
    "base is a word": (A + 'base = "two"\n' + Q, ["base"]),
    "orientation": (A + 'orientation = "diagonal"\n' + Q, ["orientation", "rows", "columns"]),
    "by": (A + 'by = "hand"\n' + Q, ["by", "matrix", "token"]),
    "by is a list": (A + "by = [1]\n" + Q, ["by"]),
    "order": (A + 'order = "QQV"\n' + Q, ["order", "'QQV'"]),
    "activation": (A + 'activation = "a b"\n' + Q, ["activation"]),
    "stop_at": (A + 'stop_at = "W"\n' + Q, ["stop_at", "'W'"]),
    "rounding is a number": (A + "rounding = 2\n" + Q, ["rounding"]),
    "rounding without places": (A + 'rounding = {method = "nearest"}\n' + Q, ["toml: rounding has no places; a whole"]),
    "rounding method": (A + 'rounding = {places = 1, method = "up"}\n' + Q, ["rounding.method"]),
    "rounding ties": (A + 'rounding = {places = 1, ties = "odd"}\n' + Q, ["rounding.ties"]),
    "rounding of something else": (A + "rounding = {places = 1, digits = 3}\n" + Q, ["digits"]),
    "an erratum of something else": (A + Q + '[[erratum]]\nname = "E1"\n', ["erratum"]),
    "an erratum without an id": (A + Q + '[[erratum]]\nkind = "gap"\n', ["erratum"]),
    "assume is a word": (A + 'assume = "positive"\n' + Q, ["assume"]),
    "no step": ('mechanism = "custom"\n[given]\nA = [[1]]\n', ["[[step]]"]),
    "step is no list": ('mechanism = "custom"\nstep = 3\n[given]\nA = [[1]]\n', ["step"]),
    "step without a name": ('mechanism = "custom"\n[given]\nA = [[1]]\n[[step]]\nop = "matmul"\n', ["Step 1", "name"]),
    "unknown op": (CUSTOM + 'op = "matmull"\noperands = ["A"]\n', ["'B'", "'matmull'", "matmul"]),
    "op is a list": (CUSTOM + 'op = ["matmul"]\noperands = ["A"]\n', ["'B'", "op"]),
    "unknown step key": (CUSTOM + 'op = "matmul"\noperands = ["A", "A"]\nalong = "rows"\n', ["'B'", "'along'"]),
    "no operands": (CUSTOM + 'op = "matmul"\n', ["'B'", "operands"]),
    "operands are numbers": (CUSTOM + 'op = "matmul"\noperands = [1, 2]\n', ["'B'", "operands"]),
    "unknown operand": (CUSTOM + 'op = "transpose"\noperands = ["X"]\n', ["'B'", "'X'"]),
    "unknown operand of a mask": (CUSTOM + 'op = "mask"\noperands = ["X"]\n', ["'B'", "'X'"]),
    "no such row": (CUSTOM + 'op = "transpose"\noperands = ["A[3]"]\n', ["'B'", "no row 3"]),
    "no such row of a mask": (CUSTOM + 'op = "mask"\noperands = ["A[3]"]\n', ["'B'", "no row 3"]),
    "row 0": (CUSTOM + 'op = "transpose"\noperands = ["A[0]"]\n', ["'B'", "A[0]"]),
    "wrong arity": (CUSTOM + 'op = "matmul"\noperands = ["A"]\n', ["'B'", "takes 2 operands"]),
    "wrong shapes": (CUSTOM + 'op = "matmul"\noperands = ["A", "A[1]"]\n', ["'B'", "2×2", "1×2", "Did you mean"]),
    "scale by nothing": (CUSTOM + 'op = "scale"\noperands = ["A"]\n', ["'B'", "by"]),
    "scale by 0": (CUSTOM + 'op = "scale"\noperands = ["A"]\nby = 0\n', ["0"]),
    "scale written badly": (CUSTOM + 'op = "scale"\noperands = ["A"]\nby = 2\nwritten = "sqrt("\n', ["'B'"]),
    "round without places": (CUSTOM + 'op = "round"\noperands = ["A"]\n', ["places"]),
    "softmax along": (CUSTOM + 'op = "softmax"\noperands = ["A"]\nalong = "tokens"\n', ["'B'", "along"]),
    "name taken": (
        CUSTOM + 'op = "transpose"\noperands = "A"\n[[step]]\nname = "B"\nop = "transpose"\noperands = "A"\n',
        ["'B'", "twice"],
    ),
    "stack of nothing": (CUSTOM + 'op = "stack"\noperands = []\n', ["'B'", "operands"]),
    "a section that is a number": (CUSTOM + 'op = "transpose"\noperands = ["A"]\nsection = 4\n', None),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_said_in_a_sentence(folder, kind):
    text, words = BAD[kind]
    path = written(folder, text)
    if words is None:  # odd, but nothing is wrong with it
        derive(path).text()
        return
    with pytest.raises(InputError) as error:
        derive(path).text()
    message = str(error.value)
    assert "problem.toml" in message, "the file is named"
    for word in words:
        assert word in message, message
    assert re.search(r"[.?)]$", message), f"no whole sentence: {message}"
    assert "\n" not in message.strip(), message
    assert "Traceback" not in message
    assert "object at" not in message


def test_a_file_that_is_not_there(folder):
    with pytest.raises(InputError, match=r"There is no file nowhere\.toml"):
        derive("nowhere.toml")


def test_a_file_that_is_a_folder(folder):
    (folder / "it.toml").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        derive("it.toml")


def test_a_file_that_is_no_text(folder):
    (folder / "it.toml").write_bytes(b'title = "\xff\xfe"')
    with pytest.raises(InputError, match="not text in UTF-8"):
        derive("it.toml")


def test_a_file_with_a_byte_order_mark(folder):
    # Windows editors put one in; a teacher cannot see it
    (folder / "it.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert derive("it.toml").problem.title == "Two tokens"


@pytest.mark.parametrize("keyword", ["Q_", "scal", "X"])
def test_unknown_keywords_are_errors_in_python_too(keyword):
    with pytest.raises(InputError, match=keyword):
        derive("attention", Q=[[1]], K=[[1]], V=[[1]], **{keyword: 1 if keyword == "scal" else [[1]]})


def test_an_unknown_source_is_answered_with_the_commands_that_list_them():
    with pytest.raises(InputError, match=r"'selfish'; see symattn list mechanisms and symattn list examples\.$"):
        derive("selfish")


def test_an_example_keeps_its_own_givens():
    with pytest.raises(InputError, match="givens of its own"):
        derive("note-000", X=[[1]])
    with pytest.raises(InputError, match="has no miniature"):
        derive("note-000", miniature=True)


# ------------------------------------------------------------------------------------------------ hostile texts

HOSTILE = [
    r"\input{/etc/passwd}", "$x$", "# heading", "<script>alert(1)</script>", "%comment", "a_b^c{d}", "~&\\", "\"'`",
    "#import \"x\"", "\u202eright to left", "\x00\x07", "日本語", "]]>", "*bold* _it_ [l](x)", "line\nbreak",
    "{n}", "|", "",
]  # fmt: skip


@pytest.mark.covering(most=39)
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", ["text", "latex", "markdown", "typst"])
def test_hostile_titles_are_only_text(text, form):
    data = tomllib.loads(GOOD) | {"title": text, "introduction": text}
    solution = derive("attention", Q=[[1]], K=[[1]], V=[[1]], title=text or " ")
    assert solution.text(form)
    from symattn.api import Solution

    assert Solution(problem_file(data, "it").problem()).text(form)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_of_givens_and_steps_are_written_or_refused(text):
    data = {
        "mechanism": "custom",
        "given": {text: [[1, 2]]},
        "step": [{"name": text + "x", "op": "transpose", "operands": [text]}],
    }
    from symattn.api import Solution

    for form in ("text", "latex", "markdown", "typst"):
        try:
            written = Solution(problem_file(data, "it").problem()).text(form)
        except InputError as refusal:
            written = str(refusal)
        assert written


# ------------------------------------------------------------------------------------------------ catalogues


@pytest.mark.parametrize("name", examples())
def test_every_example_loads_and_its_source_is_named(name):
    file = load_example(name)
    assert file.title != name
    for corrected in (True, False):
        assert file.problem(corrected=corrected).steps


@pytest.mark.parametrize("name", notations())
def test_every_notation_loads_and_has_a_title(name):
    notation = load_notation(name)
    assert notation.name == name
    assert notation.title != name
    assert notation.style is not None


@pytest.mark.covering(most=20)
@pytest.mark.parametrize("name", mechanisms())
def test_every_mechanism_has_a_docstring_or_title_and_runs_on_drawn_numbers(name):
    from symattn.teaching.fairness import draw

    chosen = mechanisms()[name]
    usual = {"n": 3, "m": 3, "d_model": 5, "d_k": 4, "d_v": 2, **chosen.default_sizes}
    settings = Settings.read({**chosen.defaults, **chosen.drawn})
    givens = draw(chosen, settings, {s: usual[s] for s in chosen.letters}, random.Random(1)).givens
    d = chosen.run(givens, settings)
    assert not any(operand.name == d.last.name for step in d for operand in step.operands)
    assert chosen.title[0].isupper()


def test_a_notation_of_ones_own(folder):
    written(folder, 'title = "Mine"\nproduct = "·"\n[names]\nA = {matrix = "P", entry = "p_{i,j}"}\n', "mine.toml")
    text = derive("attention", Q=[[1]], K=[[1], [2]], V=[[1], [2]], notation="mine.toml").text()
    assert "p₁₂" in text
    assert "P" in text
    path = written(folder, 'notation = "mine.toml"\n' + GOOD)
    assert "p₁₂" in derive(path).text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 3", ["'colour'"]),
        ('product = "x"', ["product", "'x'"]),
        ("decimals = 99", ["decimals", "99"]),
        ("decimals = true", ["decimals"]),
        ('[names]\nA = {matrx = "P"}', ["A"]),
        ('[names]\nA = {matrix = "P_"}', ["A", "P_"]),
        ("[names]\nA = 3", ["A"]),
        ("names = 3", ["names"]),
        ('[letters]\nd_k = "("', ["d_k"]),
        ("letters = 3", ["letters"]),
        ("[settings]\nby = 'hand'", ["by", "'hand'"]),
        ("[settings]\nbye = 'hand'", ["'bye'"]),
        ("section = 3", ["section"]),
        ("[[section]]\nitem = []", ["'item'"]),
        ("[[section]]\nitems = 3", ["items"]),
        ("[[section]]\nitems = [{}]", ["exactly one"]),
        ("[[section]]\nitems = [{text = 'a', math = 'b'}]", ["exactly one"]),
        ("[[section]]\nitems = [{math = '(('}]", ["(("]),
        ("[[section]]\nitems = [{text = 'a $(('}]", ["(("]),
        ("[[section]]\nitems = [{diagram = 'pie'}]", ["'pie'"]),
        ("[[section]]\nitems = [{math = '@values(W)'}]", None),  # left out, as where there is no such matrix
        ("[[section]]\nitems = [{math = '@values(Q, a, b, c)'}]", ["values"]),
        ("[[section]]\nitems = [{math = '@decimals(Q, many)'}]", ["decimals"]),
        ("[[section]]\nitems = [{math = '@entry(Q, 9, 9)'}]", ["Q"]),
        ("[[section]]\nitems = [{math = '@entry(Q, 0, 1)'}]", ["0 is not a row or column"]),
        ("[[section]]\nitems = [{steps = ['nope']}]", None),
        ("title = ", ["TOML"]),
    ],
)
def test_what_is_wrong_with_a_notation_is_said_in_a_sentence(folder, text, words):
    written(folder, text, "mine.toml")
    if words is None:
        assert derive("attention", Q=[[1]], K=[[1]], V=[[1]], notation="mine.toml").text()
        return
    with pytest.raises(InputError) as error:
        derive("attention", Q=[[1]], K=[[1]], V=[[1]], notation="mine.toml").text()
    for word in words:
        assert word in str(error.value), str(error.value)


def test_reading_a_file_twice_gives_equal_problems(folder):
    path = written(folder, GOOD)
    assert read_problem_file(path).problem() == read_problem_file(path).problem()


def test_a_file_and_givens_besides_contradict_each_other(folder):
    path = written(folder, GOOD)
    with pytest.raises(InputError, match="givens of its own"):
        derive(path, Q=[[1, 2]])
