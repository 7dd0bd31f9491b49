"""Reads Moodle XML and scores it by Moodle's documented rules: a witness that shares nothing with the exporter.

Parts of a Cloze question are {weight:TYPE:alternatives}; alternatives stand between ~, each with = or %share% before
the answer and # before its feedback; entities are read as what they mean, and a sign behind a backslash is itself
where it is } or #.  The first answer that fits counts.  A short answer is compared without regard to capitals and to
spaces at its ends, and an asterisk without a backslash stands for anything; a number has to be one, with a point, and
to lie within the tolerance; of several options each right one is a share, and a wrong one takes such a share away.
"""

import html
import re
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

PART = re.compile(r"\{(\d*):([A-Z_]+):((?:\\.|[^}\\])*)\}", re.DOTALL)
BETWEEN = re.compile(r"(?<!\\)~")
FEEDBACK = re.compile(r"(?<!\\)(?<!&)(?<!&amp;)#")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Alternative:
    answer: str
    share: Fraction
    feedback: str


@dataclass(frozen=True)
class Part:
    weight: int
    kind: str
    alternatives: tuple[Alternative, ...]

    def taken(self, response):
        """The alternative that a response gets; none where none fits."""
        return next((a for a in self.alternatives if self._fits(a.answer, response.strip())), None)

    def share(self, response):
        if self.kind == "MULTIRESPONSE":
            right = [a.answer for a in self.alternatives if a.share == 1]
            hits = sum(1 if answer in right else -1 for answer in response)
            return max(Fraction(0), Fraction(hits, len(right)))
        found = self.taken(response)
        return found.share if found else Fraction(0)

    def _fits(self, answer, response):
        if self.kind == "NUMERICAL":
            value, tolerance = answer.split(":")
            read = NUMBER.fullmatch(response)
            return bool(read) and abs(Fraction(response) - Fraction(value)) <= Fraction(tolerance)
        if self.kind == "SHORTANSWER":
            pieces = re.split(r"(?<!\\)\*+", answer)
            pattern = ".*".join(re.escape(piece.replace("\\*", "*")) for piece in pieces)
            return re.fullmatch(pattern, response, re.IGNORECASE) is not None
        return answer == response


@dataclass(frozen=True)
class Question:
    kind: str
    name: str
    category: str
    text: str
    parts: tuple[Part, ...]
    element: ElementTree.Element

    def points(self, responses, marks):
        """What a list of responses is worth if all of it is worth `marks`."""
        total = sum(part.weight for part in self.parts)
        pairs = zip(self.parts, responses, strict=True)
        return sum(part.weight * part.share(response) for part, response in pairs) * marks / total


def read(data):
    """The questions of a file, each with the category that it stands in, and what the categories are told about."""
    questions, told, category = [], {}, ""
    for element in ElementTree.fromstring(data):
        kind = element.get("type")
        if kind == "category":
            category = element.findtext("category/text")
            told[category] = element.findtext("info/text")
            continue
        text = element.findtext("questiontext/text")
        parts = tuple(map(part, PART.finditer(text))) if kind == "cloze" else ()
        questions.append(Question(kind, element.findtext("name/text"), category, PART.sub("□", text), parts, element))
    return questions, told


def only(path):
    """The question of a file that has one."""
    ((question,), _) = read(path.read_bytes())
    return question


def part(found):
    weight, kind, alternatives = found.groups()
    return Part(int(weight or 1), kind, tuple(map(alternative, BETWEEN.split(alternatives))))


def alternative(text):
    share = Fraction(0)
    if text.startswith("="):
        share, text = Fraction(1), text[1:]
    elif found := re.match(r"%(-?\d+(?:\.\d+)?)%", text):
        share, text = Fraction(found[1]) / 100, text[found.end() :]
    answer, *feedback = FEEDBACK.split(text, maxsplit=1)
    return Alternative(meant(answer), share, meant(feedback[0]) if feedback else "")


def meant(text):
    return html.unescape(text).replace("\\}", "}").replace("\\#", "#")
