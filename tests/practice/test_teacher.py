"""The page for teachers gives away what the command line writes, refuses in its words, and works out what follows."""

import io
import json
import re
import shlex
import tomllib
from base64 import b64decode, b64encode
from collections import Counter
from fractions import Fraction
from html import escape
from importlib import resources
from pathlib import Path

import browse
import midterm
import numpy as np
import pytest
from browser import firefox, missing, missing_of_node
from commands import contents, run
from fontTools.ttLib import TTFont
from hypothesis import given, settings
from hypothesis import strategies as st
from midterm import asked as ask
from oracles import softmax
from pypdf import PdfReader
from sentences import refused_saying
from tables import tables_beside
from typst import Fonts

from symattn.marking.grading.record import STATUSES
from symattn.page.writers import FORMATS
from symattn.practice import engine
from symattn.practice.choices import choices, examples
from symattn.practice.site import read_course, write_site
from symattn.practice.teacher import Choice
from symattn.practice.words import PAGE, TEACHER
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.problems import drawn_types

PAGE_FILES = resources.files("symattn.practice") / "page"
TABLES = tables_beside(__file__)
STARTER = {"mechanism": "attention", "level": "starter", "seed": 7}


def unpacked(said):
    return midterm.unpacked(b64decode(said["data"]))


@pytest.mark.parametrize(("choice", "more"), TABLES["downloads"])
def test_downloads_are_what_the_shown_command_writes(choice, more, tmp_path):
    words = ask("command", choice=choice, **more)["command"]
    done = run(*shlex.split(words)[1:], "--quiet", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    files = unpacked(ask("files", choice=choice, **more))
    assert files == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "forms"), browse.FILES, ids=str)
def test_sets_of_every_kind_are_what_the_shown_command_writes(choice, forms, tmp_path):
    test_downloads_are_what_the_shown_command_writes(choice, {"forms": forms, "count": 2}, tmp_path)


def test_a_rounding_is_said_as_the_command_line_has_it():
    words = ask("command", choice={**STARTER, "settings": {"rounding": "2:truncate"}}, forms=["text"])["command"]
    assert "--round 2:truncate" in words


def test_a_sheet_is_shown_with_everything_that_is_wanted_of_it():
    wanted = ["blank", "key", "answers"]
    said = ask("draw", choice={**STARTER, "solutions": wanted, "look": {"language": "fr"}})
    assert [paper["solutions"] for paper in said["papers"]] == wanted
    assert all(escape(said["title"]) in paper["html"] for paper in said["papers"])


def test_parts_are_told_as_they_are_called_whole_and_as_they_are_printed():
    choice = {"problem": "drills", "seed": 7, "ask": ["b", "d"], "marks": {"a": 5}}
    said = ask("draw", choice=choice)
    parts = [(part["name"], part["printed"], part["marks"]) for part in said["parts"]]
    whole = ask("draw", choice={**choice, "ask": [], "marks": {}})
    marks = {part["name"]: part["marks"] for part in whole["parts"]}
    assert parts == [("a", "", 0), ("b", "a", 5), ("c", "", 0), ("d", "b", marks["d"]), ("e", "", 0), ("f", "", 0)]
    assert said["marks"] == 5 + marks["d"]
    assert said["papers"][0]["html"].count("data-part=") == 2
    opened = ask("opened", recipe=said["recipe"], seed=7)
    assert (opened["ask"], opened["marks"]) == (["b", "d"], {"a": 5})


def test_a_line_through_all_tokens_has_its_marks_once():
    said = ask("draw", choice={"mechanism": "self_attention", "settings": {"by": "token"}, "seed": 7})
    lines = [(part["name"], part["together"]) for part in said["parts"] if part["marks"]]
    assert ("S.1", True) in lines
    assert not {name for name, _ in lines} & {"S.2", "S.3"}
    assert sum(part["marks"] for part in said["parts"]) == said["marks"]


def test_what_makes_no_difference_has_the_same_content():
    def of_levels(mechanism):
        return [
            ask("content", choice={"mechanism": mechanism, "level": level, "seed": 7}) for level in choices()["levels"]
        ]

    assert len({one["content"] for one in of_levels("attention")}) == 3
    assert len({one["content"] for one in of_levels("cross_attention")}) == 1
    refused = ask("content", choice={"mechanism": "cross_entropy_gradient", "softmax": "base 2"})
    assert "base e alone" in refused["error"]


@pytest.fixture(scope="module")
def shown():
    """Examples by language."""
    return examples(["en", "de"])


def test_there_is_an_example_of_everything_that_is_chosen_by_one(shown):
    offered = choices()
    for language, of in shown.items():
        for field, listed in (("problem", "problems"), ("mechanism", "mechanisms"), ("notation", "notations")):
            assert set(of[field]) == {one["name"] for one in offered[listed]}, (language, field)
        assert set(of["layout"]) == set(offered["layouts"])
        assert len(set(of["layout"].values())) == len(of["layout"])
        assert all(
            re.sub("<[^>]+>", "", html).strip() for field in of if field != "mask" for html in of[field].values()
        )
    assert "d_k" not in shown["en"]["mechanism"]["weighted_values"]
    assert "msqrt" in shown["en"]["mechanism"]["attention"]  # scores are scaled
    assert shown["de"]["problem"]["masks"] != shown["en"]["problem"]["masks"]


MASKED = {
    "causal": [1, 2, 3, 4],
    "past": [0, 1, 2, 3],
    "padding:": [3] * 4,
    "window:": [1, 2, 2, 2],
    "prefix:": [2, 2, 3, 4],
}


def test_pictures_of_masks_show_what_each_query_sees(shown):
    pictures = shown["en"]["mask"]
    assert set(pictures) == {"none", *MASKED}
    for name, seen in MASKED.items():
        rows = Counter(re.findall(r'y="(\d)" width="1" height="1" class="seen"', pictures[name]))
        assert [rows[str(row)] for row in range(4)] == seen, name


def test_a_single_file_is_that_of_the_set_and_latex_stands_alone():
    forms = [form for form in FORMATS if form != "latex-body"]  # whose files are called as those of latex
    files = unpacked(ask("files", choice=STARTER, forms=forms))
    for form in forms:
        for solutions, name in (("blank", "attention-7"), ("key", "attention-7-key")):
            said = ask("paper", choice=STARTER, solutions=solutions, form=form)
            stem, _, end = said["name"].partition(".")
            assert stem == name
            text = b64decode(said["data"])
            of_set = files[f"{name.replace('-7', '-7-01')}.{end}"]
            if end == "tex":
                assert rb"\usepackage{symattn}" not in text
                assert text.endswith(of_set[of_set.index(rb"\begin{document}") :])
            else:
                assert text == of_set


@pytest.mark.parametrize("problem", drawn_types())
def test_an_address_opens_as_the_form_that_made_it(problem):
    drawn = ask("draw", choice={"problem": problem, "seed": 4, "settings": {}})
    form = ask("opened", recipe=drawn["recipe"], seed=4)
    assert form["problem"] == problem
    offered = next(one for one in choices()["problems"] if one["name"] == problem)
    mechanism = form["mechanism"] if offered["mechanism"] else ""
    assert ask("draw", choice={**form, "mechanism": mechanism})["name"] == drawn["name"]


@pytest.mark.parametrize(("choice", "words"), TABLES["refused"])
def test_what_does_not_go_together_is_said(choice, words):
    assert words in ask("draw", choice=choice)["error"]


@pytest.mark.slow
def test_whatever_the_form_offers_is_taken():
    offered = choices()
    for problem in offered["problems"]:
        for option in problem["options"]:
            for value in option["values"] if option["kind"] == "text" else ():
                said = ask("draw", choice={"problem": problem["name"], "options": {option["name"]: value}, "seed": 2})
                assert "error" not in said, (problem["name"], option["name"], value, said)
    for name, values in offered["look"].items():
        assert "error" not in ask("draw", choice={**STARTER, "look": {name: values[-1]}})
    for how in offered["softmax"]:
        assert "error" not in ask("draw", choice={"mechanism": "attention", "softmax": how})


def numbers(matrix):
    """The decimals in the cells of a matrix as the page shows it."""
    return [[float(re.sub("<[^>]+>", "", cell).replace("−", "-")) for cell in row] for row in matrix]


entries = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 2, 4, 5]))
matrices = st.lists(st.lists(entries, min_size=2, max_size=2), min_size=3, max_size=3)


@settings(max_examples=15, deadline=None)
@given(q=matrices, k=matrices, v=matrices)
def test_what_follows_is_what_numpy_says(q, k, v):
    typed = {name: [[str(x) for x in row] for row in m] for name, m in zip("QKV", (q, k, v), strict=True)}
    said = ask("what_if", choice=STARTER, givens=typed, places=8)
    q, k, v = (np.array([[float(x) for x in row] for row in m]) for m in (q, k, v))
    a = softmax(q @ k.T)
    shown = {step["name"]: numbers(step["rows"]) for step in said["steps"]}
    for name, expected in {"S": q @ k.T, "A": a, "Z": a @ v}.items():
        np.testing.assert_allclose(shown[name], expected, atol=2e-8)


def test_an_entry_says_its_dot_product_and_what_it_is_made_of():
    givens = {"Q": [["1/2", "3"], ["0", "1"], ["1", "1"]], "K": [["4", "1/3"], ["2", "5"], ["0", "1"]]}
    ask("what_if", choice=STARTER, givens=givens)
    said = ask("entry", step="S", row=1, column=2)
    assert said["uses"] == [["Q", 1, 1], ["K", 2, 1], ["Q", 1, 2], ["K", 2, 2]]
    assert len(said["html"]) == 3
    assert re.sub("<[^>]+>", "", said["html"][-1]) == "=16"  # 1/2 · 2 + 3 · 5


@pytest.mark.parametrize(("givens", "words"), TABLES["no_givens"])
def test_what_cannot_be_a_given_is_said(givens, words):
    assert words in ask("what_if", choice=STARTER, givens=givens)["error"]


def test_the_page_says_every_word_of_its_own():
    scripts = [one.read_text("utf-8") for one in PAGE_FILES.iterdir() if one.name.startswith("teacher")]
    used = {name for text in scripts for name in re.findall(r'(?:\b(?:say|button)\("|data-say=")(\w+)"', text)}
    made = {f"softmax_{one.replace(' ', '_')}" for one in choices()["softmax"]}
    made |= {
        f"{kind[:-1] if kind == 'layouts' else kind}_{one}"
        for kind in ("layouts", "conventions")
        for one in choices()[kind]
    }
    made |= {f"mask_{one}" for one in ("none", "causal", "past", "padding", "window", "prefix", "other")}
    made |= {f"size_{letter}" for one in choices()["mechanisms"] for letter in one["sizes"]["standard"]}
    made |= {f"size_{name}" for one in choices()["problems"] if isinstance(one["sizes"], list) for name in one["sizes"]}
    made |= {
        f"option_{option['name']}"
        for problem in choices()["problems"]
        for option in problem["options"]
        if option["values"] and option["kind"] == "text"
    }
    made |= {f"status_{status}" for status in STATUSES}
    made |= {*choices()["levels"], *choices()["solutions"], *choices()["look"]}
    assert used | made == set(TEACHER)


EXAM = TABLES["exam"]
CLASS = b"name,id\nAda Lovelace,1815\nAlan Turing,1912\nEmmy Noether,1882\n"
HOSTILE = {
    "b/bomb.zip": b"PK\x03\x04" + b"\0" * 30,
    "../../1912.docx": b"no such document",
    "1882.md": b"---\nsheet: [",
}


def in_base64(data):
    return b64encode(data).decode()


def test_an_exam_file_is_read_back_as_it_was_written():
    text = ask("exam_file", exam=EXAM)["text"]
    assert ask("exam_opened", text=text)["exam"] == EXAM == tomllib.loads(text)
    assert ask("exam_opened", text=f'class = "c.csv"\n{text}') == {"exam": EXAM, "class": "c.csv"}
    assert ask("exam_file", exam=EXAM, language="de")["titles"][1] == "Multiple Choice"
    assert "did you mean title?" in ask("exam_opened", text='tilte = "x"\n[[question]]')["error"]
    assert "is not valid TOML" in ask("exam_opened", text="title =")["error"]


def test_a_choice_becomes_the_question_that_asks_the_same():
    choice = {"mechanism": "causal_self_attention", "sizes": {"n": 2}, "settings": {"mask": "window:1"}, "exact": False}
    question = ask("question", choice={**choice, "ask": ["S", "A"], "marks": {"A": 3}})["question"]
    data = {"question": [question]}
    made = exam_spec(data, Path("exam.toml"), ())
    assert made.questions[0].spec == Choice(**choice).recipe.spec
    shown = ask("question_shown", question=question, seed=3)
    assert (
        Choice(**{**shown, "ask": tuple(shown["ask"])}).recipe
        == Choice(**choice, seed=3, ask=("S", "A"), marks={"A": 3}).recipe
    )
    own = {"type": "text", "text": "Why?", "scheme": ["Because."]}
    assert "numbers or words of its own" in ask("question_shown", question=own, seed=3)["error"]
    assert (
        "no setting"
        in ask("exam_opened", text=ask("exam_file", exam={"question": [{**question, "tile": 3}]})["text"])["error"]
    )


def test_an_exam_is_foreseen_and_everything_wrong_with_it_is_said():
    students = {"class.csv": in_base64(CLASS)}
    said = ask("exam_foreseen", exam=EXAM, students=students)
    assert (said["marks"], said["papers"], said["students"], said["notes"]) == (10, 2, 3, [])
    assert 5 < said["minutes"] < 60
    wrong = {**EXAM, "question": [*EXAM["question"], {"type": "ful"}, {"points": 0}]}
    faults = ask("exam_foreseen", exam=wrong, students={"class.csv": in_base64(b"name\nAda\n")})["faults"]
    assert [word for word in ("id", "full", "points") if any(word in fault for fault in faults)] == [
        "id",
        "full",
        "points",
    ]
    [fault] = ask("exam_foreseen", exam={"question": [{"marks": {"S": 9}, "points": 5}]}, students={})["faults"]
    assert "the marks that are stated come to 9" in fault


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    """An exam as the page gives it away, unpacked."""
    folder = tmp_path_factory.mktemp("exam")
    students = {"class.csv": in_base64(CLASS)}
    made = ask("exam", exam=EXAM, students=students, secret="5ecret" * 8, forms=["markdown", "html"])
    for name, data in unpacked(made).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_an_exam_is_what_the_shell_makes_of_its_file_class_and_secret(exam, tmp_path):
    words = ("worksheet", exam / "exam.toml", "--secret", exam / "secret.txt", "--out", tmp_path)
    done = run(*words, "--format", "markdown,html", "--quiet")
    assert done.exit_code == 0, done.output
    assert contents(tmp_path / "exam") == contents(exam / "exam")


def marks_of(handed, asked):
    """A class marked as the page has it done: the jobs that are wanted, until everything is known."""
    known = {}
    for _ in range(4):
        said = ask("marks", handed=handed, known=known, **asked)
        for name, (make, how, job) in said.get("wanted", {}).items():
            known[name] = ask("job", exam=asked["exam"], make=make, settings=how, job=job)["answer"]
    return said


def marked_in_the_shell(exam, handed, folder, form):
    """What the command line makes of an exam's files and of what was handed in, by paths."""
    for name, data in {**exam, **{f"handed/{name.replace('../', '')}": data for name, data in handed.items()}}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    words = ("grade", folder / "exam", folder / "handed", "--out", folder / "marked")
    done = run(*words, "--format", form, "--quiet", "--jobs", 1)
    assert done.exit_code == 0, done.output
    return contents(folder / "marked")


def test_marks_are_those_of_the_shell_whatever_was_handed_in(exam, tmp_path):
    papers = sorted((exam / "exam" / "papers").glob("*.md"))
    handed = {f"one/{path.name}": path.read_bytes().replace(b"| |", b"| 1 |") for path in papers} | HOSTILE
    asked = {"exam": in_base64((exam / "exam" / "exam.json").read_bytes()), "forms": ["markdown"]}
    handed_in = {name: in_base64(data) for name, data in handed.items()}
    said = marks_of(handed_in, asked)
    shell, page = marked_in_the_shell(contents(exam), handed, tmp_path, "markdown"), unpacked(said)
    assert {name for name in page if not name.startswith(".")} == {name for name in shell if not name.startswith(".")}
    for name in ("marks.json", "gradebook.csv", "summary.md"):
        assert page[name] == shell[name], name
    assert {row["status"] for row in said["rows"]} == {"marked", "broken"}


def test_what_took_too_long_is_a_broken_row(exam):
    paper = next((exam / "exam" / "papers").glob("*.md"))
    asked = {"exam": in_base64((exam / "exam" / "exam.json").read_bytes()), "forms": ["markdown"]}
    handed = {"1815.md": in_base64(paper.read_bytes())}
    wanted = ask("marks", handed=handed, known={}, **asked)["wanted"]
    lost = dict.fromkeys(wanted, json.dumps({"lost": "took more than 60 seconds and was stopped"}))
    rows = ask("marks", handed=handed, known=lost, **asked)["rows"]
    assert [row["status"] for row in rows if row["file"]] == ["broken"]


def words_of(pdf):
    """The words on each page; formulas are read in as many ways as there are versions of Typst."""
    return [re.findall(r"[A-Za-z]{3,}", page.extract_text()) for page in PdfReader(io.BytesIO(pdf)).pages]


def test_the_fonts_of_pdf_are_those_that_typst_prints_with():
    known = Counter(font.family.replace(" ", "") for font in Fonts(include_system_fonts=False).fonts())
    fonts = [TTFont(io.BytesIO(font)) for font in engine.embedded_fonts().values()]
    read = Counter((font["name"].getDebugName(16) or font["name"].getDebugName(1)).replace(" ", "") for font in fonts)
    assert sum(read.values()) == sum(known.values())
    assert all({"cmap", "head", "hmtx"} <= set(font.keys()) for font in fonts)


def test_typst_of_another_version_or_none_is_refused(tmp_path):
    with refused_saying("npm install @myriaddreamin/typst-ts-web-compiler@"):
        engine.typst(tmp_path)
    (tmp_path / "pkg").mkdir()
    for name in engine.TYPST_HASHES:
        (tmp_path / name).write_bytes(b"something else")
    with refused_saying("is not that of @myriaddreamin"):
        engine.typst(tmp_path)
    with refused_saying("goes with --teacher"):
        write_site(read_course(), tmp_path / "site", typst=tmp_path)


LACKING = missing(*browse.PACKAGES)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Both pages, with everything."""
    folder = tmp_path_factory.mktemp("site")
    browse.write_kept_site(read_course(), folder, teacher=True, typst=browse.typst())
    return folder


LACKING_FIREFOX = missing_of_node(*browse.PACKAGES[2:], "puppeteer-core") or (
    not firefox() and "Firefox is not installed"
)


@pytest.mark.skipif(bool(LACKING_FIREFOX), reason=str(LACKING_FIREFOX))
@pytest.mark.players
@pytest.mark.slow
def test_both_pages_are_the_same_in_firefox(site):
    [script] = browse.scripts(1)
    choice = {"recipe": "attention --level starter", "seed": 7, "without": "A"}
    said = browse.in_firefox(script, choice, site)
    assert said["elsewhere"] == said["console"] == said["wide"] == []
    here = script["session"].marked(script["sheet"], script["page"]).mark()
    assert {key: said["marked"][key] for key in here} == here
    assert said["hint"] == 1
    assert said["drawn"] == ask("draw", choice=STARTER)["name"]
    assert said["left"] == 1
    asked = {**STARTER, "ask": ["S", "Z"]}
    markdown, pdf = map(b64decode, said["files"])
    assert markdown == b64decode(ask("paper", choice=asked, solutions="blank", form="markdown")["data"])
    assert words_of(pdf) == words_of(b64decode(ask("paper", choice=asked, solutions="blank", form="pdf")["data"]))
    givens = [given["rows"] for given in ask("what_if", choice=STARTER)["givens"]]
    q, k = (list(map(Fraction, rows[0])) for rows in givens[:2])
    assert said["entry"] == "=" + str(7 * k[0] + sum(a * b for a, b in zip(q[1:], k[1:], strict=True)))
    assert said["examples"] == "Full derivation in answer boxes"


@pytest.mark.skipif(bool(LACKING), reason=LACKING)
@pytest.mark.players
@pytest.mark.slow
def test_a_teacher_in_a_browser_has_what_python_makes_and_asks_nobody_else(site, tmp_path):
    exam = midterm.made()
    frozen, handed = exam["exam/exam.json"], midterm.handed_in(exam)
    in_letters = {name: in_base64(data) for name, data in handed.items()}
    asked = {**browse.SHEET, "count": 4, "frozen": frozen.decode(), "handed": in_letters, "pdf": True}
    asked["requests"] = [{"verb": "files", "choice": choice, "forms": forms} for choice, forms in browse.FILES]
    said = browse.taught(asked, site)
    assert said["elsewhere"] == said["console"] == said["wide"] == []
    assert {name: found for name, found in said["axe"].items() if found} == {}
    assert len(said["axe"]) == 15
    assert said["examples"] == ["Scaled dot-product attention", "mechanism", "layer_norm"]
    assert said["scripts"]
    assert all(0.7 < ratio < 0.8 for ratio in said["scripts"])
    same = ["standard (the same as starter)", "long (the same as starter)"]
    assert said["offered"] == [same, ["all equal (the same as powers of e)"]]
    assert said["parts"] == [
        ["1. Scores ", "2. Output "], "recipe=attention+--scale+none+--level+starter+--ask+S%2CZ+--marks+S%3D9&seed=7",
        "S marks", ["1. Scores ", "2. Weights", "3. Output "],
        "recipe=attention+--scale+none+--level+starter&seed=7",
    ]  # fmt: skip
    files = {name: b64decode(data) for name, data in said["files"].items()}
    here = ask("draw", choice=STARTER)
    assert said["drawn"] == [here["name"], 2]
    assert files["sheet.md"] == b64decode(ask("paper", choice=STARTER, solutions="blank", form="markdown")["data"])
    chosen = {**STARTER, "ask": ["S", "Z"], "marks": {"S": 9}}
    assert files["asked.md"] == b64decode(ask("paper", choice=chosen, solutions="blank", form="markdown")["data"])
    printed = ask("paper", choice=STARTER, solutions="blank", form="pdf")
    assert words_of(files["sheet.pdf"]) == words_of(b64decode(printed["data"]))
    for request, data in zip(asked["requests"], said["sets"], strict=True):
        assert unpacked({"data": data}) == unpacked(ask(**request)), request
    assert said["refused"] == ask("draw", choice={**STARTER, "settings": {"mask": "window:9"}})["error"]
    assert said["again"] == ["", here["name"]]
    assert said["another"]
    assert files["set.zip"] == b64decode(ask("files", choice=STARTER, forms=asked["forms"], count=4)["data"])
    assert said["command"] == ask("command", choice=STARTER, forms=asked["forms"], count=4)["command"]
    assert said["link"].endswith("#recipe=attention+--scale+none+--level+starter&seed=7")
    q = [["7", *ask("what_if", choice=STARTER)["givens"][0]["rows"][0][1:]]]
    k = ask("what_if", choice=STARTER)["givens"][1]["rows"][1]
    assert said["entry"] == "=" + str(sum(Fraction(a) * Fraction(b) for a, b in zip(q[0], k, strict=True)))
    assert said["used"] == ["Q 1 1", "Q 1 2", "K 2 1", "K 2 2"]
    assert "a number was expected" in said["notANumber"]
    names = set(midterm.unpacked(files["exam.zip"]))
    assert {"exam.toml", "class.csv", "secret.txt", "exam/exam.json", "exam/overview.md"} <= names
    assert {"exam/papers.pdf", "exam/keys.pdf", "exam/overview.pdf"} <= names
    assert not said["secretShown"]
    rows, ended = said["rows"]
    assert Counter(row["status"] for row in rows) == {"marked": 8, "pending": 3, "broken": 1, "missing": 1}
    shell = marked_in_the_shell(exam, handed, tmp_path, "html")
    page = unpacked({"data": in_base64(files["marked.zip"])})
    for name in ("marks.json", "gradebook.csv", "summary.html"):
        assert page[name] == shell[name], name
    assert Counter(row["status"] for row in ended) == {"broken": 1, "missing": 11}
    assert any("took more than 0.02 seconds" in row["reason"] for row in ended)
    assert said["missing"] == TEACHER["lost_file"].replace("{file}", "making.bin")
    assert said["lost"]
    assert PAGE["failed"] in said["fromDisk"]
