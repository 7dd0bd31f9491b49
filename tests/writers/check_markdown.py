"""What is wrong with a document as Markdown: against the rules, and after each of three readers of it.

A reader keeps a document's rows if every displayed formula comes out whole, with its row ends, and every table with its
cells.
"""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

from writer_markdown_rules import lint

from symattn.page.writers import FORMATS


def complaints(document):
    """Everything wrong with the document as Markdown."""
    text = FORMATS["markdown"].write(document)
    return [*lint(text), *(fault for name in readers() for fault in lost(text, name))]


def lost(markdown, reader):
    """What a reader does not show as it was written."""
    shown = _Shown()
    shown.feed(readers()[reader](markdown))
    found = [f"{reader}: dollar signs are left over."] if "$$" in shown.words else []
    for what, wanted, got in (
        ("formula", displayed(markdown), shown.formulas),
        ("table", tables(markdown), shown.tables),
    ):
        for i, one in enumerate(wanted):
            if i >= len(got) or _alike(one) != _alike(got[i]):
                found.append(f"{reader}: {what} {i + 1} of {len(wanted)} comes out otherwise: {one!r}")
                break
        else:
            if len(got) > len(wanted):
                found.append(f"{reader}: {len(got) - len(wanted)} more of the kind {what} than were written.")
    return found


def readers():
    """The readers that are installed, each as a function from Markdown to HTML."""
    found = {}
    if shutil.which("pandoc"):
        found["pandoc"] = _pandoc
    for name, reader in (("markdown-it", _markdown_it), ("mistune", _mistune)):
        try:
            reader("")
        except ImportError:
            continue
        found[name] = reader
    return found


def _pandoc(markdown):
    command = ["pandoc", "--from=markdown-smart", "--to=html", "--mathjax", "--wrap=preserve"]
    return subprocess.run(command, input=markdown, capture_output=True, text=True, check=True).stdout


def _markdown_it(markdown):
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    reader = (
        MarkdownIt("commonmark").enable("table").use(front_matter_plugin).use(dollarmath_plugin, double_inline=True)
    )
    return reader.render(markdown)


def _mistune(markdown):
    """With the plug-ins that nbconvert has on."""
    import mistune

    rendered = mistune.create_markdown(escape=False, plugins=["math", "table"])(markdown)
    assert isinstance(rendered, str)
    return rendered


# --- what was written ---------------------------------------------------------------------------------


def displayed(markdown):
    """The formulas that stand between lines of dollar signs."""
    return re.findall(r"^\$\$\n(.*?)\n\$\$$", _unfenced(markdown), re.DOTALL | re.MULTILINE)


def tables(markdown):
    """The cells of every table, without the line below the heads."""
    found = []
    before = ""
    for line in _unfenced(markdown).split("\n"):
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            if not all(re.fullmatch(r" *:?-+:? *", cell) for cell in cells):
                found[-1].append(list(map(_written, cells)))
        before = line
    return found


def _unfenced(markdown):
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.DOTALL | re.MULTILINE)


def _written(cell):
    """A cell's text as it is to be shown: formulas as they stand, escapes and marks for weight taken away."""
    parts = re.split(r"(?<!\\)\$((?:\\.|[^$\\])+)\$", cell)
    words = [re.sub(r"(?<!\\)(\*\*|`)", "", part) for part in parts[::2]]
    parts[::2] = [html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part)) for part in words]
    return "".join(parts)


def _alike(shown):
    """A formula by its lines, a table by its cells, however there are spaces in them."""
    if isinstance(shown, str):
        return [re.sub(r"\s+", " ", line).strip() for line in shown.strip().split("\n")]
    return [[re.sub(r"\s+", "", cell) for cell in row] for row in shown]


class _Shown(HTMLParser):
    """The displayed formulas and the tables of a page, without the signs that readers put round formulas."""

    def __init__(self):
        super().__init__()
        self.formulas = []
        self.tables = []
        self.words = ""
        self.open = []

    def handle_starttag(self, tag, attrs):
        kind = dict(attrs).get("class") or ""
        if (tag, kind) in (("div", "math"), ("div", "math block"), ("span", "math display")):
            self.formulas.append("")
            self.open.append("display")
        elif kind in ("math", "math inline"):
            self.open.append("inline")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.open.append("cell")

    def handle_endtag(self, tag):
        if self.open and tag in {"display": ("div", "span"), "inline": ("span",), "cell": ("td", "th")}[self.open[-1]]:
            self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["display"]:
            self.formulas[-1] += data.strip().removeprefix("\\[").removesuffix("\\]").strip("$")
        elif "cell" in self.open:
            formula = data.removeprefix("\\(").removesuffix("\\)")
            self.tables[-1][-1][-1] += formula if self.open[-1] == "inline" else data
        elif not self.open:
            self.words += data
