"""What is wrong with a document as a notebook: its form, its Markdown, and whether its programs run."""

import ast
import json
import warnings

from writer_markdown_rules import lint

from symattn.page.writers import FORMATS

ALLOWED = frozenset({"numpy", "math"})
IN_LETTERS = frozenset({"sympy", "sympy.matrices.expressions.matexpr", "random"})
"""What names are imported from, where there are letters."""


def sources(document, kind):
    """The sources of all cells of a kind: code, markdown."""
    cells = json.loads(FORMATS["notebook"].write(document))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def complaints(document):
    """Everything wrong with the document as a notebook."""
    text = FORMATS["notebook"].write(document)
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    said = [source for kind, source in cells if kind == "markdown"]
    faults = [f"{fault} In: {source[:60]!r}" for source in said for fault in lint(source)]
    return [*_form(text), *faults, *_programs([source for kind, source in cells if kind == "code"])]


def _form(text):
    """By the schema of nbformat, where that is installed; identities and outputs in any case."""
    found = []
    cells = json.loads(text)["cells"]
    if len({cell["id"] for cell in cells}) != len(cells):
        found.append("Two cells have the same id.")
    if any(cell.get("outputs") for cell in cells):
        found.append("A cell has output that nobody computed.")
    try:
        import nbformat
    except ImportError:
        return found
    try:
        nbformat.validate(nbformat.reads(text, 4))
    except nbformat.ValidationError as error:
        found.append(f"nbformat: {error}")
    return found


def _programs(cells):
    """Everything runs from top to bottom with NumPy or SymPy alone, and no warning is given."""
    names = {}
    for number, source in enumerate(cells, 1):
        imported = {
            name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names
        }
        origins = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
        if imported - ALLOWED or origins - IN_LETTERS:
            return [f"Code cell {number} imports more than {', '.join(ALLOWED | IN_LETTERS)}."]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(source, f"cell {number}", "exec"), names)
        except Exception as error:
            return [f"Code cell {number}: {type(error).__name__}: {error}\n{source}"]
    return []
