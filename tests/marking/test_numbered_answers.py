"""Answers typed below the numbers of the sheet, to questions whose parts stand alone: as people write them.

Every law is one of marking: what is right in any way of writing is right, the same way of writing something wrong is
wrong there and nowhere else, and what is not clear waits for a person.
"""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

import symattn
from symattn.errors import InputError
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.answers import tables_of
from symattn.page.writers.characters import plain
from symattn.teaching.problems import problem_type
from symattn.teaching.question import ChoiceAnswer, FormulaAnswer, OrderAnswer, ShapeAnswer, WordAnswer
from symattn.teaching.rendering import render
from tests.marking.scripts import exactly, key_of, legible

LETTERS = "ABCDEF"

LABELS = (
    lambda n, title: f"{n}) ",
    lambda n, title: f"{n}. ",
    lambda n, title: f"({chr(96 + n)}) ",
    lambda n, title: f"**{n}.** ",
    lambda n, title: f"Question {n}: ",
    lambda n, title: f"Aufgabe {n}: ",
    lambda n, title: f"{n}.\n",
    lambda n, title: f"{n}. {title}\n",
    lambda n, title: f"{n}. {title}: ",
)
"""How the place of an answer is said: n is the number of the part."""


def each(yes, no, texts, right, form):
    return [
        form.format(mark=yes if k in right else no, letter=LETTERS[k], text=text).strip()
        for k, text in enumerate(texts)
    ]


CHOSEN = {
    "letters": lambda texts, right: ", ".join(LETTERS[k] for k in sorted(right)),
    "small letters in brackets": lambda texts, right: " and ".join(f"({LETTERS[k].lower()})" for k in sorted(right)),
    "a sentence": lambda texts, right: f"The right answer is {' and '.join(LETTERS[k] for k in sorted(right))}.",
    "ticks": lambda texts, right: " ".join(f"[x] {LETTERS[k]}" for k in sorted(right)),
    "ticks behind": lambda texts, right: " ".join(f"{LETTERS[k]} ✓" for k in sorted(right)),
    "copied": lambda texts, right: "\n".join(each("☒", "☐", texts, right, "{mark} {letter}. {text}")),
    "a copied list": lambda texts, right: "\n".join(each("[x]", "[ ]", texts, right, "- {mark} {letter}. {text}")),
    "one ticked": lambda texts, right: "\n".join(each("✓", "", texts, right, "{mark} {letter}. {text}")),
    "with their texts": lambda texts, right: "\n".join(f"{LETTERS[k]}. {texts[k]}" for k in sorted(right)),
    "true and false": lambda texts, right: ", ".join(each("true", "false", texts, right, "{letter} {mark}")),
    "true and false in lines": lambda texts, right: "\n".join(each("ja", "nein", texts, right, "{letter}: {mark}")),
}

ORDERED = {
    "signs": " < ".join,
    "arrows": " -> ".join,
    "commas and a word": lambda labels: f"{', '.join(labels[:-1])} and {labels[-1]}",
    "words": " then ".join,
    "lines": "\n".join,
    "numbered lines": lambda labels: "\n".join(f"{n}: {label}" for n, label in enumerate(labels, 1)),
    "the other way round": lambda labels: " > ".join(reversed(labels)),
    "a sentence": lambda labels: f"The order is {', '.join(labels)}.",
    "smallest first": lambda labels: f"{', '.join(labels)} (smallest first)",
    "largest first": lambda labels: f"{', '.join(reversed(labels))} (largest first)",
    "largest first, with signs": lambda labels: f"largest first: {' > '.join(reversed(labels))}",
}

SHAPES = {
    "a sign": lambda shape: f"{shape[0]} x {shape[1]}" if shape else "undefined",
    "a sentence": lambda shape: f"The shape is {shape[0]}×{shape[1]}." if shape else "It's not defined",
    "in words": lambda shape: f"{shape[0]} rows and {shape[1]} columns" if shape else "cannot be multiplied",
    "worked out": lambda shape: f"({shape[0]}×7)(7×{shape[1]}) = {shape[0]}×{shape[1]}" if shape else "shape mismatch",
    "with a reason": lambda shape: f"{shape[0]}×{shape[1]}, since 7 = 7" if shape else "not defined, since 4 ≠ 5",
}

WORDS = {
    "alone": str,
    "a line": lambda word: f"line {word}",
    "a sentence": lambda word: f"it's {word}",
    "quoted": lambda word: f'"{word}"',
}

TYPES = ("choice", "heatmap", "estimate", "shapes", "find-error", "recurrence", "counts")


@cache
def drawn(type, seed):
    return symattn.worksheet(problem=type, seed=seed)[0].question


def simple(question, part):
    """The right answer in one plain way."""
    match part.answer:
        case ChoiceAnswer() as choice:
            return CHOSEN["letters"]([], choice.right)
        case OrderAnswer(groups):
            return " < ".join(" = ".join(group) for group in groups)
        case ShapeAnswer(shape):
            return SHAPES["a sign"](shape)
        case WordAnswer(word):
            return word
    rows = key_of(question).get(part.name)
    if rows is None:
        return exactly(part.answer.value) if isinstance(part.answer, FormulaAnswer) else "The sums differ."
    return "[" + ", ".join("[" + ", ".join(map(legible, row)) + "]" for row in rows) + "]"


def ways(part):
    """Ways to write the right answer, each with the same way of writing a wrong one."""
    match part.answer:
        case ChoiceAnswer(options=options, several=several) as choice:
            texts = [plain(option.text) for option in options]
            other = choice.right ^ {0} if several else frozenset({min({*range(len(options))} - choice.right)})
            for name, way in CHOSEN.items():
                if other and (several or not name.startswith("true and false")):
                    yield name, way(texts, choice.right), way(texts, other)
        case OrderAnswer(groups) if all(len(group) == 1 for group in groups):
            labels = [label for (label,) in groups]
            swapped = [labels[1], labels[0], *labels[2:]]
            yield from ((name, way(labels), way(swapped)) for name, way in ORDERED.items())
        case ShapeAnswer((int(), int()) | None as shape):
            other_shape = None if shape else (9, 8)
            yield from ((name, way(shape), way(other_shape)) for name, way in SHAPES.items())
        case WordAnswer(word):
            yield from ((name, way(word), way("Q" if word != "Q" else "Z")) for name, way in WORDS.items())


def marked(question, said, label):
    lines = [label(n, plain(part.title)) + said[part.name] for n, part in enumerate(question.parts, 1)]
    return symattn.check(question, "\n".join(lines) + "\n")


def wrong_parts(marking):
    return {verdict.part for verdict in marking.reports[0].verdicts if not verdict.accepted}


@tries(8)
@given(type=st.sampled_from(TYPES), seed=st.integers(1, 3), label=st.sampled_from(LABELS), data=st.data())
def test_what_is_right_is_right_and_what_is_wrong_is_wrong_in_every_way_of_writing(type, seed, label, data):
    question = drawn(type, seed)
    right = {part.name: simple(question, part) for part in question.parts}
    part, (_, own, other) = data.draw(st.sampled_from([(p, way) for p in question.parts for way in ways(p)]))
    found = marked(question, {**right, part.name: own}, label)
    assert (wrong_parts(found), len(found.reports[0].events)) == (set(), 0), own
    found = marked(question, {**right, part.name: other}, label)
    assert (wrong_parts(found), len(found.reports[0].events)) == ({part.name}, 1), other


BEFORE_LETTERS = ("{a}) ", "({a}) ", "{a}: ", "{a}. ", "{a} ", "{a} - ", "{A}) ", "{n}) ", "{n}. ")


@pytest.mark.parametrize("items", range(2, 7))
@pytest.mark.parametrize("between", ["\n", "\n\n", ", ", "; "])
def test_letters_of_parts_are_no_options(items, between):
    """With no more parts than options, a) C was read as the options A and C, and marked as wrong."""
    question = symattn.worksheet(problem="choice", seed=1, options={"items": items})[0].question
    right = [simple(question, part) for part in question.parts]
    for before in BEFORE_LETTERS:
        places = [before.format(n=n, a=chr(96 + n), A=chr(64 + n)) for n in range(1, items + 1)]
        text = between.join(place + letter for place, letter in zip(places, right, strict=True))
        assert wrong_parts(symattn.check(question, text + "\n")) == set(), text


@pytest.mark.parametrize("items", range(2, 7))
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_letters_of_parts_in_a_table_are_no_names_of_matrices(items, between):
    """a,B in the first line of a CSV was taken for two matrices side by side, and all letters for one answer."""
    question = symattn.worksheet(problem="choice", seed=1, options={"items": items})[0].question
    right = [simple(question, part) for part in question.parts]
    for first in ("a", "A", "1"):
        rows = (f"{chr(ord(first) + k)}{between}{letter}" for k, letter in enumerate(right))
        assert wrong_parts(symattn.check(question, "\n".join(rows) + "\n")) == set(), first


@pytest.mark.parametrize("said", ["{a} = {X}", "{a} -> {X}", "{a}{X}", "{A}{X}"])
@pytest.mark.parametrize("between", ["\n", ", ", " "])
def test_letters_of_parts_and_of_options_in_one_word_are_never_wrong(said, between):
    question = symattn.worksheet(problem="choice", seed=1, options={"items": 3})[0].question
    right = [simple(question, part) for part in question.parts]
    each = [said.format(a=chr(96 + n), A=chr(64 + n), X=letter) for n, letter in enumerate(right, 1)]
    try:
        report = symattn.check(question, between.join(each) + "\n").reports[0]
    except InputError:
        return  # nothing was marked
    assert report.events == ()


@pytest.mark.covering(most=4, product=False)
@pytest.mark.parametrize("label", range(len(LABELS)))
@pytest.mark.parametrize("type", ["translate", "recurrence", "counts"])
def test_columns_end_where_the_next_part_begins(type, label):
    """(e) below a column is no e, and 3. no number."""
    question = drawn(type, 2)
    said = {part.name: simple(question, part) for part in question.parts}
    for part in question.parts:
        rows = key_of(question).get(part.name, [])
        if len(rows) > 1 == len(rows[0]):
            said[part.name] = "\n" + "\n".join(legible(x) for (x,) in rows)
    assert wrong_parts(marked(question, said, LABELS[label])) == set()


UNCLEAR = {
    "two at once": "A or B",
    "taken back": "A, no, B",
    "a copy without a tick": "A. {0}\nB. {1}\nC. {2}",
    "the letter of one and the text of another": "A. {1}",
    "denied": "not A",
}


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("way", UNCLEAR)
@pytest.mark.parametrize("label", range(len(LABELS)))
def test_a_choice_that_is_not_clear_waits_for_a_person(way, label):
    question = drawn("choice", 1)
    part = question.parts[1]
    said = UNCLEAR[way].format(*(plain(option.text) for option in part.answer.options))
    right = {p.name: simple(question, p) for p in question.parts}
    report = marked(question, {**right, part.name: said}, LABELS[label]).reports[0]
    [mark] = [given for given in report.marks if given.parts == (part.name,)]
    assert (mark.given, mark.pending, report.events) == (0, True, ())
    assert any("could not be read" in remark.says for remark in report.attempt.remarks)


@pytest.mark.parametrize("label", [0, 3, 6])
def test_what_stands_behind_the_number_of_a_part_is_no_title(label):
    question = drawn("masks", 1)
    said = {part.name: simple(question, part) for part in question.parts}
    report = marked(question, {**said, question.parts[0].name: "vhhh\nvvhh"}, LABELS[label]).reports[0]
    assert {given.parts[0] for given in report.marks if given.pending} >= {question.parts[0].name}


@pytest.mark.parametrize("mark", ["{} ✓", "**{}**", "~~{}~~"])
def test_what_is_marked_beside_its_box_waits_for_a_person(mark):
    sheet = symattn.worksheet(problem="choice", seed=1)[0]
    before, box, behind = render(sheet.document("blank"), "markdown")[1].decode().partition("- [ ] ")
    option, *rest = behind.split("\n")
    report = symattn.check(sheet, "\n".join([before + box + mark.format(option), *rest])).reports[0]
    first = report.question.parts[0].name
    assert [given.parts[0] for given in report.marks if given.pending] == [first]


# ------------------------------------------------------------------------------------------------ several questions

OWN = {
    "type": "text", "notation": "standard", "text": "", "parts": [
        {"text": "Which products are defined?", "points": 2, "answer": ["A", "C"], "options": ["1", "2", "3"]},
        {"text": "How many parameters are there?", "answer": 8, "name": "p"},
        {"text": "Write down the causal mask.", "points": 2, "answer": [[1, 0], [1, 1]], "name": "M"},
        {"text": "Which function makes weights?", "points": 1, "answer": "softmax", "boxes": True},
        {"text": "Which are true?", "points": 2, "answer": ["A", "B"], "options": ["v", "w", "x", "y", "z"]},
        {"text": "Are weights positive?", "points": 1, "answer": ["A"], "options": ["yes", "no"]},
    ],
}  # fmt: skip


@cache
def exam():
    return drawn("choice", 1), drawn("shapes", 1), problem_type("text").make(OWN)


def lost(text, file="markdown"):
    """The parts of an exam with less than all of their marks: whether they wait for a person or are wrong."""
    found = read_submission(text, exam(), form=file)
    reports = [mark(question, attempt) for question, attempt in zip(exam(), found.attempts, strict=True)]
    return {f"{n}{part}": "waits" if given.pending else "wrong" for n, report in enumerate(reports, 1)
            for given in report.marks if given.given < given.of for part in given.parts}  # fmt: skip


def written(way="{n}{a}) {said}", head="", own=()):
    """The right answers to all questions, but `own` to these parts, each with its place before it."""
    lines = []
    for n, question in enumerate(exam(), 1):
        lines += [head.format(n=n)] if head else []
        for k, part in enumerate(question.parts):
            said = dict(own).get(f"{n}{part.name}", simple(question, part))
            lines.append(way.format(n=n, a=chr(97 + k), A=chr(65 + k), said=said))
        lines.append("")
    return "\n".join(lines)


TOGETHER = (
    "{n}{a} {said}", "({n}{a}) {said}", "[{n}{a}] {said}", "{n}{a} -> {said}", "{n}{a} = {said}", "{n}{a} – {said}",
    "{n}{a}\t{said}", "{n}{a}; {said}", "{n}.{a} {said}", "{n}/{a} {said}", "{n}{A} {said}",
    "{n} {a}) {said}", "{n}({a}): {said}", "- {n}{a}) {said}", "**{n}{a})** {said}", "part {n}{a}: {said}",
    "Q{n}{a}: {said}", "Ans {n}({a}) {said}", "Aufgabe {n}{a}: {said}", "question {n} part {a}: {said}",
)  # fmt: skip
APART = (
    "{a} {said}", "{a} – {said}", "{a}-{said}", "[{a}] {said}", "{a}/ {said}", "{a}){said}", "{A} {said}",
    "{A}) {said}", "part {a}: {said}", "{a}\n{said}", "- ({a}) {said}",
)  # fmt: skip
HEADS = ("Question {n}", "Q{n}:", "Qu. {n}", "## Aufgabe {n}", "第 {n} 题", "问题 {n}")


@pytest.mark.parametrize(
    ("way", "head"),
    [*((way, "") for way in TOGETHER), *((way, "Question {n}") for way in APART), *(("{a}) {said}", h) for h in HEADS)],
)
def test_places_in_an_exam_are_read_in_every_way(way, head):
    assert lost(written(way, head)) == {}
    assert lost(written(way, head, {"3d": "relu", "3b": "9"})) == {"3b": "wrong", "3d": "wrong"}


@pytest.mark.parametrize("between", [", ", " ", "; "])
@pytest.mark.parametrize(
    "way", ["1{a} {X}", "1{a}) {X}", "1{a}{X}", "{a}{X}", "{a}={X}", "{a}:{X}", "{a}-{X}", "{a}/{X}"]
)
def test_letters_of_a_whole_question_stand_in_one_line(way, between):
    question = exam()[0]
    each = [way.format(a=chr(97 + k), X=simple(question, part)) for k, part in enumerate(question.parts)]
    text = written(head="Question {n}").partition("Question 2")[2]
    assert lost(f"Question 1\n{between.join(each)}\n\nQuestion 2{text}") == {}


@pytest.mark.parametrize("row", ["| 1{a} | {X} |", "| 1 | {a} | {X} |", "| 1({a}) | {X} |"])
def test_rows_of_a_table_have_the_numbers_of_questions(row):
    question, columns = exam()[0], row.count("|") - 1
    rows = ["| no. " * columns + "|", "|---" * columns + "|"]
    rows += [row.format(a=chr(97 + k), X=simple(question, part)) for k, part in enumerate(question.parts)]
    text = written(head="Question {n}").partition("Question 2")[2]
    assert lost("\n".join(rows) + f"\n\nQuestion 2{text}") == {}


MATRICES_IN_LATEX = (
    r"\begin{bmatrix}1&0\\1&1\end{bmatrix}", r"$\begin{bmatrix}1&0\\1&1\end{bmatrix}$",
    "\n\\[\n\\begin{pmatrix}\n1 & 0\\\\\n1 & 1\n\\end{pmatrix}\n\\]", r"$$\begin{matrix}1&0\\1&1\end{matrix}$$",
)  # fmt: skip


@pytest.mark.parametrize("matrix", MATRICES_IN_LATEX)
def test_a_matrix_in_latex_leaves_other_answers_alone(matrix):
    """All lines of its question became one paragraph, of which nothing was read."""
    for way, head in (("({a}) {said}", "Question {n}"), ("{n}{a} {said}", "")):
        assert lost(written(way, head, {"3c": matrix})) == {}
        assert lost(written(way, head, {"3c": matrix.replace("0", "1")})) == {"3c": "wrong"}


SAID = {
    "3d": {
        "right": [
            "Softmax.", "the softmax function", "softmax(x)", "die Softmax-Funktion", "la función softmax",
            "softmax函数",
        ],
        "waits": ["not softmax", "softmax or relu", "log softmax", "it is surely not the softmax that is used"],
        "wrong": ["relu", "the relu function", "hardmax(x)"],
    },
    "3e": {
        "right": [
            "TTFFF", "T, T, F, F, F", "YYNNN", "VVFFF", "✓✓✗✗✗", "对对错错错", "wahr, wahr, falsch, falsch, falsch",
            "A ✓ B ✓ C ✗ D ✗ E ✗", "✓ A ✓ B ✗ C ✗ D ✗ E", "A - true\nB - true\nC - false\nD - false\nE - false",
        ],
        "waits": ["TTFF", "TTFFFF", "A ✓ B ✓ C ✗", "wahr, wahr", "true"],
        "wrong": ["TTFFT", "A ✓ B ✗ C ✗ D ✗ E ✗", "wahr, falsch, falsch, falsch, falsch"],
    },
    "3f": {"right": ["ja", "Oui!", "sí", "是"], "waits": ["yes, no", "ja/nein", "y"], "wrong": ["nein", "否"]},
    "3a": {
        "right": ["opciones A y C", "Optionen A und C", "选项A和C"], "waits": ["opción A, B o C", "not A"],
        "wrong": ["opción B"],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "state", "said"), [(p, state, said) for p in SAID for state in SAID[p] for said in SAID[p][state]]
)
def test_words_of_an_answer_are_read_or_wait(part, state, said):
    expected = {} if state == "right" else {part: state}
    assert lost(written("({a}) {said}", "Question {n}", {part: said})) == expected


def test_undefined_shapes_are_said_in_every_language():
    part, other = (
        next(
            p.name
            for p in exam()[1].parts
            if isinstance(p.answer, ShapeAnswer) and (p.answer.shape is None) == undefined
        )
        for undefined in (True, False)
    )
    for said in ("Not defined!", "未定义", "nicht definiert!", "n'est pas défini", "no está definido", "undefiniert"):
        assert lost(written(own={f"2{part}": said})) == {}
        assert lost(written(own={f"2{other}": said})) == {f"2{other}": "wrong"}


IN_ROWS = ("{name}: {r}x{c}", "{name} = {r}×{c}", "{name} is ({r}, {c})", "{name} {r} by {c}", "{r}x{c}", "({r}, {c})")


@pytest.mark.parametrize("between", ["\n", ", "])
@pytest.mark.parametrize("row", IN_ROWS)
def test_a_table_of_shapes_is_answered_by_shapes(row, between):
    question = exam()[1]
    [part] = [part for part in question.parts if tables_of(part)]
    names = [plain(line[0]).split()[-1] for line in tables_of(part)[0].rows]

    def said(shapes):
        rows = [row.format(name=name, r=r, c=c) for name, (r, c) in zip(names, shapes, strict=True)]
        return "\n" + between.join(rows)

    shapes = [[int(x) for x in line] for line in part.answer.value.rows]
    assert lost(written(own={f"2{part.name}": said(shapes)})) == {}
    shapes[0][1] += 1
    assert lost(written(own={f"2{part.name}": said(shapes)})) == {f"2{part.name}": "wrong"}


@pytest.mark.parametrize(
    "line", ["{a}) {X} and {X}?", "{a} maybe {X}", "1{a}: {X} or not", "it is {X} in {a}", "{a}·{X}"]
)
def test_what_is_written_and_not_read_is_never_lost(line):
    """It waits for a person, in whatever question it was looked for."""
    question = exam()[0]
    each = [line.format(a=chr(97 + k), X=simple(question, part)) for k, part in enumerate(question.parts)]
    _, _, text = written(head="Question {n}").partition("Question 2")
    for head in ("Question 1\n", ""):
        found = lost(f"{head}{'; '.join(each)}\n\nQuestion 2{text}")
        assert {*found.values()} <= {"waits"}, found
    found = lost("Question 1\n" + "\n".join(each) + f"\n\nQuestion 2{text}")
    assert {*found.values()} <= {"waits"}, found
