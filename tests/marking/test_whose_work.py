"""Whose work a file is: what a platform calls it decides, and no file of one student changes what another is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from zipfile import ZipFile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import tables_beside
from trials import tries

from symattn.foundation.crew import Crew
from symattn.foundation.identity import identity
from symattn.marking.grading.handed_in import matched
from symattn.marking.grading.roster import METADATA, Entrant
from symattn.marking.grading.run import heads_of, looked_into
from symattn.marking.grading.source import Paper, Papers
from symattn.marking.grading.unpacking import File

SHEETS = [identity(k) for k in range(4)]
PEOPLE = [
    ("Ada Lovelace", "20231815"), ("Alan Turing", "a1"), ("Emmy Noether", "A1"), ("Kurt Gödel", "2"),
    ("Li Wei", "20230001"), ("Li Wei", "20230002"), ("Anna Maria Muster", "1912"), ("Anna Maria", "20230003"),
]  # fmt: skip
CLASS = tuple(Entrant(k, name, id, SHEETS[k % 4], f"{k:03}-{id}") for k, (name, id) in enumerate(PEOPLE, 1))
EXAM = Papers("Midterm", "this exam", "0", {sheet: Paper((sheet,), list) for sheet in SHEETS}, CLASS)
MALLORY = "Mallory Malone"
WHOSE = tables_beside(__file__, "whose.toml")

ANSWER = b"[answers]\nQ = [[1]]\n"


# ------------------------------------------------------------------------------------------------ platforms


@dataclass(frozen=True)
class Platform:
    """How a platform calls what somebody handed in; `also` are files of its own beside it, made of everybody's.

    `knows` is whether it says of somebody who is not in the class list that it is somebody else.
    """

    path: Callable[[int, str, str], str]
    also: Callable[[Mapping[int, str]], Mapping[str, bytes]] = lambda people: {}
    flat: bool = False
    knows: bool = True


def _sortable(name):
    *first, last = name.split()
    return "".join(c for c in (last + "".join(first)).lower() if c.isalnum())


def _metadata(people):
    lines = ["---"]
    for number, name in people.items():
        lines += [f"submission_{70000 + number}:", "  :submitters:", f"  - :name: {name}", "    :sid: ''"]
    return {METADATA: "\n".join(lines).encode()}


PLATFORMS = {
    "Moodle, folders": Platform(lambda k, who, file: f"{who}_{900 + k}_assignsubmission_file_/{file}"),
    "Moodle, no folders": Platform(lambda k, who, file: f"{who}_{900 + k}_assignsubmission_file_{file}", flat=True),
    "Canvas": Platform(lambda k, who, file: f"{_sortable(who)}_{1800 + k}_{60 + k}_{file}", flat=True),
    "Canvas, late": Platform(lambda k, who, file: f"{_sortable(who)}_LATE_{1800 + k}_{60 + k}_{file}", flat=True),
    "Brightspace": Platform(
        lambda k, who, file: f"{900 + k}-55 - {who} - Nov 30, 2026 510 PM/{file}", lambda people: {"index.html": b"<p>"}
    ),
    "Gradescope": Platform(lambda k, who, file: f"submission_{70000 + k}/{file}", _metadata),
    "folders by name": Platform(lambda k, who, file: f"{who}/{file}", knows=False),
    "folders by paper": Platform(lambda k, who, file: f"{k:03}-{dict(PEOPLE).get(who, 'x')}/{file}", knows=False),
    "folders, late": Platform(lambda k, who, file: f"Midterm/{who}-late/{file}", knows=False),
}
KNOWN = tuple(e for e in CLASS if e.name not in ("Li Wei", "Kurt Gödel"))
"""Those whom every platform tells apart."""


def export(platform, handed, top):
    """A platform's download: by number, who handed in what."""
    named = {number: who for number, (who, _) in handed.items()}
    texts = dict(platform.also(named))
    for number, (who, files) in handed.items():
        texts |= {platform.path(number, who, file): data for file, data in files.items()}
    return [File.of(top + path, data) for path, data in texts.items()]


def in_order(files, papers):
    """Whose the files are, as a run finds it, without processes of its own."""
    return matched(looked_into(files, Crew()), lambda some: heads_of(some, None, Crew()), papers)


def given_out(files):
    """What each of the class is given, by number; what waits or belongs to nobody is left out."""
    return {
        one.entrant.number: (one.file.path, one.hash, one.sheet, one.complaint, one.doubt, one.notices)
        for one in in_order(files, EXAM)
        if one.entrant
    }


def zipped(texts):
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for name, data in texts.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_says_whose_each_is(name):
    platform = PLATFORMS[name]
    handed = {e.number: (e.name, {"work.toml": ANSWER}) for e in KNOWN}
    for top in ("", "export/"):
        found = given_out(export(platform, handed, top))
        assert found.keys() == {e.number for e in KNOWN}
        assert all(not complaint and not doubt and not notices for *_, complaint, doubt, notices in found.values())


ONE_FILE = {
    "hidden": ({".work.toml": ANSWER}, ""),
    "in a zip of the folder itself": ({"work.zip": zipped({"./": b"", "./work.toml": ANSWER})}, ""),
    "hidden in a zip": ({"work.zip": zipped({"__MACOSX/._.work.toml": b"", ".work.toml": ANSWER})}, ""),
    "in a zip, open in Word": ({"work.zip": zipped({"~$work.docx": b"Ada", "work.toml": ANSWER})}, ""),
    "a zip with nothing in it": ({"work.zip": zipped({})}, "It is a zip with no work in it."),
    "a zip with a folder": ({"work.zip": zipped({"work/": b""})}, "It is a zip with no work in it."),
}


@pytest.mark.parametrize("how", ONE_FILE)
@pytest.mark.parametrize("name", [name for name in PLATFORMS if not PLATFORMS[name].flat])
def test_no_file_vanishes(name, how):
    texts, complaint = ONE_FILE[how]
    [(_, _, _, said, _, notices)] = given_out(export(PLATFORMS[name], {1: ("Ada Lovelace", texts)}, "")).values()
    assert (said, notices) == (complaint, ())


def test_a_hidden_file_beside_another_is_told():
    [(path, *_, notices)] = given_out(
        [File.of("Ada Lovelace/.zzz.toml", ANSWER), File.of("Ada Lovelace/a.toml", ANSWER), File.of(".x", b"")]
    ).values()
    assert (path, len(notices)) == ("Ada Lovelace/a.toml", 1)
    assert ".zzz.toml" in notices[0]


def test_the_latest_of_brightspace_counts():
    """Whatever the folders are called: of December in the morning and November in the evening, that of December."""
    times = ("Nov 30, 2026 510 PM", "Nov 30, 2026 1155 AM", "Dec 1, 2026 900 AM", "Dec 1, 2026 1259 AM")
    sent = [f"901-55 - Ada Lovelace - {time}/work.toml" for time in times]
    [(path, *_, notices)] = given_out([File.of(one, ANSWER) for one in sent]).values()
    assert path == sent[2]
    assert notices[0].startswith("4 files were handed in; the latest is marked, not ")
    assert not any(sent[2] in notice for notice in notices)


# ------------------------------------------------------------------------------------------------ the law

WORDS = (
    *(name for name, _ in PEOPLE), *(id for _, id in PEOPLE), *SHEETS, *(e.stem for e in CLASS), "homework 2",
    "Ada Lovelace_901_assignsubmission_file_", "lovelaceada_1801_61_", "submission_70001", "work", "zzz", "(2)", "2",
    "Li Wei 20230001", "Ada.Lovelace", "late",
)  # fmt: skip
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join)
ENDS = st.sampled_from([".toml", " (2).toml", ".md", ".zip", ".png", ""])
FOREIGN = "\n".join(
    ["---", *(line for k in range(1, 9) for line in (
        f"submission_{70000 + k}:", "  :submitters:", "  - :name: Ada Lovelace", "    :sid: '20231815'"))]
).encode()  # fmt: skip
CONTENTS = st.sampled_from(
    [
        ANSWER,
        b"",
        b'student = "20231815"\nname = "Ada Lovelace"\n' + ANSWER,
        f'sheet = "{SHEETS[1]}"\n'.encode(),
        FOREIGN,
    ]
)


@st.composite
def made_by_mallory(draw, flat):
    """Any files at all that one student can hand in: folders and zips among them, with any names and in any number."""
    texts = {}
    for _ in range(draw(st.integers(1, 4))):
        folders = [] if flat else draw(st.lists(NAMES, max_size=2))
        name = draw(st.one_of(st.just(METADATA), st.builds(str.__add__, NAMES, ENDS)))
        if name.endswith(".zip"):
            inside = draw(st.dictionaries(st.builds("{}{}".format, NAMES, ENDS), CONTENTS, min_size=1, max_size=3))
            data = zipped({**inside, **draw(st.sampled_from([{}, {METADATA: FOREIGN}, {f"a/{METADATA}": FOREIGN}]))})
        else:
            data = draw(CONTENTS)
        texts["/".join((*folders, name))] = data
    return texts


@st.composite
def situations(draw):
    name = draw(st.sampled_from(sorted(PLATFORMS)))
    others = draw(st.lists(st.sampled_from(KNOWN), unique=True, max_size=3))
    return name, others, draw(made_by_mallory(PLATFORMS[name].flat)), draw(st.sampled_from(["", "export/"]))


LATE = {"20231815.toml": ANSWER}


@tries(8)
@given(situations())
@example(("Moodle, folders", [], LATE, ""))
@example(("Gradescope", [], {METADATA: FOREIGN, "submission_70001/x.toml": ANSWER}, ""))
@example(("Canvas", [CLASS[0]], LATE, ""))
@example(("Gradescope", [CLASS[1]], {METADATA: FOREIGN}, ""))
@example(("Gradescope", [CLASS[1]], {"work.zip": zipped({METADATA: FOREIGN})}, "export/"))
@example(("folders by name", [CLASS[0]], {METADATA: FOREIGN, "Ada Lovelace.toml": ANSWER}, "export/"))
def test_no_file_of_one_changes_what_another_is_given(situation):
    """Mallory is nobody in the class list, and then one of the class."""
    name, others, files, top = situation
    platform = PLATFORMS[name]
    handed = {e.number: (e.name, {"work.toml": ANSWER}) for e in others}
    before = given_out(export(platform, handed, top)) if handed else {}
    assert before.keys() == {e.number for e in others}
    if platform.knows or others:
        assert given_out(export(platform, {**handed, 9: (MALLORY, files)}, top)) == before
    for one in KNOWN:
        if one not in others:
            after = given_out(export(platform, {**handed, one.number: (one.name, files)}, top))
            assert {k: what for k, what in after.items() if k != one.number} == before
            break


@pytest.mark.parametrize("path", WHOSE["people"])
def test_a_file_named_by_hand(path):
    """A short number, or an id of two, is nobody's: 2 and 1912 are ids, and so are a1 and A1."""
    number = WHOSE["people"][path]
    assert list(given_out([File.of(path, ANSWER)])) == ([number] if number else [])


def test_names_in_a_zip_say_nothing():
    """In a zip that names nobody, whatever else there is; in one that does, they may not say anything else."""
    inside = zipped({"Ada Lovelace.toml": ANSWER, "20230001/a.toml": ANSWER})
    assert given_out([File.of("work.zip", inside), File.of("Alan Turing/work.zip", inside)]) == {}
    assert list(given_out([File.of("Ada Lovelace.zip", zipped({"Ada Lovelace 2.toml": ANSWER}))])) == [1]


@pytest.mark.parametrize("sign", [" ", "_", "1", "_1", "(1)", "a", "- "])
def test_no_name_is_too_long_to_be_looked_at(sign):
    """The names in a student's zip may have 65,535 characters, and a pattern that seeks in them takes their square."""
    long = sign * (60_000 // len(sign))
    assert given_out([File.of("work.zip", zipped({f"{long}x.toml": ANSWER, f"a{long}/b.toml": ANSWER}))]) == {}
    assert list(given_out([File.of("Ada Lovelace.zip", zipped({f"x{long}x.toml": ANSWER}))])) == [1]
