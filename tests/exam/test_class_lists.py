"""Class lists: as nine platforms export them, as programs spoil them, and as people write them.

What is right is the same two or three people in every file; what is spoilt is refused in a sentence or read right.
"""

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside

from symattn.errors import InputError
from symattn.foundation.tables import table
from symattn.teaching.exam.class_list import read_class, tell_of_lost_zeros

TABLES = tables_beside(__file__)
LISTS = TABLES["list"]


def write(folder, text, encoding="utf-8"):
    path = folder / "class.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_are_found_by_name_in_any_order_and_with_any_delimiter(tmp_path, delimiter):
    lines = ["Student ID;Name;Seat;Text size", "007;Ada Lovelace;C12;18", "008;Åsa Öberg;3-4;", ""]
    found = read_class(write(tmp_path, "\n".join(lines).replace(";", delimiter), "utf-8-sig"))
    assert [(s.name, s.id, s.place, s.text_size) for s in found] == [
        ("Ada Lovelace", "007", (3, 12), 18),
        ("Åsa Öberg", "008", (3, 4), 0),
    ]


@pytest.mark.parametrize(
    ("ids", "named"),
    [
        (("104512", "87121", "220981", "310442"), "87121"),
        (("104512", "087121", "220981", "22098"), ""),  # here zeros were kept
        (("104512", "87121", "22098", "310442"), ""),  # lengths differ
        (("ab12", "b12", "cd34", "ef56"), ""),
    ],
)
def test_numbers_that_may_have_lost_their_zeros_are_named(tmp_path, caplog, ids, named):
    people = "\n".join(f"Name {'ABCD'[k]},{one}" for k, one in enumerate(ids))
    students = read_class(write(tmp_path, f"name,id\n{people}"))
    assert [student.id for student in students] == list(ids)
    tell_of_lost_zeros("class.csv", students)
    assert f"fewer digits than the others: {named}." in caplog.text if named else not caplog.text


@pytest.mark.parametrize(("text", "says"), TABLES["wrong"])
def test_what_is_wrong_with_a_list_is_said_in_a_sentence(tmp_path, text, says):
    with refused_saying(re.escape(says)):
        read_class(write(tmp_path, text))


def test_a_list_that_is_not_there(tmp_path):
    with refused_saying(r"no class list other\.csv"):
        read_class(tmp_path / "other.csv")


TWO = [("Åke Björck", "00757"), ("Emmy Noether", "20234285")]


@pytest.mark.parametrize("listed", LISTS, ids=[f"{one['platform']} {k}" for k, one in enumerate(LISTS)])
def test_lists_are_read_as_learning_platforms_export_them(tmp_path, listed):
    path = tmp_path / f"class.{listed.get('ending', 'csv')}"
    path.write_bytes(listed["text"].lstrip("\n").replace("\n", "\r\n").encode(listed.get("encoding", "utf-8")))
    assert [(student.name, student.id) for student in read_class(path)] == TWO


def test_there_are_two_lists_of_nine_platforms():
    counts = Counter(one["platform"] for one in LISTS if not one["platform"].startswith("a list"))
    assert len(counts) == 9
    assert set(counts.values()) == {2}
    assert all(one["source"] for one in LISTS)


def test_a_spreadsheet_is_a_class_list(tmp_path):
    path = tmp_path / "class.xlsx"
    path.write_bytes(table(path, [["Name", "ID"], ["Åke Björck", "00757"], ["Emmy Noether", "20234285"]]))
    assert [(student.name, student.id) for student in read_class(path)] == TWO


def test_a_name_with_a_comma_stays_as_it_is_in_a_list_of_ones_own(tmp_path):
    found = read_class(write(tmp_path, 'name;id\r\n"Björck, Åke";00757\r\n', "cp1252"))
    assert [(student.name, student.id) for student in found] == [("Björck, Åke", "00757")]


# ------------------------------------------------------------------------------------------------ spoilt lists


PEOPLE = [
    ("Åke", "Björck", "20235974"), ("Emmy", "Noether", "20234285"), ("Émilie du", "Châtelet", "20234180"),
    ("Søren", "Kierkegaard", "20233650"), ("Wacław", "Sierpiński", "20234139"), ("Matthew", "O’Brien", "20232669"),
    ("Ky", "Fan", "20236338"), ("Zoárd", "Geőcze", "00032373"), ("José Anastácio da", "Cunha", "20236787"),
]  # fmt: skip
RIGHT = {f"{first} {last}": id for first, last, id in PEOPLE}
FORMS = {
    "Canvas": ("Student,ID,SIS User ID,Section", '"{last}, {first}",9{id},{id},DL101'),
    "Moodle": ("First name,Last name,ID number,Email address", "{first},{last},{id},{id}@uni.example"),
    "Brightspace": ("OrgDefinedId;Last Name;First Name;Email", "#{id};{last};{first};{id}@uni.example"),
}


def lines_of(form):
    head, line = FORMS[form]
    return [head, *(line.format(first=first, last=last, id=id) for first, last, id in PEOPLE)]


def in_a_line(change):
    """Spoils one of the students' lines."""

    def spoil(dice, lines):
        k = dice.randrange(1, len(lines))
        return [*lines[:k], change(dice, lines[k]), *lines[k + 1 :]]

    return spoil


def cells_changed(change):
    """Spoils the cells of one line."""

    def spoil(dice, line):
        sign = ";" if ";" in line else ","
        return sign.join(change(dice, line.split(sign)))

    return in_a_line(spoil)


def inserted(dice, line, characters):
    k = dice.randrange(len(line))
    return line[:k] + dice.choice(characters) + line[k:]


def exchanged(dice, cells):
    i, j = sorted(dice.sample(range(len(cells)), 2))
    return [*cells[:i], cells[j], *cells[i + 1 : j], cells[i], *cells[j + 1 :]]


def with_id(dice, line, forms):
    id = next(id for _, _, id in PEOPLE if id in line)
    return line.replace(id, dice.choice(forms).format(id=id, value=int(id)))


SPOILERS = {
    "cut": lambda dice, lines: "\n".join(lines)[: dice.randrange(10, len("\n".join(lines)))].split("\n"),
    "columns exchanged": cells_changed(exchanged),
    "a cell lost": cells_changed(lambda dice, cells: [c for k, c in enumerate(cells) if k != dice.randrange(4)]),
    "an empty cell": cells_changed(lambda dice, cells: ["" if dice.random() < 0.4 else c for c in cells]),
    "rounded": in_a_line(lambda dice, line: with_id(dice, line, ["{value:.2E}", "{value:.1f}", "{value},0"])),
    "an error of a spreadsheet": in_a_line(lambda dice, line: with_id(dice, line, ["#REF!", "#N/A", "#VALUE!"])),
    "control": in_a_line(lambda dice, line: inserted(dice, line, "\x00\x07\x0b\x1b\x7f\ufffd")),
    "bidi": in_a_line(lambda dice, line: inserted(dice, line, "\u202e\u202d\u2066\u200b\ufeff\xad")),
    "separators": in_a_line(lambda dice, line: line.translate(str.maketrans(",;", dice.choice(["\t\t", ";,", "||"])))),
    "no quotation marks": in_a_line(lambda dice, line: line.replace('"', "", dice.choice([1, 2]))),
    "doubled": lambda dice, lines: [*lines, lines[dice.randrange(1, len(lines))]],
    "misread": lambda dice, lines: [line.encode().decode("cp1252", "replace") for line in lines],
    "misread as DOS": lambda dice, lines: [
        line.encode("cp850", "replace").decode("cp1252", "replace") for line in lines
    ],
    "no headings": lambda dice, lines: lines[1:],
    "headings doubled": lambda dice, lines: [lines[0] + f",{lines[0]}", *lines[1:]],
    "blank lines": lambda dice, lines: [x for line in lines for x in (line, *[""] * dice.randrange(3))],
    "shuffled": lambda dice, lines: [lines[0], *dice.sample(lines[1:], len(lines) - 1)],
}


def read_or_refused(path):
    """The students, or the sentence."""
    try:
        return read_class(path), ""
    except InputError as error:
        return (), str(error)


@pytest.mark.parametrize("spoilt", SPOILERS)
def test_a_spoilt_list_is_one_sentence_or_reads_right_and_never_a_wrong_name(tmp_path, spoilt):
    """More than a hundred lists: every way to spoil each form, several times."""
    for seed in range(3):
        for form in FORMS:
            dice = random.Random(f"{spoilt} {form} {seed}")
            text = "\n".join(SPOILERS[spoilt](dice, lines_of(form)))
            found, told = read_or_refused(write(tmp_path, text))
            if told:
                assert "\n" not in told
                assert told.endswith(".")
                assert "class.csv" in told
            for student in found:
                assert is_right(student), (text, student)


def is_right(student):
    """Whether it is the name of the one whose id it is, perhaps turned or without a part; an id may be cut off."""
    words = set(student.name.replace("'", "’").split())
    ids = [id for name, id in RIGHT.items() if words and words <= set(name.split())]
    return any(id.startswith(student.id) or student.id in (f"9{id}", f"{id}@uni.example") for id in ids)


@pytest.mark.parametrize("form", FORMS)
def test_lists_that_nothing_spoils_are_read(tmp_path, form):
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        found = read_class(write(tmp_path, "\r\n".join(lines_of(form)), encoding))
        assert {student.name: student.id for student in found} == RIGHT


@given(st.text(max_size=300))
def test_any_text_is_a_list_or_a_sentence(tmp_path_factory, text):
    path = write(tmp_path_factory.getbasetemp(), "name,id\n" + text.encode("utf-8", "replace").decode())
    found, told = read_or_refused(path)
    assert "class.csv" in told or all(student.id for student in found)
