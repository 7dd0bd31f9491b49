"""Everything that is wrong with documents as LaTeX, by the log of every TeX there is.

`complaints(document)` compiles one of them, `complaints_of_class` many in one run, through the file that includes them.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from symattn.errors import InputError
from symattn.page.writers import latex, pdf
from symattn.page.writers.page import typesetting

ENGINES = ("pdflatex", "lualatex", "xelatex")
_TROUBLE = re.compile(
    r"^(?:Overfull|Missing character|.*[Uu]ndefined|LaTeX(?: Font)? Warning|Class \w+ Warning|Package \w+ Warning"
    r"|pdfTeX warning|warning ).*",
    re.MULTILINE,
)
_HARMLESS = re.compile(
    r"Font shape .* (?:undefined|not available)|Some font shapes|size substitutions|does not contain requested$"
)
_OF_FIRST_RUN = re.compile(
    r"^(?:LaTeX Warning: (?:Reference `sheet-\d+'|There were undefined references|Label\(s\) may have changed)"
    r"|Class exam Warning: Point totals have changed).*",
    re.MULTILINE,
)
_INCLUDED = re.compile(r"\(\./class-(\d+)\.tex")
_SECONDS = 600  # for a whole class


def engines():
    """The embedded TeX, and those that are installed."""
    found = {"embedded": pdf.embedded_engine()} | {
        name: Path(path) if (path := shutil.which(name)) else None for name in ENGINES
    }
    return {name: path for name, path in found.items() if path}


def has_class(engine, latex_class):
    """Whether this TeX has a class; the embedded one has few, and no other fonts than these."""
    fonts = "\\usepackage[T1]{fontenc}\\usepackage{lmodern}"
    source = f"\\documentclass{{{latex_class}}}{fonts}\\begin{{document}}x\\end{{document}}"
    try:
        return bool(pdf.latex_pdf(source, engine))
    except InputError:
        return False


def complaints(document):
    source = latex.write(document)
    return [f"{name}: {line}" for name, engine in engines().items() for line in trouble(source, engine)]


def trouble(source, engine):
    """What one TeX says of a source."""
    try:
        data, log = pdf.latex_pdf(source, engine)
    except InputError as error:
        yield str(error)
        return
    if not data.startswith(b"%PDF"):
        yield "what came out is no PDF"
    yield from _told(log)


def _told(log):
    for line in _TROUBLE.findall(log):
        if not _HARMLESS.search(line):
            yield line


def complaints_of_class(documents, engine):
    """What one TeX says of many named documents, in one run; one by one if it stops at one of them."""
    with tempfile.TemporaryDirectory() as name, typesetting(None, "article"):
        folder, beside = Path(name), latex.Folder()
        for k, (_, document) in enumerate(documents):
            source = latex.write_beside_macros(document)
            beside.add(f"class-{k}", source, "class")
            (folder / f"class-{k}.tex").write_text(source, "utf-8")
        for path, text in beside.files():
            (folder / path).write_text(text, "utf-8")
        log = _compiled(folder, "class.tex", engine) if len(documents) > 1 else ""
        if log:
            before, *sheets = _INCLUDED.split(log)
            yield from (f"the class: {line}" for line in _told(before))
            for k, said in zip(sheets[::2], sheets[1::2], strict=True):
                yield from (f"{documents[int(k)][0]}: {line}" for line in _told(said))
        else:
            for label, document in documents:
                yield from (f"{label}: {line}" for line in trouble(latex.write(document), engine))


def _compiled(folder, name, engine):
    """The log of one run, of which a second would know the numbers of pages; nothing if TeX stopped."""
    done = subprocess.run(
        [str(engine), "-interaction=nonstopmode", "-halt-on-error", name], cwd=folder, timeout=_SECONDS, check=False,
        env=os.environ | {"max_print_line": "10000"}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        return ""
    log = (folder / name).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    return _OF_FIRST_RUN.sub("", log)
