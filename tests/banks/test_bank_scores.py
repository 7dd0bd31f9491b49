"""What answers of nine kinds are worth in every format, worked out by readers of the tests' own, is what is promised.

The question is worked out by hand; for decimals see test_bank_grammar.
"""

import canvas_reader
import cloze_reader
import numpy
import pytest
import qti_reader
from tables import tables_beside

import symattn
from symattn.api import make_recipe
from symattn.teaching.bank.items import tolerance
from symattn.teaching.question import CellsAnswer
from symattn.teaching.sheets import Setting, sheets, write_sheets

FORMATS = ("moodle", "qti21", "qti3", "canvas")
PARTS = ("S", "S'", "A", "Z")

Q, K, V = [[2, 0, 1, 0], [0, 1, 0, -1]], [[2, 1, 0, 0], [0, -1, 0, 2]], [[1, 0], [0, 2]]
RIGHT = {
    "S": ["4", "0", "1", "-3"],
    "S'": ["2", "0", "1/2", "-3/2"],
    "A": ["0.881", "0.119"] * 2,
    "Z": ["0.881", "0.238"] * 2,
}
"""Each part has four boxes; they are worth 4, 2, 3 and 3.  Weights are e²/(e² + 1) = 0.8808 and 1/(e² + 1) = 0.1192:
decimals are asked for in place of powers of e, and may be off by 0.005."""


EXACT = {
    kind: ({name: said.get(name, right) for name, right in RIGHT.items()}, said["carried"], said["canvas"])
    for kind, said in tables_beside(__file__).items()
}
"""The misconception is that scores are not divided by √d_k: of the scaled scores 0 is right all the same; what follows
from the other three has its points, but for Canvas, which follows nothing."""


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    sheet = symattn.derive("attention", Q=Q, K=K, V=V).worksheet()
    write_sheets([sheet], folder, Setting(FORMATS, "own"))
    return folder


def points(folder, form, written, whole):
    """What answers are worth, part by part as they are written; the question is worth `whole`."""
    listed = [text for name in PARTS for text in written[name]]
    if form == "moodle":
        question = cloze_reader.only(folder / "own.moodle.xml")
        return float(question.points(listed, whole))
    if form == "canvas":
        ((_, items),) = canvas_reader.read(folder / "own.canvas.zip")
        assert items[0].possible == whole
        return items[0].points(listed)
    item = qti_reader.only(folder / f"own.{form}.zip")
    outcomes = item.worked_out(dict(zip(item.declared, listed, strict=True)))
    assert outcomes["MAXSCORE"] == whole
    return outcomes["SCORE"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", EXACT)
def test_exact_answers(exact, form, kind):
    written, carried, canvas = EXACT[kind]
    assert points(exact, form, written, 12) == pytest.approx(canvas if form == "canvas" else carried)


def test_the_misconception_is_told_where_it_begins_and_where_it_is_followed(exact):
    written = EXACT["common misconception"][0]
    listed = [text for name in PARTS for text in written[name]]
    question = cloze_reader.only(exact / "own.moodle.xml")
    told = [part.taken(text).feedback for part, text in zip(question.parts, listed, strict=True)]
    item = qti_reader.only(exact / "own.qti3.zip")
    item.worked_out(dict(zip(item.declared, listed, strict=True)))
    in_qti = item.told()
    for said in (told[4], told[6], told[7]):
        assert said.startswith("Divide the scores by <math")
    assert told[:4] == [""] * 4
    assert told[5] == ""  # 0 is right
    for said in told[8:]:
        assert said == "This follows from a mistake in an earlier line."
    places = ["Row 1, column 1", "Row 2, column 1", "Row 2, column 2"]
    assert [said.partition(":")[0] for said in in_qti[:3]] == places
    assert len(in_qti) == 11


def test_a_mistake_that_is_made_twice_follows_from_nothing(tmp_path):
    """Queries and keys with each other's weights: the keys are no consequence of the queries."""
    (sheet,) = sheets(make_recipe("self_attention", seed=7), 1)
    write_sheets([sheet], tmp_path, Setting(["moodle"], "own"))
    question = cloze_reader.only(tmp_path / "own.moodle.xml")
    given = {name: numpy.array(m.rows, dtype=int) for name, m in sheet.problem.derivation.givens.items()}
    queries, keys = given["X"] @ given["W_Q"], given["X"] @ given["W_K"]
    parts = question.parts  # with a box for the shape between them
    boxes = [*parts[: queries.size], *parts[queries.size + 1 :][: keys.size]]
    written = [*keys.flat, *queries.flat]
    right = [*queries.flat, *keys.flat]
    wrong = [(box, x) for box, x, y in zip(boxes, written, right, strict=True) if x != y]
    assert len(wrong) > keys.size / 2
    for box, x in wrong:
        assert box.share(str(x)) == 0
        assert box.taken(str(x)).feedback.startswith("Your <math>")


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_token_by_token_misconceptions_are_known_as_well(orientation, tmp_path):
    """The same question, a token at a time: the second token's line is that of the matrices."""
    turn = numpy.array if orientation == "rows" else lambda m: numpy.array(m).T
    givens = {name: turn(m).tolist() for name, m in (("Q", Q), ("K", K), ("V", V))}
    sheet = symattn.derive("attention", by="token", orientation=orientation, **givens).worksheet()
    write_sheets([sheet], tmp_path, Setting(["moodle"], "own"))
    question = cloze_reader.only(tmp_path / "own.moodle.xml")
    names = [(part.name, box) for part in sheet.question.parts for box in range(len(list(entries(sheet, part))))]
    parts = dict(zip(names, question.parts, strict=True))
    unscaled = parts["S'.2", 1]
    assert unscaled.taken("-3").feedback.startswith("Divide the scores by")
    assert unscaled.share("-3") == 0
    follows = parts["A.2", 0]
    assert follows.share("0.982") == 1
    assert follows.taken("0.982").feedback == "This follows from a mistake in an earlier line."


def entries(sheet, part):
    return sheet.problem.derivation[part.answer.step].result


def test_a_tenth_of_what_misconceptions_differ_by_is_the_most_that_a_decimal_may_be_off():
    """Where two places are asked for, half a unit: 0.48 is no answer where 0.47 is (fairness tells 0.05 apart)."""
    assert [float(tolerance(places)) for places in (1, 2, 3, 4)] == [0.05, 0.005, 0.005, 0.0005]


# ------------------------------------------------------------------------------------------------ counts and masks


COUNTED = {
    "right": (str, 1),
    "other forms": (lambda n: f"{n}.0", 1),
    "rounded": (lambda n: f"{n}.00", 1),
    "one more": (lambda n: str(n + 1), 0),
    "blank": (lambda n: "", 0),
    "decimal comma": (lambda n: f"{n},0", 1),
    "thousands, English": (lambda n: f"{n:,}", 1),
    "thousands, Swiss": (lambda n: f"{n:,}".replace(",", "'"), 1),
    "thousands, with spaces": (lambda n: f"{n:,}".replace(",", " "), 1),
}


def test_counts_are_taken_however_their_thousands_are_written(tmp_path):
    """So they are short answers and no numbers: those Moodle reads by rules of its own, with 1'440 for none."""
    (sheet,) = sheets(make_recipe(problem="counts", seed=3), 1)
    write_sheets([sheet], tmp_path, Setting(["moodle", "qti3"], "own"))
    question = cloze_reader.only(tmp_path / "own.moodle.xml")
    boxes = [(part, int(part.alternatives[0].answer)) for part in question.parts if whole(part)]
    assert max(n for _, n in boxes) > 1_000_000
    assert {part.kind for part, _ in boxes} == {"SHORTANSWER"}
    item = qti_reader.only(tmp_path / "own.qti3.zip")
    right = {name: values[0] for name, values in item.right().items()}
    numbers = {name: int(text) for name, text in right.items() if text.isdecimal()}
    worth = item.worked_out({name: right[name] for name in numbers})["SCORE"]
    assert worth > 1
    for kind, (write, share) in COUNTED.items():
        assert {part.share(write(n)) for part, n in boxes} == {share}, kind
        written = {name: write(n) for name, n in numbers.items()}
        assert item.worked_out(written)["SCORE"] == pytest.approx(worth * share), kind


def whole(part):
    return part.kind in ("SHORTANSWER", "NUMERICAL") and part.alternatives[0].answer.isdecimal()


def test_a_mask_is_a_choice_in_every_cell(tmp_path):
    """All cells white, all shaded, or none chosen: what each is worth follows from how many of either there are."""
    (sheet,) = sheets(make_recipe(problem="masks", seed=4), 1)
    write_sheets([sheet], tmp_path, Setting(["moodle"], "own"))
    question = cloze_reader.only(tmp_path / "own.moodle.xml")
    cells = [part for part in question.parts if part.kind == "MULTICHOICE"]
    shaded = [next(a.answer for a in part.alternatives if a.share == 1) == "■" for part in cells]
    asked = [part.answer for part in sheet.question.parts if isinstance(part.answer, CellsAnswer)]
    assert len(cells) == sum(rows * columns for rows, columns in (answer.shape for answer in asked)) > 8
    assert sum(shaded) == sum(len(answer.cells) for answer in asked)
    assert [sum(part.share(sign) for part in cells) for sign in ("■", "□", "")] == [
        sum(shaded), len(shaded) - sum(shaded), 0,
    ]  # fmt: skip
