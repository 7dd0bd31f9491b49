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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate, islice

from symattn.marking.submissions.alphabet import rewriting, undrawn
from symattn.marking.submissions.answers import Cells, RawText
from symattn.marking.submissions.entries import kind_of
from symattn.marking.submissions.latex import Groups, Replaced, rewritten
from symattn.marking.submissions.tables import LONGEST, closed, read_matrix, split, without_kind

MOST_BEGINS = 200
"""Places in an output where a matrix may begin."""
DEEPEST = 40
"""Operations, calls and brackets inside one another."""


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
    parsed = _parsed(_MAGIC.sub("", source.replace("\r\n", "\n").replace("\r", "\n")))
    if parsed is None:
        return None
    module, values = parsed
    code = Code(is_code=bool(module.body))
    for statement in module.body:
        _read_statement(statement, values, code)
    code.shown = tuple(_every_shown(module.body))
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
    """
    text = without_kind(undrawn(output).strip())
    found = read_matrix(text)
    rows = tuple(tuple(map(_in_text, row)) for row in found.rows) if found else ()
    if found is None or not rows or any(kind_of(cell) != "number" for row in rows for cell in row):  # [0, 1, ..., 9]
        return None
    cells = Cells(rows, found.factor)
    is_array = text.startswith(("array", "Array", "tensor")) or not {",", "&"} & set(text)
    return _with_zeros(cells) if is_array and "e" not in text[6:] else cells


def taken_apart(output: str) -> Iterator[str | Cells]:
    """What a cell shows, as words and matrices in turn, beginning and ending with words.

    >>> list(taken_apart("S =\\n [[1 2]\\n [3 4]]"))
    ['S =\\n ', Cells(rows=(('1', '2'), ('3', '4')), factor=''), '']
    """
    start = 0
    text = undrawn(output[:LONGEST])
    for begin in islice(_BEGINS.finditer(text), MOST_BEGINS):
        end = closed(text, begin.end() - 1, "([", ")]") if begin.start() >= start else 0
        matrix = printed(text[begin.start() : end]) if end else None
        if matrix:
            yield text[start : begin.start()]
            yield matrix
            kind = _KIND_BEHIND.match(text, end)
            start = kind.end() if kind else end
    yield text[start:]


_BEGINS = re.compile(
    r"(?:\b(?:[Aa]rray|matrix|tensor|Matrix|ImmutableDenseMatrix|MutableDenseMatrix)\(|\[(?=\s*\[)|\[(?=[^\[\]\n]*&))"
)
_KIND_BEHIND = re.compile(r"\s*,?\s*(?:dtype|device)=[\w.']+\)?")
_MAGIC = re.compile(r"^[ \t]*[%!?][^\n]*", re.MULTILINE)
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?")


def _with_zeros(cells: Cells) -> Cells:
    """The decimals of an array with equally many places, as NumPy rounds them: it prints no zeros at their ends."""
    places = max(
        (len(text.partition(".")[2]) for row in cells.rows for text in row if _PLAIN.fullmatch(text)), default=0
    )

    def filled(text: str) -> str:
        whole, _, decimals = text.partition(".")
        return f"{whole}.{decimals.ljust(places, '0')}" if places and _PLAIN.fullmatch(text) else text

    return Cells(tuple(tuple(map(filled, row)) for row in cells.rows), cells.factor)


def _parsed(source: str) -> tuple[ast.Module, _Values] | None:
    """The syntax tree and what reads values in it; None if it is not Python, nested too deeply, or too long."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the student's code
            return ast.parse(source), _Values(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# ------------------------------------------------------------------------------------ statements


def _read_statement(statement: ast.stmt, values: _Values, code: Code) -> None:
    value: ast.expr | None = None
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return  # what has a name in there has none outside
        case ast.Assign(targets, right) if all(isinstance(target, ast.Name) for target in targets):
            value = right
        case ast.AnnAssign(ast.Name(), _, right):
            value = right
    try:
        written = values.matrix(value) if value else None
    except _ComputedError:
        written = None
    for name in dict.fromkeys(_assigned(statement)):
        if written is not None and written.blank:
            code.names.pop(name, None)
        else:
            code.names[name] = written


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a value, or a part of one: Q[0, 1] = 2."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(name, ast.Store()) | ast.Subscript(ast.Name(name), _, ast.Store()):
                yield name


def _every_shown(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The names of what is printed and displayed, and of the expression at the end, which is shown; "" for what a
    function of somebody's own, or a loop, may print besides.
    """
    for number, statement in enumerate(statements, 1):
        match statement:
            case ast.Expr(ast.Call(function, values)) if _last_name(function) == "print":
                yield from map(_shown, [value for value in values if not isinstance(value, ast.Constant)])
            case ast.Expr(ast.Call(function, values)) if _last_name(function) in ("display", "pprint"):
                yield from map(_shown, values)
            case ast.Expr(value) if number == len(statements):
                yield from map(_shown, value.elts if isinstance(value, ast.Tuple) else [value])
            case ast.Expr(ast.Call(ast.Name())):
                yield ""
            case ast.For() | ast.While() | ast.If() | ast.With() | ast.Try():
                calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
                if any(_last_name(call.func) in ("print", "display") for call in calls):
                    yield ""


def _shown(value: ast.expr) -> str:
    """The name whose value is shown, rounded or as a table or not; "" for any other value."""
    match value:
        case ast.Name(name):
            return name
        case ast.Call(function, [inner]) if _last_name(function) in ("print", "display"):
            return _shown(inner)
        case ast.Call(ast.Attribute(ast.Name(name), method)) if method in _SHOWN_AS and name not in _MODULES:
            return name  # S.round(3), but not np.round(S, 3)
        case ast.Call(function, [inner, *_]) if _last_name(function) in _SHOWN_AS:
            return _shown(inner)
    return ""


_SHOWN_AS = frozenset(("round", "around", "array", "asarray", "DataFrame", "N", "evalf", "detach", "numpy", "tolist"))
"""Functions and methods that show a matrix in another form."""
_MODULES = frozenset(("np", "numpy", "torch", "pd", "pandas", "sp", "sympy", "jnp", "tf"))


# ------------------------------------------------------------------------------------ values

_ARRAYS = frozenset(["array", "Array", "asarray", "matrix", "asmatrix", "Matrix", "ImmutableMatrix", "tensor"])
_FRACTIONS = frozenset(["Fraction", "Rational"])
_THEMSELVES = _FRACTIONS | {"Integer", "Float", "S", "sympify", "int", "float", "float64", "int64"}
_FUNCTIONS = frozenset(["exp", "sqrt", "log", "ln", "sin", "cos"]) | _THEMSELVES
_CONSTANTS = frozenset(["e", "E", "inf", "oo", "nan"])
_in_text = rewriting(
    (r"\b\w+\.(?=[A-Za-z_])", ""),  # np.
    (rf"\b(?:{'|'.join(_FRACTIONS)})\(([^(),]+),([^(),]+)\)", r"((\1)/(\2))"),
    (rf"\b(?:{'|'.join(_THEMSELVES)})(?=\()|['\"]|(?<=\d)_(?=\d)", ""),
    (r"\*\*", "^"),
    (r"\blog\b", "ln"),
    (r"\bE\b", "e"),
    (r"\boo\b", "inf"),
    (r"(?i)(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?(?![\w.])", lambda found: format(Decimal(found[0]), "f")),
)
"""What stands otherwise in code than people write it."""


class _Values:
    """Values written out in some source, as the texts that people would type."""

    def __init__(self, source: str) -> None:
        self.source = source.encode()
        self.starts = [0, *accumulate(len(line) for line in self.source.splitlines(keepends=True))]

    def matrix(self, node: ast.expr, depth: int = 0) -> Cells | RawText:
        """Lists of rows, one row, a number, a text; an array of these, turned or times a number.

        Only an array has a factor: a list times a number is the list again and again.
        """
        if depth > DEEPEST:
            raise _ComputedError
        match node:
            case ast.List(items) | ast.Tuple(items):
                return Cells(self.rows(items))
            case ast.Call(function, [first, *_]) if _last_name(function) in _ARRAYS:
                return self.matrix(first, depth + 1)
            case ast.Attribute(inner, "T"):
                cells = self.array(inner, depth)
                return Cells(tuple(zip(*cells.rows, strict=True)), cells.factor)
            case ast.UnaryOp(ast.USub(), inner) if _is_array(inner):
                return _times(self.array(inner, depth), "-1")
            case ast.BinOp(number, ast.Mult(), inner) if _is_array(inner):
                return _times(self.array(inner, depth), self.number(number))
            case ast.BinOp(inner, ast.Mult(), number) if _is_array(inner):
                return _times(self.array(inner, depth), self.number(number))
            case ast.BinOp(inner, ast.Div(), number) if _is_array(inner):
                return _times(self.array(inner, depth), f"1/({self.number(number)})")
            case ast.Constant(str(text)):
                return RawText(text)
        return Cells(((self.entry(node),),))

    def array(self, node: ast.expr, depth: int) -> Cells:
        """An array, which has as many entries in every row."""
        found = self.matrix(node, depth + 1) if _is_array(node) else None
        if not isinstance(found, Cells) or len(set(map(len, found.rows))) != 1:
            raise _ComputedError
        return found

    def rows(self, items: Sequence[ast.expr]) -> tuple[tuple[str, ...], ...]:
        inner = [_listed(item) for item in items]
        if not any(row is not None for row in inner):
            return (tuple(map(self.entry, items)),)
        if None in inner:
            raise _ComputedError
        return tuple(tuple(map(self.entry, row or ())) for row in inner)

    def entry(self, node: ast.expr) -> str:
        """One entry as a text; "" for what is still open."""
        match node:
            case ast.Constant(str(text)):
                return text
            case ast.Constant(bool(value)):
                return str(value).lower()
            case ast.Constant(value) if value is None or value is ...:
                return ""
        return self.number(node)

    def number(self, node: ast.expr) -> str:
        """Arithmetic of numbers, with the digits that were typed."""
        if not _is_number(node):
            raise _ComputedError
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        text = self.source[start : self.starts[node.end_lineno - 1] + node.end_col_offset].decode()
        return _in_text(text)


def _is_number(node: ast.expr, depth: int = 0) -> bool:
    """Whether it is arithmetic of numbers alone."""
    if depth > DEEPEST:
        return False
    match node:
        case ast.Constant(value):
            return type(value) in (int, float)
        case ast.UnaryOp(ast.USub() | ast.UAdd(), body):
            return _is_number(body, depth + 1)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right):
            return _is_number(left, depth + 1) and _is_number(right, depth + 1)
        case ast.Call(function, [ast.Constant(str())], []):
            return _last_name(function) in _THEMSELVES
        case ast.Call(function, [argument], []):
            return _last_name(function) in _FUNCTIONS and _is_number(argument, depth + 1)
        case ast.Call(function, [above, below], []):
            return _last_name(function) in _FRACTIONS and _is_number(above, depth + 1) and _is_number(below, depth + 1)
    return _last_name(node) in _CONSTANTS


def _listed(node: ast.expr) -> Sequence[ast.expr] | None:
    """What stands in an inner list; None if it is not a list."""
    match node:
        case ast.List(items) | ast.Tuple(items):
            return items
        case ast.Call(function, [inner]) if _last_name(function) in _ARRAYS:
            return _listed(inner)
    return None


def _times(cells: Cells, factor: str) -> Cells:
    return Cells(cells.rows, f"({cells.factor})*({factor})" if cells.factor else factor)


def _last_name(node: ast.expr) -> str:
    """exp, of np.exp or exp."""
    match node:
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return name
    return ""


def _is_array(node: ast.expr, depth: int = 0) -> bool:
    """Whether it is a call of np.array and the like, perhaps in brackets and operations of its own."""
    if depth > DEEPEST:
        return False
    match node:
        case ast.Call(function):
            return _last_name(function) in _ARRAYS
        case ast.Attribute(inner, "T") | ast.UnaryOp(ast.USub(), inner):
            return _is_array(inner, depth + 1)
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            return _is_array(left, depth + 1) or _is_array(right, depth + 1)
    return False


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
            lines = [_vector(argument) for argument in arguments]
            rows = lines if name == "rbind" else [*map(list, zip(*lines, strict=False))]
            made = _of_rows(rows if all(lines) else [])
        case "c":
            made = whole.translate(_SQUARE) if not options else ""
        case "mat" | "vec" as name:
            entries = _OPTION.sub("", inside).strip(" ,\n")
            made = f"[{entries if name == 'mat' else entries.replace(',', ';')}]" if entries else ""
        case _ if listed := _vector(arguments[0]):
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


def _vector(argument: str) -> list[str]:
    """The numbers of R's c(1, 2), also behind a name; none of anything else."""
    found = _IN_C.fullmatch(argument)
    return [number.strip() for number in split(found[1], ",")] if found else []


_IN_C = re.compile(r"(?:[\w.]{1,20}\s*=\s*)?c\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.DOTALL)


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
