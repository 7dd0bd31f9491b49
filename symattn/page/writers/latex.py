"""Documents as LaTeX that compiles with any TeX Live of the last years and that a teacher can edit.

The macros are in `templates/symattn.sty`: beside the sheets of a folder, or in line where one file is to be complete.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from symattn.formula.nodes import Formula
from symattn.foundation.languages import catalogue, say, speaking
from symattn.page.document import EVERYTHING, Besides, Document
from symattn.page.writers import common, tex
from symattn.page.writers.coverage import codes, in_words
from symattn.page.writers.latex_blocks import ALONE, Blocks, ExamBlocks
from symattn.page.writers.latex_text import code, escaped, in_latin, is_foreign
from symattn.page.writers.page import NONE, Masthead, filled, latex_class, masthead, template_of, text_of
from symattn.page.writers.paper import Page

_LOG = logging.getLogger("symattn")

SUFFIX = ".tex"
BESIDES: frozenset[Besides] = EVERYTHING - {"programs"}
MACROS = "symattn.sty"

_TABLE_WORDS = {"hq": "Question", "hp": "Marks", "hs": "Awarded", "ht": "Total"}  # as the class exam calls them
_WITH_FIGURES = {"Diagram", "FlowSheet", "HeatMap", "HeatMaps"}
_HYPHENATION = {"de": "ngerman", "fr": "french", "es": "spanish"}  # the names that TeX has for patterns
_UNPRINTABLE = re.compile(r"\\unprintable\{([0-9A-F]{4,6})\}")
_LISTED = re.compile(r"^\\(?:sheetcharacters|def\\studentletters)\{(.+)\}$", re.MULTILINE)


def formula(formula: Formula) -> str:
    """One formula for math mode, without any command that LaTeX and MathJax do not know."""
    return tex.indented(_UNPRINTABLE.sub(lambda match: letter_of(match[1]), tex.write(formula, ALONE)))


def formulas(lines: Sequence[Formula]) -> str:
    """Several, one below the other and aligned at their first relation sign."""
    if len(lines) == 1:
        return formula(lines[0])
    rows = " \\\\\n".join(tex.aligned(line, ALONE) for line in lines)
    source = f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"
    return tex.indented(_UNPRINTABLE.sub(lambda match: letter_of(match[1]), source))


def write(document: Document) -> str:
    """The whole document, complete in one file."""
    return noted(document, complete(document))


def write_beside_macros(document: Document) -> str:
    """The document for a folder in which `symattn.sty` lies."""
    return noted(document, _written(document, ""))


def write_for_many(document: Document) -> str:
    """The same for several students, each of whom has a file with what is theirs (`of_student`)."""
    return noted(document, _written(document, "", for_many=True))


def of_student(student: Mapping[str, str], page: str) -> str:
    r"""What is a student's on a page, by the names that `FillIn.student` has, and \input of the page that many have.

    That lies in the same folder.
    """
    values = {name: escaped(value) for name, value in student.items()}
    letters = _LISTED.search(_letters(values.values()))
    own = values | ({"letters": letters[1]} if letters else {})
    defined = "".join(f"\\def\\student{name}{{{value}}}\n" for name, value in own.items())
    return f"{defined}\\input{{{page}}}  % the paper, the same for all who have it\n"


def complete(document: Document) -> str:
    """The whole document in one file, without a remark on what a TeX cannot print."""
    return _written(document, text_of(MACROS))


def in_place(source: str) -> dict[str, str]:
    """The characters of a source that pdfTeX has no letters for, and what it prints in their place."""
    spellings = [entry.split("=") for entry in _letters_of(source)] + [[code] for code in _UNPRINTABLE.findall(source)]
    return {letter_of(code): spelt[0] if spelt else codes(letter_of(code)) for code, *spelt in sorted(spellings)}


def has_letters_for_others(source: str) -> bool:
    """Whether LuaTeX and XeTeX may have letters where pdfTeX has none."""
    return bool(_letters_of(source))


def noted(document: Document, source: str) -> str:
    """The source; a warning in the log of symattn, which Python shows on standard error, says what it cannot show."""
    if replaced := in_place(source):
        others = " (LuaLaTeX and XeLaTeX print letters that they have a font for)" if _letters_of(source) else ""
        _LOG.warning(
            "%s: pdfTeX has no letters for some of its text; in their place stand %s%s.",
            document.sheet or document.title or "LaTeX", in_words(replaced), others,
        )  # fmt: skip
    return source


def _written(document: Document, macros: str, for_many: bool = False) -> str:
    with speaking(document.look.language):
        look, chosen = document.look, latex_class()
        blocks = {"exam": ExamBlocks}.get(chosen, Blocks)(
            Page(look), document.solutions, Page(look).line, for_many=for_many
        )  # fmt: skip
        named = (document.title, document.sheet, document.footer)
        parts = {
            "title": escaped(document.title),
            "subtitle": escaped(document.subtitle),
            "sheet": escaped(document.sheet),
            "recipe": code(document.footer),
            "solution_word": escaped(say("Solution")),
            "page_words": "".join(common.page_words("#1", "#2", escaped)),
            "table_words": "".join(f"\\{kind}word{{{escaped(say(word))}}}" for kind, word in _TABLE_WORDS.items()),
            "body": blocks.body(document.blocks),
        }
        head = _head(masthead())
        fields = [escaped(common.label(name)) for name in document.fields]
        notation = sorted(blocks.notation.items())
        return filled(
            template_of(chosen),
            sheet_comment=" · ".join(filter(None, map(comment, named))),
            options=",".join((f"{look.text_size}pt", f"{look.paper}paper", *["compact"] * (look.spacing == "compact"))),
            macros=macros.rstrip(),
            letters=_letters([*parts.values(), *fields, *dict(notation).values()]),
            fields=fields,
            solutions=document.solutions,
            hyphenation=_hyphenation(look.language),
            figures=bool(_WITH_FIGURES & common.parts_used(document)),
            notation=notation,
            head=head,
            **parts,
        )


def _head(masthead: Masthead) -> str:
    """What stands above the title: the teacher's header, or else the logo, if it is a picture that TeX reads."""
    if masthead.header:
        return f"\\input{{{masthead.header.name}}}"
    if masthead.logo and masthead.logo.kind != "svg":
        return f"\\noindent\\includegraphics[height=14mm]{{{masthead.logo.name}}}\\par"
    return ""


def comment(text: str) -> str:
    """Text behind %, in which nothing looks like a command."""
    return common.visible(text).replace("\\", "/")


def _letters(parts: Iterable[str]) -> str:
    r"""\sheetcharacters with the letters in these parts that pdfTeX has not, and what stands for them; else nothing."""
    others = (part for part in parts if not part.isascii())  # most have none
    lines = (line for part in others for line in part.split("\n") if not line.startswith("%"))
    foreign = sorted(filter(is_foreign, set().union(*lines)))
    entries = (f"{ord(c):04X}" + (f"={in_latin(c)}" if in_latin(c) else "") for c in foreign)
    return f"\\sheetcharacters{{{','.join(entries)}}}" if foreign else ""


def letter_of(code: str) -> str:
    return chr(int(code, 16))


def _hyphenation(language: str) -> str:
    """The name that TeX has for the hyphenation of a language; nothing for English, which it always has."""
    code = catalogue(language).code
    return "" if code == "en" else _HYPHENATION.get(code, "nohyphenation")


# --- whole folders --------------------------------------------------------------------------------------


_CLASS_LINE = re.compile(r"^\\documentclass.*$", re.MULTILINE)


class Folder:
    """What belongs beside the LaTeX files of a folder that `write_beside_macros` wrote.

    That is `symattn.sty`, and for every group of sheets one file that includes them one after the other, so that a
    whole class is printed from one run of TeX; `double_sided`, each begins on a new leaf.  Paths are relative to the
    folder and without their suffix.
    """

    def __init__(self, double_sided: bool = False, masthead: Masthead = NONE) -> None:
        self._masthead = masthead
        self._double_sided = double_sided
        self._folders: dict[PurePosixPath, None] = {}
        self._masters: dict[str, dict[str, _Master]] = {}

    def add(self, path: str, source: str, group: str = "", page: str = "") -> None:
        r"""A sheet, and the path of the file that is to include it, if it is one of several.

        Where a sheet is a student's, `page` is the source of what it reads with \input.
        """
        self._folders[PurePosixPath(path).parent] = None
        head, _, _ = page.partition("\\begin{document}")
        head = f"{source}\n{head}" if page else source.partition("\\begin{document}")[0]
        line = _CLASS_LINE.search(head)
        if group and line:  # sheets in large print have a file of their own
            master = self._masters.setdefault(group, {}).setdefault(line.group(), _Master())
            master.sheets.append(PurePosixPath(path).name)
            master.letters.update(_letters_of(head))
            master.figures = master.figures or "\\usepackage{tikz}" in head

    def attachments(self) -> Iterator[tuple[str, bytes]]:
        """What pages have at their head, in every folder, by path."""
        for folder in self._folders:
            yield from ((str(folder / one.name), one.content) for one in self._masthead.files)

    def files(self) -> Iterator[tuple[str, str]]:
        """Their paths, with suffix, and their text."""
        for folder in self._folders:
            yield str(folder / MACROS), text_of(MACROS)
        for group, masters in self._masters.items():
            for number, (line, master) in enumerate(masters.items()):
                if len(master.sheets) > 1:
                    size = f"-{line.partition('[')[2].partition(',')[0]}" if number else ""
                    yield (
                        f"{group}{size}{SUFFIX}",
                        filled(
                            "class.tex.j2",
                            class_line=line,
                            double_sided=self._double_sided,
                            count=len(master.sheets),
                            sheets=master.sheets,
                            letters=",".join(sorted(master.letters)),
                            figures=master.figures,
                        ),
                    )


@dataclass
class _Master:
    """What one file is to include, and what it needs for that."""

    sheets: list[str] = field(default_factory=list)
    letters: set[str] = field(default_factory=set)
    figures: bool = False


def _letters_of(source: str) -> set[str]:
    """The letters that a source lists: their codes, and what stands for them."""
    return {entry for listed in _LISTED.findall(source) for entry in listed.split(",")}
