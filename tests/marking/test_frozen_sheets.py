"""A set of worksheets frozen: what the file says, where it is written, and what is refused.

That every type comes out of it as it went in is tested with the types (tests/problems/test_every_type.py).
"""

import hashlib
import json
from pathlib import Path

import pytest
from exams import freeze_sheets
from frozen_files import FOLDER
from sentences import refused_saying

import symattn
from symattn.api import derive, worksheet
from symattn.errors import InputError
from symattn.teaching.exam.frozen_exam import thawed
from symattn.teaching.frozen import FORMAT
from symattn.teaching.problems import problem_types
from symattn.teaching.question import total
from symattn.teaching.sheets import Setting, thaw_sheets, write_sheets


@pytest.fixture(scope="module")
def three():
    return worksheet("attention", n=3, seed=7, level="starter")


def sealed(data):
    """A frozen set whose hash fits what was made of it, by the standard library alone."""
    rest = {key: value for key, value in data.items() if key != "hash"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return json.dumps({**rest, "hash": hashlib.sha256(text.encode()).hexdigest()})


def test_what_the_file_says(three):
    data = json.loads(freeze_sheets(three))
    assert list(data) == ["format", "software", "recipe", "sheets", "hash"]
    assert data["format"] == FORMAT
    assert data["software"] == f"symattn {symattn.__version__}"
    assert data["recipe"] == "symattn worksheet attention --scale none --level starter --seed 7"
    assert [sheet["id"] for sheet in data["sheets"]] == [sheet.name for sheet in three]
    assert sealed(data) == json.dumps(data)


@pytest.mark.parametrize("together", [False, True])
def test_it_is_written_beside_the_worksheets(three, together, tmp_path):
    written = write_sheets(three, tmp_path, Setting(["text"], "set"), together=together)
    assert written[-1] == tmp_path / "set.json"
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert written[-1].read_text("utf-8") == freeze_sheets(three)


def test_questions_are_made_when_they_are_asked_for(three, monkeypatch):
    thawed = thaw_sheets(freeze_sheets(three), "set.json")
    made = []
    monkeypatch.setattr(
        symattn.teaching.sheets, "problem_type", lambda name: made.append(name) or problem_types()[name]
    )
    assert len(thawed) == 3
    assert three[1].name in thawed
    assert made == []
    assert thawed[three[1].name] is thawed[three[1].name]
    assert made == ["full"]
    with pytest.raises(KeyError):
        thawed["no such"]


def test_a_problem_of_ones_own_is_not_frozen(three, tmp_path):
    own = derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none").worksheet()
    assert write_sheets([own], tmp_path / "own", Setting(["text"])) == [
        tmp_path / "own" / f"worksheet-01{key}.txt" for key in ("", "-key")
    ]
    assert freeze_sheets([own, *three]) == freeze_sheets(three)


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"hash": 1}', "[" * 100_000])
def test_what_is_no_frozen_set(text):
    with refused_saying(r"^set\.json is not a frozen set of worksheets\.$"):
        thaw_sheets(text, "set.json")


def test_a_content_that_cannot_be_read_is_told_with_its_place(three):
    data = json.loads(freeze_sheets(three))
    del data["sheets"][0]["content"]["given"]
    thawed = thaw_sheets(sealed(data), "set.json")
    with refused_saying(rf"^set\.json, sheet {three[0].name}: [Tt]he content of full cannot be read: KeyError"):
        thawed[three[0].name]


def test_an_exam_is_no_set_of_worksheets_and_a_set_no_exam(three):
    exam = (FOLDER / f"format-{FORMAT}" / "exam.json").read_text("utf-8")
    with refused_saying("is not a frozen set"):
        thaw_sheets(exam, "exam.json")
    with refused_saying(r"^exam\.json has 'sheets'; "):
        thawed(freeze_sheets(three), Path("exam.json"))


def test_a_sheet_that_lacks_something_is_refused_with_its_number(three):
    for key in ("id", "content", "parts"):
        data = json.loads(freeze_sheets(three))
        del data["sheets"][1][key]
        with pytest.raises(
            InputError,
            match=rf"^set\.json: sheets 2 has no {key}; (a text|a table|what marking goes by) was expected\.$",
        ):
            thaw_sheets(sealed(data), "set.json")


def test_any_change_is_seen(three):
    text = freeze_sheets(three)
    for old, new in (('"places": 4', '"places": 3'), (three[0].name, three[1].name), ("--seed 7", "--seed 8")):
        assert old in text
        with refused_saying("was changed after it was written"):
            thaw_sheets(text.replace(old, new, 1), "set.json")


def test_another_format_is_refused(three):
    later = sealed({**json.loads(freeze_sheets(three)), "format": FORMAT + 1})
    with refused_saying(f"has the format {FORMAT + 1}; this version of symattn reads"):
        thaw_sheets(later, "set.json")


@pytest.mark.parametrize(
    ("problem", "mechanism", "parts", "marks", "asked"),
    [
        ("full", "attention", ["S", "A"], {"A": 9}, {"S": 5, "A": 9}),
        ("full", "multi_head_attention", ["Z"], {"Z_2": 4}, {"Z_1": 2, "Z_2": 4}),
        ("drills", "", ["b", "d"], {"a": 3}, {"a": 3, "b": 1}),  # lettered anew
    ],
)
def test_parts_that_were_chosen_are_frozen_and_marked_with_their_marks(
    problem, mechanism, parts, marks, asked, tmp_path
):
    chosen = {"problem": problem, "seed": 7, "parts": parts, "marks": marks}
    made = worksheet(mechanism, n=2, out=tmp_path, forms=["markdown"], jobs=1, **chosen)
    file = next(tmp_path.glob("*.json"))
    for sheet in made:
        thawed = thaw_sheets(file.read_text("utf-8"), file)[sheet.name]
        for question in (sheet.question, thawed):
            assert {part.name: total(part.marks) for part in question.parts} == asked
    for path in tmp_path.glob("*-0[12].md"):
        assert symattn.check(file, path).available == sum(asked.values())
    whole = worksheet(mechanism, n=2, **{**chosen, "parts": (), "marks": None})
    assert not {sheet.name for sheet in made} & {sheet.name for sheet in whole}
    assert [sheet.question.content for sheet in made] == [sheet.question.content for sheet in whole]


def test_a_part_that_there_is_not_is_refused_by_name():
    with refused_saying("ask names 'B'; the parts of this question are S, S', A, Z"):
        worksheet("attention", parts=["B"])
    with refused_saying("marks"):
        worksheet("attention", marks={"S": 0})
