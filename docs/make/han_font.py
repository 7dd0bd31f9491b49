"""Makes the font of Chinese characters in PDF anew: `make fonts`, with fontTools installed.

What is shipped is a part of Noto Serif CJK SC (SIL Open Font License): the 3755 characters of the first level of
GB 2312, which are the commonest, the punctuation, and whatever the Chinese language file has beyond them.  It goes by
another name, so that it is not taken for the whole font, and `symattn-han.txt` lists what is in it.  Debian's package
fonts-noto-cjk has the whole font.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.misc.psCharStrings import T2WidthExtractor
from fontTools.ttLib import TTFont

SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSerifCJK-Regular.ttc")
SIMPLIFIED_CHINESE = 2  # its number in the collection
PACKAGE = Path(__file__).resolve().parents[2] / "symattn"
NAME = "Symattn Han"
PUNCTUATION = "　、。〈〉《》「」『』【】〔〕〇！％（），－／：；＝？～￥·—‘’“”…"


def common() -> set[str]:
    """The first level of GB 2312: rows 16 to 55."""
    rows = (bytes((row + 0xA0, cell + 0xA0)) for row in range(16, 56) for cell in range(1, 95))
    return set("".join(pair.decode("gb2312", "ignore") for pair in rows))


def wanted() -> str:
    language = PACKAGE / "foundation" / "languages" / "zh.toml"
    words = set(language.read_text(encoding="utf-8")) if language.is_file() else set()
    beyond = {c for c in words if c >= "\u2e80"}
    return "".join(sorted(common() | set(PUNCTUATION) | beyond))


def make(source: Path = SOURCE, folder: Path = PACKAGE / "page" / "fonts") -> None:
    """Write the part of `source` that is wanted, and the list of it; the same source gives the same bytes."""
    font = TTFont(source, fontNumber=SIMPLIFIED_CHINESE, recalcTimestamp=False)
    names = [0, 1, 2, 4, 5, 6, 13, 14]  # with the copyright and the licence
    options = subset.Options(
        hinting=False, desubroutinize=True, layout_features=[], name_IDs=names, notdef_outline=True
    )
    options.drop_tables += ["BASE", "VORG", "vhea", "vmtx"]
    chooser = subset.Subsetter(options)
    chooser.populate(text=wanted())
    chooser.subset(font)
    _in_one_part(font)
    short = NAME.replace(" ", "")
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = short if record.nameID == 6 else NAME
    outlines = font["CFF "].cff
    outlines.fontNames = [short]
    outlines.topDictIndex[0].FullName = outlines.topDictIndex[0].FamilyName = NAME
    subset.save_font(font, folder / "symattn-han.otf", options)
    there = "".join(map(chr, sorted(font.getBestCmap())))
    (folder / "symattn-han.txt").write_text(there + "\n", encoding="utf-8")


def _in_one_part(font: TTFont) -> None:
    """Join the parts of the font, with the width in every glyph: a checker of PDF reads no widths from parts."""
    outlines = font["CFF "].cff.topDictIndex[0]
    glyphs = outlines.CharStrings
    whole = outlines.FDArray[0].Private
    for name in font.getGlyphOrder():
        glyph = glyphs[name]
        glyph.decompile()
        common, base = glyph.private.defaultWidthX, glyph.private.nominalWidthX
        reader = T2WidthExtractor([], glyph.globalSubrs, base, common)
        reader.execute(glyph)
        glyph.program[0 : 0 if reader.width == common else 1] = [font["hmtx"][name][0]]
        glyph.fdSelectIndex, glyph.private = None, whole
    whole.nominalWidthX = whole.defaultWidthX = 0
    outlines.Private = whole
    for part in ("ROS", "CIDCount", "FDArray", "FDSelect"):
        outlines.rawDict.pop(part, None)
        if hasattr(outlines, part):
            delattr(outlines, part)
    glyphs.fdSelect, glyphs.private = None, whole


if __name__ == "__main__":
    make(*map(Path, sys.argv[1:]))
