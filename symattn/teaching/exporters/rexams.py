"""R/exams: an R/Markdown exercise for each variant, and a list of pools to draw from.

Source: the vignette exams2 and the help pages of read_exercise and exams2moodle in the package exams (www.R-exams.org):
sections Question, Solution and Meta-information; ##ANSWERi## where a field of a cloze question stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Literal

from symattn.foundation.files import zipped_texts
from symattn.foundation.languages import message, say
from symattn.page.writers.html import escaped
from symattn.teaching.bank.forms import decimal, exact
from symattn.teaching.bank.items import Bank, BankItem, Chosen, Measured, Shaded, Spot, Typed, Wants

PLACES = 5
"""Of points, at most."""

SUFFIX = ".rexams.zip"
WANTS = Wants(decimals=True, tex=True)
LOST = message(
    "R/exams marks every entry by itself: it gives no credit for follow-through, takes numbers as decimals within a "
    "tolerance, and texts in one form, which the exercise says; symattn practice has none of these limits."
)
_TEXTS = message(
    "Answers that are no numbers are compared letter by letter. Type a shape as 3x4 or not defined, an order as ABC, "
    "and an expression with its letters in alphabetical order, such as 4 d n^2 - 2 n/h."
)


def write(bank: Bank) -> bytes:
    return zipped_texts(_files(bank))


def _files(bank: Bank) -> Iterator[tuple[str, str]]:
    pools = [(pool, [f"{item.id}.Rmd" for item in pool.items]) for pool in bank.pools]
    yield "bank.R", "".join(_script(bank.title, [names for _, names in pools]))
    for pool, names in pools:
        for name, item in zip(names, pool.items, strict=True):
            yield f"exercises/{name}", "\n".join(_exercise(item, pool.title))


def _script(title: str, pools: Sequence[Sequence[str]]) -> Iterator[str]:
    """R that draws one exercise of each pool for everybody."""
    listed = ",\n".join(f"  c({', '.join(map(_in_r, names))})" for names in pools)
    yield f"# {' '.join(title.split())}: one exercise of each pool is drawn.  {say(LOST)}\n"
    yield f'library("exams")\npools <- list(\n{listed}\n)\n'
    yield 'exams2html(pools, edir = "exercises", converter = "pandoc-mathjax")\n'
    yield f'# exams2moodle(pools, n = 30, edir = "exercises", name = {_in_r(title)})\n'


def _in_r(text: str) -> str:
    escaped_text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_text}"'


# ------------------------------------------------------------------------------------------------ one exercise


def _exercise(item: BankItem, section: str) -> Iterator[str]:
    places = item.places
    match places:
        case [Chosen() as place]:
            body, answers = item.text, [option.shown for option in place.options]
            meta = {"extype": "mchoice" if place.several else "schoice", "exsolution": _ticked(place)}
            meta["expoints"] = decimal(item.points, PLACES)
        case [Measured() as place]:
            body, answers = item.text, []
            meta = {"extype": "num", "exsolution": exact(place.value), "extol": exact(place.tolerance)}
            meta["expoints"] = decimal(item.points, PLACES)
        case _:
            body = "".join(piece if isinstance(piece, str) else _field(piece, places) for piece in item.body)
            answers = [shown for place in places for shown in _options(place)]
            meta = _cloze(places)
    if any(isinstance(place, Typed) for place in places):
        body = f"<p><em>{escaped(say(_TEXTS))}</em></p>{body}"
    yield from ("Question", "========", markdown(body), "")
    if answers:
        yield from ("Answerlist", "----------", *(f"* {_on_a_line(markdown(shown))}".rstrip() for shown in answers), "")
    yield from ("Solution", "========", markdown(item.answers), "", "Meta-information", "================")
    about = {"exname": item.id, "extitle": f"{item.title} {item.sheet}", "exsection": section, **meta}
    yield from (f"{key}: {_on_a_line(text)}" for key, text in {**about, "exshuffle": "FALSE"}.items())
    yield ""


def _on_a_line(text: str) -> str:
    return " ".join(text.split())


def _field(place: Spot, places: Sequence[Spot]) -> str:
    """Where a field of a cloze question stands."""
    return f"<answer>{places.index(place) + 1}</answer>"


def _options(place: Spot) -> Sequence[str]:
    """What the list of answers has of a place: its options, else one empty item."""
    match place:
        case Chosen(options=options):
            return [option.shown for option in options]
        case Shaded():
            return ("■", "□")
        case _:
            return ("",)


def _ticked(place: Chosen) -> str:
    return "".join("1" if option.right else "0" for option in place.options)


def _cloze(places: Sequence[Spot]) -> dict[str, str]:
    fields = [_meta(place) for place in places]
    kinds, solutions, tolerances = ("|".join(column) for column in zip(*fields, strict=True))
    points = "|".join(decimal(place.points, PLACES) for place in places)
    return {
        "extype": "cloze",
        "exclozetype": kinds,
        "exsolution": solutions,
        "extol": tolerances,
        "expoints": points,
    }


def _meta(place: Spot) -> tuple[str, str, str]:
    """The kind of a field, its solution and its tolerance."""
    match place:
        case Measured(value=value, tolerance=tolerance):
            return "num", exact(value), exact(tolerance)
        case Typed(texts=texts):
            return "string", next((text for text in texts if text.isascii() and "|" not in text), texts[0]), "0"
        case Chosen(several=several):
            return ("mchoice" if several else "schoice"), _ticked(place), "0"
        case Shaded(right=right):
            return "schoice", "10" if right else "01", "0"


# ------------------------------------------------------------------------------------------------ Markdown


def markdown(shown: str) -> str:
    """HTML as prompts are made of, with formulas in `tex`, in pandoc's Markdown.

    >>> print(markdown("<p>Let <tex>X_1</tex> be <em>1 * 2</em>.</p>"))
    Let $X_1$ be *1 \\* 2*.
    """
    reader = _Markdown()
    reader.feed(shown)
    reader.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(reader.written)).strip()


_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|$~^])")
_IN_TEX = {"−∞": r"-\infty", "∞": r"\infty", "−": "-", "×": r"\times", "≈": r"\approx"}
_MATHS = re.compile("|".join(_IN_TEX))
"""Signs in texts that LaTeX has in mathematics alone."""
_ROUND = {"strong": "**", "em": "*"}


class _Markdown(HTMLParser):
    """Writes Markdown for the few elements that prompts have; headings are bold, since sections are R/exams's own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self._tex: str | None = None
        self._code = self._in_table = False
        self._lists: list[str] = []
        self._row: list[str] = []
        self._start: int | None = None
        self._head: Literal["none", "here", "above"] = "none"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        match tag:
            case "tex":
                self._tex = "$$" if "display" in dict(attrs) else "$"
                self.written.append(self._tex)
            case "code":
                self._code = True
                self.written.append("`")
            case "strong" | "em":
                self.written.append(_ROUND[tag])
            case "h4" | "h5" | "h6":
                self.written.append("\n\n**")
            case "ol" | "ul":
                self._lists.append("1." if tag == "ol" else "*")
                self.written.append("\n\n")
            case "li":
                self.written.append(f"\n{self._lists[-1]} ")
            case "p" | "div":
                self.written.append("\n\n")
            case "table":
                self._head, self._in_table = "none", True
                self.written.append("\n\n")
            case "thead":
                self._head = "here"
            case "tr":
                self._row = []
            case "td" | "th":
                self._start = len(self.written)
            case "answer":
                self.written.append(r"\#\#ANSWER")

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "tex":
                self.written.append(self._tex or "$")
                self._tex = None
            case "code":
                self._code = False
                self.written.append("`")
            case "strong" | "em":
                self.written.append(_ROUND[tag])
            case "h4" | "h5" | "h6":
                self.written.append("**\n\n")
            case "p" | "div" | "ol" | "ul" | "table":
                if tag in ("ol", "ul"):
                    self._lists.pop()
                self._in_table &= tag != "table"
                self.written.append("\n\n")
            case "td" | "th":
                cell = self.written[self._start :]
                del self.written[self._start :]
                self._row.append(" ".join("".join(cell).split()))
                self._start = None
            case "tr":
                self._line()
            case "answer":
                self.written.append(r"\#\#")

    def _line(self) -> None:
        """A row of a table; pandoc wants a head above the others, be it empty."""
        rule = f"|{'---|' * len(self._row)}\n"
        if self._head == "none":
            self.written.append(f"|{'   |' * len(self._row)}\n{rule}")
        self.written.append(f"| {' | '.join(self._row)} |\n{rule * (self._head == 'here')}")
        self._head = "above"

    def handle_data(self, data: str) -> None:
        if self._tex is not None:
            self.written.append(re.sub(r"\|", r"\\vert ", data) if self._start is not None else data)
        elif self._code:
            self.written.append(data.replace("`", "'"))
        elif self._in_table and self._start is None:
            return  # between cells
        else:
            self.written.append(_MATHS.sub(lambda sign: f"${_IN_TEX[sign[0]]}$", _SIGNS.sub(r"\\\1", data)))
