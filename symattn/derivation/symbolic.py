"""A derivation in SymPy: every operation's rule read in symbols, and what SymPy can then do with it.

Where sizes are numbers, a step is a matrix of expressions; where one is a letter, a matrix expression of
`MatrixSymbol`s, or a `FunctionMatrix` with its entry as a function of i and j, and Σ over what has no known number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, cast

from symattn.derivation.algebra import Entries, Index, InSympy, index_in_sympy, size_in_sympy
from symattn.derivation.derivation import Derivation, Operand, RuleOp, Step, symbols
from symattn.derivation.sizes import letters_of, read_size, solved
from symattn.errors import InputError, ShapeError, offered
from symattn.exact import (
    NEGATIVE_INFINITY,
    AnyMatrix,
    Matrix,
    Outline,
    Size,
    exact,
    from_sympy,
    is_symbolic,
    matrix,
    to_sympy,
)

DIGITS = 50

LONGEST = 300
"""The most parts of an entry in letters that is put into later steps; they have a longer one's matrix by name."""


def in_sympy(d: Derivation, wanted: str = "") -> dict[str, Any]:
    """Every given and every step as a SymPy matrix, in terms of the steps before it; of the givens, if not `staged`.

    With `wanted`, no step is worked out on which that one does not rest.

    Where an entry for any i and j would be longer than anybody reads (`LONGEST`), what comes after is composed of that
    step by its name, a `MatrixSymbol`: a block's second norm of R2.  Equal derivations give equal matrices: an index
    that is summed over is a `Dummy` that belongs to its step, so no index from outside is ever taken for it.
    `InputError` for an operation that is no formula: rounding, and the largest of several scores.
    """
    matrices = {name: _given(name, given) for name, given in d.givens.items()}
    operands = {name: _Whole.of(given) for name, given in matrices.items()}
    needed = {step.name for step in d} if not wanted else {wanted, *d.before(wanted)}
    for number, step in enumerate(d.steps):
        if step.name not in needed:
            continue
        stepped = _step(d, step, operands, "k" if d.staged else f"k_{number}")
        matrices[step.name] = stepped.matrix
        by_name = d.staged or _is_long(step, stepped)
        operands[step.name] = _Whole.of(_as_later_steps_see(d, step)) if by_name else stepped
    return matrices


def _is_long(step: Step, stepped: _Whole) -> bool:
    """Whether the entry of a step in letters has too many parts to be put into what comes after."""
    if isinstance(step.result, Matrix):
        return False
    return _parts(stepped.entry(*_places(*step.result.shape))) > LONGEST


def _parts(entry: Any, atoms: tuple[type, ...] = ()) -> int:
    """How many nodes the tree of an expression has; those of some types are one, whatever they are made of."""
    counted: dict[Any, int] = {}

    def count(x: Any) -> int:
        if x not in counted:
            counted[x] = 1 if isinstance(x, atoms) else 1 + sum(map(count, x.args))
        return counted[x]

    return count(entry)


@dataclass(frozen=True)
class Stage:
    """A step as SymPy builds it from the matrices before it.

    `own` has these by their names, and `whole` is in terms of the givens and of those that are `kept`.  A `kept` matrix
    is long, or SymPy has no formula for it, as `lacks` says: later stages have it by its name.
    """

    step: Step
    own: Any
    whole: Any
    kept: bool
    lacks: str = ""


def in_stages(d: Derivation, longest: int) -> Iterator[Stage]:
    """Every step in terms of named matrices and put together, as a program in SymPy does it.

    Entries of givens in symbols are entries of a `MatrixSymbol` here, too: they are called as in Python, Q[0, 0].
    A matrix with an entry of more than `longest` parts is kept by its name if any step uses it; an entry of a named
    matrix is one part.
    """
    from sympy.matrices.expressions.matexpr import MatrixElement

    used = {operand.name for step in d for operand in step.operands}
    named = {name: _by_name(d, name) for name in d.matrices}
    operands = {name: named[name] for name in d.givens}
    for number, step in enumerate(d.steps):
        try:
            own = _step(d, step, named, f"k_{number}", as_whole=True)
            whole = _step(d, step, operands, f"k_{number}")
        except InputError as error:  # rounding, and whatever else only numbers decide
            operands[step.name] = named[step.name]
            yield Stage(step, None, None, kept=True, lacks=str(error))
            continue
        entries = list(_any_entries(step, whole))
        if all(x is to_sympy(NEGATIVE_INFINITY) for x in entries):
            named[step.name] = whole  # a mask that hides everything hides it by name, too
        kept = step.name in used and not _hides(step.result)
        kept = kept and any(_parts(x, (MatrixElement,)) > longest for x in entries)
        operands[step.name] = named[step.name] if kept else whole
        yield Stage(step, own.matrix, whole.matrix, kept)


def _by_name(d: Derivation, name: str) -> _Whole:
    """A matrix by its name; what a mask hides stays hidden."""
    value = d.value(name)
    symbol = _named(name, Outline(value.shape))

    def entry(i: Index, j: Index) -> Any:
        if isinstance(value, Matrix) and isinstance(i, int) and isinstance(j, int):
            x = value[i, j]
            if x is NEGATIVE_INFINITY:
                return to_sympy(x)
        return symbol[index_in_sympy(i), index_in_sympy(j)]

    return _Whole(symbol, entry)


def _hides(value: AnyMatrix) -> bool:
    return isinstance(value, Matrix) and any(x is NEGATIVE_INFINITY for x in value)


def _any_entries(step: Step, stepped: _Whole) -> Iterable[Any]:
    """Every entry, or the entry for any i and j."""
    if isinstance(step.result, Matrix):
        return cast(Iterable[Any], stepped.matrix)
    return (stepped.entry(*_places(*step.result.shape)),)


def step_in_sympy(d: Derivation, name: str) -> Any:
    """One given or step of them; where the derivation is staged, no other is worked out for it."""
    if name in d.givens:
        return _given(name, d.givens[name])
    if not d.staged:
        return in_sympy(d, name)[name]
    before = {operand.name for operand in d[name].operands}
    seen = {o: _Whole.of(_as_later_steps_see(d, d[o]) if o not in d.givens else _given(o, d.givens[o])) for o in before}
    return _step(d, d[name], seen, "k").matrix


@dataclass(frozen=True)
class _Whole:
    """A matrix of SymPy and each of its entries, at indices that are numbers or letters.

    SymPy's own entry of a product of matrices sums over a new `Dummy` each time, so entries are kept beside the matrix.
    """

    matrix: Any
    entry: Callable[[Index, Index], Any]

    @classmethod
    def of(cls, matrix: Any) -> _Whole:
        """A matrix of named entries or of numbers."""
        return cls(matrix, lambda i, j: matrix[index_in_sympy(i), index_in_sympy(j)])


def _step(d: Derivation, step: Step, known: Mapping[str, _Whole], index: str, as_whole: bool = False) -> _Whole:
    """A step's rule in SymPy; `index` is what an index that is summed over is called.

    Where its sizes are numbers every entry is worked out, unless it can be written `as_whole`: Q*K.T.
    """
    import sympy

    op, (rows, columns) = step.op, step.result.shape
    if not isinstance(op, RuleOp):
        raise InputError(f"Step {step.name!r} ({type(op).__name__}) has no formula in symbols; its numbers decide.")
    operands = [_entries(d, known[o.name], o) for o in step.operands]
    entry = cache(lambda i, j: op.rule(InSympy(index), i, j, *operands))
    explicit = isinstance(step.result, Matrix)
    if as_whole or not explicit:
        whole = op.whole(*(_taken(known[o.name].matrix, o) for o in step.operands))
        if whole is not None:
            return _Whole(whole, entry)
    if explicit:
        return _Whole.of(sympy.ImmutableMatrix(rows, columns, lambda i, j: entry(int(i), int(j))))
    i, j = index_in_sympy("i"), index_in_sympy("j")
    any_entry = sympy.Lambda((i, j), entry(*_places(rows, columns)))
    return _Whole(sympy.FunctionMatrix(size_in_sympy(rows), size_in_sympy(columns), any_entry), entry)


def _places(rows: object, columns: object) -> tuple[Index, Index]:
    return 0 if rows == 1 else "i", 0 if columns == 1 else "j"


def _entries(d: Derivation, whole: _Whole, operand: Operand) -> Entries[Any]:
    value = d.value(operand.name)
    shape = operand.of(value).shape
    return Entries(shape, lambda i, j: whole.entry(*operand.place(i, j)), long=not isinstance(value, Matrix))


def _taken(whole: Any, operand: Operand) -> Any:
    """The part of a matrix expression that a step uses."""
    if operand.row is not None:
        whole = whole[operand.row, :]
    if operand.column is not None:
        whole = whole[:, operand.column]
    return whole.T if operand.transposed else whole


def _named(name: str, outline: Outline) -> Any:
    import sympy

    return sympy.MatrixSymbol(name, *map(size_in_sympy, outline.shape))


def _named_entries(d: Derivation, step: Step) -> list[Any]:
    """The symbols that stand for a step's entries."""
    rows, columns = step.result.shape
    assert isinstance(rows, int) and isinstance(columns, int)
    return list(symbols(step.name, rows, columns, d.orientation))


def _as_later_steps_see(d: Derivation, step: Step) -> Any:
    """Symbols that stand for the entries; numbers stay."""
    seen = d.seen(step.name)
    return seen.sympy() if isinstance(seen, Matrix) else _named(step.name, seen)


def _given(name: str, given: AnyMatrix) -> Any:
    return given.sympy() if isinstance(given, Matrix) else _named(name, given)


# ------------------------------------------------------------------------------------------------ with numbers


def in_symbols(d: Derivation) -> Derivation:
    """The same derivation of givens in symbols, later steps in terms of earlier ones."""
    if d.staged:
        return d
    givens = {name: _in_symbols(name, given) for name, given in d.givens.items()}
    return replace(d, staged=True).replay(givens=givens)


def _in_symbols(name: str, given: AnyMatrix) -> AnyMatrix:
    """A symbol of its own for every entry: one letter in two places has a derivative by each of them."""
    rows, columns = given.shape
    if isinstance(given, Outline) or isinstance(rows, str) or isinstance(columns, str):
        return given
    return symbols(name, rows, columns)


def entry_symbols(d: Derivation) -> dict[str, Any]:
    """The symbols of all entries that have one, called as they are typed: q_11 for q_{11}, w^Q_1,12 for w^Q_{1,12}."""
    matrices = [given for given in d.givens.values() if isinstance(given, Matrix)]
    all_symbols = [s for m in matrices for x in m for s in sorted(to_sympy(x).free_symbols, key=str)]
    if d.staged:
        all_symbols += [s for step in d if isinstance(step.result, Matrix) for s in _named_entries(d, step)]
    return {plain_name(s): s for s in all_symbols}


def parameters(d: Derivation) -> dict[str, Any]:
    """The letters in operations' own numbers, by name: T of a temperature, c of a soft cap, epsilon of a norm."""
    sizes = {letter for step in d for size in step.result.shape for letter in letters_of(size)}
    letters = {x for step in d for x in _letters(step.op)}
    return {x.name: x for x in sorted(letters, key=str) if x.name not in sizes}


def with_parameters(d: Derivation, values: Mapping[Any, Any]) -> Derivation:
    """Everything worked out again with numbers, or other letters, in place of parameters."""
    return d.replay(lambda step: replace(step, op=_filled(step.op, values)))


def _letters(part: Any) -> Iterable[Any]:
    """The symbols in an operation, or in one of its parts."""
    if is_symbolic(part):
        yield from part.free_symbols
    elif isinstance(part, Matrix | tuple):
        yield from (x for one in part for x in _letters(one))
    elif is_dataclass(part):
        yield from (x for f in fields(part) for x in _letters(getattr(part, f.name)))


def _filled(part: Any, values: Mapping[Any, Any]) -> Any:
    """An operation, or one of its parts, with something else in place of letters."""
    if not any(x in values for x in _letters(part)):
        return part
    if is_symbolic(part):
        return from_sympy(part.xreplace(values))
    if isinstance(part, Matrix):
        return part.map(lambda x: _filled(x, values))
    if isinstance(part, tuple):
        return tuple(_filled(one, values) for one in part)
    return replace(part, **{f.name: _filled(getattr(part, f.name), values) for f in fields(part)})


def plain_name(symbol: object) -> str:
    """What a symbol is called without the braces of LaTeX: q_11 for q_{11}."""
    return str(symbol).replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Replaced:
    """What `subs` was given: sizes by their letters, numbers by parameters, and matrices by the names of givens."""

    sizes: Mapping[str, Size]
    numbers: Mapping[Any, Any]
    matrices: Mapping[str, object]


def replaced(d: Derivation, values: Mapping[Any, object]) -> Replaced:
    """Sort out what is to be put in for what, by its name or its symbol: a size, a parameter, a given or its entry.

    A matrix in place of one whose size is a letter says what that letter is.  `InputError` for a name that is none of
    these, or an entry of a step.
    """
    letters = {letter for given in d.givens.values() for size in given.shape for letter in letters_of(size)}
    symbols_by_name, of_operations = entry_symbols(d), parameters(d)
    sizes: dict[str, Size] = {}
    numbers, matrices, entries = dict[Any, Any](), dict[str, object](), dict[Any, object]()
    for key, value in values.items():
        name = plain_name(key)
        if name in d.givens:
            matrices[name] = value
        elif name in letters:
            sizes[name] = _size_put_in(name, value)
        elif name in of_operations:
            numbers[of_operations[name]] = to_sympy(exact(value))
        elif name in symbols_by_name:
            entries[symbols_by_name[name]] = value
        elif name in d:
            raise InputError(f"{name} is a step; only givens can be put in: {', '.join(d.givens)}.")
        else:
            known = [*d.givens, *sorted(letters), *of_operations, *symbols_by_name]
            raise InputError(f"There is no {name!r} to put anything in for; {offered(name, known, 'there are {}')}")
    for name, given in d.givens.items():
        if isinstance(given, Outline) and name in matrices:
            sizes = _read_off(name, given, matrix(matrices[name]), sizes)
    return Replaced(sizes, numbers, _with_entries(d, matrices, entries))


def _size_put_in(name: str, value: object) -> Size:
    size = read_size(value)
    if size is None:
        raise InputError(f"{name} is a size; a whole number from 1 or a letter was expected, not {value!r}.")
    return size


def _with_entries(d: Derivation, matrices: Mapping[str, object], entries: Mapping[Any, object]) -> dict[str, object]:
    """Matrices that are put in, and those of givens of which `entries` are; `InputError` for one of a step."""
    whole, left = dict(matrices), dict(entries)
    for name, given in d.givens.items():
        if not isinstance(given, Matrix):
            continue
        of_it = {s: left.pop(s) for s in map(to_sympy, given) if s in left}
        if of_it and name in matrices:
            raise InputError(f"{name} and its entry {plain_name(next(iter(of_it)))} cannot both be put in.")
        if of_it:
            whole[name] = [[of_it.get(to_sympy(x), x) for x in row] for row in given.rows]
    if left:
        raise InputError(f"{plain_name(next(iter(left)))} is an entry of a step; only those of givens can be put in.")
    return whole


def _read_off(name: str, given: Outline, put: AnyMatrix, sizes: Mapping[str, Size]) -> dict[str, Size]:
    """The sizes with those that a matrix in place of an outline tells."""
    told = dict(sizes)
    for size, number in zip(given.shape, put.shape, strict=True):
        if isinstance(size, str) and isinstance(number, int) and (solution := solved(size, number)):
            letter, value = solution
            if told.setdefault(letter, value) != value:
                rows, columns = put.shape
                raise ShapeError(
                    f"{name} is {rows}×{columns}, so {letter} would be {value}; but {letter} is {told[letter]}."
                )
    return told


def substituted(d: Derivation, givens: Mapping[str, object]) -> Derivation:
    """A derivation in symbols with values in place of some of its givens, every step by SymPy's substitution.

    Nothing is worked out by symattn: this is a second way to the numbers.  Where arithmetic is not exact, every step is
    rounded to `DIGITS` significant digits.  `InputError` where a size is a letter, for a
    given that there is not, and for one of another shape.
    """
    _refuse_letters(d)
    known: dict[str, AnyMatrix] = dict(d.givens)
    values: dict[Any, Any] = {}
    for name, value in givens.items():
        if name not in d.givens:
            d.value(name)  # an unknown name says so itself
            raise InputError(f"{name} is a step; only givens can be put in: {', '.join(d.givens)}.")
        known[name] = put = matrix(value)
        if put.shape != d.givens[name].shape:
            given_shape = "×".join(map(str, d.givens[name].shape))
            raise InputError(f"{name} is {given_shape}; a matrix of {put.shape[0]}×{put.shape[1]} was put in.")
        values |= zip(_symbols(d, name), map(to_sympy, _entries_of(put)), strict=True)
    steps, expressions = [], in_sympy(d)
    for step in d:
        result = expressions[step.name].xreplace(values)
        if d.arithmetic != "exact":
            result = result.evalf(DIGITS)
        steps.append(replace(step, result=Matrix.of([from_sympy(x) for x in row] for row in result.tolist())))
        if d.staged:
            values |= zip(_named_entries(d, step), result, strict=True)
    return replace(d, givens=known, steps=tuple(steps), staged=False)


def compiled(d: Derivation, module: str) -> Callable[..., dict[str, Any]]:
    """A function of the givens, by name, that works out every step with NumPy or another module that SymPy knows."""
    import sympy

    _refuse_letters(d)
    d = in_symbols(d)
    program: list[tuple[str, tuple[Any, ...], Any, list[Any]]] = []
    expressions, own = in_sympy(d), parameters(d)
    taken = ", ".join([*d.givens, *own])
    for step in d:
        needed = tuple(sorted(expressions[step.name].free_symbols, key=str))
        try:
            function = sympy.lambdify(needed, expressions[step.name].tolist(), module)
        except (NameError, ImportError) as error:
            raise InputError(
                f"SymPy has no module {module!r} to compile for; numpy, math or mpmath was expected."
            ) from error
        program.append((step.name, needed, function, _named_entries(d, step)))

    def run(**givens: Any) -> dict[str, Any]:
        """Arrays of every step, from arrays of the givens, and numbers for parameters."""
        if missing := next((name for name in (*d.givens, *own) if name not in givens), None):
            raise InputError(f"{missing} is missing; this takes {taken}.")
        if unknown := sorted(givens.keys() - {*d.givens, *own}):
            raise InputError(f"There is no given {unknown[0]!r}; this takes {taken}.")
        env: dict[Any, Any] = {letter: givens[name] for name, letter in own.items()}
        for name, given in d.givens.items():
            rows = [list(row) for row in givens[name]]
            if (len(rows), *{len(row) for row in rows}) != given.shape:
                raise InputError(f"{name} is not {given.shape[0]}×{given.shape[1]}, as it is in this derivation.")
            env |= zip(_symbols(d, name), (x for row in rows for x in row), strict=True)
        results = {}
        for name, needed, function, named in program:
            rows = function(*(env[symbol] for symbol in needed))
            env |= zip(named, (x for row in rows for x in row), strict=True)
            results[name] = _array(rows, module)
        return results

    return run


def _array(rows: list[list[Any]], module: str) -> Any:
    if module not in ("numpy", "scipy"):
        return rows
    import numpy

    return numpy.array(rows, dtype=float)


def derivative(d: Derivation, of: str, by: str) -> Any:
    """∂ of_ij/∂ by_kl as a SymPy array with four indices, i, j, k, l, in terms of the givens; ∂ of/∂ a parameter."""
    import sympy

    _refuse_letters(d)
    d.value(of)
    own = parameters(d)
    if by in own:
        return in_sympy(replace(in_symbols(d), staged=False).replay())[of].diff(own[by])
    if by not in d.givens:
        d.value(by)
        raise InputError(f"{by} is a step; derivatives are taken by givens: {', '.join(d.givens)}.")
    whole = in_sympy(replace(in_symbols(d), staged=False).replay())
    result = sympy.derive_by_array(sympy.ImmutableDenseNDimArray(whole[of]), sympy.ImmutableDenseNDimArray(whole[by]))
    return sympy.permutedims(result, (2, 3, 0, 1))


def _symbols(d: Derivation, name: str) -> list[Any]:
    """The symbols of a given, entry by entry; `InputError` where they are not symbols that stand nowhere else."""
    entries = [to_sympy(x) for x in _entries_of(d.givens[name])]
    others = {
        s for other, m in d.givens.items() if other != name for x in _entries_of(m) for s in to_sympy(x).free_symbols
    }
    if not all(x.is_Symbol for x in entries) or len({*entries} - others) != len(entries):
        raise InputError(f"{name} can be replaced only where each of its entries is a symbol that stands nowhere else.")
    return entries


def _entries_of(given: AnyMatrix) -> Iterable[Any]:
    return given if isinstance(given, Matrix) else ()


def _refuse_letters(d: Derivation) -> None:
    for name, given in d.givens.items():
        if isinstance(given, Outline):
            rows, columns = given.shape
            raise InputError(
                f"{name} is {rows}×{columns}; sizes in numbers, up to 8, are needed for every entry to have a symbol: "
                "derive(…, symbolic=True, sizes={…}), in the shell --size."
            )
