"""Canvas: QTI 1.2, with a question group for each pool and a blank for every entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from symattn.foundation.files import zipped_texts
from symattn.foundation.languages import message, say
from symattn.page.writers.html import escaped
from symattn.teaching.bank.forms import decimals_near
from symattn.teaching.bank.items import Bank, BankItem, Chosen, Measured, Pool, Shaded, Spot, Typed
from symattn.teaching.bank.prompts import styled
from symattn.teaching.question import LETTERS

SUFFIX = ".canvas.zip"
LOST = message(
    "Canvas compares text only: it gives no credit for follow-through, gives no feedback on single entries, gives "
    "every box of a question the same points, and accepts a number only in one of the listed forms; symattn practice "
    "has none of these limits."
)


def write(bank: Bank) -> bytes:
    return zipped_texts([("imsmanifest.xml", _MANIFEST), ("bank/bank.xml", "".join(_assessment(bank)))])


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_MANIFEST = (
    f'{_HEAD}<manifest identifier="symattn" xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"><metadata>'
    "<schema>IMS Content</schema><schemaversion>1.1.3</schemaversion></metadata><organizations/><resources>"
    '<resource identifier="bank" type="imsqti_xmlv1p2"><file href="bank/bank.xml"/></resource></resources></manifest>\n'
)
_NAMESPACE = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"


def _assessment(bank: Bank) -> Iterator[str]:
    yield f'{_HEAD}<!-- {escaped(say(LOST)).replace("--", "-")} -->\n<questestinterop xmlns="{_NAMESPACE}">'
    yield f'<assessment ident="bank" title="{escaped(bank.title)}"><section ident="root_section">\n'
    for number, pool in enumerate(bank.pools, 1):
        yield from _group(number, pool)
    yield "</section></assessment></questestinterop>\n"


def _group(number: int, pool: Pool) -> Iterator[str]:
    """One item of a pool is taken; all of them count alike."""
    points = float(pool.items[0].points)
    yield f'<section ident="pool{number}" title="{escaped(pool.title)}"><selection_ordering><selection>'
    yield "<selection_number>1</selection_number><selection_extension>"
    yield f"<points_per_item>{points:g}</points_per_item></selection_extension></selection></selection_ordering>\n"
    for item in pool.items:
        yield from _item(item)
    yield "</section>\n"


def _item(item: BankItem) -> Iterator[str]:
    places = item.places
    match places:
        case [Chosen() as place]:
            kind = "multiple_answers_question" if place.several else "multiple_choice_question"
            text, inside = _no_blank(item.text), _choice(place)
        case _ if all(isinstance(place, Shaded) for place in places):
            kind, text, inside = "multiple_dropdowns_question", _blanked(item), _blanks(places, dropdown=True)
        case _:
            kind, text, inside = "fill_in_multiple_blanks_question", _blanked(item), _blanks(places)
    response, processing = inside
    fields = {"question_type": kind, "points_possible": f"{float(item.points):g}"}
    said = "".join(
        f"<qtimetadatafield><fieldlabel>{name}</fieldlabel><fieldentry>{value}</fieldentry></qtimetadatafield>"
        for name, value in fields.items()
    )
    yield f'<item ident="{item.id}" title="{escaped(f"{item.title} {item.sheet}")}">'
    yield f"<itemmetadata><qtimetadata>{said}</qtimetadata></itemmetadata><presentation>"
    yield f'<material><mattext texttype="text/html">{escaped_html(text)}</mattext></material>{response}</presentation>'
    yield '<resprocessing><outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/></outcomes>'
    yield f"{processing}</resprocessing></item>\n"


def escaped_html(source: str) -> str:
    """HTML as the text of an element; unlike `escaped`, lines stay lines."""
    return styled(source).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# ------------------------------------------------------------------------------------------------ choices


def _choice(place: Chosen) -> tuple[str, str]:
    labels = "".join(
        f'<response_label ident="o{k}"><material><mattext texttype="text/html">{escaped_html(option.shown)}</mattext>'
        "</material></response_label>"
        for k, option in enumerate(place.options)
    )
    cardinality = "Multiple" if place.several else "Single"
    response = f'<response_lid ident="response1" rcardinality="{cardinality}"><render_choice>{labels}</render_choice>'
    conditions = []
    for k, option in enumerate(place.options):
        equal = f'<varequal respident="response1">o{k}</varequal>'
        if option.right or place.several:
            conditions.append(equal if option.right else f"<not>{equal}</not>")
    whole = f"<and>{''.join(conditions)}</and>" if place.several else conditions[0]
    return f"{response}</response_lid>", _condition(whole, "Set", 100)


def _condition(holds: str, action: str, points: float) -> str:
    more = ' continue="No"' if action == "Set" else ""
    return (
        f"<respcondition{more}><conditionvar>{holds}</conditionvar>"
        f'<setvar varname="SCORE" action="{action}">{points:.2f}</setvar></respcondition>'
    )


# ------------------------------------------------------------------------------------------------ blanks


def _blanked(item: BankItem) -> str:
    """The text with the names of blanks in it; options are chosen by their letters, cells are shaded by an x."""
    parts = []
    for piece in item.body:
        match piece:
            case str():
                parts.append(_no_blank(piece))
            case Chosen(options=options):
                listed = "".join(
                    f"<p>{LETTERS[k]}. {_no_blank(option.shown)}</p>\n" for k, option in enumerate(options)
                )
                asked = say("Letters of all that are right, as in AC:") if piece.several else say("Letter:")
                parts.append(f"{listed}<p>{escaped(asked)} [{piece.name}]</p>\n")
            case _:
                parts.append(f"[{piece.name}]")
    places = item.places
    if any(isinstance(p, Shaded) for p in places) and not all(isinstance(p, Shaded) for p in places):
        parts.insert(1, f"<p>{escaped(say('Type x for a cell to be shaded, and o for one to be left white.'))}</p>\n")
    return "".join(parts)


def _no_blank(html: str) -> str:
    r"""HTML in which no word in brackets is a blank for Canvas's editor: an invisible word joiner parts them.

    >>> _no_blank("the token [pad]").encode()
    b'the token [\xe2\x81\xa0pad]'
    """
    return _BLANK.sub("[\u2060", html)


_BLANK = re.compile(r"\[(?=[A-Za-z0-9_.-]+\])")


def _blanks(places: Sequence[Spot], dropdown: bool = False) -> tuple[str, str]:
    responses, conditions = [], []
    for place in places:
        texts = _texts(place, dropdown)
        listed = [*texts, *(_others(place) if dropdown else ())]
        labels = "".join(
            f'<response_label ident="{place.name}_{k}"><material><mattext texttype="text/plain">'
            f"{escaped(text)}</mattext></material></response_label>"
            for k, text in enumerate(listed)
        )
        responses.append(
            f'<response_lid ident="response_{place.name}"><material><mattext>{place.name}</mattext></material>'
            f"<render_choice>{labels}</render_choice></response_lid>\n"
        )
        holds = f'<varequal respident="response_{place.name}">{place.name}_0</varequal>'
        conditions.append(_condition(holds, "Add", 100 / len(places)))
    return "".join(responses), "".join(conditions)


def _texts(place: Spot, dropdown: bool) -> tuple[str, ...]:
    """What may stand in a blank."""
    match place:
        case Typed(texts=texts):
            return texts
        case Measured(value=value, tolerance=tolerance, places=digits):
            return decimals_near(value, tolerance, digits)
        case Chosen(options=options):
            right = [LETTERS[k] for k, option in enumerate(options) if option.right]
            orders = permutations(right) if len(right) <= 3 else (right, right[::-1])
            return tuple(joint.join(order) for order in orders for joint in ("", ",", ", ", " "))
        case Shaded(right=right):
            if dropdown:
                return ("■",) if right else ("□",)
            return ("x", "X") if right else ("o", "O", "0", "-")


def _others(place: Spot) -> tuple[str, ...]:
    return ("□",) if isinstance(place, Shaded) and place.right else ("■",)
