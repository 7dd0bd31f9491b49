"""QTI 2.1: a content package of items and a test that takes one item of each pool.

QTI 3 has the same items, tests and manifests, but for how elements are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from symattn.foundation.files import zipped_texts
from symattn.foundation.installed import VERSION
from symattn.foundation.languages import message, say
from symattn.page.writers.html import escaped
from symattn.teaching.bank.forms import decimal, exact
from symattn.teaching.bank.items import Bank, BankItem, Chosen, Measured, Pool, Shaded, Spot, Typed, WrongNumber
from symattn.teaching.bank.prompts import STYLES

PLACES = 12
"""Of a decimal, at most."""

LOST = message(
    "QTI marks every entry by itself: it follows common mistakes but not a student's own, takes a number only in a "
    "form that is listed or as a decimal, with a point, within a tolerance, and shares marks for method and for rows "
    "out among the entries; symattn practice follows everything."
)
GUARD = Fraction(1, 10**6)
"""How far an interval reaches beyond its ends, in tolerances, so that floats do not decide what lies on them."""

SHEET = "symattn.css"
Element = Callable[..., str]


@dataclass(frozen=True)
class Dialect:
    """One version: how its elements and attributes are called, its namespaces, and the kinds of its files.

    `content` is put round HTML in a block of its own.
    """

    element: Element
    namespace: str
    schema: str
    packages: str
    package: tuple[str, str]
    kinds: str
    content: Callable[[str], str]


def element(name: str, *children: str, **attributes: object) -> str:
    """An XML element, its attributes as they are named and its children as XML.

    >>> element("responseIf", element("isNull"), baseType="float")
    '<responseIf baseType="float"><isNull/></responseIf>'
    """
    said = "".join(f' {key}="{escaped(str(value))}"' for key, value in attributes.items() if value is not None)
    inside = "".join(children)
    return f"<{name}{said}>{inside}</{name}>" if inside else f"<{name}{said}/>"


def hyphened(name: str, *children: str, **attributes: object) -> str:
    """The same as QTI 3 calls it.

    >>> hyphened("responseIf", hyphened("isNull"), baseType="float")
    '<qti-response-if base-type="float"><qti-is-null/></qti-response-if>'
    """
    return element(f"qti-{_hyphens(name)}", *children, **{_hyphens(key): x for key, x in attributes.items()})


def _hyphens(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"-{match[1].lower()}", name)


def package(bank: Bank, dialect: Dialect) -> bytes:
    """A content package: a manifest, a test, and every item."""
    return zipped_texts(_files(bank, dialect))


def _files(bank: Bank, d: Dialect) -> Iterator[tuple[str, str]]:
    items = [item for pool in bank.pools for item in pool.items]
    yield "imsmanifest.xml", _manifest(items, d)
    yield "test.xml", _test(bank, d)
    yield SHEET, "".join(f".symattn-{name} {{{rules}}}\n" for name, rules in STYLES.items())
    for item in items:
        yield _file(item), _item(item, bank.language, d)


def _file(item: BankItem) -> str:
    return f"items/{item.id}.xml"


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _root(d: Dialect, name: str, *children: str, **attributes: object) -> str:
    """The element that a file begins with, with its namespace and its schema."""
    whole = d.element(name, *children, **attributes)
    first = whole.index(" ")
    places = (
        f' xmlns="{d.namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xsi:schemaLocation="{d.namespace} {d.schema}"'
    )
    return f"{_HEAD}{whole[:first]}{places}{whole[first:]}\n"


# ------------------------------------------------------------------------------------------------ package and test


def _manifest(items: Sequence[BankItem], d: Dialect) -> str:
    schema, version = d.package
    needed = "".join(element("dependency", identifierref=item.id) for item in items)
    test = element("file", href="test.xml") + needed
    resources = element("resource", test, identifier="test", type=f"imsqti_test_xml{d.kinds}", href="test.xml")
    for item in items:
        own = element("file", href=_file(item)) + element("file", href=SHEET)
        resources += element("resource", own, identifier=item.id, type=f"imsqti_item_xml{d.kinds}", href=_file(item))
    about = element("metadata", element("schema", schema), element("schemaversion", version))
    inside = f"{about}<organizations/>{element('resources', resources)}"
    return f"{_HEAD}{element('manifest', inside, xmlns=d.packages, identifier='symattn')}\n"


def _test(bank: Bank, d: Dialect) -> str:
    e = d.element
    sections = "".join(_section(number, pool, d) for number, pool in enumerate(bank.pools, 1))
    part = e("testPart", sections, identifier="part", navigationMode="nonlinear", submissionMode="individual")
    score = e("outcomeDeclaration", _default(0, d), identifier="SCORE", cardinality="single", baseType="float")
    total = e("sum", e("testVariables", variableIdentifier="SCORE"))
    processing = e("outcomeProcessing", e("setOutcomeValue", total, identifier="SCORE"))
    return _root(
        d, "assessmentTest", score, part, processing, identifier="test", title=bank.title, toolName="symattn",
        toolVersion=VERSION,
    )  # fmt: skip


def _section(number: int, pool: Pool, d: Dialect) -> str:
    """A pool: one of its items is taken.  What the format cannot do is said in the first."""
    e = d.element
    taken = e("selection", select=1) + e("ordering", shuffle="true")
    told = d.content(f"<p>{escaped(say(LOST))}</p>")
    block = e("rubricBlock", told, use="instructions", view="author proctor scorer testConstructor tutor")
    rubric = block if number == 1 else ""
    items = "".join(e("assessmentItemRef", identifier=item.id, href=_file(item)) for item in pool.items)
    return e(
        "assessmentSection", taken, rubric, items, identifier=f"pool{number}", title=pool.title, visible="true"
    )  # fmt: skip


def _default(value: object, d: Dialect) -> str:
    return d.element("defaultValue", d.element("value", str(value)))


# ------------------------------------------------------------------------------------------------ items


def _item(item: BankItem, language: str, d: Dialect) -> str:
    e, places = d.element, item.places
    whole = lcm(*(_share(place).denominator for place in places))
    told = {place.name: list(_told(place)) for place in places}
    declared = "".join(_response(place, whole, d) for place in places)
    scores = "".join(_outcome(f"S_{place.name}", d) for place in places)
    feedback = "".join(
        e("outcomeDeclaration", identifier=one.outcome, cardinality="single", baseType="identifier")
        for one in {one.outcome: one for listed in told.values() for one in listed}.values()
    )
    most = e(
        "outcomeDeclaration", _default(decimal(item.points, PLACES), d), identifier="MAXSCORE", cardinality="single",
        baseType="float",
    )  # fmt: skip
    body = "".join(_part(part, told, d) for part in item.parts)
    rules = "".join(_rules(place, told[place.name], whole, d) for place in places)
    total = e("sum", *(e("variable", identifier=f"S_{place.name}") for place in places))
    score = e("divide", e("variable", identifier="WEIGHTS"), e("baseValue", str(whole), baseType="float"))
    sums = e("setOutcomeValue", total, identifier="WEIGHTS") + e("setOutcomeValue", score, identifier="SCORE")
    processing = e("responseProcessing", rules, sums)
    attributes = {"xml:lang": language, "toolName": "symattn", "toolVersion": VERSION}
    outcomes = (_outcome("SCORE", d), most, _outcome("WEIGHTS", d), scores, feedback)
    sheet = e("stylesheet", href=f"../{SHEET}", type="text/css")
    return _root(
        d, "assessmentItem", declared, *outcomes, sheet, e("itemBody", body), processing, identifier=item.id,
        title=item.title, adaptive="false", timeDependent="false", **attributes,
    )  # fmt: skip


def _outcome(name: str, d: Dialect) -> str:
    return d.element("outcomeDeclaration", _default(0, d), identifier=name, cardinality="single", baseType="float")


def _part(part: tuple[str | Spot, ...], told: dict[str, list[_Told]], d: Dialect) -> str:
    """What is read, with interactions in it, and below it what may be told about them."""
    shown = "".join(piece if isinstance(piece, str) else _interaction(piece, d) for piece in part)
    for place in part:
        for one in told[place.name] if not isinstance(place, str) else ():
            label = f"<p><strong>{one.label}:</strong> {one.says}</p>" if one.label else f"<p>{one.says}</p>"
            shown += d.element(
                "feedbackBlock", d.content(label), outcomeIdentifier=one.outcome, identifier=one.id, showHide="show"
            )  # fmt: skip
    return shown


def _letter(k: int) -> str:
    return f"option{k + 1}"


def _interaction(place: Spot, d: Dialect) -> str:
    e = d.element
    match place:
        case Typed() | Measured():
            return e("textEntryInteraction", responseIdentifier=place.name, expectedLength=place.size)
        case Chosen(options=options, several=several):
            choices = "".join(e("simpleChoice", x.shown, identifier=_letter(k)) for k, x in enumerate(options))
            most = 0 if several else 1
            return e("choiceInteraction", choices, responseIdentifier=place.name, shuffle="false", maxChoices=most)
        case Shaded():
            choices = e("inlineChoice", "■", identifier="shaded") + e("inlineChoice", "□", identifier="white")
            return e("inlineChoiceInteraction", choices, responseIdentifier=place.name, shuffle="false")


def _share(place: Spot) -> Fraction:
    """What the least of a place is worth: an option of several, or all of it."""
    right = sum(option.right for option in place.options) if isinstance(place, Chosen) and place.several else 1
    return place.points / right


def _response(place: Spot, whole: int, d: Dialect) -> str:
    """What is right, and what texts and options are worth, in parts of a point, `whole` to one.

    Whole numbers, for there are systems that round shares to three places before they add them up.
    """
    e, share = d.element, _share(place) * whole
    base, cardinality, right = "identifier", "single", list[str]()
    entries: list[tuple[str, Fraction]] = []
    bounds: dict[str, str] = {}
    match place:
        case Typed(texts=texts):
            base, right = "string", [texts[0]]
            follow = [text for one in place.wrong if one.follows for text in one.texts]
            spaced = [around for text in texts for around in (text, f" {text}", f"{text} ")]  # nothing is trimmed
            entries = [(text, share) for text in (*spaced, *follow)]
        case Measured(value=value):
            base, right = "float", [exact(value)]
        case Chosen(options=options, several=several):
            right = [_letter(k) for k, option in enumerate(options) if option.right]
            entries = [(_letter(k), share if x.right else -share) for k, x in enumerate(options) if x.right or several]
            if several:
                cardinality, bounds = "multiple", {"lowerBound": "0", "upperBound": f"{share * len(right)}"}
        case Shaded(right=shaded):
            right = ["shaded" if shaded else "white"]
            entries = [(right[0], share)]
    mapping = [e("mapEntry", mapKey=key, mappedValue=value) for key, value in entries]
    mapped = e("mapping", *mapping, defaultValue="0", **bounds) if mapping else ""
    correct = e("correctResponse", *(e("value", escaped(text)) for text in right))
    return e("responseDeclaration", correct, mapped, identifier=place.name, cardinality=cardinality, baseType=base)


# ------------------------------------------------------------------------------------------------ processing


@dataclass(frozen=True)
class _Told:
    """Something that may be told: when, in which outcome and as what, about which place."""

    outcome: str
    id: str
    label: str
    says: str
    texts: tuple[str, ...] = ()
    number: WrongNumber | None = None
    option: str = ""


def _told(place: Spot) -> Iterator[_Told]:
    outcome = f"F_{place.name}"
    match place:
        case Typed(wrong=wrong):
            for k, one in enumerate(wrong, 1):
                yield _Told(outcome, f"W{k}", place.label, one.told, one.texts)
        case Measured(wrong=numbers):
            for k, number in enumerate(numbers, 1):
                yield _Told(outcome, f"W{k}", place.label, number.told, number=number)
        case Chosen(options=options):
            for k, option in enumerate(options):
                if option.told:
                    yield _Told(f"{outcome}_{k + 1}", "W", place.label, option.told, option=_letter(k))


def _rules(place: Spot, told: Sequence[_Told], whole: int, d: Dialect) -> str:
    e = d.element
    variable = e("variable", identifier=place.name)
    answered = e("not", e("isNull", variable))
    if isinstance(place, Measured):
        return _intervals(place, told, answered, place.points * whole, d)
    score = e("setOutcomeValue", e("mapResponse", identifier=place.name), identifier=f"S_{place.name}")
    rules = e("responseCondition", e("responseIf", answered, score))
    branches = []
    for one in told:
        if one.option:
            chosen = e("baseValue", one.option, baseType="identifier")
            several = isinstance(place, Chosen) and place.several
            condition = e("member", chosen, variable) if several else e("match", variable, chosen)
            rules += _chain([(condition, _set(one, d))], d)
        else:
            texts = (e("match", variable, e("baseValue", escaped(text), baseType="string")) for text in one.texts)
            branches.append((e("or", *texts), _set(one, d)))
    return rules + _chain(branches, d)


def _intervals(place: Measured, told: Sequence[_Told], answered: str, worth: Fraction, d: Dialect) -> str:
    """Two inequalities instead of a tolerance, which not every system knows; for some, nothing is 0 in them."""
    e = d.element

    def near(number: Measured | WrongNumber) -> str:
        off = number.tolerance * (1 + GUARD)
        ends = (("gte", number.value - off), ("lte", number.value + off))
        variable = e("variable", identifier=place.name)
        return e(
            "and",
            answered,
            *(e(sign, variable, e("baseValue", exact(end), baseType="float")) for sign, end in ends),
        )

    points = e("setOutcomeValue", e("baseValue", str(worth), baseType="float"), identifier=f"S_{place.name}")
    branches = [(near(place), points)]
    branches += [
        (near(one.number), (points if one.number.follows else "") + _set(one, d)) for one in told if one.number
    ]
    return _chain(branches, d)


def _set(one: _Told, d: Dialect) -> str:
    return d.element(
        "setOutcomeValue", d.element("baseValue", one.id, baseType="identifier"), identifier=one.outcome
    )  # fmt: skip


def _chain(branches: Iterable[tuple[str, str]], d: Dialect) -> str:
    """The first of several conditions that holds."""
    e = d.element
    parts = [
        e("responseElseIf" if k else "responseIf", condition, action) for k, (condition, action) in enumerate(branches)
    ]
    return e("responseCondition", *parts) if parts else ""


SUFFIX = ".qti21.zip"


DIALECT = Dialect(
    element,
    namespace="http://www.imsglobal.org/xsd/imsqti_v2p1",
    schema="http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd",
    packages="http://www.imsglobal.org/xsd/imscp_v1p1",
    package=("QTIv2.1 Package", "1.0.0"),
    kinds="v2p1",
    content=lambda html: html,
)


def write(bank: Bank) -> bytes:
    return package(bank, DIALECT)
