r"""The rules of portable Markdown: what every reader of it (GitHub, Jupyter, VS Code, pandoc) takes alike.

A displayed formula stands between lines of `$$` with blank lines round them; inside there is no blank line, and no line
that begins as a list, a quotation, a heading or a rule; each row of a matrix is a line that ends in `\\`.  A formula in
a line of text has no rows, no spaces inside its dollar signs and no figure behind them, and in a table no bar.  There
are no formulas in links, no commands that some readers lack, no signs that Markdown itself would take, and
no dollar sign that is neither escaped nor a formula's.
"""

import re

_BLOCK_START = re.compile(r"\s*([-+*>#=]|\d+[.)]\s)")
_INLINE = re.compile(r"(?<![\\$])\$(?!\$)((?:\\.|[^$\\])+)\$")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!-- symattn:[\w ^.′=+-]* -->")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_BAR = re.compile(r"(?<!\\)\|")

COMMANDS = re.compile(
    r"\\(cr|thinspace|color|textcolor|colorbox|cellcolor|T|softmax|tag|label|newcommand|def|href|url|"
    r"begin\{(align|align\*|equation|gather)\})(?![a-zA-Z])"
)
"""Commands that a reader named in the ground rejects, and numbered environments, which open a formula of their own."""


def lint(markdown):
    """What in this Markdown some readers would take otherwise, in sentences."""
    found = []
    lines = ["", *_FRONT_MATTER.sub("", markdown).split("\n"), ""]
    inside = fenced = False
    for i, line in enumerate(lines[1:-1], 1):
        before, after = lines[i - 1], lines[i + 1]
        if line.startswith("```"):
            fenced = not fenced
            if fenced and line.startswith("```math"):
                found.append(f"Line {i}: a fence of maths.")
        elif fenced:
            continue
        elif line.strip() == "$$":
            if (after if inside else before).strip():
                found.append(f"Line {i}: a formula has no blank line {'after' if inside else 'before'} it.")
            inside = not inside
        elif inside:
            found += [f"Line {i}: {fault}" for fault in _faults_in_formula(line, after)]
        else:
            found += [f"Line {i}: {fault}" for fault in [*_faults_in_text(line), *_faults_in_row(line, before)]]
    if inside or fenced:
        found.append("A formula or a figure has no end.")
    return found


def _faults_in_formula(line, after):
    faults = []
    if not line.strip():
        faults.append("a blank line in a formula.")
    if _BLOCK_START.match(line):
        faults.append(f"a formula has a line that begins as a list or heading: {line!r}")
    if "\\\\" in line.rstrip().removesuffix("\\hline").rstrip()[:-2]:
        faults.append(f"two rows on one line: {line!r}")
    if "$" in line.replace("\\$", ""):
        faults.append(f"a dollar sign in a formula: {line!r}")
    follows = "&" in after and not after.lstrip().startswith("\\end")
    if "&" in line and follows and not line.rstrip().endswith(("\\\\", "\\hline")):
        faults.append(f"a row without an end: {line!r}")
    return faults + _unportable(line)


def _faults_in_text(line):
    words = _COMMENT.sub("", _CODE.sub("`", line))
    formulas = _INLINE.findall(words)
    faults = [fault for formula in formulas for fault in _unportable(formula)]
    if any("$" in text for text in re.findall(r"(?<!\\)\[(?!\\|[ x]\])([^\]]*)\]\(", words)):
        faults.append("a formula in a link.")
    if line.startswith("|"):
        faults += [f"a bar in a formula in a table: {formula!r}" for formula in formulas if "|" in formula]
    faults += [f"rows in a line of text: {formula!r}" for formula in formulas if "\\\\" in formula]
    faults += [f"a space inside the dollar signs: {formula!r}" for formula in formulas if formula != formula.strip()]
    ends = ((found[0], words[found.end() :]) for found in _INLINE.finditer(words))
    faults += [f"a figure after a formula: {formula!r}" for formula, behind in ends if behind[:1].isdigit()]
    rest = re.sub(r"\\.", "", _INLINE.sub("", words))
    if "$" in rest:
        faults.append(f"a dollar sign that is not escaped: {line!r}")
    if "<" in rest:
        faults.append(f"a tag: {line!r}")
    return faults


def _faults_in_row(line, before):
    """A table has blank lines round it, and as many cells in every row."""
    if not line.startswith("|"):
        return ["text right below a table."] if before.startswith("|") and line.strip() else []
    if not before.startswith("|"):
        return ["a table has no blank line before it."] if before.strip() else []
    bars = [len(_BAR.findall(_CODE.sub("`", row))) for row in (before, line)]
    return [] if bars[0] == bars[1] else [f"a row of {bars[1]} bars below one of {bars[0]}: {line!r}"]


def _unportable(formula):
    faults = [f"{found[0]} is not portable." for found in COMMANDS.finditer(formula)]
    plain = re.sub(r"\\\\(\[[^\]]*\])?", "", formula)
    if "<" in plain:
        faults.append("< is not portable; \\lt is.")
    if re.search(r"(?<!\\)\*", plain):
        faults.append("* is not portable; \\ast is.")
    if re.search(r"\\[{}\[\]()|]", plain):
        faults.append(f"a bracket that Markdown unescapes, in {formula!r}")
    if "`" in plain:
        faults.append("a backtick in a formula.")
    return faults
