"""The rules of portable Markdown: what every reader of it (GitHub, Jupyter, VS Code, pandoc) takes alike."""

from __future__ import annotations

import re

_LIST_OR_HEADING = re.compile(r"\s*([-+*>#=]|\d+[.)]\s)")
_INLINE = re.compile(r"(?<![\\$])\$(?!\$)((?:\\.|[^$\\])+)\$")


def lint(markdown: str) -> list[str]:
    """What in this Markdown some readers would take otherwise, in sentences."""
    found = []
    lines = markdown.split("\n")
    inside = fenced = False
    for i, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif line.strip() == "$$":
            neighbour = lines[i] if inside else lines[i - 2]
            if neighbour.strip():
                found.append(f"Line {i}: a formula has no blank line {'after' if inside else 'before'} it.")
            inside = not inside
        elif inside:
            found += [f"Line {i}: {fault}" for fault in _faults_in_formula(line)]
        elif "$$" in line:
            found.append(f"Line {i}: $$ does not stand alone.")
        else:
            found += [f"Line {i}: {fault}" for fault in _faults_in_text(line)]
    if inside or fenced:
        found.append("A formula or a figure has no end.")
    return found


def _faults_in_formula(line: str) -> list[str]:
    faults = []
    if not line.strip():
        faults.append("a blank line in a formula.")
    if _LIST_OR_HEADING.match(line):
        faults.append(f"a formula has a line that begins as a list or heading: {line!r}")
    if "\\\\" in line.rstrip()[:-2] and not line.rstrip().endswith("\\hline"):
        faults.append(f"two rows on one line: {line!r}")
    return faults + _unportable(line)


def _faults_in_text(line: str) -> list[str]:
    formulas = _INLINE.findall(line)
    faults = [fault for formula in formulas for fault in _unportable(formula)]
    if line.startswith("#") and formulas:
        faults.append("a formula in a heading.")
    if line.startswith("|"):
        faults += [f"a bar in a formula in a table: {formula!r}" for formula in formulas if "|" in formula]
    faults += [f"rows in a line of text: {formula!r}" for formula in formulas if "\\\\" in formula]
    faults += [f"a space inside the dollar signs: {formula!r}" for formula in formulas if formula != formula.strip()]
    return faults


def _unportable(formula: str) -> list[str]:
    return [
        f"{command} is not portable."
        for command in ("\\cr", "\\color", "\\textcolor", "\\cellcolor", "\\thinspace", "\\T}", "\\softmax", "<", "\\[")
        if command in formula.replace("\\cdot", "").replace("\\\\[", "")
    ]
