"""The same verbs in Python as on the command line: `derive` and `worksheet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from symattn import exact
from symattn.derivation import Derivation, Step
from symattn.document import Document
from symattn.errors import InputError
from symattn.exact import AnyMatrix, Decision, Size
from symattn.examples import examples, load_example
from symattn.explanation import Detail, WhichEntries, derivation_document
from symattn.mechanisms import Settings, mechanism, mechanisms
from symattn.notation import load_notation
from symattn.problem import Problem
from symattn.problem_file import ProblemFile, problem_file, read_problem_file
from symattn.problems import problem_type
from symattn.sheets import DEFAULT_FORMATS, Recipe, Sheet, make_sheet, render, sheets, write_documents, write_sheets

SETTINGS = frozenset(f.name for f in fields(Settings))


@dataclass(frozen=True, repr=False)
class Solution:
    """A derivation that was worked out, with its notation: look at it, take it apart, write it.

    `solution["A"].result` is an exact matrix; `solution.steps` are the named lines; `solution.text("latex")` is the
    whole as text, and a notebook shows it.
    """

    problem: Problem
    detail: Detail | None = None

    def __getitem__(self, name: str) -> Step:
        """The step of that name."""
        return self.problem[name]

    @property
    def derivation(self) -> Derivation:
        return self.problem.derivation

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.problem.steps

    @property
    def givens(self) -> dict[str, AnyMatrix]:
        return self.problem.givens

    @property
    def document(self) -> Document:
        """The derivation as a document."""
        return derivation_document(self.problem, self.detail)

    def worksheet(self) -> Sheet:
        """The same as a worksheet with its key, the key checked by a second route."""
        return make_sheet(self.problem, self.detail)

    def text(self, form: str = "text") -> str:
        """The derivation as text in one format: text, latex, markdown, typst."""
        if form in ("pdf", "latex-pdf"):
            raise InputError(f"{form} is no text; use write(path).")
        return render(self.document, form)[1].decode()

    def write(
        self, folder: str | Path, *, forms: Sequence[str] = DEFAULT_FORMATS, stem: str = "derivation"
    ) -> list[Path]:
        """Write the derivation in several formats; the paths written."""
        return write_documents([(stem, self.document)], Path(folder), forms)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.problem.title}: {', '.join(self.givens)} → {', '.join(s.name for s in self.steps)}>"

    def _repr_markdown_(self) -> str:
        return self.text("markdown")


def derive(
    source: str | Path,
    *,
    notation: str | Path | None = None,
    symbolic: bool = False,
    sizes: Mapping[str, Size] | None = None,
    corrected: bool = True,
    miniature: bool = False,
    entries: WhichEntries = "auto",
    places: int | None = None,
    title: str = "",
    **given: object,
) -> Solution:
    """Work something out exactly.

    `source` is a mechanism (`"self_attention"`), an example (`"note-002"`) or a problem file (`"problem.toml"`). What
    else is named is a setting (`scale`, `mask`, `base`, `by`, …: see `symattn.mechanisms.Settings`) or a given matrix
    (`X=[[1, 0], [0, 1]]`): nested lists, SymPy or NumPy matrices; entries are integers, fractions, decimals, texts
    such as `"1/2"` or `"sqrt(3)"`, or SymPy expressions.

    `symbolic` names every entry (x_11, q_11 = x_11 w_11 + …); `sizes` says how many there are, or by letters.
    `corrected=False` prints a note as written.  `InputError` says in a sentence what cannot be worked out, and why.

    >>> d = derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none")
    >>> d["A"].result.decimals(4)
    (('0.7311', '0.2689'),)
    """
    chosen = load_notation(notation) if notation else None
    settings = {key: value for key, value in given.items() if key in SETTINGS}
    givens = {key: value for key, value in given.items() if key not in SETTINGS}
    own = (chosen.settings if chosen else {}).get("orientation", "rows")
    file = source_file(source, givens, settings.get("orientation", own))
    if givens and (file.name in examples() or str(source).endswith(".toml")):
        raise InputError(f"{file.name} has givens of its own; {', '.join(givens)} cannot be given as well.")
    problem = file.problem(
        corrected=corrected, notation=chosen, settings=settings, symbolic=symbolic, sizes=sizes, miniature=miniature
    )
    if title:
        problem = replace(problem, title=title)
    return Solution(problem, Detail(entries=entries, places=problem.notation.decimals if places is None else places))


def decide(a: object, b: object) -> Decision:
    """Whether two numbers are equal, and how that was proved.  Texts are read as people type them; SymPy is welcome.

    >>> decide("2/6", "1/3"), decide("0.333", "1/3").equal
    (Decision(equal=True, proof='exact', digits=None), False)
    """
    return exact.decide(exact.exact(a), exact.exact(b))


def source_file(source: str | Path, givens: Mapping[str, object], orientation: object = "rows") -> ProblemFile:
    """The problem file behind a name: an example's, a user's own, or one made of a mechanism and givens.

    Givens stand in the orientation that is asked for.
    """
    name = str(source)
    if name in examples():
        return load_example(name)
    if name.endswith(".toml"):
        return read_problem_file(Path(source))
    if name.replace("-", "_") not in mechanisms():
        known = ", ".join((*mechanisms(), *examples()))
        raise InputError(f"There is no mechanism or example {name!r}; there are {known}, or give a .toml file.")
    chosen = mechanism(name)
    data = {"title": chosen.title, "mechanism": chosen.name, "given": givens, "orientation": orientation}
    return problem_file(data, chosen.name)


def worksheet(
    mechanism_name: str = "",
    *,
    n: int = 1,
    seed: int = 1,
    out: str | Path | None = None,
    forms: Sequence[str] = DEFAULT_FORMATS,
    together: bool = False,
    problem: str = "full",
    notation: str = "standard",
    sizes: Mapping[str, int] | None = None,
    level: str = "standard",
    softmax: str = "e",
    exact: bool = True,
    places: int = 4,
    options: Mapping[str, object] | None = None,
    **settings: object,
) -> list[Sheet]:
    """Random worksheets with their answer keys, `n` different ones; written to the folder `out`, if one is named.

    `problem` is a problem type, `level` starter, standard or long, `softmax` how pretty its weights come out ("e",
    "base 2", "base 3", "equal"), `options` what the problem type itself may be told.  The same arguments give the same
    worksheets, byte for byte.

    >>> [sheet] = worksheet(seed=7)
    >>> sheet.problem["Q"].result.shape
    (3, 4)
    """
    recipe = make_recipe(
        mechanism_name, settings, problem=problem, notation=notation, sizes=sizes, seed=seed, level=level,
        softmax=softmax, exact=exact, places=places, options=options,
    )  # fmt: skip
    made = list(sheets(recipe, n))
    if out is not None:
        write_sheets(made, Path(out), forms, stem=stem_of(recipe), together=together)
    return made


def make_recipe(
    name: str = "",
    settings: Mapping[str, object] | None = None,
    *,
    problem: str = "full",
    seed: int = 1,
    **stated: object,
) -> Recipe:
    """A recipe for a problem type; what is not stated is the type's, the mechanism's or the notation's own choice."""
    said = {key: value for key, value in stated.items() if value is not None}
    if name:
        said["mechanism"] = name
    return Recipe(problem_type(problem).spec({**said, "settings": settings or {}}), seed)


def stem_of(recipe: Recipe) -> str:
    """What the files of a recipe are called."""
    kind = "" if recipe.spec.type == "full" else f"{recipe.spec.type}-"
    return f"{kind}{recipe.spec.mechanism.replace('_', '-')}-{recipe.seed}"


__all__ = ["Solution", "decide", "derive", "make_recipe", "source_file", "stem_of", "worksheet"]
