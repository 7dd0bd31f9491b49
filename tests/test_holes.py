"""Faults that were planted and that no other fast test found."""

import csv
import json
import re
import sys
from io import BytesIO
from zipfile import ZipFile

import pytest
from commands import python, run
from practice_pages import cells_of, drawn, filled, lines_of
from sentences import refused_saying

import symattn
from symattn.cli.options import read_settings
from symattn.errors import OutgrownError, columns_of
from symattn.exact import Matrix
from symattn.formula import Fraction, MatrixOf, Name, Number, Relation, Sum, symbol_formula
from symattn.formula.speech import speak
from symattn.formula.width import fold, matrix_columns
from symattn.foundation.dice import Dice
from symattn.foundation.typed import Place
from symattn.foundation.workers import Hands, Limits, LostError, answer_of, text_of
from symattn.marking.grading.gradebook import Gradebook
from symattn.marking.grading.record import Result, Row
from symattn.marking.marker.policy import POLICIES, Terms
from symattn.marking.submissions import labels
from symattn.page.document import Paragraph, Sentence, Words, spans
from symattn.page.presentation import blocks_in_language
from symattn.page.writers import text
from symattn.page.writers.characters import on_one_line
from symattn.practice import engine
from symattn.practice.session import Session
from symattn.practice.site import Course, Topic, write_site
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import key, paper
from symattn.teaching.exam.spec import read_exam_file
from symattn.teaching.explanation.steps import cell_kind


@pytest.mark.parametrize("label", ["Question 2", "question_2", "Question-2", "Aufgabe~2", "Question **2", "Question2"])
def test_whatever_stands_between_question_and_its_number(label):
    """With a space alone, answers below Question_2 or Question~2 were nobody's."""
    assert labels.number_in(labels.question().fullmatch(label)) == 2


def test_two_secrets_are_two_keys(tmp_path):
    """With one key for all secrets, anybody could make tomorrow's paper."""
    for name in ("one", "other"):
        (tmp_path / name).write_text(f"the secret of {name} teacher")
    assert Dice.secret(tmp_path / "one").key != Dice.secret(tmp_path / "other").key


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process is limited on Linux only")
def test_a_job_that_takes_more_memory_than_it_may_is_ended():
    """Memory that no machine has (`odd_jobs.told`, "grow") is refused without any limit, too."""
    hands = Hands()
    try:
        with pytest.raises(LostError, match=r"takes more than 0\.5 GiB of memory"):
            answer_of(hands.do("odd_jobs:hungry", "null", text_of(2**30), Limits(60, 2**29)))
        assert answer_of(hands.do("odd_jobs:hungry", "null", text_of(10), Limits(60, 2**29))) == 10
    finally:
        hands.close()


def test_a_spelled_greek_letter_with_an_index_is_the_letter():
    assert symbol_formula("theta_1") == Name("θ", (Number("1"),))


def test_decimal_commas_stand_below_one_another():
    """As decimal points do."""
    point, comma = (MatrixOf(((Number(f"1{sign}25"),), (Number(f"10{sign}5"),))) for sign in ".,")
    assert matrix_columns(comma).pads == matrix_columns(point).pads != {}


def test_where_a_fraction_ends_is_heard():
    """a/(b + c) was heard as a/b + c."""
    assert speak(Fraction(Name("a"), Sum((Name("b"), Name("c"))))) == "the fraction a over b plus c, end of fraction"


def test_chinese_characters_are_two_columns_wide_on_a_terminal():
    assert columns_of("矩阵 Q\u0302") == 6


def test_of_a_hidden_score_it_is_heard_that_it_is_hidden():
    scores = MatrixOf(((Number("1"), Number("2")), (Number("3"), Number("4"))), excluded=frozenset({(0, 1)}))
    assert speak(scores) == "2 by 2 matrix, row 1: 1, 2 excluded; row 2: 3, 4"


def test_no_plus_is_lost_where_a_sum_goes_on_on_the_next_line():
    lines = fold(Relation((Name("x"), Sum(tuple(Number(f"1{k}") for k in range(9)))), ("=",)), 7)
    assert len(lines) > 2
    assert sum(on_one_line(line).count("+") for line in lines) == 8


def test_the_first_product_of_a_hint_is_what_it_comes_to():
    """For one entry alone it could be 0 · 0."""
    session = Session()
    shown, sheet = drawn(session, "self_attention", 11)  # of whose W^Q the first row is not the first column
    for i, j in [(i, j) for i in range(1, 4) for j in range(1, 5)]:
        said = session.marked(shown["sheet"], shown["html"]).hint(1, i, j, 2)["html"].replace("minus ", "-")
        said = said.replace("open bracket ", "").replace(" close bracket", "")
        a, b, product = map(int, re.search(r'first product is .*?"(\S+) times (\S+) equals (\S+)"', said).groups())
        assert (a * b, a) == (product, sheet.problem.givens["X"][i - 1, 0])


def test_a_practice_page_never_tells_the_key():
    """What a student is told of a sheet is no teacher's report, which has every entry beside the key."""
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7)
    first, *others = lines_of(sheet)["S"]
    page = filled(shown["html"], cells_of(sheet, {"S": [["99", *first[1:]], *others]}))
    told = session.marked(shown["sheet"], page).mark()["html"]
    assert "99" in told
    assert sheet.problem["A"].result.decimals(4)[0][0] not in told


PAGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from symattn.practice.session import answer
shown = json.loads(answer(json.dumps({"verb": "draw", "recipe": "attention --level starter", "seed": 7})))
told = json.loads(answer(json.dumps({"verb": "mark", "sheet": shown["sheet"], "page": shown["html"]})))
print(sys.modules["symattn"].__file__, told["of"])
"""


def test_what_a_practice_page_has_of_symattn_is_enough_to_draw_and_to_mark(tmp_path):
    """It could not start: what it left out was imported."""
    with ZipFile(BytesIO(engine.sources(("symattn",)))) as archive:
        archive.extractall(tmp_path)
    done = python("-c", PAGE, tmp_path)
    assert done.stdout.split() == [str(tmp_path / "symattn" / "__init__.py"), "13"], done.stderr


def test_the_page_has_a_topic_done_at_what_the_course_says(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "pyodide", lambda folder: dict.fromkeys(engine.HASHES, b""))
    monkeypatch.setattr(engine, "archives", lambda *about: ({}, True))
    write_site(Course((Topic("One", "attention"),), passed=60), tmp_path)
    assert json.loads((tmp_path / "page.json").read_text())["course"]["pass"] == 60


GERMAN = """
title = "Klausur"
language = "de"
variants = 1
[[question]]
type = "choice"
"""


def test_a_script_of_a_german_exam_is_told_of_in_german(tmp_path):
    (tmp_path / "exam.toml").write_text(GERMAN)
    made = ["worksheet", str(tmp_path / "exam.toml"), "--seed", "1", "--format", "text", "--out", str(tmp_path)]
    assert run(*made).exit_code == 0
    (tmp_path / "answers.md").write_text("(a) A")
    told = run("check", tmp_path / "exam", tmp_path / "answers.md").output
    assert "Rückmeldung" in told
    assert "Feedback" not in told


def test_a_line_of_which_one_box_is_filled_in_is_right_so_far():
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7)
    page = filled(shown["html"], {(1, 1, 1): lines_of(sheet)["S"][0][0]})
    assert "Right so far" in session.marked(shown["sheet"], page).check(1)["html"]


def test_seed_0_is_a_seed(tmp_path):
    """It was taken for none, and every run drew another worksheet."""
    asked = ["worksheet", "attention", "--level", "starter", "--seed", "0", "--format", "text", "--out", str(tmp_path)]
    assert run(*asked).exit_code == 0
    assert (tmp_path / "attention-0.json").exists()


def test_an_entry_before_the_first_is_refused():
    """-1 is the last of a list, and was shown as that."""
    with refused_saying("pairs of indices from 0"):
        symattn.derive("attention", Q=[[1, 0]], K=[[1, 0]], V=[[1]], entries=[(-1, 0)])


def test_a_given_is_looked_at_by_its_name():
    solution = symattn.derive("attention", Q=[[1, 0]], K=[[1, 0]], V=[[1]])
    assert solution["Q"].result == solution.givens["Q"]


def test_ties_are_rounded_as_the_command_line_says():
    said = read_settings({"by_token": False, "by_matrix": False, "rounding": "2:nearest:up"})
    assert said["rounding"] == {"places": 2, "method": "nearest", "ties": "up"}


def test_a_student_has_the_size_of_print_that_the_class_list_says(tmp_path):
    (tmp_path / "exam.toml").write_text(GERMAN)
    spec = read_exam_file(tmp_path / "exam.toml")
    assert [paper(spec, Copy(0, "X", text_size=size), []).look.text_size for size in (0, 24)] == [11, 24]


def test_what_a_key_accepts_has_a_shape_with_tokens_as_columns(tmp_path):
    (tmp_path / "exam.toml").write_text(GERMAN.replace("de", "en"))
    question = symattn.worksheet(notation="columns", seed=1)[0].question
    told = text.write(key(read_exam_file(tmp_path / "exam.toml"), "X", [question]))
    assert "The output as W_V (XA)." in told


def test_a_sentence_with_formulas_has_the_plural_of_its_language():
    said = Sentence("{n} row", (("{n}", (Words("2"),)),), "{n} rows", 2)
    [paragraph] = blocks_in_language((Paragraph((said,)),), "de")
    assert "".join(part.text for part in spans(paragraph.content)) == "2 Zeilen"


def test_a_resit_with_the_same_secret_has_other_numbers(tmp_path):
    (tmp_path / "secret").write_text("what nobody else has")
    drawn_on = []
    for date in ("May", "July"):
        (tmp_path / "exam.toml").write_text(f'date = "{date}"' + GERMAN)
        spec = read_exam_file(tmp_path / "exam.toml")
        made, _ = write_exam(spec, tmp_path / date, ("text",), Dice.secret(tmp_path / "secret"))
        drawn_on.append(made.pools[0][0].content)
    assert drawn_on[0] != drawn_on[1]


def marked_question(given, pending):
    mark = {"parts": ["S"], "code": "A", "given": given, "of": 5, "why": "", "pending": pending}
    none = {"mistakes": [], "notices": [], "remarks": [], "verdicts": [], "answers": {}, "more": {}, "methods": []}
    return Result.of_json({"question": {"title": "Question"}, "total": given, "of": 5, "marks": [mark], **none}, "V")


def test_pending_marks_are_no_zeros_in_the_gradebook_and_in_means():
    rows = [
        Row(number, f"N{number}", f"s{number}", "P", status="marked", results=(first, marked_question(5, False)))
        for number, first in enumerate((marked_question(0, True), marked_question(4, False)), 1)
    ]
    book = Gradebook("Midterm", Terms(POLICIES["ecf"]), tuple(rows))
    assert [one["Q1"] for one in csv.DictReader(book.csv().splitlines())] == ["?", "4"]
    assert ("9.00" in book.text(), "7.00" in book.text()) == (True, False)


@pytest.mark.parametrize(
    ("entries", "kind"), [([["1/2", 3]], "fraction"), ([[2, 3]], "integer"), ([["-inf", 3]], "integer")]
)
def test_one_integer_makes_no_matrix_of_integers(entries, kind):
    """The boxes of a matrix with 1/2 and 3 had room for integers alone."""
    assert cell_kind(Matrix(entries), exact=True) == kind


def test_a_setting_that_changes_nothing_is_told_in_python():
    with refused_saying("layer_norm has no setting 'mask'"):
        symattn.derive("layer_norm", X=[[1, 2]], mask="causal")


@pytest.mark.parametrize("path", ["", "mine.toml"])
def test_an_error_keeps_its_kind_with_its_place(path):
    with pytest.raises(OutgrownError) as raised, Place(path).here():
        raise OutgrownError("It is too long.")
    assert str(raised.value) == f"{path}: It is too long.".removeprefix(": ")


def test_a_matrix_that_no_step_of_ones_own_uses_is_told_in_python():
    steps = [{"name": "S", "op": "matmul", "of": ["Q", "K^T"]}]
    with refused_saying("VV"):
        symattn.derive("custom", steps=steps, Q=[[1]], K=[[1]], VV=[[1]])
