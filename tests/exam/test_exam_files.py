"""What an exam file says: read whole, or refused in one sentence that names the place."""

import pytest
from sentences import refused_saying

from symattn.teaching.exam import is_exam, read_exam_file

HEAD = 'title = "Midterm"\n'
QUESTION = '[[question]]\ntype = "full"\nmechanism = "attention"\n'


def read(folder, text, class_list=None):
    path = folder / "midterm.toml"
    path.write_text(text, "utf-8")
    if class_list is not None:
        (folder / "class.csv").write_text(class_list, "utf-8")
    return read_exam_file(path)


def test_everything_is_read(tmp_path):
    spec = read(
        tmp_path,
        HEAD + 'course = "C"\ntime = "60 minutes"\nclass = "class.csv"\nlevel = "starter"\ntext_size = 18\n'
        'instructions = ["Be neat."]\n' + QUESTION + 'points = 12\nscale = "none"\nsizes = {n = 3, d_k = 2, d_v = 2}\n'
        '[[question]]\ntype = "full"\nlevel = "standard"\n',
        "name,id\n" + "".join(f"N{k},{k}\n" for k in range(50)),
    )
    first, second = spec.questions
    assert (spec.title, spec.course, spec.look.text_size, spec.instructions) == ("Midterm", "C", 18, ("Be neat.",))
    assert spec.variants == 13  # a quarter of fifty
    assert len(spec.students) == 50
    assert (first.points, first.spec.level, first.spec.mechanism) == (12, "starter", "attention")
    assert first.spec.chosen_settings().scale == "none"
    assert first.spec.chosen_sizes() == {"n": 3, "m": 3, "d_k": 2, "d_v": 2}
    assert (second.points, second.spec.level, second.spec.mechanism) == (None, "standard", "self_attention")


def test_an_exam_is_told_from_a_problem_by_its_questions_and_has_ten_variants_where_nothing_is_said(tmp_path):
    assert read(tmp_path, HEAD + QUESTION).variants == 10
    assert is_exam(tmp_path / "midterm.toml")
    (tmp_path / "problem.toml").write_text('mechanism = "attention"\n')
    assert not is_exam(tmp_path / "problem.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD, "has no questions"),
        ("titel = 'x'\n" + QUESTION, "midterm.toml has 'titel'"),
        ("title = 3\n" + QUESTION, "title is 3; a text was expected"),
        ("variants = 0\n" + QUESTION, "variants is 0; a whole number from 1 to 500"),
        ("variants = true\n" + QUESTION, "variants is True; a whole number"),
        ("text_size = 12\n" + QUESTION, "text_size is 12; one of 11, 18, 24"),
        ("formula_sheet = 'long'\n" + QUESTION, "formula_sheet is 'long'"),
        ("instructions = 'x'\n" + QUESTION, "instructions is 'x'; a list of texts was expected"),
        ("class = 3\n" + QUESTION, "class is 3; a text was expected"),
        ("class = 'nobody.csv'\n" + QUESTION, "no class list nobody.csv"),
        ("question = 3\n", "question is 3; a list of tables was expected"),
        (QUESTION + "[[question]]\ntype = 'essay'\n", "question 2: There is no problem type 'essay'"),
        (QUESTION + "points = 0\n", "question 1, points is 0; a whole number from 1 to 1000"),
        (QUESTION + "problem = 'full'\n", "question 1 has 'problem'; did you mean type?"),
        (QUESTION + "marks = 5\n", "question 1, marks is 5; marks of its parts, such as {S = 5}; points are"),
        (
            QUESTION + "colour = 'red'\n",
            "question 1 has 'colour'; type, points, title, text, ask, marks, given, mechanism, sizes",
        ),
        (QUESTION + "level = 'hard'\n", "question 1, level is 'hard'; one of starter, standard, long"),
        (QUESTION + "softmax = 'base 5'\n", "question 1, softmax is 'base 5'"),
        (QUESTION + "sizes = {k = 3}\n", "question 1: There is no size 'k'"),
        (QUESTION + "text = 1\n", "question 1, text is 1; a text was expected"),
        (QUESTION + "mask = 3\n", "question 1"),
        ("[[question]]\nmechanism = 'magic'\n", "question 1: There is no mechanism 'magic'"),
        ("seed = 7\n" + QUESTION, r"seed is an option of the command: symattn exam \S+\.toml --seed …$"),
        ("latex_class = 'exam'\n" + QUESTION, r"an option of the command: symattn exam \S+\.toml --latex-class …$"),
        ("overview = true\n" + QUESTION, "overview is an option of single worksheets; an exam has keys"),
        ("mask = 'causal'\n" + QUESTION, "mask is said by each question; it belongs below"),
        (QUESTION + "language = 'de'\n", "question 1: language belongs at the top of the file, above the first"),
        (QUESTION + "size = {n = 3}\n", "question 1 has 'size'; did you mean sizes?"),
        ("round = 2\n" + QUESTION, "rounding is said by each question"),
        ("new_page = 'never'\n" + QUESTION, "new_page is 'never'; true or false or auto was expected"),
        ("title = [", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path, text, says):
    with refused_saying(says) as raised:
        read(tmp_path, text)
    assert "\n" not in str(raised.value) or "TOML" in str(raised.value)
