"""The page for teachers gives away what the command line writes, refuses in its words, and works out what follows."""

import io
import json
import re
import zipfile
from base64 import b64decode
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.cli import main
from symattn.page.writers import FORMATS
from symattn.practice.choices import choices
from symattn.practice.teacher import answer
from symattn.practice.words import TEACHER
from symattn.teaching.problems import problem_types

PAGE_FILES = resources.files("symattn.practice") / "page"
STARTER = {"mechanism": "attention", "level": "starter", "seed": 7}


def ask(verb, **values):
    return json.loads(answer(json.dumps({"verb": verb, **values})))


def unpacked(said):
    with zipfile.ZipFile(io.BytesIO(b64decode(said["data"]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("choice", "more"),
    [
        (STARTER, {"forms": ["latex", "markdown", "html", "notebook"], "count": 2}),
        ({"problem": "masks", "seed": 3, "solutions": ["blank", "answers"]}, {"forms": ["typst", "text"]}),
        (
            {"mechanism": "causal_self_attention", "settings": {"mask": "window:2", "rounding": "2:truncate"},
             "sizes": {"n": 4}, "exact": False, "places": 3, "seed": 5, "look": {"language": "de", "paper": "letter"},
             "layout": "falk", "printed": True},
            {"forms": ["markdown", "moodle", "qti3"], "count": 2, "together": True, "overview": True},
        ),
    ],
)  # fmt: skip
def test_downloads_are_what_the_shown_command_writes(choice, more, tmp_path):
    words = ask("command", choice=choice, **more)["command"]
    run = CliRunner().invoke(main, f"{words.removeprefix('symattn ')} --quiet --out {tmp_path}")
    assert run.exit_code == 0, run.output
    files = unpacked(ask("files", choice=choice, **more))
    assert files == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_single_file_is_that_of_the_set_and_latex_stands_alone():
    files = unpacked(ask("files", choice=STARTER, forms=list(FORMATS)))
    for form in FORMATS:
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


@pytest.mark.parametrize("problem", problem_types())
def test_an_address_opens_as_the_form_that_made_it(problem):
    drawn = ask("draw", choice={"problem": problem, "seed": 4, "settings": {}})
    form = ask("opened", recipe=drawn["recipe"], seed=4)
    assert form["problem"] == problem
    offered = next(one for one in choices()["problems"] if one["name"] == problem)
    mechanism = form["mechanism"] if offered["mechanism"] else ""
    assert ask("draw", choice={**form, "mechanism": mechanism})["name"] == drawn["name"]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"mechanism": "attention", "settings": {"mask": "window:9"}}, "does not fit 3 queries and 3 keys"),
        ({"problem": "masks", "mechanism": "encoder"}, "the same for every mechanism"),
        ({"problem": "drills", "options": {"items": 99}}, "a whole number from 1 to 12 was expected"),
        ({"mechanism": "atention"}, "did you mean attention?"),
        ({"layuot": "falk"}, "did you mean layout?"),
        ({"settings": {"rounding": "two"}}, "places such as 2"),
        ({"problem": "choice", "solutions": ["diagnosis"]}, "leave out diagnosis"),
    ],
)
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
    for softmax in offered["softmax"]:
        assert "error" not in ask("draw", choice={"mechanism": "attention", "softmax": softmax})


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
    e = np.exp(q @ k.T)
    a = e / e.sum(axis=1, keepdims=True)
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


@pytest.mark.parametrize(
    ("givens", "words"),
    [
        ({"Q": [["x", "1"], ["1", "1"], ["1", "1"]]}, "Q (1, 1) is 'x'; a number was expected"),
        ({"Q": [["1", ""], ["1", "1"], ["1", "1"]]}, "Q (1, 2) is ''"),
        ({"Q": [["1", "1/0"], ["1", "1"], ["1", "1"]]}, "Q"),
        ({"Q": [["1"]]}, "Q is 3 × 2."),
        ({"W": [["1"]]}, "There is no given 'W'."),
    ],
)
def test_what_cannot_be_a_given_is_said(givens, words):
    assert words in ask("what_if", choice=STARTER, givens=givens)["error"]


def test_the_page_says_every_word_of_its_own():
    scripts = [one.read_text("utf-8") for one in PAGE_FILES.iterdir() if one.name.startswith("teacher")]
    used = {name for text in scripts for name in re.findall(r'(?:\bsay\("|data-say=")(\w+)"', text)}
    made = {f"softmax_{one.replace(' ', '_')}" for one in choices()["softmax"]}
    made |= {
        f"{kind[:-1] if kind == 'layouts' else kind}_{one}"
        for kind in ("layouts", "conventions")
        for one in choices()[kind]
    }
    made |= {f"mask_{one}" for one in ("none", "causal", "past", "padding", "window", "prefix", "other")}
    made |= {f"size_{letter}" for one in choices()["mechanisms"] for letter in one["sizes"]["standard"]}
    made |= {f"size_{name}" for one in choices()["problems"] if isinstance(one["sizes"], list) for name in one["sizes"]}
    made |= {*choices()["levels"], *choices()["solutions"], *choices()["look"]}
    assert used | made == set(TEACHER)
