r"""Rich text (.rtf), as TextEdit and WordPad save it, as text: paragraphs and tables, without fonts and styles."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from symattn.marking.submissions.blocks import table_row
from symattn.marking.submissions.office import PICTURE, aligned

_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,9})? ?|\\'(?P<byte>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z'])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)"
)
_NO_TEXT = frozenset(
    ("fonttbl", "colortbl", "expandedcolortbl", "stylesheet", "info", "header", "footer", "object", "listtable")
)
_CHARACTERS = {
    "par": "\n", "line": "\n", "tab": "\t", "emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018",
    "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d", "bullet": "\u2022",
    "\n": "\n", "\r": "\n", "~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
_PLACES = {"super": "superscript", "sub": "subscript", "nosupersub": ""}


@dataclass(frozen=True, slots=True)
class _Look:
    """What holds in a group: whether it has text, whether that is crossed out, raised or lowered, and how many signs
    stand for one of Unicode in programs that do not know it."""

    is_text: bool = True
    is_struck: bool = False
    place: str = ""
    instead: int = 1


def rich_text(content: bytes) -> str:
    """The paragraphs and tables of a document as Markdown; what is crossed out stands between ~~."""
    document = _Document()
    for token in _TOKEN.finditer(content.decode("latin-1")):
        document.read(token)
    text = "".join(document.written)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Document:
    def __init__(self) -> None:
        self.written: list[str] = []
        self._looks = [_Look()]
        self._row: list[str] = []
        self._cell = 0
        """Where the cell begins that is being written."""
        self._left_out = 0
        """Signs to come that stand for one that was written already."""

    def read(self, token: re.Match[str]) -> None:
        look = self._looks[-1]
        if token["brace"] == "{":
            self._looks.append(look)
        elif token["brace"]:
            del self._looks[max(1, len(self._looks) - 1) :]
        elif token["text"]:
            self._write(token["text"][self._left_out :])
            self._left_out = max(0, self._left_out - len(token["text"]))
        elif token["byte"]:
            character = bytes.fromhex(token["byte"]).decode("cp1252", "replace")
            self._write("" if self._left_out else character)
            self._left_out = max(0, self._left_out - 1)
        elif token["sign"]:
            self._write(_CHARACTERS.get(token["sign"], ""))
            self._looks[-1] = replace(look, is_text=look.is_text and token["sign"] != "*")
        else:
            self._command(token["word"], token["number"] or "")

    def _command(self, word: str, number: str) -> None:
        look = self._looks[-1]
        match word:
            case "u":
                self._write(chr(int(number or 0) % 0x10000))
                self._left_out = look.instead
            case "uc":
                self._looks[-1] = replace(look, instead=int(number or 1))
            case "cell":
                self._row.append("".join(self.written[self._cell :]))
                del self.written[self._cell :]
            case "row":
                self.written.append(f"{table_row(self._row)}\n")
                self._row, self._cell = [], len(self.written)
            case "trowd":
                if not self._row and self.written and not self.written[-1].startswith("| "):
                    self.written.append("\n\n")
                self._cell = len(self.written) if not self._row else self._cell
            case "pict" | "NeXTGraphic":
                self.written += [PICTURE] * (self.written[-1:] != [PICTURE])  # it may be there in two formats
                self._looks[-1] = replace(look, is_text=False)
            case "strike" | "striked":
                self._looks[-1] = replace(look, is_struck=number != "0")
            case "plain":
                self._looks[-1] = replace(look, is_struck=False, place="")
            case "super" | "sub" | "nosupersub":
                self._looks[-1] = replace(look, place=_PLACES[word] if number != "0" else "")
            case _ if word in _NO_TEXT:
                self._looks[-1] = replace(look, is_text=False)
            case _:
                self._write(_CHARACTERS.get(word, ""))

    def _write(self, text: str) -> None:
        look = self._looks[-1]
        if text and look.is_text:
            self.written.append(aligned(text, look.is_struck, look.place))
