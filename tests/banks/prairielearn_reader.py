"""Reads PrairieLearn questions as its documentation has them, and grades what is typed as it does.

Source: docs.prairielearn.com, pages question, question/server and those of the elements: only attributes that they list
are taken, and an element grades as they say.
"""

import json
import sys
import types
from fractions import Fraction
from html.parser import HTMLParser
from uuid import UUID
from zipfile import ZipFile

SHARED = {"answers-name", "weight", "allow-blank", "aria-label", "size", "placeholder"}
TYPED = {"blank-value", "correct-answer", "display", "label", "suffix", "show-help-text"}
KNOWN = {
    "pl-number-input": SHARED | TYPED | {"comparison", "rtol", "atol", "allow-fractions", "show-placeholder"},
    "pl-string-input": (SHARED | TYPED | {"ignore-case", "remove-leading-trailing", "remove-spaces"}) - {"blank-value"},
    "pl-multiple-choice": SHARED | {"order", "display", "hide-letter-keys"},
    "pl-checkbox": (SHARED | {"order", "partial-credit", "hide-letter-keys"}) - {"aria-label", "size", "placeholder"},
    "pl-answer": {"correct", "feedback"},
    "pl-question-panel": set(),
    "pl-answer-panel": set(),
}


class Question(HTMLParser):
    def __init__(self, name, info, source, program):
        super().__init__()
        assert info.keys() == {"uuid", "title", "topic", "tags", "type", "singleVariant"}
        assert info["type"] == "v3"
        UUID(info["uuid"])
        assert "{{" not in source  # Mustache's
        self.name, self.info, self.source = name, info, source
        self.elements, self.text, self.open = {}, [], []
        self.feed(source)
        assert not self.open
        self.program = run(program)

    def handle_starttag(self, tag, attrs):
        if tag.startswith("pl-"):
            attributes = dict(attrs)
            assert attributes.keys() <= KNOWN[tag], (tag, attributes)
            self.open.append(tag)
            if tag == "pl-answer":
                assert attributes["correct"] in ("true", "false")
                self.last["answers"].append(attributes["correct"] == "true")
            elif tag not in ("pl-question-panel", "pl-answer-panel"):
                assert attributes["answers-name"] not in self.elements
                int(attributes["weight"])
                self.last = self.elements[attributes["answers-name"]] = {"kind": tag, "answers": [], **attributes}

    def handle_endtag(self, tag):
        if tag.startswith("pl-"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def right(self):
        """What is declared to be right, by the names of the elements."""
        return {
            name: one["correct-answer"] if "correct-answer" in one else {k for k, x in enumerate(one["answers"]) if x}
            for name, one in self.elements.items()
        }

    def score(self, said):
        """The share of the points that responses have, by the names of the elements; and what is told of each."""
        submitted, partial = {}, {}
        for name, one in self.elements.items():
            submitted[name], score = graded(one, said.get(name, ""))
            partial[name] = {"score": score, "weight": int(one["weight"])}
        data = {"submitted_answers": submitted, "partial_scores": partial}
        self.program["grade"](data)
        return data["score"], {name: one["feedback"] for name, one in partial.items() if one.get("feedback")}


def graded(one, said):
    """An element's own reading of a response, and its score."""
    match one["kind"]:
        case "pl-number-input":
            try:
                value = float(Fraction(said.replace(" ", ""))) if said.strip() else ""
            except ValueError:
                value = ""
            assert (one["comparison"], one["rtol"]) == ("relabs", "0")
            near = value != "" and abs(value - float(one["correct-answer"])) <= float(one["atol"]) + 1e-12
            return value, int(near)
        case "pl-string-input":
            return said.strip(), int(said.strip().lower() == one["correct-answer"].lower())
        case "pl-multiple-choice":
            assert sum(one["answers"]) == 1
            return said, int(bool(said) and all(one["answers"][k] for k in said))
        case "pl-checkbox":
            assert one["partial-credit"] == "net-correct"
            net = sum(1 if one["answers"][k] else -1 for k in said or ())
            return said, max(0, net / sum(one["answers"]))


def run(program):
    """The names of a server.py, run with what it uses of PrairieLearn's library."""

    def set_weighted_score_data(data):
        scores = data["partial_scores"].values()
        data["score"] = sum(one["score"] * one["weight"] for one in scores) / sum(one["weight"] for one in scores)

    library = types.ModuleType("prairielearn")
    library.set_weighted_score_data = set_weighted_score_data
    names = {}
    before = sys.modules.get("prairielearn")
    sys.modules["prairielearn"] = library
    try:
        exec(compile(program, "server.py", "exec"), names)
    finally:
        if before is None:
            del sys.modules["prairielearn"]
    return names


def read(path):
    """The questions of a bank, and its assessment."""
    with ZipFile(path) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assessment = json.loads(files.pop("assessment/infoAssessment.json"))
    assert assessment.keys() == {"uuid", "type", "title", "set", "number", "comment", "zones"}
    folders = list(dict.fromkeys(name.rpartition("/")[0] for name in files))
    assert len(files) == 3 * len(folders)
    drawn = [one["id"] for zone in assessment["zones"] for q in zone["questions"] for one in q["alternatives"]]
    assert [f"questions/{name}" for name in drawn] == folders
    return [
        Question(
            name, json.loads(files[f"{name}/info.json"]), files[f"{name}/question.html"], files[f"{name}/server.py"]
        )
        for name in folders
    ], assessment
