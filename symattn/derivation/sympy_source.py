"""What lines of SymPy are made of: expressions and matrices as they are typed, and the letters that they need.

The counterpart of `numpy_source` for derivations in letters.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

WIDEST = 96  # characters of a line; a matrix that is wider has an entry a line

Names = Mapping[Any, str]
"""What letters, indices of sums and matrices (by their own names) are called in Python."""


def source(expression: Any, names: Names, explicit: bool = False) -> str:
    """An expression, or a matrix, as Python reads it again: S/sqrt(2), Rational(1, 2), exp(S[i, j]).

    Where the names are those of `explicit` matrices, these are stacked and not put together as blocks.
    """
    text: str = _printer()(names, explicit).doprint(expression)
    return text


@cache
def _printer() -> Callable[[Names, bool], Any]:
    """A printer of SymPy's, made where SymPy is needed."""
    from sympy.printing.precedence import PRECEDENCE
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]
        """As `str` has it, but that every number is one of SymPy's and every name one of Python's."""

        def __init__(self, names: Names, explicit: bool) -> None:
            super().__init__()
            self.names = names
            self.explicit = explicit

        def _print_Symbol(self, x: Any) -> str:  # noqa: N802  (these names are SymPy's)
            return self.names.get(x, str(x.name))

        _print_Dummy = _print_Symbol  # noqa: N815

        def _print_MatrixSymbol(self, x: Any) -> str:  # noqa: N802
            return self.names.get(x.name, x.name)

        def _print_Rational(self, x: Any) -> str:  # noqa: N802
            return f"Rational({x.p}, {x.q})"

        def _print_Float(self, x: Any) -> str:  # noqa: N802
            return f"Float('{super()._print_Float(x)}', {x._prec})"

        def _print_Exp1(self, x: Any) -> str:  # noqa: N802
            return "exp(1)"

        def _print_MatMul(self, x: Any) -> str:  # noqa: N802
            """Divisors after the matrix: S/sqrt(d_k)."""
            number, matrices = x.as_coeff_mmul()
            above, below = number.as_numer_denom()
            sign, above = ("-", -above) if above.could_extract_minus_sign() else ("", above)
            factors = [
                self.parenthesize(one, PRECEDENCE["Mul"], strict=True) for one in getattr(matrices, "args", (matrices,))
            ]
            if matrices.func is not x.func:
                factors = [self.parenthesize(matrices, PRECEDENCE["Mul"], strict=True)]
            if above != 1:
                factors.insert(0, self.parenthesize(above, PRECEDENCE["Mul"], strict=True))
            over = "" if below == 1 else "/" + self.parenthesize(below, PRECEDENCE["Pow"], strict=True)
            return sign + "*".join(factors) + over

        def _print_BlockMatrix(self, x: Any) -> str:  # noqa: N802
            rows = [", ".join(map(self._print, x.blocks[i, :])) for i in range(x.blocks.rows)]
            if not self.explicit:
                return f"BlockMatrix([{', '.join(f'[{row}]' for row in rows)}])"
            rows = [row if x.blocks.cols == 1 else f"Matrix.hstack({row})" for row in rows]
            return rows[0] if len(rows) == 1 else f"Matrix.vstack({', '.join(rows)})"

        def _print_ImmutableDenseMatrix(self, x: Any) -> str:  # noqa: N802
            entries = [[self._print(one) for one in row] for row in x.tolist()]
            rows = [", ".join(row) for row in entries]
            if sum(map(len, rows)) > WIDEST:
                rows = [row if len(row) <= WIDEST else ",\n     ".join(cells)
                        for row, cells in zip(rows, entries, strict=True)]  # fmt: skip
                return "Matrix([\n" + "".join(f"    [{row}],\n" for row in rows) + "])"
            return f"Matrix([{', '.join(f'[{row}]' for row in rows)}])"

        _print_MutableDenseMatrix = _print_ImmutableDenseMatrix  # noqa: N815

    return Printer


def letters_in(expressions: Iterable[Any]) -> list[Any]:
    """Every symbol in some expressions, bound or free, in the order in which they come."""
    import sympy

    ordered: dict[Any, None] = {}
    for expression in expressions:
        for x in sympy.preorder_traversal(expression):
            if isinstance(x, sympy.Symbol):
                ordered.setdefault(x)
    return list(ordered)


_ASSUMED = ("integer", "positive", "nonnegative", "real")


def assumptions(letter: Any) -> str:
    """What is assumed of a letter, as `symbols` takes it: integer=True, positive=True."""
    told = letter._assumptions_orig if hasattr(letter, "_assumptions_orig") else letter.assumptions0
    return "".join(f", {name}=True" for name in _ASSUMED if told.get(name))


def declared(names: Mapping[Any, str]) -> Iterator[str]:
    """Letters made symbols, those of which the same is assumed on one line."""
    alike: dict[str, list[str]] = {}
    for letter, name in names.items():
        alike.setdefault(assumptions(letter), []).append(name)
    for told, listed in alike.items():
        listed = list(dict.fromkeys(listed))
        yield f'{", ".join(listed)} = symbols("{" ".join(listed)}"{told})'


def symbol_list(letters: Iterable[Any], rows: int, columns: int) -> str:
    """Symbols by their names alone, for a matrix of them: symbols("q_1:3(1:4)", real=True)."""
    import sympy

    listed = list(letters)
    names = [typed_name(letter) for letter in listed]
    ranges = re.sub(r"11$", f"1:{rows + 1}(1:{columns + 1})", names[0])
    shortest = ranges if [x.name for x in sympy.symbols(ranges, seq=True)] == names else " ".join(names)
    return f'symbols("{shortest}"{assumptions(listed[0])})'


def typed_name(letter: Any) -> str:
    """A symbol's name without what `symbols` takes for something else: q_11 for q_{11}, w^Q_1_12 for w^Q_{1,12}."""
    return re.sub(r"[{}()\s]", "", letter.name).replace(",", "_").replace(":", "_")


def imported(cells: Iterable[str]) -> str:
    """The line that imports from SymPy what some cells use and do not define themselves."""
    import sympy

    used, own = set[str](), set(dir(builtins))
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        if isinstance(node, ast.Name):
            (own if isinstance(node.ctx, ast.Store) else used).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ImportFrom):
            own |= {node.name} if isinstance(node, ast.FunctionDef) else {alias.name for alias in node.names}
        elif isinstance(node, ast.arg):
            own.add(node.arg)
    needed = sorted((name for name in used - own if hasattr(sympy, name)), key=str.lower)
    return f"from sympy import {', '.join(needed)}"
