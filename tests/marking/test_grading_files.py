"""What was handed in: every file found once, hostile names and archives harmless, and whose each is."""

import os
import re
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from test_whose_work import WHOSE, in_order

from symattn.errors import InputError
from symattn.foundation.crew import Crew
from symattn.foundation.identity import identity
from symattn.marking.grading import unpacking
from symattn.marking.grading.roster import Entrant
from symattn.marking.grading.run import looked_into
from symattn.marking.grading.source import Paper, Papers
from symattn.marking.grading.unpacking import RECORDS, File, files

SHEETS = [identity(k) for k in range(3)]
NAMES = ["Ada Lovelace", "Alan Turing", "Emmy Noether", "Kurt Gödel", "Grace Hopper", "Grace Hopper"]
IDS = ["s001", "s-2/x", "003", "Ü4", "=5", "s006"]
PLAIN = ["s001", "s-2x", "003", "4", "5", "s006"]
ENTRANTS = tuple(
    Entrant(k, NAMES[k - 1], IDS[k - 1], SHEETS[k % 3], f"{k:03}-{PLAIN[k - 1]}") for k in range(1, len(NAMES) + 1)
)
EXAM = Papers("Midterm", "this exam", "0", {sheet: Paper((sheet,), list) for sheet in SHEETS}, ENTRANTS)
NO_CLASS = Papers("Practice", "this set", "0", {sheet: Paper((sheet,), list) for sheet in SHEETS})


def head(sheet="", name="", student=""):
    said = {"sheet": sheet, "name": name, "student": student}
    return "".join(f'{key} = "{value}"\n' for key, value in said.items() if value) + "[answers]\nQ = [[1]]\n"


def hand_in(folder, **texts):
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def found(folder, papers=EXAM):
    return in_order(files(folder), papers)


def only(folder, path, text, papers=EXAM):
    [one] = found(hand_in(folder, **{path: text}), papers)
    return one


# ------------------------------------------------------------------------------------------------ finding files


def test_files_at_any_depth_without_what_nobody_handed_in(tmp_path):
    hand_in(
        tmp_path, **{"a.toml": "", "b/c/d.toml": "", "b/.hidden": "", ".git/x": "", "__MACOSX/a.toml": "",
                     "b/Thumbs.db": "", "b/.DS_Store": "", "b/._a.toml": "", "b/~$a.docx": "", "b/.~lock.a.odt#": "",
                     f"marked/{RECORDS}/r.json": "", "marked/a/1.md": "", "s10.md": "", "s9.md": ""}
    )  # fmt: skip
    (tmp_path / "link.toml").symlink_to(tmp_path / "a.toml")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.toml")
    assert [file.path for file in files(tmp_path)] == ["a.toml", "b/.hidden", "b/c/d.toml", "s9.md", "s10.md"]


def zipped(path, **texts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return path.read_bytes()


def test_a_zip_is_read_like_the_folder(tmp_path):
    texts = {"a.toml": "1", "b/c.md": "2", "b/.hidden": "3", "__MACOSX/a.toml": "4", "d/001-s001.md": "x" * 1000}
    hand_in(tmp_path / "folder", **texts)
    zipped(tmp_path / "all.zip", **texts)
    packed, there = files(tmp_path / "all.zip"), files(tmp_path / "folder")
    assert packed == there
    assert [file.read() for file in packed] == [file.read() for file in there]
    assert {file.path: file.read().decode() for file in packed}.items() <= texts.items()


def test_a_zip_unpacks_nothing_and_nothing_large(tmp_path):
    names = ("../../escaped.toml", "/absolute.toml", "bomb.toml")
    zipped(tmp_path / "bomb.zip", **dict(zip(names, (head(), head(), b"\0" * 3_000_000), strict=True)))
    before = sorted(tmp_path.parent.iterdir())
    read = {file.path: file.complaint for file in files(tmp_path / "bomb.zip")}
    assert sorted(tmp_path.parent.iterdir()) == before
    assert set(read) == set(names)
    assert [read[name] for name in names[:2]] == ["Its path leads out of the folder."] * 2
    assert re.fullmatch(r"It has 3000000 bytes; at most \d+ are read\.", read["bomb.toml"])


def bombs(folder):
    """Zips that expand: many files, one file many times over, one that says that it is small, one with too many."""
    many = zipped(folder / "many.zip", **{f"{k}.md": b"\0" * 1_900_000 for k in range(8)})
    said = zipped(folder / "said.zip", **{"a.md": b"\0" * 1_000_000})
    return {
        "many": many,
        "overlapping": overlapping(folder / "kernel.zip", 700),
        "too many": zipped(folder / "files.zip", **{f"{k}.md": b"" for k in range(unpacking.MOST_MEMBERS + 1)}),
        "lying": said.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")),
    }


def overlapping(path, times):
    """A zip whose directory names one compressed file many times over (Fifield 2019, "A better zip bomb")."""
    data = zipped(path, **{"a.md": b"\0" * 1_900_000})
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry, closing = data[start:end], bytearray(data[end:])
    closing[8:10] = closing[10:12] = times.to_bytes(2, "little")
    closing[12:16] = (times * len(entry)).to_bytes(4, "little")
    return data[:start] + entry * times + bytes(closing)


def test_a_zip_that_expands_is_broken_by_name_and_stops_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000_000)
    made = bombs(tmp_path)
    assert max(map(len, made.values())) < 150_000
    hand_in(
        tmp_path / "in", **{"001-s001.zip": made["many"], "002-s-2x.zip": made["overlapping"],
                            "003-003.zip": made["too many"], "004-4.zip": made["lying"], "006-s006.toml": head()}
    )  # fmt: skip
    ada, alan, emmy, kurt, grace = found(tmp_path / "in")
    expands = "It is a zip that expands to more than 9 MB."
    assert [one.entrant for one in (ada, alan)] == [*ENTRANTS[:2]]
    assert ada.complaint == expands
    assert alan.complaint == expands or "It is not text" in alan.complaint  # some Pythons read one of its files alone
    assert (emmy.entrant, emmy.complaint) == (ENTRANTS[2], "It is a zip of more than 1000 files.")
    assert kurt.entrant is ENTRANTS[3]
    assert kurt.complaint.startswith("It cannot be unpacked: ")
    assert (grace.entrant, grace.complaint, grace.file.path) == (ENTRANTS[5], "", "006-s006.toml")


def test_no_more_is_unpacked_of_a_zip_than_may_be_in_it(tmp_path, monkeypatch):
    """Whatever it says of itself: what is read is counted, and of one file no more than a file may have."""
    read, plain = [], zipfile.ZipExtFile.read

    def counting(file, n=-1):
        data = plain(file, n)
        read.append(len(data))
        return data

    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000_000)
    monkeypatch.setattr(zipfile.ZipExtFile, "read", counting)
    for name, data in bombs(tmp_path).items():
        read.clear()
        if name == "lying":
            assert "cannot be unpacked" in unpacking.members_of(data)[0].complaint
        elif name == "overlapping":
            with suppress(InputError):  # some Pythons refuse all files but one, which is as good
                unpacking.members_of(data)
        else:
            with refused_saying("It is a zip"):
                unpacking.members_of(data)
        assert sum(read) <= unpacking.MOST_BYTES + 2_000_000, name


def test_a_broken_compressed_file_is_told_like_any_other(tmp_path):
    data = zipped(tmp_path / "a.zip", **{"a.md": bytes(range(256)) * 40})
    spoilt = data[:34] + b"\xff" + data[35:]  # a block of no kind that there is
    [one] = unpacking.members_of(spoilt)
    assert one.complaint.startswith("It cannot be unpacked: Error -3 while decompressing data")


def test_whoever_hands_in_thousands_of_files_stops_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_OF_ONE", 3)
    many = {f"001-s001/{k}.toml": head() for k in range(4)}
    ada, grace = found(hand_in(tmp_path, **many, **{"006-s006.toml": head()}))
    assert (ada.entrant, ada.complaint) == (ENTRANTS[0], "It holds 4 files; at most 3 are read.")
    assert (grace.entrant, grace.complaint) == (ENTRANTS[5], "")


def test_what_many_hand_in_is_not_held(tmp_path):
    """Three hundred pictures of two megabytes once were more than a class could hand in."""
    listed = files(hand_in(tmp_path, **{f"{k}.png": b"x" * 200_000 for k in range(30)}))
    assert not any(isinstance(value, bytes) for file in listed for value in (file.path, file.hash, *file.reader.args))


def test_a_zip_among_the_submissions_is_looked_into_once(tmp_path):
    innermost = zipped(tmp_path / "2.zip", **{"a.md": "x"})
    inner = zipped(tmp_path / "1.zip", **{"sheet.md": "mine", "more.zip": innermost, "../b.md": "out"})
    hand_in(tmp_path / "all", **{"Ada Lovelace_77_assignsubmission_file_/work.zip": inner, "spoilt.zip": b"PK no"})
    read = {file.path: file for file in looked_into(files(tmp_path / "all"), Crew())}
    work = "Ada Lovelace_77_assignsubmission_file_/work.zip"
    assert read.keys() == {f"{work}/sheet.md", f"{work}/more.zip", f"{work}/../b.md", "spoilt.zip"}
    assert unpacking.content_of(read[f"{work}/sheet.md"].read(), read[f"{work}/sheet.md"].zipped) == b"mine"
    assert read[f"{work}/../b.md"].complaint == "Its path leads out of the folder."
    assert read["spoilt.zip"].complaint.startswith("It cannot be unpacked:")


def test_an_encrypted_or_spoilt_member_is_that_files_trouble_alone(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abc":
            archive.writestr(f"{name}.toml", name * 4)
    data = path.read_bytes().replace(b"bbbb", b"bxbb")  # the checksum does not fit any more
    start = data.index(b"PK\x01\x02")  # the first entry of the directory: a.toml, said to be encrypted
    path.write_bytes(data[: start + 8] + b"\x01" + data[start + 9 :])
    a, b, c = files(path)
    assert a.complaint == "It is encrypted."
    with refused_saying(r"^It cannot be unpacked:"):
        b.read()
    assert (c.read(), b.complaint, c.complaint) == (b"cccc", "", "")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("nothing", None, "is not there; a folder or a zip of submissions was expected"),
        ("file.toml", b"x", "is neither a folder nor a zip file"),
        ("spoilt.zip", b"PK nonsense", "cannot be read as a zip"),
        ("", None, "holds no submissions"),
    ],
)
def test_what_is_no_folder_is_said(tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with refused_saying(says):
        files(tmp_path / name)


def test_names_that_are_no_text_or_hide_something_can_be_printed(tmp_path):
    for name in (b"001-s001\xff.toml", "\u202egnp.toml".encode(), b"new\nline.toml", "🙂.toml".encode(), b"-rf.toml"):
        try:
            Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_text(head(student="s001"), "utf-8")
        except OSError:
            pytest.skip("such names cannot be given here")
    paths = [file.path for file in files(tmp_path)]
    assert len(paths) == 5
    assert all(path.isprintable() or "\ufffd" in path for path in paths)
    assert not any(c in path for path in paths for c in "\n\u202e")
    assert all(path.encode("utf-8") for path in paths)


def test_a_name_of_five_thousand_digits_is_a_name(tmp_path):
    zipped(tmp_path / "all.zip", **{"9" * 5000 + ".toml": head(), "9" * 4999 + ".toml": head()})
    assert [len(file.path) for file in files(tmp_path / "all.zip")] == [5004, 5005]


# ------------------------------------------------------------------------------------------------ whose they are


def in_class(*people):
    listed = (Entrant(k, name, id, SHEETS[0], f"{k:03}-{id}") for k, (name, id) in enumerate(people, 1))
    return replace(EXAM, papers={SHEETS[0]: Paper((SHEETS[0],), list)}, entrants=tuple(listed))


MOODLE = "{}_1815_assignsubmission_file_"
LECTURE = in_class(
    ("Anna Maria Muster", "1912"), ("José Ñandú", "1882"), ("Ada Lovelace", "1815"), ("Maria Anna", "1"),
    ("Anna Maria", "2"), ("Li Wei", "3"), ("Li Wei", "4"),
)  # fmt: skip
"""1815, an id, is also the number that Moodle and Canvas have for everybody's work."""
FAR = in_class(*((name, f"x{k}") for k, name in enumerate(
    ["Jürgen Müller", "Łukasz Żółć", "Søren Ærø", "Ana Pérez", "Ana Peréz", "李伟"], 1
)))  # fmt: skip
CLASSES = {"exam": EXAM, "lecture": LECTURE, "far": FAR}


@pytest.mark.parametrize(("some", "path"), [(some, path) for some in CLASSES for path in WHOSE[some]])
def test_whose_a_file_is_is_told_by_its_name_and_its_folders(some, path):
    """The number of a student of the class, or 0 for nobody."""
    [one] = in_order([File.of(path, head().encode())], CLASSES[some])
    assert (one.entrant.number if one.entrant else 0) == WHOSE[some][path]
    if one.entrant:
        assert (one.complaint, one.doubt, one.notices) == ("", "", ())
        assert (one.sheet, one.stem) == (one.entrant.sheet, one.entrant.stem)


GRADESCOPE = """---
submission_5:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1815'
    :email: x@example.org
  :created_at: 2024-01-20 10:00:00.000000000 Z
  :score: 0.0
submission_6:
  :submitters:
  - :name: Muster, Anna Maria
    :email: y@example.org
  - :name: José Ñandú
    :sid: 1882
submission_7:
  :submitters:
  - :name: José Ñandú
    :sid: ''
submission_8:
  :submitters:
  - :name: Somebody
    :sid: '99'
submission_9:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1882'
"""


def test_a_list_of_gradescope_says_whose_a_file_is_and_is_none_itself(tmp_path):
    names = {f"export/submission_{k}/work.md": head() for k in (5, 6, 7, 8, 9)}
    handed = found(hand_in(tmp_path, **{"export/submission_metadata.yml": GRADESCOPE}, **names), LECTURE)
    by_folder = {one.file.path.split("/")[1][-1]: one for one in handed}
    assert len(handed) == 5
    assert (by_folder["5"].entrant.name, by_folder["7"].entrant.name) == ("Ada Lovelace", "José Ñandú")
    assert by_folder["6"].unclear == (
        "Several students handed it in: Muster, Anna Maria, José Ñandú (1882); mark it for each of them."
    )
    assert by_folder["9"].unclear.endswith("fits 'José Ñandú' ('1882'), 'Ada Lovelace' ('1815').")
    assert by_folder["8"].unclear == "It was handed in by Somebody (99): not in the class list."


NOBODY = (
    "It is not clear whose it is: neither the file's name nor its folder's has an id or a name from "
    "the class list, and what is written inside does not count."
)


@pytest.mark.parametrize(
    "text", [head(), head(student="s001"), head(name="Ada Lovelace"), head(SHEETS[1], "Ada Lovelace", "s001")]
)
def test_what_is_named_like_nobody_is_nobodys_whatever_is_written_inside(text):
    [one] = in_order([File.of("x.toml", text.encode())], EXAM)
    assert (one.entrant, one.complaint, one.unclear) == (None, "", NOBODY)


@pytest.mark.parametrize(
    ("path", "students"),
    [
        ("Grace Hopper.toml", "'Grace Hopper' ('=5'), 'Grace Hopper' ('s006')"),
        ("s001 and s006.toml", "'Ada Lovelace' ('s001'), 'Grace Hopper' ('s006')"),
        ("Ada Lovelace and Alan Turing.toml", "'Ada Lovelace' ('s001'), 'Alan Turing' ('s-2/x')"),
        ("s001 Alan Turing.toml", "'Ada Lovelace' ('s001'), 'Alan Turing' ('s-2/x')"),
        ("001-s001 Alan Turing.toml", "'Ada Lovelace' ('s001'), 'Alan Turing' ('s-2/x')"),
    ],
)
def test_a_name_that_fits_several_waits(tmp_path, path, students):
    one = only(tmp_path, path, head())
    assert (one.entrant, one.complaint) == (None, "")
    assert one.unclear == f"It is not clear whose it is: the name {path!r} fits {students}."


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("Alan Turing/001-s001.toml", ("Alan Turing", "001-s001")),
        (f"{MOODLE.format('Alan Turing')}/001-s001.toml", (MOODLE.format("Alan Turing"), "001-s001")),
    ],
)
def test_a_file_named_like_one_in_the_folder_of_another_is_nobodys(path, inside):
    """Though it is the only one, as the one late hand-in of a class."""
    [one] = in_order([File.of(path, head().encode())], EXAM)
    assert one.entrant is None
    assert one.unclear == (
        "It is not clear whose it is: {!r} is the name of 'Alan Turing' ('s-2/x'), and {!r} in it that of "
        "'Ada Lovelace' ('s001').".format(*inside)
    )


@given(
    st.sampled_from([1, 2, 3, 6]),
    st.sampled_from(["", *IDS, "s999", "S001"]),
    st.sampled_from(["", *NAMES, "Mallory"]),
    st.sampled_from(["", *SHEETS, identity("another"), "nonsense"]),
)
def test_whatever_is_written_inside_a_file_it_stays_whose_it_is(number, id, name, sheet):
    """And its marks hold at once only if nothing in it is somebody else's."""
    entrant = ENTRANTS[number - 1]
    [one] = in_order([File.of(f"{entrant.stem}.toml", head(sheet, name, id).encode())], EXAM)
    assert (one.entrant, one.complaint) == (entrant, "")
    meant = {"S001": "s001"}.get(id, id)
    assert bool(one.doubt) == ((meant in IDS and meant != entrant.id) or sheet not in ("", entrant.sheet))


def test_an_unknown_id_inside_a_file_of_somebodys_name_is_said(tmp_path):
    one = only(tmp_path, "001-s001.toml", head(student="s999"))
    assert one.entrant is ENTRANTS[0]
    assert one.notices[0] == "The id inside, 's999', is not in the class list; the file's name says whose it is."


OWN, ANOTHER = SHEETS[1], identity("another exam")
MISTYPED = OWN[:-1] + ("A" if OWN[-1] != "A" else "B")
INSTEAD = f"It is marked as {OWN}, which was handed out."
UNKNOWN = "Paper {} is not one of this exam's 3 papers{}. {}"


@pytest.mark.parametrize(
    ("typed", "sheet", "doubt"),
    [
        ("", OWN, ""),
        (OWN.lower().replace("-", "").replace("0", "o").replace("1", "l"), OWN, ""),
        (SHEETS[0], SHEETS[0], f"It answers paper {SHEETS[0]}, but {OWN} was handed out; it is marked as {SHEETS[0]}."),
        (ANOTHER, OWN, UNKNOWN.format(ANOTHER, "", INSTEAD)),
        (MISTYPED, OWN, UNKNOWN.format(MISTYPED, ", and its check character does not fit: it was mistyped", INSTEAD)),
    ],
    ids=["none", "typed carelessly", "another of this exam", "of another exam", "mistyped"],
)  # fmt: skip
def test_a_paper_that_was_not_handed_out_is_marked_and_waits_for_somebody(tmp_path, typed, sheet, doubt):
    one = only(tmp_path, "001-s001.toml", head(typed))
    assert (one.entrant, one.sheet, one.complaint, one.notices) == (ENTRANTS[0], sheet, "", ())
    assert one.doubt == doubt


def test_without_a_class_list_a_sheet_of_another_exam_is_refused(tmp_path):
    other = identity("another exam")
    one = only(tmp_path, "a.toml", head(sheet=other), NO_CLASS)
    assert one.complaint == f"Sheet {other} is not one of this set's 3 sheets."


def test_what_a_file_says_about_itself_is_printed_harmlessly(tmp_path):
    one = only(
        tmp_path, "001-s001.toml", 'sheet = "\\u001b[31m' + "x" * 10_000 + '"\nname = "a\\nb\\u202ec"\nS = [[1]]\n'
    )
    assert len(one.doubt) < 200
    assert one.doubt.isprintable()
    assert one.name == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(
    "content", [b"", b"  \n", b"\x89PNG\r\n\x1a\n\x00\xff", b"%PDF-1.7\n\xff\xfe", b"\xff\xd8\xff"]
)
def test_what_cannot_be_read_is_still_its_owners(tmp_path, content):
    one = only(tmp_path, "001-s001.png", content)
    assert one.entrant is ENTRANTS[0]
    assert one.complaint.endswith(".")


def test_of_several_files_the_last_by_name_is_marked_pictures_last_of_all(tmp_path):
    hand_in(
        tmp_path, **{"001-s001.toml": head(), "001-s001-v2.toml": head(), "001-s001-v10.toml": head(),
                     "001-s001-v99.png": b"\x89PNG\xff", "late/s001.toml": head(), "006-s006.toml": head()}
    )  # fmt: skip
    first, second = found(tmp_path)
    assert first.file.path in ("late/s001.toml", "001-s001-v10.toml")
    assert first.file.path == "late/s001.toml"  # s001 comes after 001
    assert "5 files were handed in; the last by name is marked, not 001-s001-v99.png" in first.notices[-1]
    assert second.entrant is ENTRANTS[5]
    assert not any("files were handed in" in notice for notice in second.notices)


def test_without_a_class_list_every_file_is_a_row_and_the_same_id_twice_is_said(tmp_path):
    hand_in(
        tmp_path, **{"a.toml": head(SHEETS[0], student="7"), "b/a.toml": head(SHEETS[1], student="7"), "c.toml": head()}
    )
    first, second, third = found(tmp_path, NO_CLASS)
    assert (first.notices, second.notices) == (("The id '7' is also in b/a.toml.",), ("The id '7' is also in a.toml.",))
    assert third.complaint == (
        "No sheet is named, and this set has 3; it can be named in the file, in TOML as "
        f'sheet = "{SHEETS[0]}", or by the name of the file.'
    )
    assert len({one.stem for one in (first, second, third)}) == 3


@pytest.mark.parametrize("name", [SHEETS[1], SHEETS[1].replace("-", ""), SHEETS[1].lower()])
def test_a_file_called_by_its_sheet_is_marked_as_that(tmp_path, name):
    one = only(tmp_path, f"{name}.toml", head(), NO_CLASS)
    assert (one.sheet, one.complaint) == (SHEETS[1], "")
    inside = only(tmp_path / "named", f"{name}.toml", head(SHEETS[2]), NO_CLASS)
    assert inside.sheet == SHEETS[2]  # what stands on the paper says which it is


def test_a_file_called_by_a_paper_is_its_owners_if_nobody_else_has_that_paper(tmp_path):
    alone = replace(EXAM, entrants=ENTRANTS[:4])  # papers 1, 2, 0, 1
    owned, shared = found(hand_in(tmp_path, **{f"{SHEETS[2]}.toml": head(), f"{SHEETS[1]}.toml": head()}), alone)
    assert (owned.entrant, owned.sheet, owned.complaint) == (ENTRANTS[1], SHEETS[2], "")
    assert shared.unclear.startswith("It is not clear whose it is")


def test_names_of_what_is_written_are_plain_and_different(tmp_path):
    names = [
        "a b.toml", "ab.toml", "x/AB.toml", "ab-2.toml", "🙂.toml", "é.toml", "-rf.toml", "a" * 200 + ".toml",
    ]  # fmt: skip
    hand_in(tmp_path, **{name: head(SHEETS[0]) for name in names})
    stems = [one.stem for one in found(tmp_path, NO_CLASS)]
    assert len({stem.casefold() for stem in stems}) == len(names)
    assert all(re.fullmatch(r"file-[A-Za-z0-9_-]{1,50}", stem) for stem in stems)


def test_a_file_without_any_name_is_a_file(tmp_path):
    """In the class's zip, and in a student's."""

    def nameless(path, **more):
        with zipfile.ZipFile(path, "w") as archive:
            with archive.open(zipfile.ZipInfo(""), "w") as file:
                file.write(head().encode())
            for name, data in more.items():
                archive.writestr(name, data)
        return path.read_bytes()

    nameless(tmp_path / "all.zip", **{"001-s001.zip": nameless(tmp_path / "inner.zip")})
    ada, nobody = in_order(files(tmp_path / "all.zip"), EXAM)
    assert (ada.entrant, ada.complaint, ada.file.path) == (ENTRANTS[0], "", "001-s001.zip/")
    assert (nobody.unclear, nobody.file.path) == (NOBODY, "\ufffd")
