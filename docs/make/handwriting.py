"""Worksheets filled in by hand at the size of real writing: docs/handwriting-*.png, by `make handwriting`.

Every box has its answer and every frame the working that it is for, in a handwriting font whose digits are 4 mm high.
A student writes the first entry of a matrix with all of its terms and leaves out those with a factor 0 in the others,
and puts fractions over one denominator.  What has no room is red, and is counted.  The font is that of Debian's package
fonts-breip.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import gallery
import typst

from symattn.api import make_recipe
from symattn.derivation.derivation import Step
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.formula import Formula, Fraction, Name, Negative, Number, Product, Relation, Sum
from symattn.foundation.installed import fonts
from symattn.page.notation import load_notation
from symattn.page.presentation import presented
from symattn.page.writers import typst as writer
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.explanation.steps import over_one_denominator
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import MatrixAnswer, Part, StepAnswer
from symattn.teaching.sheets import Sheet, sheets

DOCS = Path(__file__).parents[2] / "docs"
FONT = Path("/usr/share/fonts/truetype/breip/Breip.ttf")
SIZE = 14.5
"""In points: digits of this font are then 4.1 mm high."""
DENSITY = 80.0
"""Dots to the inch."""


@dataclass(frozen=True)
class Filled:
    """A worksheet to fill in; `problem` is a type of question, and `pages` (from 0) are those shown side by side.

    It is printed `closer` where that saves a page.
    """

    name: str
    mechanism: str
    problem: str = "full"
    seed: int = 11
    pages: tuple[int, ...] = (0, 1)
    closer: bool = False

    @property
    def sheet(self) -> Sheet:
        [sheet] = sheets(make_recipe(self.mechanism, {}, problem=self.problem, seed=self.seed), 1)
        return sheet

    @property
    def picture(self) -> Path:
        return DOCS / f"handwriting-{self.name}.png"


PICTURES = (
    Filled("self-attention", "self_attention"),
    Filled("multi-head", "multi_head_attention", pages=(1, 2), closer=True, seed=6),
    Filled("drills", "attention", "drills"),
)

HAND = """
#let ink = rgb("#1a3faa")
#let bounds = (top-edge: "bounds", bottom-edge: "bounds")
#let hand(colour: ink, it) = box({
  set text(..bounds)
  show math.equation: set text(font: ("Breip", "New Computer Modern Math"), size: %(size)spt, fill: colour, ..bounds)
  it
})
#let plus = math.class("normal", $thin + thin$)
#let minus = math.class("normal", $thin - thin$)
#let equals = math.class("normal", $thin = thin$)
#let times = math.class("normal", $dot.c$)
// Each piece in the first region that has room for it, in lines; what has no room is red.
#let written(regions, pieces) = {
  let at = regions.map(r => (x: 0mm, y: 0mm, high: 0mm))
  for piece in pieces {
    let size = measure(hand(piece))
    let (wide, tall) = (size.width + 4mm, calc.max(size.height + 1mm, 6.4mm))
    let lost = true
    for (k, region) in regions.enumerate() {
      let (x, y, high) = at.at(k)
      if x > 0mm and x + wide - 4mm > region.wide { (x, y, high) = (0mm, y + high, 0mm) }
      if lost and x + wide - 4mm <= region.wide and y + tall <= region.high + 0.6mm {
        lost = false
        let down = if tall < 7mm { 6mm - size.height } else { 0.5mm }
        place(top + left, dx: region.x + x, dy: region.y + y + down, hand(piece))
        at.at(k) = (x: x + wide, y: y, high: calc.max(high, tall))
      }
    }
    [#metadata(lost)<piece>]
    if lost { place(top + left, dx: regions.last().x, dy: regions.last().y, hand(colour: red, piece)) }
  }
}
#let filled-grid(answers, words, name, rows, columns, width, height, fits: false) = {
  let bracket(..sides) = box(width: 1.5mm, height: rows * height + 3mm, stroke: (y: 0.6pt, ..sides.named()))
  boxes-to-fill(words, fits, grid(columns: 4, column-gutter: (0.4em, 1mm, 1mm), align: horizon,
    name, bracket(left: 0.6pt),
    grid(columns: (width,) * columns, rows: height, stroke: 0.5pt, align: center + horizon,
    ..answers.map(it => context {
      let size = measure(hand(it))
      let lost = size.width > width - 1mm or size.height > height - 1mm
      [#metadata(lost)<answer>]
      hand(colour: if lost { red } else { ink }, it)
    })), bracket(right: 0.6pt)))
}
#let filled-space(pieces, below, label, open, it) = block(
  breakable: false, width: 100%%, above: 1em * air, below: if open { 0pt } else { 1em * air }, inset: (y: 1.5mm),
  stroke: (top: framed, x: framed, bottom: if open { none } else { framed }), layout(room => {
    let size = measure(it)
    place(top + left, written((
      (x: size.width + 4mm, y: 0mm, wide: room.width - size.width - 5mm, high: size.height),
      (x: 2mm, y: size.height, wide: room.width - 3mm, high: below.to-absolute()),
    ), pieces))
    frame-label(label); it; v(below, weak: false)
  }))
#let filled-row(pieces, widths, below, label, ..cells) = block(
  breakable: false, width: 100%%, above: 1.25em * air, below: if below > 0mm { 0pt } else { 1em * air }, {
    grid(columns: widths, column-gutter: 4mm, ..cells)
    if below > 0mm {
      block(width: 100%%, height: below, above: 0.6em, stroke: (top: framed, x: framed), layout(room => {
        let region = (x: 2mm, y: 0mm, wide: room.width - 3mm, high: below.to-absolute())
        place(top + left, written((region,), pieces))
        frame-label(label)
      }))
    }
  })
"""


def by_hand(formula: Formula) -> str:
    """A formula as Typst content, spaced as it is written by hand."""
    source = writer.formula(formula)
    for sign, call in ((" + ", " #plus "), (" − ", " #minus "), (" = ", " #equals "), (" ⋅ ", " #times ")):
        source = source.replace(sign, call)
    return f"$display(upright({source}))$"


def without_zeros(formula: Formula) -> Formula:
    """A sum of products without those with a factor 0."""
    if not isinstance(formula, Sum):
        return formula
    kept = [term for term in formula.terms if not (isinstance(term, Product) and Number("0") in term.factors)]
    return Sum(tuple(kept)) if len(kept) > 1 else kept[0] if kept else Number("0")


def working(step: Step, wording: Wording) -> Iterator[Formula]:
    """What a student writes beside or below the boxes of a step."""
    rows, columns = (int(size) for size in step.result.shape)
    for i in range(rows):
        if isinstance(step.op, Softmax):
            quotient = wording.working(step, i, 0)
            yield quotient.below if isinstance(quotient, Fraction) else quotient
            continue
        for j in range(columns):
            entry, worked = wording.entry(step.name, i, j), wording.working(step, i, j)
            if isinstance(entry, Name):  # the question says which head it is
                entry = replace(entry, sup="")
            written = over_one_denominator(worked if i == j == 0 else without_zeros(worked))
            value = wording.number(step.result[i, j])
            body = value.body if isinstance(value, Negative) else value
            known = isinstance(body, Fraction) or written == value  # it stands in its box
            yield Relation((entry, written), ("=",)) if known else Relation((entry, written, value), ("=", "="))


def filled(sheet: Sheet, closer: bool = False) -> str:
    """The worksheet's Typst source, with answers in its boxes and working in its frames; `closer`, as in a PDF that
    wins a page by it."""
    document = presented(sheet.worksheet)
    steps = iter([found for part in sheet.question.parts if (found := _step(part, sheet))])
    waiting: list[tuple[Step, Wording]] = []

    def taken(count: int) -> list[tuple[Step, Wording]]:
        waiting.extend(next(steps) for _ in range(count - len(waiting)))
        return waiting[:count]

    def put(match: re.Match[str]) -> str:
        call, widths = match[1], match[2] or ""
        if call == "answer-grid":
            [(step, wording)] = taken(1)
            waiting.pop(0)
            cells = [by_hand(wording.number(x)) for row in step.result.rows for x in row]
            return f"#filled-grid({_array(cells)}, "
        asked = taken(widths.count("mm") if call == "in-row" else 1)
        pieces = [by_hand(formula) for step, wording in asked if _has_room(step) for formula in working(step, wording)]
        return f"#filled-{'row' if call == 'in-row' else 'space'}({_array(pieces)}, {widths}"

    head, title, body = writer.written(document, closer=closer)[0].partition("\n#title()")
    body = re.sub(r"#(answer-grid|answer-space|in-row)\((\([^)]*\))?", put, body)
    return head + HAND % {"size": SIZE} + title + body


def _has_room(step: Step) -> bool:
    """Whether there is room for its working, which is seen at once for the others."""
    return isinstance(step.op, MatMul | Softmax)


def _step(part: Part, sheet: Sheet) -> tuple[Step, Wording] | None:
    """The step that a part asks for."""
    match part.answer:
        case StepAnswer(name):
            wording = wording_of(sheet.problem)
        case MatrixAnswer(derivation=derivation, step=name) if derivation:
            wording = Wording(derivation, load_notation("standard"))
        case _:
            return None
    return next(step for step in wording.derivation if step.name == name), wording


def _array(items: Sequence[str]) -> str:
    return "(" + "".join(f"{item}, " for item in items) + ")"


def how(**options: Any) -> dict[str, Any]:
    return {"font_paths": [str(fonts()), str(FONT.parent)], "ignore_system_fonts": True, **options}


def without_room(source: str) -> tuple[int, int]:
    """How many pieces of working and answers there are, and how many of them have no room."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sheet.typ"
        file.write_text(source, encoding="utf-8")
        found = [
            x
            for label in ("<piece>", "<answer>")
            for x in json.loads(typst.query(str(file), label, **how(field="value")))
        ]
    return len(found), sum(found)


PALETTE = bytes(part for k in range(8) for part in (255 * k // 7,) * 3) + bytes(
    part for k in range(8) for part in (26 + 229 * k // 7, 63 + 192 * k // 7, 170 + 85 * k // 7)
)


def tones(red: bytes, blue: bytes) -> bytes:
    """Black to white, and after these the colour of the ink to white."""
    return bytes((8 if y - x > 24 else 0) + (x * 7 + 127) // 255 for x, y in zip(red, blue, strict=True))


def picture(source: str, pages: Sequence[int]) -> bytes:
    """Some pages side by side."""
    made = typst.compile(source.encode(), format="png", ppi=DENSITY, **how())
    shown = [made[k] for k in pages] if isinstance(made, list) else [made]
    lines = [[tones(*pair) for pair in zip(gallery.rows_of(x), gallery.rows_of(x, 2), strict=True)] for x in shown]
    rows = [b"\x05".join(row) for row in zip_longest(*lines, fillvalue=b"\x07")]
    wide = len(rows[0]) + 2
    framed = [b"\x05" * wide, *(b"\x05" + row + b"\x05" for row in rows), b"\x05" * wide]
    return gallery.png([gallery.in_halves(row) for row in framed], wide, PALETTE)


def main() -> None:
    for each in PICTURES:
        source = filled(each.sheet, each.closer)
        each.picture.write_bytes(picture(source, each.pages))
        every, lost = without_room(source)
        print(f"{each.name}: {each.picture.stat().st_size // 1024} kB, {lost} of {every} have no room", flush=True)


if __name__ == "__main__":
    main()
