"""The class list, and who gets which paper: judged by brute force over all pairs of seats."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import InputError
from symattn.foundation.tables import table
from symattn.teaching.exam.students import assign, balanced, neighbours, places, read_class


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


def test_names_stay_as_they_are_written(tmp_path):
    hostile = [
        "%", "_", "\\input{x}", "$x$", "#1 & ^~", "Zoë 🙂", "שלום", "O'Brien; DROP", 'say ""hi""', "=SUM(A1)", "`rm`",
    ]  # fmt: skip
    rows = "\n".join(f'"{name}",{k}' for k, name in enumerate(hostile))
    found = read_class(write(tmp_path, "name,id\n" + rows))
    assert [s.name for s in found] == [name.replace('""', '"') for name in hostile]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("name,id\n", "names no students"),
        ("name,mark\nA,1", "a column id was expected"),
        ("name,id\nA,", "line 2: A has no id"),
        ("name,id\nA,1\nB,1", "the id 1 comes twice"),
        ("name,id,seat\nA,1,front", "line 2, seat is 'front'; a row and a column such as 3-12 or C12 was expected"),
        ("name,id,seat\nA,1,A1\nB,2,A1", "the seat A1 comes twice"),
        ("name,id,size\nA,1,12", "line 2, text size is '12'; one of 11, 18, 24 was expected"),
        ('name,id\n"A,1', "cannot be read as CSV"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_in_a_sentence(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read_class(write(tmp_path, text))


def test_a_list_that_is_no_text_and_one_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="It is not a text; CSV or a spreadsheet"):
        read_class(write(tmp_path, "name,id\n\0,1"))
    with pytest.raises(InputError, match=r"no class list other\.csv"):
        read_class(tmp_path / "other.csv")


TWO = [("Åke Björck", "00757"), ("Emmy Noether", "20234285")]
EXPORTS = {
    "Canvas": ("Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (101)\r\n    Points Possible,,,,,10\r\n"
               '"Björck, Åke",757,00757,bjorck,DL101,9\r\n"Noether, Emmy",9041,20234285,noether,DL101,8\r\n'
               '"Student, Test",999,,bbbc67,DL101,0\r\n', "utf-8"),
    "Moodle": ('"First name","Last name","ID number","Email address"\n"Åke","Björck","00757","a@uni.example"\n'
               '"Emmy","Noether","20234285","e@uni.example"\n', "utf-8-sig"),
    "Moodle in German": ("Vorname;Nachname;ID-Nummer;E-Mail-Adresse\nÅke;Björck;00757;a@uni.example\n"
                         "Emmy;Noether;20234285;e@uni.example\n", "utf-8-sig"),
    "Moodle in French": ("Prénom,Nom de famille,Numéro d’identification\nÅke,Björck,00757\nEmmy,Noether,20234285\n",
                         "utf-8"),
    "Moodle in Spanish": ("Nombre;Apellido(s);Número de ID\nÅke;Björck;00757\nEmmy;Noether;20234285\n", "cp1252"),
    "a list in Chinese": ("姓名,学号\nÅke Björck,00757\nEmmy Noether,20234285\n", "utf-8"),
    "Gradescope": ("First Name,Last Name,SID,Email,Section\nÅke,Björck,00757,a@uni.example,\n"
                   "Emmy,Noether,20234285,e@uni.example,\n", "utf-8"),
    "Brightspace": ("OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
                    "#00757,#bjorck,Björck,Åke,a@uni.example,#\n#20234285,#noether,Noether,Emmy,e@uni.example,#\n",
                    "utf-8"),
    "Blackboard": ('"Last Name"\t"First Name"\t"Username"\t"Student ID"\n"Björck"\t"Åke"\t"bjorck"\t"00757"\n'
                   '"Noether"\t"Emmy"\t"noether"\t"20234285"\n', "utf-16"),
    "Stud.IP": ("Nachname;Vorname;Titel;Matrikelnummer\nBjörck;Åke;;00757\nNoether;Emmy;;20234285\n", "cp1252"),
    "nbgrader": ("id,first_name,last_name,email\n00757,Åke,Björck,\n20234285,Emmy,Noether,\n", "utf-8"),
    "Excel with sep=": ("sep=;\nname;id\nÅke Björck;00757\nEmmy Noether;20234285\n", "utf-8-sig"),
}  # fmt: skip
"""Class lists with the headings that these platforms document for their exports, of the same two people."""


@pytest.mark.parametrize("platform", EXPORTS)
def test_lists_are_read_as_learning_platforms_export_them(tmp_path, platform):
    text, encoding = EXPORTS[platform]
    found = read_class(write(tmp_path, text, encoding))
    assert [(student.name, student.id) for student in found] == TWO


def test_a_spreadsheet_is_a_class_list(tmp_path):
    path = tmp_path / "class.xlsx"
    path.write_bytes(table(path, [["Name", "ID"], ["Åke Björck", "00757"], ["Emmy Noether", "20234285"]]))
    assert [(student.name, student.id) for student in read_class(path)] == TWO


def test_a_name_with_a_comma_stays_as_it_is_in_a_list_of_ones_own(tmp_path):
    found = read_class(write(tmp_path, 'name;id\r\n"Björck, Åke";00757\r\n', "cp1252"))
    assert [(student.name, student.id) for student in found] == [("Björck, Åke", "00757")]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("A\u202eB,1", r"line 2: name has the character U\+202E in it"),
        ("A,1\u200b", r"line 2: id has the character U\+200B in it"),
        ("A\ufffd,1", r"line 2: name has the character U\+FFFD in it"),
        ("A,2.02342E+07", r"line 2: the id 2\.02342E\+07 was rounded by a spreadsheet"),
    ],
)
def test_what_a_program_has_spoilt_is_told_with_its_line(tmp_path, cell, says):
    with pytest.raises(InputError, match=says):
        read_class(write(tmp_path, f"name,id\n{cell}\n"))


def touching(seats, given_out):
    """Pairs of seats at most one row and one column apart that have the same paper, all pairs tried."""
    pairs = [(a, b) for a in range(len(seats)) for b in range(a)]
    near = [(a, b) for a, b in pairs if all(abs(x - y) <= 1 for x, y in zip(seats[a], seats[b], strict=True))]
    return sum(given_out[a] == given_out[b] for a, b in near)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=60, unique=True),
    st.integers(5, 12),
    st.integers(0, 99),
)
def test_no_neighbours_have_the_same_paper(seats, papers, seed):
    given_out = assign(seats, papers, random.Random(seed))
    assert touching(seats, given_out) == neighbours(seats, given_out) == 0


@given(st.integers(1, 40), st.integers(10, 20), st.integers(0, 99))
def test_every_paper_goes_out_equally_often(rows, papers, seed):
    seats = [(r, c) for r in range(rows) for c in range(7)]
    given_out = assign(seats, papers, random.Random(seed))
    used = [given_out.count(p) for p in range(papers)]
    assert max(used) - min(used) <= 2
    assert touching(seats, given_out) == 0


def test_few_papers_part_those_beside_each_other_and_one_is_refused():
    seats = [(0, c) for c in range(9)]
    given_out = assign(seats, 2, random.Random(1))
    assert all(a != b for a, b in itertools.pairwise(given_out))
    with pytest.raises(InputError, match="at least 2"):
        assign(seats, 1, random.Random(1))


def test_who_gets_what_cannot_be_read_off_the_order():
    seats = [(0, c) for c in range(40)]
    assert assign(seats, 10, random.Random(1)) != assign(seats, 10, random.Random(2))


def test_seats_from_the_list_or_row_by_row(tmp_path):
    listed = read_class(write(tmp_path, "name,id,seat\nA,1,2-3\nB,2,2-4"))
    assert places(listed, 0) == [(2, 3), (2, 4)]
    unlisted = read_class(write(tmp_path, "name,id\nA,1\nB,2\nC,3"))
    assert places(unlisted, 2) == [(0, 0), (0, 1), (1, 0)]
    assert places(unlisted, 0) == [(0, 0), (0, 1), (0, 2)]


@given(st.integers(1, 4).flatmap(lambda q: st.lists(
    st.lists(st.floats(50, 60), min_size=12, max_size=12), min_size=q, max_size=q)))  # fmt: skip
def test_papers_use_every_variant_once_and_totals_spread_no_more_than_the_worst_question(loads):
    papers = balanced(loads)
    for q in range(len(loads)):
        assert sorted(paper[q] for paper in papers) == list(range(12))
    totals = [sum(loads[q][v] for q, v in enumerate(paper)) for paper in papers]
    widest = max(max(load) - min(load) for load in loads)
    assert max(totals) - min(totals) <= widest + 1e-9


def test_two_questions_are_paired_as_well_as_any_pairing_can_do():
    rng = random.Random(5)
    for _ in range(20):
        loads = [[rng.random() for _ in range(5)] for _ in range(2)]
        best = min(
            max(t) - min(t)
            for order in itertools.permutations(range(5))
            for t in [[loads[0][p] + loads[1][v] for p, v in enumerate(order)]]
        )
        totals = [loads[0][a] + loads[1][b] for a, b in balanced(loads)]
        assert max(totals) - min(totals) == pytest.approx(best, abs=1e-12)
