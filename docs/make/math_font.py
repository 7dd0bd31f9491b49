"""Makes the font of formulas in HTML anew: `make fonts`, with fontTools and brotli installed.

What is shipped is the part of Latin Modern Math (GUST e-foundry) that formulas need, with its table of mathematical
layout, under another name, as the GUST Font License asks of changed fonts.  Debian's package fonts-lmodern has the
whole font.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

SOURCE = Path("/usr/share/texmf/fonts/opentype/public/lm-math/latinmodern-math.otf")
FONTS = Path(__file__).resolve().parents[2] / "symattn" / "page" / "fonts"
NAME = "Symattn Math"
LICENCE = "A part of Latin Modern Math, under the GUST Font License: gust.org.pl/fonts/licenses/GUST-FONT-LICENSE.txt"

RANGES = (
    (0x20, 0x7E),
    (0x391, 0x3C9),  # Greek
    (0x2061, 0x2064),  # invisible signs
    (0x2190, 0x2193),  # arrows
    (0x1D434, 0x1D467),  # italic letters; h has a place of its own, in SIGNS
    (0x1D6A4, 0x1D6A5),
    (0x1D6E2, 0x1D71B),  # italic Greek
)
PRIMES = "′″‴"
SIGNS = PRIMES + "ℎıȷ°¬±²³·¹×÷–—‖‘’“”…\u0302ϕϵ−∓∕∗∘∙√∞∑∏∂∇∈∉∀∃≈≠≡≤≥≪≫⊙⊗⊕⊤⊥⋅⋮⋯⋱∣∥∧∨∼≔⟨⟩"


def make(source: Path = SOURCE, target: Path = FONTS / "symattn-math.woff2") -> None:
    """Write the part of `source` that formulas need; the same source gives the same bytes."""
    font = TTFont(source, recalcTimestamp=False)
    _only_primes_change(font)
    _in_every_script(font)
    names = [0, 1, 2, 4, 5, 6]  # with the copyright
    options = subset.Options(
        flavor="woff2", layout_features=["ssty"], layout_scripts=["*"], name_IDs=names, notdef_outline=True
    )
    options.drop_tables += ["FFTM"]
    chooser = subset.Subsetter(options)
    chooser.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)], text=SIGNS)
    chooser.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = NAME.replace(" ", "") if record.nameID == 6 else NAME
    font["name"].setName(LICENCE, 13, 3, 1, 0x409)
    outlines = font["CFF "].cff
    outlines.fontNames = [NAME.replace(" ", "")]
    outlines.topDictIndex[0].FullName = outlines.topDictIndex[0].FamilyName = NAME
    subset.save_font(font, target, options)


def _only_primes_change(font: TTFont) -> None:
    """Letters and figures in indices are only set smaller: forms of their own would double the size of the font."""
    primes = {font.getBestCmap()[ord(prime)] for prime in PRIMES}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            if hasattr(table, "alternates"):
                table.alternates = {glyph: forms for glyph, forms in table.alternates.items() if glyph in primes}


def _in_every_script(font: TTFont) -> None:
    """Chromium asks for the features of no script, where Firefox and WebKit ask for those of mathematics."""
    scripts = font["GSUB"].table.ScriptList
    plain = deepcopy(next(record for record in scripts.ScriptRecord if record.ScriptTag == "math"))
    plain.ScriptTag = "DFLT"
    scripts.ScriptRecord = [plain, *(record for record in scripts.ScriptRecord if record.ScriptTag != "DFLT")]


if __name__ == "__main__":
    make(*map(Path, sys.argv[1:]))
