"""PrairieLearn: a question folder for each variant, and an assessment that draws one of each pool.

Source: docs.prairielearn.com, pages question, elements (pl-number-input, pl-string-input, pl-multiple-choice,
pl-checkbox), question/server and assessment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from uuid import NAMESPACE_URL, uuid5

from symattn.foundation.files import zipped_texts
from symattn.foundation.identity import digest
from symattn.foundation.languages import message, say
from symattn.page.writers.html import escaped
from symattn.teaching.bank.forms import decimal, exact
from symattn.teaching.bank.items import Bank, BankItem, Chosen, Measured, Shaded, Spot, Typed, Wants
from symattn.teaching.bank.prompts import styled

PLACES = 5
"""Of points, at most."""

SUFFIX = ".prairielearn.zip"
WANTS = Wants(decimals=True)
LOST = message(
    "PrairieLearn marks every entry by itself: it follows common mistakes but not a student's own, and takes numbers "
    "as decimals or fractions within a tolerance; symattn practice follows everything."
)


def write(bank: Bank) -> bytes:
    return zipped_texts(_files(bank))


def _files(bank: Bank) -> Iterator[tuple[str, str]]:
    folder = "-".join(re.findall(r"[a-z0-9]+", bank.title.lower())) or "bank"
    for pool in bank.pools:
        for item in pool.items:
            question = f"questions/{folder}/{item.id}"
            yield f"{question}/info.json", _json(_info(item, pool.title))
            yield f"{question}/question.html", _question(item)
            yield f"{question}/server.py", _server(item)
    yield "assessment/infoAssessment.json", _json(_assessment(bank, folder))


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=4) + "\n"


def _info(item: BankItem, topic: str) -> dict[str, object]:
    """Its variants are questions of their own, so each has a single one for PrairieLearn."""
    return {
        "uuid": str(uuid5(NAMESPACE_URL, f"symattn:{item.id}:{digest([item.title, item.answers])}")),
        "title": f"{item.title} {item.sheet}",
        "topic": topic,
        "tags": ["symattn"],
        "type": "v3",
        "singleVariant": True,
    }


def _assessment(bank: Bank, folder: str) -> dict[str, object]:
    """An exam that draws one question of each pool; for the folder of a course instance's assessments."""
    drawn = [
        {
            "numberChoose": 1,
            "points": float(decimal(pool.items[0].points, PLACES)),
            "alternatives": [{"id": f"{folder}/{item.id}"} for item in pool.items],
        }
        for pool in bank.pools
    ]
    return {
        "uuid": str(uuid5(NAMESPACE_URL, f"symattn:{digest([bank.title, drawn])}")),
        "type": "Exam",
        "title": bank.title,
        "set": "Exam",
        "number": "1",
        "comment": say(LOST),
        "zones": [{"questions": drawn}],
    }


# ------------------------------------------------------------------------------------------------ the question


def _question(item: BankItem) -> str:
    """What is given is shown above the question alone; the parts also with what was handed in and what is right."""
    weights = item.weights
    opening, *parts = item.parts
    shown = [
        _html(piece if isinstance(piece, str) else _place(piece, weights[piece])) for part in parts for piece in part
    ]
    above = "".join(_html(piece) for piece in opening if isinstance(piece, str))
    right = f"<pl-answer-panel>\n{_html(item.answers)}</pl-answer-panel>\n"
    return f"<pl-question-panel>\n{above}</pl-question-panel>\n{''.join(shown)}{right}"


def _html(shown: str) -> str:
    """HTML in which nothing is a tag of Mustache.

    >>> _html("{{1}}")
    '{&#123;1}}'
    """
    return styled(shown).replace("{{", "{&#123;")


def _place(place: Spot, weight: int) -> str:
    about = {"answers-name": place.name, "weight": str(weight), "allow-blank": "true"}
    label = {"aria-label": place.label or place.name, "display": "inline", "show-help-text": "false"}
    match place:
        case Measured(value=value, tolerance=tolerance, size=size):
            near = {"comparison": "relabs", "rtol": "0", "atol": exact(tolerance), "correct-answer": exact(value)}
            return _element("pl-number-input", {**about, "blank-value": "", **near, **label, "placeholder": "",
                                                "size": str(size)})  # fmt: skip
        case Typed(texts=texts, size=size):
            as_typed = {"correct-answer": texts[0], "remove-leading-trailing": "true", "ignore-case": "true"}
            return _element("pl-string-input", {**about, **as_typed, **label, "size": str(size)})
        case Chosen(options=options, several=several):
            answers = "".join(_answer(option.shown, option.right, option.told) for option in options)
            kind = {"partial-credit": "net-correct"} if several else {}
            return _element(
                "pl-checkbox" if several else "pl-multiple-choice", {**about, **kind, "order": "fixed"}, answers
            )
        case Shaded(right=right):
            signs = _answer("■", right) + _answer("□", not right)
            shown = {
                "display": "dropdown",
                "order": "fixed",
                "placeholder": " ",
                "aria-label": place.label or place.name,
            }
            return _element("pl-multiple-choice", {**about, **shown}, signs)


def _element(name: str, attributes: Mapping[str, str], inside: str = "") -> str:
    written = "".join(f' {key}="{escaped(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{inside}</{name}>"


def _answer(shown: str, right: bool, told: str = "") -> str:
    feedback = f' feedback="{escaped(told)}"' if told else ""
    return f'<pl-answer correct="{str(right).lower()}"{feedback}>{shown}</pl-answer>'


# ------------------------------------------------------------------------------------------------ what else is right


_SERVER = '''"""Other forms of right answers, and wrong answers that are known; written by symattn."""

import json

import prairielearn as pl

# by the names of boxes: texts that are right; and known wrong answers: what is typed (a number with its tolerance, or
# texts), what is told, and whether it has its points since it follows from an earlier mistake
RIGHT = json.loads(r"""{right}""")
KNOWN = json.loads(r"""{known}""")


def grade(data):
    for name, texts in RIGHT.items():
        if _text(data, name) in texts:
            data["partial_scores"][name]["score"] = 1
    for name, answers in KNOWN.items():
        partial = data["partial_scores"].get(name, {{}})
        if partial.get("score") == 0:
            told = next(((told, follows) for answer, told, follows in answers if _is(data, name, answer)), None)
            if told:
                partial["feedback"], partial["score"] = told
    pl.set_weighted_score_data(data)


def _text(data, name):
    return " ".join(str(data["submitted_answers"].get(name) or "").split()).casefold()


def _is(data, name, answer):
    if isinstance(answer[0], str):
        return _text(data, name) in answer
    number = data["submitted_answers"].get(name)
    if isinstance(number, dict):
        number = pl.from_json(number)
    value, tolerance = answer
    return isinstance(number, (int, float)) and abs(number - value) <= tolerance
'''


def _server(item: BankItem) -> str:
    right = {place.name: _folded(place.texts) for place in item.places if isinstance(place, Typed)}
    known: dict[str, list[list[object]]] = {}
    for place in item.places:
        match place:
            case Typed(wrong=wrong) if wrong:
                known[place.name] = [[_folded(one.texts), one.told, int(one.follows)] for one in wrong]
            case Measured(wrong=wrong) if wrong:
                known[place.name] = [
                    [[float(one.value), float(one.tolerance)], one.told, int(one.follows)] for one in wrong
                ]
    return _SERVER.format(right=_in_python(right), known=_in_python(known))


def _folded(texts: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(" ".join(text.split()).casefold() for text in texts))


def _in_python(data: object) -> str:
    """JSON for a raw string of Python: without quotation marks in threes, and ASCII."""
    return json.dumps(data).replace('"""', r'\u0022""')
