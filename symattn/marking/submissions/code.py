"""Matrices in code, and in what programs print: read as they stand, and never run.

In a text, every matrix that a constructor makes, `matrix(c(1, 2), nrow = 1)` or `mat(1, 2)`, becomes rows in brackets.
Python in the cells of a notebook is parsed, and nothing else is done with it.  A value is read where it is written out:
lists of numbers, arithmetic of numbers alone, texts such as "e^2/3" for exact values.  What has to be computed has its
value in the output, which is read in the same way.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate, islice
from types import EllipsisType

from symattn.marking.submissions.alphabet import rewriting, undrawn
from symattn.marking.submissions.answers import RawText
from symattn.marking.submissions.entries import kind_of
from symattn.marking.submissions.latex import Groups, Replaced, rewritten
from symattn.marking.submissions.tables import LONGEST, Cells, closed, read_matrix, split, without_kind

MOST_BEGINS = 200
"""Places in an output where a matrix may begin."""


@dataclass
class Code:
    """What one cell says: names with the matrices written out for them, none where they are computed.

    `shown` are the names whose values stand below the cell, in their order, "" for any other value; `is_code` is false
    of comments alone.
    """

    names: dict[str, Cells | RawText | None] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    is_code: bool = False


class _ComputedError(Exception):
    """A value that does not stand there."""


def read_code(source: str) -> Code | None:
    """The code of one cell; None if it is not Python, or far too long.

    >>> code = read_code("Q = np.array([[1/2, -np.exp(2)], ['√3', 2**3]])\\nS = Q @ K.T\\nS")
    >>> code.names, code.shown
    ({'Q': Cells(rows=(('1/2', '-exp(2)'), ('√3', '2^3')), factor=''), 'S': None}, ('S',))
    """
    source = _MAGIC.sub("", source.replace("\r\n", "\n").replace("\r", "\n"))
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the student's code
            statements, values = ast.parse(source).body, _Values(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    code = Code(shown=tuple(_every_shown(statements)), is_code=bool(statements))
    for statement in statements:
        for name, node in _assigned(statement).items():
            written = values.written_out(node) if node else None
            if written is not None and written.blank:
                code.names.pop(name, None)
            else:
                code.names[name] = written
    return code


def printed(output: str) -> Cells | None:
    """What stands in brackets, or in a call, as NumPy, PyTorch, SymPy or `print` shows a matrix; None if it is anything
    else, or not all of one.

    >>> printed("array([[0.09  , 1.    ],\\n       [0.6652, 0.2447]])").rows
    (('0.0900', '1.0000'), ('0.6652', '0.2447'))
    >>> printed("[[ 0 -2]\\n [ 2  1]]").rows
    (('0', '-2'), ('2', '1'))
    >>> printed("⎡1  2⎤\\n⎢    ⎥\\n⎣3  4⎦").rows
    (('1', '2'), ('3', '4'))
    >>> printed("tensor([[0.5000, 1.0000]], dtype=torch.float64, grad_fn=<MmBackward0>)").rows
    (('0.5000', '1.0000'),)
    >>> printed("Matrix([[exp(-1) + 1], [2]])").rows
    (('exp(-1) + 1',), ('2',))
    """
    text = without_kind(undrawn(output).strip())
    listed, drawn = _LISTED.match(text), _DRAWN.match(text)
    columns = len(split(listed[1], ",")) if listed else len(drawn[1].split("&")) if drawn else 0
    found = read_matrix(text, (0, columns))
    rows = tuple(tuple(map(_in_text, row)) for row in found.rows) if found else ()
    if found is None or not rows or any(kind_of(cell) != "number" for row in rows for cell in row):  # [0, 1, ..., 9]
        return None
    cells = Cells(rows, found.factor)
    is_array = text.startswith(("array", "Array", "tensor")) or not {",", "&"} & set(text)
    return _with_zeros(cells) if is_array and "e" not in text[6:] else cells


_LISTED = re.compile(r"(?:\w*Matrix\(|\w*\(?(?=[^\n]*\][ \t]*,))\[[ \t]*\[([^][]*)\]")
"""Rows between which commas stand, as between their entries."""
_DRAWN = re.compile(r"\[([^][;]*);")
"""A matrix that was drawn in brackets, as `undrawn` writes it."""


def taken_apart(output: str) -> Iterator[tuple[str, Cells | None]]:
    """What a cell shows: every matrix with the words before it, and the words behind the last.

    >>> list(taken_apart("S =\\n [[1 2]\\n [3 4]]"))
    [('S =\\n ', Cells(rows=(('1', '2'), ('3', '4')), factor='')), ('', None)]
    """
    start = 0
    text = undrawn(output[:LONGEST])
    for begin in islice(_BEGINS.finditer(text), MOST_BEGINS):
        end = closed(text, begin.end() - 1, "([", ")]") if begin.start() >= start else 0
        matrix = printed(text[begin.start() : end]) if end else None
        if matrix:
            yield text[start : begin.start()], matrix
            kind = _KIND_BEHIND.match(text, end)
            start = kind.end() if kind else end
    yield text[start:], None


_BEGINS = re.compile(
    r"(?:\b(?:[Aa]rray|matrix|tensor|Matrix|ImmutableDenseMatrix|MutableDenseMatrix)\(|\[(?=\s*\[)|\[(?=[^\[\]\n]*[&;]))"
)
_KIND_BEHIND = re.compile(r"\s*,?\s*(?:dtype|device)=[\w.']+\)?")
_MAGIC = re.compile(r"^[ \t]*[%!?][^\n]*", re.MULTILINE)
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")


SINGLE_PLACES = 7
"""Decimal places that a float32 is printed with at least, where it is no short number."""


def _with_zeros(cells: Cells) -> Cells:
    """The decimals of an array with equally many places, as NumPy rounds them: it prints no zeros at their ends.

    Where seven or more are shown, a number with one or two fewer may be a larger one in float32, and stays.
    """
    places = max(
        (len(text.partition(".")[2]) for row in cells.rows for text in row if _PLAIN.fullmatch(text)), default=0
    )

    def filled(text: str) -> str:
        whole, _, decimals = text.partition(".")
        is_short = places < SINGLE_PLACES or len(decimals) < places - 2
        return f"{whole}.{decimals.ljust(places, '0')}" if places and is_short and _PLAIN.fullmatch(text) else text

    return Cells(tuple(tuple(map(filled, row)) for row in cells.rows), cells.factor)


# ------------------------------------------------------------------------------------ statements


def _assigned(statement: ast.stmt) -> Mapping[str, ast.expr | None]:
    """The names that a statement gives a value, each with the value; None where it is a part of one: Q[0, 1] = 2."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {}  # what has a name in there has none outside
        case ast.Assign(targets, value) if all(isinstance(target, ast.Name) for target in targets):
            return {target.id: value for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(ast.Name(name), _, value):
            return {name: value}
    names = dict[str, ast.expr | None]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(name, ast.Store()) | ast.Subscript(ast.Name(name), _, ast.Store()):
                names[name] = None
    return names


def _every_shown(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The names of what is printed and displayed, and of the expression at the end, which is shown; "" for what a
    function of somebody's own, or a loop, may print besides.
    """
    for number, statement in enumerate(statements, 1):
        match statement:
            case ast.Expr(ast.Call(function, values)) if _last_name(function) in _SHOWING:
                yield from (_shown(value) for value in values if not isinstance(value, ast.Constant))
            case ast.Expr(value) if number == len(statements):
                yield from map(_shown, value.elts if isinstance(value, ast.Tuple) else [value])
            case ast.Expr(ast.Call(ast.Name())):
                yield ""
            case ast.For() | ast.While() | ast.If() | ast.With() | ast.Try():
                calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
                yield from [""] * any(_last_name(function) in _SHOWING for function in calls)


def _shown(value: ast.expr) -> str:
    """The name whose value is shown, rounded or as a table or not; "" for any other value."""
    match value:
        case ast.Name(name):
            return name
        case ast.Call(ast.Attribute(ast.Name(name), method)) if method in _SHOWN_AS and name not in _MODULES:
            return name  # S.round(3), but not np.round(S, 3)
        case ast.Call(function, [inner, *_]) if _last_name(function) in _SHOWN_AS | _SHOWING:
            return _shown(inner)
    return ""


_SHOWING = frozenset(("print", "display", "pprint"))
_SHOWN_AS = frozenset(("round", "around", "array", "asarray", "DataFrame", "N", "evalf", "detach", "numpy", "tolist"))
"""Functions and methods that show a matrix in another form."""
_MODULES = frozenset(("np", "numpy", "torch", "pd", "pandas", "sp", "sympy", "jnp", "tf"))


# ------------------------------------------------------------------------------------ values

_ARRAYS = frozenset(["array", "Array", "asarray", "matrix", "asmatrix", "Matrix", "ImmutableMatrix", "tensor"])
_FRACTIONS = frozenset(["Fraction", "Rational"])
_THEMSELVES = _FRACTIONS | {"Integer", "Float", "S", "sympify", "int", "float", "float64", "int64"}
_in_text = rewriting(
    (r"\b\w+\.(?=[A-Za-z_])", ""),  # np.
    (rf"\b(?:{'|'.join(_FRACTIONS)})\(([^(),]+),([^(),]+)\)", r"((\1)/(\2))"),
    (rf"\b(?:{'|'.join(_THEMSELVES)})(?=\()|['\"]|(?<=\d)_(?=\d)", ""),
    (r"\*\*", "^"),
    (r"\blog\b", "ln"),
    (r"\bE\b", "e"),
    (r"\boo\b", "inf"),
    (r"(?<!\w)\((-?inf)\)", r"\1"),  # float("-inf")
    (r"(?i)(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?(?![\w.])", lambda found: format(Decimal(found[0]), "f")),
)
"""What stands otherwise in code than people write it."""


class _Values:
    """Values written out in some source, as the texts that people would type."""

    def __init__(self, source: str) -> None:
        self.source = source.encode()
        self.starts = [0, *accumulate(len(line) for line in self.source.splitlines(keepends=True))]

    def written_out(self, node: ast.expr) -> Cells | RawText | None:
        """A matrix or a text; None where it has to be computed."""
        try:
            value = self.value(node)
        except (_ComputedError, RecursionError, ValueError):  # of ragged rows, which cannot be turned
            return None
        return Cells(((value,),)) if isinstance(value, str) else value

    def value(self, node: ast.expr) -> str | RawText | Cells:
        """Arithmetic of numbers as it was typed, a word, or rows: a list times a number is the list again and again."""
        match node:
            case ast.Constant(str(text)):
                return RawText(text)
            case ast.Constant(bool() | None | EllipsisType() as value):
                return RawText(str(value).lower() if isinstance(value, bool) else "")
            case ast.List(items) | ast.Tuple(items):
                return _listed([*map(self.value, items)])
            case ast.Call(function, [inner, *_]) if _last_name(function) in _ARRAYS:
                return self.value(inner)
            case ast.Attribute(inner, "T") if isinstance(array := self.value(inner), Cells):
                return array.transposed()
            case ast.UnaryOp(ast.USub(), inner) if _has_array(inner):
                return self.times(inner, "-1")
            case ast.BinOp(number, ast.Mult(), inner) if _has_array(inner):
                return self.times(inner, self.number(number))
            case ast.BinOp(inner, ast.Mult(), number) if _has_array(inner):
                return self.times(inner, self.number(number))
            case ast.BinOp(inner, ast.Div(), number) if _has_array(inner):
                return self.times(inner, f"1/({self.number(number)})")
        return self.number(node)

    def times(self, node: ast.expr, factor: str) -> Cells:
        array = self.value(node)
        if not isinstance(array, Cells):
            raise _ComputedError
        return Cells(array.rows, f"({array.factor})*({factor})" if array.factor else factor)

    def number(self, node: ast.expr) -> str:
        """Whatever is a number as people type them."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        source = self.source[start : self.starts[node.end_lineno - 1] + node.end_col_offset].decode()
        typed = _in_text(source)
        if not isinstance(node, _ARITHMETIC) or _OTHERWISE.search(source) or kind_of(typed) != "number":
            raise _ComputedError
        return typed


_OTHERWISE = re.compile(r"[\[^%&|~]|//|\bnot\b|['\"]\s*[+*]")
"""Signs that mean something else in code than where people write numbers."""
_ARITHMETIC = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Call, ast.Name, ast.Attribute)


def _has_array(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) and _last_name(one.func) in _ARRAYS for one in ast.walk(node))


def _listed(values: Sequence[str | RawText | Cells]) -> Cells:
    """Rows, or the entries of one row."""
    rows = [value.rows[0] for value in values if isinstance(value, Cells) and len(value.rows) == 1 and not value.factor]
    entries = [value if isinstance(value, str) else value.text for value in values if not isinstance(value, Cells)]
    if max(len(rows), len(entries)) < len(values):
        raise _ComputedError
    return Cells(tuple(rows) or (tuple(entries),))


def _last_name(node: ast.expr) -> str:
    """exp, of np.exp or exp."""
    match node:
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return name
    return ""


_TYPED = re.compile(r"\s*(?:>>>|In \[\d+\]:)(?: |$)")
_GOES_ON = re.compile(r"\s*\.\.\.:?(?: |$)")
_SHOWN = re.compile(r"\s*Out\[\d+\]:\s?")


def is_session(text: str) -> bool:
    """Whether lines begin with the prompt of Python or of IPython."""
    return any(map(_TYPED.match, text.splitlines()))


def as_text(session: str) -> str:
    r"""The same lines as plain text: `S =` in place of a name that was asked for, and nothing in place of what only
    leads there.

    >>> as_text(">>> S = Q @ K.T\n>>> S\n[[1 2]\n [3 4]]\nThat is all.")
    '\nS =\n[[1 2]\n [3 4]]\nThat is all.'
    """
    statements = [(lines, read_code("\n".join(lines)) if typed else None) for typed, lines in _statements(session)]
    shown = {name for _, code in statements if code for name in code.shown}
    return "\n".join(line for lines, code in statements for line in _written(lines, code, shown))


def _statements(session: str) -> Iterator[tuple[bool, list[str]]]:
    """What was typed at one prompt, without the prompts, and what stands below it: whether it was typed, its lines."""
    typed: list[str] = []
    for line in session.splitlines():
        if typed and (prompt := _GOES_ON.match(line)):
            typed.append(line[prompt.end() :])
            continue
        if typed:
            yield True, typed
        prompt = _TYPED.match(line)
        typed = [line[prompt.end() :]] if prompt else []
        if not prompt:
            yield False, [_SHOWN.sub("", line)]
    if typed:
        yield True, typed


def _written(lines: list[str], code: Code | None, shown: set[str]) -> list[str]:
    if code is None or any(value is not None for value in code.names.values()):
        return lines  # words, or numbers that were typed
    if not code.is_code:
        return [line.lstrip("# ") for line in lines]
    if code.shown and code.shown[-1]:
        return [*[""] * (len(lines) - 1), f"{code.shown[-1]} ="]
    return [""] * len(lines) if code.names.keys() <= shown else lines


def in_brackets(text: str) -> str:
    """A text in which every matrix that a constructor makes is a list of rows.

    >>> in_brackets("S <- matrix(c(1, 2, 3, 4), nrow = 2)"), in_brackets("S <- rbind(c(1, 2), c(3, 4))")
    ('S <- [[1, 3], [2, 4]]', 'S <- [[1, 2], [3, 4]]')
    >>> in_brackets("Array([[1, 2]], dtype=float32)"), in_brackets("$S = mat(1, 2; 3, 4)$"), in_brackets("array![[1]]")
    ('[[1, 2]]', '$S = [1, 2; 3, 4]$', '[[1]]')
    >>> in_brackets("S = np.matrix(1 2; 3 4)")
    'S = [1 2; 3 4]'
    """
    return in_square(rewritten(text, _CONSTRUCTOR, _made))


def in_square(text: str) -> str:
    """A text in which lists in curly brackets are in square ones; braces of LaTeX stay.

    >>> in_square("S = {{1, 2}, {3, 4},};")
    'S = [[1, 2], [3, 4],];'
    """
    return _CURLY.sub(lambda found: found[0].translate(_BRACES), text)


_BRACES = str.maketrans("{}", "[]")


_CURLY = re.compile(r"(?<![\w}_^])\{\s*\{[^{}]*\}(?:\s*,\s*\{[^{}]*\})*[\s,]*\}")


_CONSTRUCTOR = re.compile(
    r"(?<![\w\\.])(?:[A-Za-z]\w{0,15}\.){0,3}"
    r"(?P<name>Array|Tensor|(?:array|tensor|matrix)(?=!)|matrix|mat|vec|rbind|cbind"
    r"|(?:(?<=[=(,-])|(?<=[=(,-] ))c)!?\s{0,4}(?=[(\[])"
)
_NAMED = re.compile(r"([A-Za-z_]\w{0,15})\s*[=:]\s*(\([^()]*\)|\"[^\"]*\"|'[^']*'|<[^<>]*>|[\w.]+)")


def _made(constructor: re.Match[str], groups: Groups) -> Replaced:
    """The matrix that it makes, on as many lines as before; None where that does not stand there."""
    start, end = groups[0] if groups else (0, 0)
    if not 0 < end - start < LONGEST:
        return None
    whole = constructor.string[start:end]
    every = [argument.strip() for argument in split(whole[1:-1], ",")]
    options = {found[1]: found[2] for found in map(_NAMED.fullmatch, every) if found}
    arguments = [argument for argument in every if argument and not _NAMED.fullmatch(argument)]
    vectors = [*map(_vector, arguments)]
    made = ""
    match constructor["name"]:
        case "rbind" if all(vectors):
            made = _of_rows(vectors)
        case "cbind" if all(vectors):
            made = _of_rows([*zip(*vectors, strict=False)])
        case "c" if not options:
            made = whole.translate(_SQUARE)
        case "matrix" if any(vectors[:1]):
            made = _of_rows(_of_r(vectors[0], arguments, options))
        case "matrix" | "mat" | "vec" as name if arguments and (name != "matrix" or ";" in whole):
            made = f"[{('; ' if name == 'vec' else ', ').join(arguments)}]"
        case "Array" | "Tensor" | "array" | "tensor" | "matrix" if whole.startswith("["):
            made = whole
        case "Array" | "Tensor" | "array" | "tensor" if len(arguments) == 1 and arguments[0][:1] in ("[", "("):
            made = arguments[0]
    return (" ".join(made.split("\n")) + "\n" * whole.count("\n"), end) if made else None


_SQUARE = str.maketrans("(){}", "[][]")


def _vector(argument: str) -> list[str]:
    """The numbers of R's c(1, 2), also behind a name; none of anything else."""
    found = _IN_C.fullmatch(argument)
    return [number.strip() for number in split(found[1], ",")] if found else []


_IN_C = re.compile(r"(?:[\w.]{1,20}\s*=\s*)?c\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.DOTALL)


def _of_r(numbers: Sequence[str], arguments: Sequence[str], options: Mapping[str, str]) -> list[list[str]]:
    """R fills a matrix column by column, unless it is told to do otherwise."""
    sizes = dict(zip(("nrow", "ncol"), arguments[1:], strict=False)) | dict(options)
    high, wide = (int(size[:3]) if (size := sizes.get(name, "")).isdigit() else 0 for name in ("nrow", "ncol"))
    high = high or (len(numbers) // wide if wide else len(numbers))
    if not high or len(numbers) % high:
        return []
    rows = [[*numbers[row::high]] for row in range(high)]
    wide = len(numbers) // high
    by_row = options.get("byrow", "").startswith("T")
    return [[*numbers[row * wide : (row + 1) * wide]] for row in range(high)] if by_row else rows


def _of_rows(rows: Sequence[Sequence[str]]) -> str:
    lines = (f"[{', '.join(row)}]" for row in rows)
    return f"[{', '.join(lines)}]" if rows else ""
