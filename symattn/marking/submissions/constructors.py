"""Matrices as programs and typesetters write them, `matrix(c(1, 2), nrow = 1)` or `mat(1, 2)`, as rows in brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symattn.marking.submissions.latex import Groups, Replaced, rewritten
from symattn.marking.submissions.matrices import LONGEST, closed, split


def in_brackets(text: str) -> str:
    """A text in which every matrix that a constructor makes is a list of rows.

    >>> in_brackets("S <- matrix(c(1, 2, 3, 4), nrow = 2)"), in_brackets("S <- rbind(c(1, 2), c(3, 4))")
    ('S <- [[1, 3], [2, 4]]', 'S <- [[1, 2], [3, 4]]')
    >>> in_brackets("Array([[1, 2]], dtype=float32)"), in_brackets("$S = mat(1, 2; 3, 4)$"), in_brackets("array![[1]]")
    ('[[1, 2]]', '$S = [1, 2; 3, 4]$', '[[1]]')
    """
    return in_square(rewritten(text, _CONSTRUCTOR, _made))


def in_square(text: str) -> str:
    """A text in which lists in curly brackets are in square ones; braces of LaTeX stay.

    >>> in_square("S = {{1, 2}, {3, 4},};")
    'S = [[1, 2], [3, 4],];'
    """
    return _CURLY.sub(lambda found: found[0].translate(_SQUARE), text)


_CURLY = re.compile(r"(?<![\w}_^])\{\s*\{[^{}]*\}(?:\s*,\s*\{[^{}]*\})*[\s,]*\}")


_CONSTRUCTOR = re.compile(
    r"(?<![\w\\.])(?:[A-Za-z]\w{0,15}\.){0,3}"
    r"(?P<name>Array|Tensor|(?:array|tensor|matrix)(?=!)|matrix|mat|vec|rbind|cbind"
    r"|(?:(?<=[=(,-])|(?<=[=(,-] ))c)!?\s{0,4}(?=[(\[])"
)
_OPTION = re.compile(
    r"[,\s]*(?P<name>[A-Za-z_]\w{0,15})\s*[=:]\s*(?P<value>\([^()]*\)|\"[^\"]*\"|'[^']*'|<[^<>]*>|[\w.]+)"
)
_ARGUMENTS = {"nrow": 1, "ncol": 2}
"""Those of R's `matrix`, by their places behind the numbers."""


def _made(constructor: re.Match[str], groups: Groups) -> Replaced:
    """The matrix that it makes, on as many lines as before; None where that does not stand there."""
    start, end = groups[0] if groups else (0, 0)
    if not 0 < end - start < LONGEST:
        return None
    whole = constructor.string[start:end]
    below = "\n" * whole.count("\n")
    inside = whole[1:-1]
    arguments = [argument.strip() for argument in split(inside, ",")]
    options = {found["name"]: found["value"] for one in arguments if (found := _OPTION.fullmatch(one))}
    match constructor["name"]:
        case "rbind" | "cbind" as name:
            lines = [_listed(argument) for argument in arguments]
            rows = lines if name == "rbind" else [*map(list, zip(*lines, strict=False))]
            made = _of_rows(rows if all(lines) else [])
        case "c":
            made = whole.translate(_SQUARE) if not options else ""
        case "mat" | "vec" as name:
            entries = _OPTION.sub("", inside).strip(" ,\n")
            made = f"[{entries if name == 'mat' else entries.replace(',', ';')}]" if entries else ""
        case _ if listed := _listed(arguments[0]):
            made = _of_rows(_of_r(listed, arguments, options))
        case "matrix" if whole.startswith("("):
            made = ""
        case _:
            made = whole if whole.startswith("[") else _first_list(inside)
    return (made.replace("\n", " ") + below, end) if made else None


_SQUARE = str.maketrans("(){}", "[][]")


def _first_list(arguments: str) -> str:
    """A list of rows that only options stand behind; "" if it is anything else."""
    text = arguments.strip()
    end = closed(text, 0, "[(", "])") if text[:1] in ("[", "(") else 0
    return text[:end] if end and not _OPTION.sub("", text[end:]).strip(" ,\n") else ""


def _listed(argument: str) -> list[str]:
    """The numbers of R's c(1, 2), also behind a name; none of anything else."""
    found = _VECTOR.fullmatch(argument)
    return [number.strip() for number in split(found[1], ",")] if found else []


_VECTOR = re.compile(r"(?:[\w.]{1,20}\s*=\s*)?c\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.DOTALL)


def _of_r(numbers: Sequence[str], arguments: Sequence[str], options: dict[str, str]) -> list[list[str]]:
    """R fills a matrix column by column, unless it is told to do otherwise."""
    sizes = {name: options.get(name, "") for name in _ARGUMENTS}
    for name, place in _ARGUMENTS.items():
        if not sizes[name] and len(arguments) > place and arguments[place].isdigit():
            sizes[name] = arguments[place]
    high, wide = (int(size[:3]) if size.isdigit() else 0 for size in sizes.values())
    high = high or (len(numbers) // wide if wide else len(numbers))
    if not high or len(numbers) % high:
        return []
    wide = len(numbers) // high
    by_row = options.get("byrow", "").startswith("T")
    return [[numbers[i * wide + j if by_row else i + j * high] for j in range(wide)] for i in range(high)]


def _of_rows(rows: Sequence[Sequence[str]]) -> str:
    lines = (f"[{', '.join(row)}]" for row in rows)
    return f"[{', '.join(lines)}]" if rows else ""
