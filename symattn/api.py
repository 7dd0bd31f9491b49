"""The same verbs in Python as on the command line, `derive`, `worksheet`, `check` and `grade`; and what they take."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from inspect import signature
from numbers import Integral
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, cast, get_args, overload

from symattn import exact
from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.sizes import LARGEST_SIZE, read_size, with_letters
from symattn.errors import InputError, nearest, offered
from symattn.exact import AnyMatrix, Decision, Matrix, Size, to_sympy
from symattn.exact.values import listed
from symattn.foundation.files import read_text, read_toml
from symattn.foundation.progress import Progress, silent
from symattn.foundation.typed import Between, OrOne, Place, ReadBy, Some, read
from symattn.page.document import DEFAULT_LOOK, EVERYTHING, Besides, Document, Look, Solutions
from symattn.page.notation import load_notation
from symattn.page.presentation import make_look
from symattn.teaching.explanation import Conventions, Layout
from symattn.teaching.explanation.steps import Detail, WhichEntries, refuse_outside
from symattn.teaching.problem import (
    Problem,
    ProblemFile,
    examples,
    in_own_words,
    is_batch,
    load_example,
    problem_file,
    read_problem_file,
)
from symattn.teaching.rendering import DEFAULT_FORMATS, check_formats, read_besides, render, shown, write_documents

if TYPE_CHECKING:  # what draws, marks or counts is imported where it does, so that the rest need not wait for it
    from symattn.derivation.counts import Counts
    from symattn.marking.grading.checking import Answers, Marking
    from symattn.marking.grading.entries import Ask
    from symattn.marking.grading.gradebook import Gradebook
    from symattn.marking.grading.source import Papers
    from symattn.marking.implementations.report import Comparison
    from symattn.marking.implementations.running import Library
    from symattn.marking.marker.policy import Policy, Terms
    from symattn.marking.reports import Reader
    from symattn.teaching.question import Question
    from symattn.teaching.recipe import Recipe
    from symattn.teaching.sheets import Sheet


_LOG = logging.getLogger("symattn")
SETTINGS = frozenset(f.name for f in fields(Settings))


@dataclass(frozen=True)
class Given:
    """A matrix that a derivation starts from, by name, as `solution["Q"]` gives it."""

    name: str
    result: AnyMatrix


@dataclass(frozen=True)
class _InLetters:
    """What a derivation in letters was made of, to make it again with other sizes."""

    file: ProblemFile
    arguments: Mapping[str, Any]
    sizes: Mapping[str, Size]
    numbers: Mapping[Any, Any] = field(default_factory=dict)

    def problem(self) -> Problem:
        from symattn.derivation.symbolic import with_parameters

        made = self.file.problem(**self.arguments, symbolic=True, sizes=self.sizes)
        return replace(made, derivation=with_parameters(made.derivation, self.numbers))

    def with_numbers(self, values: Mapping[Any, Any]) -> _InLetters:
        """The same with numbers in place of parameters."""
        return replace(self, numbers={**self.numbers, **values})

    def with_sizes(self, values: Mapping[str, Size]) -> _InLetters:
        """The same with something put in for letters that sizes have now."""
        letters = {name: self.sizes.get(name, name) for name in mechanism(self.file.mechanism).letters}
        return replace(self, sizes={name: with_letters(size, values) for name, size in letters.items()})


@dataclass(frozen=True, repr=False)
class Solution:
    """A derivation that was worked out, with its notation: look at it, take it apart, write it.

    `solution["A"].result` is an exact matrix, `solution.output` that of the last step; `solution.steps` are the named
    lines; `solution.text("latex")` is the whole as text, and a notebook shows it.
    """

    problem: Problem
    detail: Detail | None = None
    look: Look = DEFAULT_LOOK
    layout: Layout = "matrix"
    origin: _InLetters | None = field(default=None, compare=False)

    def __getitem__(self, name: str) -> Step | Given:
        """The step or the given of that name, with its `result`; `InputError` names the nearest that there is."""
        given = self.derivation.givens.get(name)
        return self.problem[name] if given is None else Given(name, given)

    def __iter__(self) -> Iterator[Step]:
        """The named lines in order."""
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __contains__(self, name: object) -> bool:
        """Whether a given or a step has that name."""
        return name in self.derivation

    @property
    def derivation(self) -> Derivation:
        """The steps and givens alone, to replay with something changed."""
        return self.problem.derivation

    @property
    def steps(self) -> tuple[Step, ...]:
        """The named lines in order, each with `name`, `op`, `operands` and `result`."""
        return self.problem.steps

    @property
    def output(self) -> AnyMatrix:
        """The result of the last step, whatever it is called: a `Matrix`, or an outline where only shapes are known."""
        return self.derivation.last.result

    @property
    def givens(self) -> dict[str, AnyMatrix]:
        """What it starts from, by name."""
        return self.problem.givens

    @property
    def document(self) -> Document:
        """The derivation as a document: blocks and formulas, from which every format is written."""
        return self._document(EVERYTHING)

    def _document(self, besides: frozenset[Besides]) -> Document:
        """The same for formats that read so much `besides` what is shown."""
        from symattn.teaching.explanation.documents import derivation_document

        return replace(derivation_document(self.problem, self.detail, self.layout, besides), look=self.look)

    def diagram(self, kind: str = "graph") -> Document:
        """A figure of it: the computation graph, or dot-products, weights, heads, blocks, recurrence.

        `InputError` where the derivation has no such figure.
        """
        from symattn.teaching.explanation.diagrams import diagram_document

        return replace(diagram_document(self.problem, kind), look=self.look)

    def sympy(self, name: str) -> Any:
        """A given or a step as SymPy has it: a matrix, or a matrix expression where a size is a letter.

        Of a symbolic derivation, in terms of the steps before it; of `expanded()`, in terms of the givens alone.
        """
        from symattn.derivation.symbolic import step_in_sympy

        d = self.derivation
        value = d.value(name)
        if isinstance(value, Matrix) and not d.staged:
            return value.sympy()
        return step_in_sympy(d, name)

    def counts(self, name: str) -> Counts:
        """The multiplications, additions, divisions, exponentials … of a step: numbers, or polynomials in the sizes.

        What stands in several entries, such as the sum of a row of exponentials, is worked out once.  `InputError` for
        a step that can be counted only where its sizes are numbers.
        """
        from symattn.derivation.counts import counts

        return counts(self.derivation)[self.derivation[name].name]

    def expanded(self) -> Solution:
        """A symbolic derivation with everything put back in: each entry in terms of the givens alone.

        Where sizes are letters and an entry would have several hundred parts, what comes after it is in terms of that
        step, by its name: a block comes as a composition of a few steps.
        """
        return self._with(self.derivation.expanded())

    @property
    def symbols(self) -> dict[str, Any]:
        """SymPy's symbol of every entry that has one, by the name that it is typed by: `s.symbols["q_11"]`."""
        from symattn.derivation.symbolic import entry_symbols, parameters

        return entry_symbols(self.derivation) | parameters(self.derivation)

    def subs(self, values: Mapping[Any, object]) -> Solution:
        """A symbolic derivation with something put in for some of its letters, by SymPy's substitution, step by step.

        A name, or SymPy's symbol of it, stands for a size (`{"n": 2}`), a parameter (`{"T": 2}`), a given
        (`{"Q": [[1, 0]]}`, which also says what its sizes are) or one entry of a given (`{"q_11": 1}`).  This is a
        second way to the numbers, beside working them out.  `InputError` for a name that is none of these, for a
        matrix of another shape, and for matrices while some other size is a letter.
        """
        from symattn.derivation.symbolic import replaced, substituted, with_parameters

        put_in = replaced(self.derivation, values)
        solution = self
        if put_in.sizes:
            if self.origin is None:
                raise InputError(
                    "The sizes of this derivation are its own; derive it anew with symbolic=True, sizes={…}."
                )
            origin = self.origin.with_sizes(put_in.sizes)
            resized = replace(self, problem=origin.problem(), origin=origin)
            solution = resized if self.derivation.staged else resized.expanded()
        if put_in.numbers:
            filled = with_parameters(solution.derivation, put_in.numbers)
            solution = replace(
                solution._with(filled), origin=solution.origin and solution.origin.with_numbers(put_in.numbers)
            )
        if not put_in.matrices:
            return solution
        return solution._with(substituted(solution.derivation, put_in.matrices))

    def evalf(self, digits: int = 15) -> dict[str, Any]:
        """Every step as a SymPy matrix to `digits` significant digits; symbols stay."""
        return {step.name: self.sympy(step.name).evalf(digits) for step in self.steps}

    def lambdify(self, module: str = "numpy") -> Callable[..., dict[str, Any]]:
        """A function of the givens by name, `f(X=…, W_Q=…)`, that gives every step by name, from the symbolic entries.

        `module` is what SymPy's `lambdify` takes: numpy (arrays of floats come back), mpmath, math, …  Shapes are those
        of this derivation.
        """
        from symattn.derivation.symbolic import compiled

        return compiled(self.derivation, module)

    def diff(self, of: str, by: str) -> Any:
        """∂ of_ij/∂ by_kl for a step and a given, as a SymPy array with the indices i, j, k, l, from 0.

        By a parameter, such as a temperature T, it is a matrix of derivatives.  In terms of the givens where they are
        symbols, and a number where they are numbers.
        """
        from symattn.derivation.symbolic import derivative, in_symbols

        symbolic = derivative(self.derivation, of, by)
        own = in_symbols(self.derivation).givens
        numbers = {
            symbol: to_sympy(x)
            for name, given in self.givens.items()
            for symbol, x in zip(cast(Matrix, own[name]), cast(Matrix, given), strict=True)
        }
        return symbolic.xreplace(numbers)

    def _with(self, derivation: Derivation) -> Solution:
        return replace(self, problem=replace(self.problem, derivation=derivation))

    def worksheet(self) -> Sheet:
        """The same as a worksheet with its key; `SelfCheckError` if the key is not what a second route gives."""
        from symattn.teaching.sheets import make_sheet

        return make_sheet(self.problem, self.detail)

    def latex(self, name: str) -> str:
        """One step, or one given, as LaTeX for math mode: its rule, numbers and entries.

        It needs amsmath alone, so that it can be put into a document of one's own, into Markdown or MathJax.
        """
        from symattn.page.writers.latex import formulas  # as it writes files, most need not load it

        self[name]  # an unknown name says so itself
        from symattn.teaching.explanation.documents import lines_of

        return formulas(lines_of(self.problem, name, self.detail))

    def text(self, form: str = "text") -> str:
        """The derivation in one format that is text (`symattn list formats`); `InputError` for others."""
        if form in ("pdf", "latex-pdf"):
            raise InputError(f"{form} is not text; use write(path).")
        [form] = check_formats([form])
        return render(self._document(read_besides([form])), form)[1].decode()

    def write(
        self, folder: str | Path, *, forms: Sequence[str] = DEFAULT_FORMATS, stem: str = "derivation"
    ) -> list[Path]:
        """Write the derivation in several formats; the paths written.  `InputError` where that cannot be done."""
        return write_documents([(stem, self._document(read_besides(forms)))], Path(folder), forms)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.problem.title}: {', '.join(self.givens)} → {', '.join(s.name for s in self.steps)}>"

    def _repr_html_(self) -> str:
        return shown(self._document(read_besides(["html"])), "html")

    def _repr_markdown_(self) -> str:
        return shown(self._document(read_besides(["markdown"])), "markdown")


def derive(
    source: str | Path | Mapping[str, object],
    *,
    steps: Sequence[Mapping[str, object]] = (),
    gradients: Sequence[Mapping[str, object]] = (),
    notation: str | Path | None = None,
    symbolic: bool = False,
    sizes: Mapping[str, Size] | None = None,
    corrected: bool = True,
    miniature: bool = False,
    entries: WhichEntries = "auto",
    places: int | None = None,
    title: str = "",
    layout: Layout = "matrix",
    look: Look = DEFAULT_LOOK,
    **given: object,
) -> Solution:
    """Work something out exactly.

    `source` is a mechanism (`"self_attention"`), an example (`"note-002"`), a problem file (`"problem.toml"`) or a dict
    with the contents of one.  What else is named is a setting (`scale`, `mask`, `base`, `by`, …; `describe` lists those
    of a mechanism) or a given matrix (`X=[[1, 0], [0, 1]]`, n × d_model, tokens as rows): nested lists, a matrix of
    SymPy or NumPy, a tensor of PyTorch, or a result of another derivation; entries are integers, fractions, decimals,
    texts such as `"1/2"`, `"sqrt(3)"` or, for letters, `"a"`, or SymPy expressions.  For arrays of three dimensions
    there is `batch`.

    `"custom"` works out `steps`, dicts with the keys of a problem file's `[[step]]`: `name`, `op` (symattn list ops),
    `of` (what it is done to, by name; `K^T` is transposed, `Q[2]` the second row) and what the operation needs.
    `gradients`, dicts with `of` and `wrt`, take gradients of steps with respect to what is given, of any mechanism; for
    `of` = Z the given dZ is the gradient of the loss with respect to Z, and 1 in every entry where it is left out.

    `symbolic` names every entry (x_11, q_11 = x_11 w_11 + …), in place of the numbers that a file has; `sizes` says how
    many there are, or by letters.  `corrected=False` prints a note as written, `miniature` takes its small numbers;
    `notation` writes it in another one's names and signs.  `entries` says whose working is shown (auto, all, first-row,
    none), `places` how many decimals (0 to 50).  `layout` is matrix, falk (each product as Falk's scheme), columns (the
    step at the left, its working at the right) or flow (attention in one picture first); `look` comes from `make_look`.

    `InputError` says in a sentence what cannot be worked out, where, and why; `ShapeError`, one of these, names shapes
    that do not fit, and `UndefinedError` what mathematics does not define.

    >>> d = derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none")
    >>> d["A"].result.decimals(4)
    (('0.7311', '0.2689'),)
    >>> scores = {"name": "S", "op": "matmul", "of": ["Q", "K^T"]}
    >>> weights = {"name": "A", "op": "softmax", "of": ["S"], "base": 2}
    >>> derive("custom", steps=[scores, weights], Q=[[1, 0]], K=[[1, 0], [0, 1]]).output
    Matrix([[2/3, 1/3]])
    """
    said = checked_arguments(
        symbolic=symbolic, sizes=sizes, corrected=corrected, miniature=miniature, entries=entries,
        places=places, title=title, layout=layout, look=look,
    )  # fmt: skip
    places = said["places"]
    chosen = load_notation(notation) if notation is not None else None
    settings = {key: value for key, value in given.items() if key in SETTINGS}
    givens = {key: value for key, value in given.items() if key not in SETTINGS}
    own = (chosen.settings if chosen else {}).get("orientation", "rows")
    file = source_file(source, givens, settings.get("orientation", own), steps, gradients)
    _refuse_unknown_given(file, givens)
    if file.name == file.mechanism != "custom":
        _refuse_idle(file.name, settings)
    stated = [*givens, *(["steps"] if steps else []), *(["gradients"] if gradients else [])]
    if stated and (isinstance(source, Mapping) or file.name in examples() or str(source).endswith(".toml")):
        what = "givens" if givens else "steps"
        raise InputError(f"{file.name} has {what} of its own; {', '.join(stated)} cannot be given as well.")
    if symbolic and (idle := [name for name, value in givens.items() if not isinstance(value, Mapping)]):
        raise InputError(
            f"symbolic=True names every entry itself, so the {idle[0]} that was given would not be used. Leave it out, "
            "and say with sizes={…} how large the matrices are; or leave symbolic out, and put letters into matrices."
        )
    arguments: dict[str, Any] = {
        "corrected": corrected,
        "notation": chosen,
        "settings": settings,
        "miniature": miniature,
    }
    problem = file.problem(**arguments, symbolic=symbolic, sizes=said["sizes"])
    origin = _InLetters(file, arguments, said["sizes"] or {}) if symbolic else None
    if title:
        problem = replace(problem, title=title)
    if places is not None:
        problem = replace(problem, places=places)
    refuse_outside(said["entries"], problem.steps)
    detail = Detail(said["entries"], places=problem.notation.decimals if places is None else places)
    return Solution(problem, detail, look, layout, origin)


@dataclass(frozen=True, repr=False)
class Batch(Sequence[Solution]):
    """The sequences of a batch, each worked out by itself: `batch[0]` is the first one's `Solution`.

    Texts, worksheets and marks are those of one sequence: `[one.worksheet() for one in batch]`.
    """

    solutions: tuple[Solution, ...]

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> Solution | Batch:
        """One sequence's solution, or several as a batch."""
        chosen = self.solutions[index]
        return Batch(chosen) if isinstance(chosen, tuple) else chosen

    def __len__(self) -> int:
        return len(self.solutions)

    def results(self, name: str) -> tuple[AnyMatrix, ...]:
        """A step's result, or a given, of every sequence."""
        return tuple(one.derivation.value(name) for one in self)

    def floats(self, name: str) -> list[list[list[float]]]:
        """The same as nested lists of floats, batch × rows × columns, for `numpy.array` and `torch.tensor`."""
        return [[list(row) for row in _numbers(name, result).floats()] for result in self.results(name)]

    def total(self, name: str) -> Matrix:
        """The sum over the batch, such as the gradient of weights that all sequences share."""
        first, *others = (_numbers(name, result) for result in self.results(name))
        if shapes := [m.shape for m in others if m.shape != first.shape]:
            raise InputError(f"{name} is {_cross(first.shape)} and {_cross(shapes[0])}; one shape can be added up.")
        return Matrix.of(
            [reduce(add, entries) for entries in zip(*rows, strict=True)]
            for rows in zip(first.rows, *(m.rows for m in others), strict=True)
        )

    def __repr__(self) -> str:
        return f"<{len(self)} × {self.solutions[0]!r}>"


def batch(source: str | Path | Mapping[str, object], **stated: Any) -> Batch:
    """Work out every sequence of a batch: `derive` for each, with the same arguments.

    A given of three dimensions, batch × rows × columns (Q: batch × n × d_k; several heads side by side, h·d_k), has a
    matrix for each sequence; a matrix is shared by all, as weights are.  They stand among the arguments, or in the
    problem file or dict that is the `source`.

    `InputError` where no given has three dimensions, or where they are of different lengths.

    >>> Q, K, V = [[[1, 0]], [[0, 1]]], [[1, 0], [0, 1]], [[1], [2]]
    >>> two = batch("attention", Q=Q, K=K, V=V, base=2, scale="none")
    >>> two.results("Z"), two.floats("Z")
    ((Matrix([[4/3]]), Matrix([[5/3]])), [[[1.3333333333333333]], [[1.6666666666666667]]])
    """
    contents: Mapping[str, Any] | None = None
    if isinstance(source, Mapping):
        contents = source
    elif str(source).endswith(".toml"):
        contents = {"title": Path(source).name, **read_toml(Path(source))}
    given = stated if contents is None else contents.get("given", {})
    several = {name: listed(value) for name, value in given.items() if name not in _words(derive) and is_batch(value)}
    lengths = {name: len(matrices) for name, matrices in several.items() if isinstance(matrices, list)}
    if not lengths:
        raise InputError("No given has three dimensions, batch × rows × columns; derive works out a single sequence.")
    name, length = next(iter(lengths.items()))
    for other, another in lengths.items():
        if another != length:
            raise InputError(f"{name} and {other} have {length} and {another} sequences; the same number was expected.")
    made = []
    for number in range(length):
        one = {**given, **{key: matrices[number] for key, matrices in several.items() if isinstance(matrices, list)}}
        with Place(f"Sequence {number + 1}").here():
            made.append(derive(source, **one) if contents is None else derive({**contents, "given": one}, **stated))
    return Batch(tuple(made))


def _numbers(name: str, m: AnyMatrix) -> Matrix:
    if not isinstance(m, Matrix):
        raise InputError(f"{name} is known by its shape only, so it has no numbers.")
    return m


def _cross(shape: tuple[int, int]) -> str:
    return f"{shape[0]}×{shape[1]}"


def _refuse_unknown_given(file: ProblemFile, given: Iterable[str]) -> None:
    """`InputError` for a name that is no setting, and that no matrix has which the problem starts from."""
    own = list(file.given)
    upstream = file.upstream
    if file.mechanism != "custom":
        chosen = mechanism(file.mechanism)
        unknown = (one for one in given if not chosen.has_given(one) and one not in upstream)
        _refuse_unknown(derive, unknown, chosen.shapes(Settings()))
    elif file.name != "custom":
        _refuse_unknown(derive, (one for one in given if one not in own), own)
    else:  # all matrices came as keywords, and what no step uses is none
        from symattn.derivation.mechanisms.custom import operand_names

        used = {*operand_names(file.steps), *upstream}
        for one in own:
            if one not in used:
                tail = offered(one, (*used, *_words(derive)), f"the steps use {', '.join(sorted(used))}")
                raise InputError(f"There is no setting {one!r}, and no step uses a matrix of that name; {tail}")


def _refuse_unknown(function: Callable[..., object], unknown: Iterable[str], matrices: Iterable[str] = ()) -> None:
    """`InputError` for the first of some arguments that a function does not take; it may take `matrices`."""
    for name in unknown:
        known = [*matrices, *_words(function)]
        what = "setting and no given matrix" if matrices else "setting"
        raise InputError(f"There is no {what} {name!r}; {offered(name, known)}")


def _refuse_idle(name: str, settings: Mapping[str, object]) -> None:
    """`InputError` for a setting that changes no step of a mechanism."""
    if settings:
        from symattn.teaching.description import refuse_idle  # which loads much, and mostly nothing is stated

        refuse_idle(name, settings)


def _words(function: Callable[..., object]) -> list[str]:
    """What a function takes by name: settings of a mechanism, if it takes any, and arguments of its own."""
    parameters = signature(function).parameters
    own = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    return own if "unknown" in parameters else [*sorted(SETTINGS), *own]


def decide(a: object, b: object) -> Decision:
    """Whether two numbers are equal, and how that was proved.

    They are texts, read as people type them (with a decimal point), numbers of Python, SymPy, NumPy and PyTorch, or
    entries of a `Matrix`.  `equal` is None where neither is known.  `InputError` for what is no number, `ReadError` for
    a text that is none.

    Sums of c·√r·e^a with rational numbers c and a are compared term by term, by Lindemann–Weierstrass (Baker,
    *Transcendental Number Theory*, theorem 1.4); what is outside that class, to 200 digits.

    >>> decide("2/6", "1/3"), decide("0.333", "1/3").equal
    (Decision(equal=True, proof='exact', digits=None), False)
    """
    return exact.decide(exact.exact(a), exact.exact(b))


def source_file(
    source: str | Path | Mapping[str, object],
    givens: Mapping[str, object],
    orientation: object = "rows",
    steps: Sequence[Mapping[str, object]] = (),
    gradients: Sequence[Mapping[str, object]] = (),
) -> ProblemFile:
    """The problem file behind a source: an example's, a user's own or its contents, or one made of a mechanism and
    givens, or of steps and givens.

    Givens stand in the orientation that is asked for.
    """
    if isinstance(source, Mapping):
        file = problem_file({"title": _title(source), **_plain(source)}, "source", IN_DICT)
        return in_own_words(file) if "title" in source else file
    name = str(source)
    if name in examples():
        return load_example(name)
    if name.endswith(".toml"):
        return read_problem_file(Path(source))
    if name != "custom" and name.replace("-", "_") not in mechanisms():
        tail = offered(name, (*mechanisms(), *examples()), see="symattn list mechanisms and symattn list examples")
        raise InputError(f"There is no mechanism or example {name!r}; {tail}")
    data: dict[str, object] = {
        "given": givens,
        "step": _tables("steps", steps),
        "gradient": _tables("gradients", gradients),
    }
    if name == "custom":
        if not steps:
            _refuse_unknown(derive, (one for one in givens if nearest(one, _words(derive))), ["steps"])
            raise InputError(NO_STEPS)
        return problem_file({"title": UNTITLED, "mechanism": name, **data}, name, IN_ARGUMENTS)
    chosen = mechanism(name)
    if steps:
        raise InputError(f'{chosen.name} has steps of its own; steps go with derive("custom", steps=…).')
    data |= {"title": chosen.title, "mechanism": chosen.name, "orientation": orientation}
    return problem_file(data, chosen.name, IN_ARGUMENTS)


UNTITLED = "The derivation"
IN_DICT = {"step": "step", "gradient": "gradient"}
IN_ARGUMENTS = {"step": "steps", "gradient": "gradients"}
NO_STEPS = (
    'derive("custom", …) works out steps=[{"name": "S", "op": "matmul", "of": ["Q", "K^T"]}, …], or the steps of a '
    "problem file: symattn derive FILE.toml."
)


def _title(contents: Mapping[Any, object]) -> str:
    name = contents.get("mechanism", "self_attention")
    known = mechanisms().get(name.replace("-", "_")) if isinstance(name, str) else None
    return known.title if known else UNTITLED


def _tables(name: str, tables: object) -> list[object]:
    if not isinstance(tables, list | tuple) or not all(isinstance(table, Mapping) for table in tables):
        raise InputError(f"{name} is {tables!r}; a list of dicts was expected.")
    return [_plain(table) for table in tables]


def _plain(contents: Mapping[Any, object]) -> dict[str, Any]:
    """What stands in a problem file, with tuples as lists, as TOML has them; givens stay what they are."""
    return {str(key): value if key == "given" else _listed(value) for key, value in contents.items()}


def _listed(value: object) -> object:
    if isinstance(value, Mapping):
        return _plain(value)
    return [_listed(x) for x in value] if isinstance(value, list | tuple) else value


def worksheet(
    mechanism_name: str = "",
    *,
    n: int = 1,
    seed: int = 1,
    out: str | Path | None = None,
    forms: Sequence[str] = DEFAULT_FORMATS,
    together: bool = False,
    overview: bool = False,
    recipe: bool = False,
    solutions: Sequence[Solutions] = ("blank", "key"),
    layout: Layout = "matrix",
    conventions: Conventions = "full",
    look: Look = DEFAULT_LOOK,
    problem: str = "full",
    notation: str = "standard",
    sizes: Mapping[str, int] | None = None,
    level: str = "standard",
    softmax: str = "e",
    exact: bool = True,
    places: int = 4,
    options: Mapping[str, object] | None = None,
    parts: Sequence[str] = (),
    marks: Mapping[str, int] | None = None,
    jobs: int = 0,
    executor: Executor | None = None,
    progress: Progress = silent,
    **settings: object,
) -> list[Sheet]:
    """Random worksheets with their answer keys, `n` different ones; written to the folder `out`, if one is named.

    The mechanism is self_attention where none is named, or the problem type's own; `sizes` are those of its letters
    (`{"n": 3, "d_model": 5}`, tokens and features), and what else is named is a setting of it.  `problem` is a problem
    type (`describe` tells of each), `options` what it may be told itself, `level` starter, standard or long, `softmax`
    how pretty weights come out ("e", "base 2", "base 3", "equal").  `exact=False` asks for decimals, to so many
    `places`.  Of its parts those are asked that `parts` names ("S", "A"; all, where it names none); `marks` are those
    of single parts, where they are to have others.

    Written are `forms` (`symattn list formats`) of the `solutions` blank, partly, worked, key, answers, diagnosis; of
    question banks, the log says what they cannot carry.  `layout` and `conventions` (full, bare, none) say how they are
    set, `together` puts all sheets in one file, `overview` all of them side by side on a page; with `recipe`, students'
    sheets have the command that makes them in the footer, as keys have.  The same arguments give the same worksheets,
    byte for byte, on however many processes: `jobs` says on how many (0: one for each processor where there are enough
    worksheets), or any `executor` of `concurrent.futures` has the work done, such as that of a Dask client.

    `InputError` for what is unknown or out of range, or where sizes leave nothing worth setting; `SelfCheckError` if a
    key did not survive being worked out by a second route, and then nothing is written.

    >>> [sheet] = worksheet(seed=7)
    >>> sheet.problem["Q"].result.shape
    (3, 4)
    """
    from symattn.foundation.crew import crew
    from symattn.teaching.sheets import Setting, check_solutions, sheets, write_set

    _refuse_unknown(worksheet, (name for name in settings if name not in SETTINGS))
    said = checked_arguments(
        mechanism_name=mechanism_name, problem=problem, n=n, seed=seed, out=out, forms=forms, together=together,
        overview=overview, recipe=recipe, solutions=solutions, layout=layout, conventions=conventions, look=look,
        parts=parts, marks=marks, jobs=jobs, executor=executor, progress=progress,
    )  # fmt: skip
    n, seed, forms, solutions = said["n"], said["seed"], said["forms"], check_solutions(said["solutions"])
    made_from = make_recipe(
        mechanism_name, settings, problem=problem, notation=notation, sizes=sizes, seed=seed, level=level,
        softmax=softmax, exact=exact, places=places, options=options, parts=said["parts"], marks=said["marks"],
    )  # fmt: skip
    made: list[Sheet] = []
    how = Setting(forms, made_from.stem, solutions, layout, conventions, look, recipe)
    with progress(n) as step, crew(jobs, executor, of=n) as those:
        if out is not None:
            written = write_set(
                made_from, n, Path(out), how, those, together=together, overview=overview, on_sheet=step,
                keep=made.append,
            )  # fmt: skip
            for sentence in how.remarks(made_from, written, (sheet.question for sheet in made)):
                _LOG.warning("%s", sentence)
        else:
            for sheet in sheets(made_from, n, those):
                made.append(sheet)
                step(sheet)
    return made


def check(
    problem: str | Path | Solution | Sheet | Question | Mapping[str, object],
    answers: Answers,
    *,
    policy: str | Policy | None = None,
    scheme: str | Path | None = None,
    rounding: str | None = None,
    precision_mark: bool = False,
    decimal_mark: str = "auto",
    corrected: bool = True,
    notation: str | Path | None = None,
    look: Look | None = None,
    **settings: object,
) -> Marking:
    """Mark a student's answers, entry by entry, with follow-through and a diagnosis.

    `problem` is what `derive` or `worksheet` gave, an example, a problem file or what stands in one (worked out with
    the notation and the settings), the .json of a set of worksheets, an exam's folder, or a key in Markdown or as a
    notebook (a worksheet only if it was made with its recipe).  `answers` is a file (.md, .txt, .docx, .odt, .html,
    .pdf, .ipynb, .toml, .json, .csv, .xlsx, .ods, .tex), a text, or a mapping from parts to answers: matrices as nested
    lists, arrays or tensors, texts, numbers.  `policy` is ecf unless another one is named (ib, uk, strict, formative);
    `scheme` a mark scheme in TOML, as a file or as text.  `rounding` says how decimals were to be rounded,
    `precision_mark` that a mark goes with it, `decimal_mark` what parts decimals in texts: auto, a point or a comma.
    The report is in the language of the exam unless `look` says otherwise.

    `InputError` for answers or a problem that cannot be read, and for an unknown policy, scheme or setting.

    >>> d = derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none")
    >>> check(d, {"S": [[1, 0]], "A": [["e/(e+1)", "1/(1+e)"]], "Z": [["(e+2)/(e+1)"]]}).right
    True
    """
    from symattn.marking.grading.checking import checked
    from symattn.marking.grading.source import language_of, papers

    _refuse_unknown(check, (name for name in settings if name not in SETTINGS))
    if look is None:
        look = make_look(language=language_of(problem) if isinstance(problem, str | Path) else None)
    checked_arguments(corrected=corrected, look=look)
    if isinstance(problem, Batch):
        raise InputError("A batch is checked one sequence at a time: check(batch[0], …) for the first.")
    terms = make_terms(policy, scheme, rounding, precision_mark, decimal_mark)
    if isinstance(problem, Mapping):
        chosen: Any = settings
        problem = derive(problem, notation=notation, corrected=corrected, **chosen)
        settings, notation, corrected = {}, None, True
    if not isinstance(problem, str | Path):
        if settings or notation or not corrected:
            raise InputError("This problem is worked out already; settings go with an example or a problem file.")
        return replace(checked(_one_paper(problem), answers, terms), look=look)
    against = papers(problem, corrected=corrected, notation=notation, settings=settings)
    return replace(checked(against, answers, terms), look=look)


def _one_paper(problem: Solution | Sheet | Question) -> Papers:
    from symattn.marking.grading.source import of_question
    from symattn.teaching.question import Question

    if isinstance(problem, Question):
        return of_question(problem)
    sheet = problem.worksheet() if isinstance(problem, Solution) else problem
    return of_question(sheet.question, sheet.name)


def compare(d: Solution, results: object, *, precision: str | None = None) -> Comparison:
    """Compare a program's results with a derivation: which step departs first, and by which misconception.

    `results` maps names of steps to arrays (`{"S": scores, "A": weights, "Z": output}`), or is the array of the last
    step alone: of NumPy, PyTorch, JAX or nested lists, in any format of floating-point numbers.  A dimension of 1 at
    the front (a batch of one) is left out; of several heads, `"A"` may be h × n × m and `"Q"` n × h·d_k.  Numbers are
    right if programs that work in their format may come to them, in whatever order they add; `precision` says which
    (float16, bfloat16, tf32, float32, float64), where they are kept in a finer one.  What follows from a step that
    departed is not blamed again.

    `InputError` for a name that no step has, for what is no array, and for a derivation with symbols in it.

    >>> d = derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 1], [0, 2]], V=[[1], [2]])
    >>> found = compare(d, {"A": [[0.3302, 0.0558], [0.6698, 0.9442]]}, precision="float16")
    >>> found.first, found.named
    ('A', ('X1',))
    """
    from symattn.marking.implementations.comparison import compared

    return compared(_numbers_of(d), d.problem.notation, results, precision)


def trace(
    function: Callable[..., Any] | str | Path,
    d: Solution,
    *,
    library: Library = "numpy",
    precision: str = "float64",
    dtype: str = "",
    trusted: bool = False,
    time_limit: float = 10,
    **more: object,
) -> Comparison:
    """Call a program with the givens of a derivation, and compare its results step by step.

    The givens come by name where the parameters have their names (`q`, `key`, `w_q`), else in their order, as arrays of
    the `library` (numpy, torch, or python for nested lists) and of a `dtype`; what else it takes is in `more`.  It may
    return the result, a tuple with the result first, or a dict of steps.  Besides, the matrices that its
    variables hold and its functions return are looked at as it runs, for whether they are steps; what stands inside an
    expression is not seen.

    `precision` is that in which it works, and its dtype if there is none.  Where products take fewer digits than arrays
    have, they are two things: precision="bfloat16", dtype="float32" for bfloat16 factors with float32 results;
    precision="tf32" for TF32, of which arrays are float32 anyway.

    The program runs apart from this process: a function in a forked child, a file or a module, named as
    "student.py:attention" or "package.module:attention", in a process of its own.  Only numbers come back.  An error,
    SystemExit, a recursion without end, and `time_limit` seconds of processor time (without any, ten times as many) are
    its `failure`.  A `trusted` one runs in this process, and what it raises is not caught.

    `InputError` where the function takes other things than are given, and for a function where the system cannot fork.

    >>> import numpy as np
    >>> def attention(q, k, v):
    ...     s = np.exp(q @ k.T / k.shape[1])
    ...     return s / s.sum(axis=1, keepdims=True) @ v
    >>> d = derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 1], [0, 2]], V=[[1], [2]])
    >>> trace(attention, d).named
    ('C2',)
    """
    from symattn.marking.implementations.comparison import traced

    return traced(function, _numbers_of(d), d.problem.notation, library, precision, dtype, more, trusted, time_limit)


def _numbers_of(d: object) -> Derivation:
    if not isinstance(d, Solution):
        raise InputError(f'{type(d).__name__} came; what derive gives was expected: derive("attention", Q=…, …).')
    return d.derivation


def grade(
    exam: str | Path,
    submissions: str | Path | None = None,
    *,
    entries: str | Path | None = None,
    ask: Ask | None = None,
    out: str | Path | None = None,
    policy: str | Policy | None = None,
    scheme: str | Path | None = None,
    rounding: str | None = None,
    precision_mark: bool = False,
    decimal_mark: str = "auto",
    forms: Sequence[str] = ("pdf",),
    feedback: Sequence[str] | None = None,
    look: Look | None = None,
    readers: Sequence[Reader] = ("student",),
    jobs: int = 0,
    executor: Executor | None = None,
    time_limit: float = 60,
    progress: Progress = silent,
    gradebooks: Sequence[str] = (),
    class_list: str | Path | None = None,
    **unknown: object,
) -> Gradebook:
    """Mark a whole class: everything in a folder or a zip, or in a table, against an exam's folder.

    `entries` is a table (.csv, .xlsx) of scripts on paper, entered by exception: a row for each student, with what
    differs from the key.  Where it is not said whether later lines follow from that, `ask` is asked; without it they
    are taken to follow, and a copy of the table beside it says so.

    With a folder `out`, the gradebook, a feedback sheet each in every one of `forms` and a summary are written there,
    `feedback` in other formats if it names some (`()`: none, so that only the gradebook and the summary are made), and
    another run marks only what is new or changed.  `jobs` is how many processes work (0: one, and at 50 submissions
    one for each processor), unless any `executor` of `concurrent.futures` has the work done; a submission that takes
    longer than `time_limit` seconds of processor time is given up and reported, as is any that cannot be marked.
    `policy`, `scheme`, `rounding`, `precision_mark` and `decimal_mark` are those of `check`; `readers` says for whom
    sheets are made, student and teacher.  Pages are in the exam's language unless `look` says otherwise.
    `gradebooks` names platforms for which the totals are written in the form that they import (moodle, canvas,
    gradescope, brightspace); they need the columns of the class list as the platform exports it, that of the exam or
    `class_list`.

    `InputError` for an exam or submissions that cannot be read, and for an unknown policy, scheme, form or argument.
    """
    from symattn.marking.grading.run import grade_class
    from symattn.marking.grading.source import language_of

    _refuse_unknown(grade, unknown)
    look = make_look(language=language_of(exam)) if look is None else look
    said = checked_arguments(
        out=out,
        forms=forms,
        feedback=feedback,
        look=look,
        jobs=jobs,
        time_limit=time_limit,
        executor=executor,
        ask=ask,
        progress=progress,
        gradebooks=gradebooks,
    )
    terms = make_terms(policy, scheme, rounding, precision_mark, decimal_mark)
    return grade_class(
        exam, submissions, terms, entries=entries, ask=ask, out=out, forms=said["forms"], feedback=said["feedback"],
        look=look, readers=readers, jobs=jobs, executor=executor, time_limit=time_limit, progress=progress,
        gradebooks=said["gradebooks"], class_list=class_list,
    )  # fmt: skip


def make_terms(
    policy: str | Policy | None = None,
    scheme: str | Path | None = None,
    rounding: str | None = None,
    precision_mark: bool = False,
    decimal_mark: str = "auto",
) -> Terms:
    """How work is marked; `InputError` if there is no such policy, or if the scheme names one as well."""
    from symattn.marking.marker.policy import Policy, Rounding, Terms
    from symattn.marking.marker.policy import policy as policy_named

    checked_arguments(scheme=scheme, precision_mark=precision_mark)
    chosen = policy if isinstance(policy, Policy) else policy_named(policy or "ecf")
    roundings = get_args(Rounding)
    if rounding is not None and rounding not in roundings:
        raise InputError(f"rounding is {rounding!r}; {offered(rounding, roundings, 'one of {} was expected')}")
    if decimal_mark not in ("auto", ".", ","):
        raise InputError(f"The decimal mark is {decimal_mark!r}; auto, a point or a comma was expected.")
    if rounding:
        chosen = replace(chosen, rounding=cast(Rounding, rounding))
    if precision_mark:
        chosen = replace(chosen, precision=1)
    terms = Terms(chosen, _scheme_text(scheme), decimal_mark)
    if terms.scheme and terms.scheme.policy and (policy or rounding or precision_mark):
        raise InputError(
            f"The mark scheme names the policy {terms.scheme.policy} itself; say there what is to be otherwise."
        )
    return terms


def _scheme_text(scheme: str | Path | None) -> str:
    if scheme is None or (isinstance(scheme, str) and "\n" in scheme):
        return scheme or ""
    return read_text(Path(scheme))


def make_recipe(
    name: str = "",
    settings: Mapping[str, object] | None = None,
    *,
    problem: str = "full",
    seed: int = 1,
    parts: Sequence[str] = (),
    marks: Mapping[str, int] | None = None,
    **stated: object,
) -> Recipe:
    """A recipe for a problem type; what is not stated is the type's, the mechanism's or the notation's own choice."""
    from symattn.teaching.problems import problem_type, problem_types
    from symattn.teaching.recipe import Recipe

    said = {key: value for key, value in stated.items() if value is not None}
    if name:
        said["mechanism"] = name
    if name and name not in mechanisms() and name in problem_types():
        raise InputError(f"{name} is a type of problem, not a mechanism: --problem {name}, in Python problem={name!r}.")
    spec = problem_type(problem).spec({**said, "settings": settings or {}})
    _refuse_idle(spec.mechanism, settings or {})
    return Recipe(spec, seed, tuple(parts), marks or {})


# ------------------------------------------------------------------------------------------------ arguments
# What the verbs take besides matrices and settings; on the command line the same limits hold.

NAMED_ENTRIES: tuple[str, ...] = get_args(get_args(WhichEntries)[0])
ENTRIES = f"{', '.join(NAMED_ENTRIES)}, or pairs of indices from 0 such as [(0, 0), (1, 2)]"
SIZE = f"a whole number from 1 to {LARGEST_SIZE}, a letter, or a sum such as 2*d"


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _entries(value: Any, place: Place) -> Any:
    if isinstance(value, str) and value in NAMED_ENTRIES:
        return value
    if isinstance(value, str):
        raise place.wrong(value, ENTRIES, NAMED_ENTRIES)
    if not isinstance(value, list | tuple) or not all(map(_is_pair, value)):
        raise place.wrong(value, ENTRIES)
    return tuple((int(i), int(j)) for i, j in value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_is_whole(x) and x >= 0 for x in value)


def _size(value: Any, place: Place) -> Size:
    size = read_size(value)
    if size is None or (isinstance(size, int) and size > LARGEST_SIZE):
        raise place.wrong(value, SIZE)
    return size


def _being(kind: Any, expected: str) -> ReadBy:
    """What must be of a kind, as which it is taken."""

    def read(value: object, place: Place) -> object:
        if not isinstance(value, kind):
            raise place.wrong(value, expected)
        return value

    return ReadBy(read)


PathArgument = Annotated[Any, _being(str | Path, "a path")]
ExecutorArgument = Annotated[Any, _being(Executor, "an executor of concurrent.futures, such as ProcessPoolExecutor()")]
FunctionArgument = Annotated[Any, _being(Callable, "a function")]
LookArgument = Annotated[Any, _being(Look, "what make_look gives")]
Names = Annotated[tuple[str, ...], OrOne()]


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What every argument may be; what several verbs take under one name is the same for all."""

    n: Annotated[int, Between(1, 100_000)]
    seed: int
    places: Annotated[int, Between(0, 50)] | None
    jobs: Annotated[int, Between(0, 256)]
    time_limit: Annotated[float, Between(0)]
    mechanism_name: str
    problem: str
    scheme: PathArgument | None
    out: PathArgument | None
    title: str
    symbolic: bool
    corrected: bool
    miniature: bool
    together: bool
    overview: bool
    recipe: bool
    precision_mark: bool
    entries: Annotated[Any, ReadBy(_entries)]
    sizes: Mapping[str, Annotated[Any, ReadBy(_size)]] | None
    layout: Layout
    conventions: Conventions
    look: LookArgument
    executor: ExecutorArgument | None
    progress: FunctionArgument
    ask: FunctionArgument | None
    forms: Names
    feedback: Names | None
    gradebooks: Names
    solutions: Names
    parts: Names
    marks: Mapping[str, Annotated[int, Between(1, 1000)]] | None


def checked_arguments(**stated: object) -> Any:
    """The arguments of a verb by name, as they are worked with; `InputError` says which one is wrong, and why."""
    whole = {key: int(value) if _is_whole(value) else value for key, value in stated.items()}  # NumPy's are whole too
    return read(Annotated[Any, Some(Arguments)], whole)


__all__ = [
    "Batch",
    "Solution",
    "batch",
    "check",
    "compare",
    "decide",
    "derive",
    "grade",
    "make_recipe",
    "make_terms",
    "source_file",
    "trace",
    "worksheet",
]
