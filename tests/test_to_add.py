"""To add a mechanism, an operation, a misconception, a problem type, a format or a language is to write one file.

Each is written into a folder of the user's own here, and works in every format, layout, algebra and language, with
tokens as rows and as columns.  A whole operation is in test_new_operation.py.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy
import pytest
from commands import python
from commands import run as command
from tables import tables_beside

import symattn
from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.ops import operations
from symattn.derivation.symbolic import in_symbols, substituted
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.foundation.additions import modules
from symattn.foundation.languages import languages
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.presentation import make_look
from symattn.page.writers import FORMATS
from symattn.page.writers.common import replacing
from symattn.teaching.explanation import Layout
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems import problem_types
from symattn.teaching.rendering import render
from symattn.teaching.sheets import Setting, sheets, thaw_sheets, write_sheets

TABLES = tables_beside(__file__)

WRITTEN = {
    "mechanisms/fast_weights": '''
"""Attention without a softmax: what fast weights come to (Schlag et al. 2021)."""

from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.derivation import transposed
from symattn.derivation.ops import MatMul


def derive(d, settings, sizes):
    d = d.then("S", MatMul(), "Q", transposed("K"))
    return d.then("Z", MatMul(), "S", "V")


MECHANISM = Mechanism(
    name="fast_weights",
    title="Fast weights",
    givens={"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")},
    default_sizes={"n": 2, "m": 3, "d_k": 2, "d_v": 2},
    defaults={"scale": "none"},
    derive=derive,
)
''',
    "ops/powers": '''
"""Powers of entries."""

from dataclasses import dataclass
from typing import Literal

from symattn.derivation.derivation import Pull, RuleOp
from symattn.formula import Call, Name


@dataclass(frozen=True)
class Powers(RuleOp):
    """Each entry times itself so many times, perhaps without its sign."""

    times: int
    sign: Literal["kept", "lost"] = "kept"
    title = "Powers"

    def shape(self, *shapes):
        return shapes[0]

    def rule(self, A, i, j, x):
        entry = A.apply("abs", x[i, j]) if self.sign == "lost" else x[i, j]
        return A.product(*[entry] * self.times)

    def written(self, style, *operands):
        return Call(Name("pow"), operands)

    def pull(self, use):
        return Pull((use.g, use.operand), PowersGradient(self.times))


@dataclass(frozen=True)
class PowersGradient(RuleOp):
    """k·x^(k − 1) of each entry, times its gradient; for powers that keep their sign."""

    times: int
    arity = 2
    title = "Back through powers"

    def shape(self, *shapes):
        return shapes[0]

    def rule(self, A, i, j, g, x):
        return A.product(A.number(self.times), g[i, j], *[x[i, j]] * (self.times - 1))

    def written(self, style, *operands):
        return Call(Name("pow", primes=1), operands)


OPS = {"powers": Powers}
''',
    "misconceptions/doubling": '''
"""Weights counted twice."""

from symattn.exact import Matrix
from symattn.derivation.misconceptions.base import ReplacementOp, Misconception, step_of_kind
from symattn.derivation.ops import Softmax


def doubled(d):
    place = step_of_kind(d, "A", Softmax)
    return {"A": place[0].with_op(ReplacementOp(place[1], _twice))} if place else None


def _twice(of, scores):
    return Matrix.of([2 * x for x in row] for row in of.apply(scores).rows)


MISCONCEPTIONS = (
    Misconception(
        "X9",
        "Weights are doubled.",
        at="A",
        change=doubled,
        exactly="every weight twice",
        tell="Its rows sum to 2.",
        feedback="The weights of a token sum to 1; here $@name(A)$ has been doubled.",
        source="made up for a test",
        prior="low",
    ),
)
''',
    "problems/mixing": '''
"""Fast weights by hand."""

from symattn.teaching.problems.exercises import Exercise, variety

TYPE = variety("mixing", "Weights without a softmax", {
    "plain": Exercise("weighted_values", "The weights are given. Work out the weighted sums of the values."),
})
''',
    "problems/largest": '''
"""Which key gets the largest weight, told by the scores alone."""

from symattn.derivation.ops import Softmax
from symattn.exact import Matrix, compare
from symattn.foundation.dice import sample
from symattn.teaching.problems.asking import Offer, choice_part
from symattn.teaching.problems.draws import up_to
from symattn.teaching.problems.draws import Item, ProblemType, question


def largest(draw, say):
    scores = draw("scores", lambda rng: sample(rng, range(-4, 9), 4))

    def again():
        weights = Softmax().apply(Matrix([scores])).rows[0]
        return {k for k, w in enumerate(weights) if all(compare(w, other) >= 0 for other in weights)}

    text = say("A query has the scores $row$. Which key gets the largest weight?", row=say.row(scores))
    offers = [
        Offer(say.formula(f"k_{j}"), say("its score is {score}.", score=s), s == max(scores))
        for j, s in enumerate(scores, 1)
    ]
    return Item(choice_part("The largest weight", [text], offers), load=1, again=again)


def ask(draw):
    say, items = draw.prose(), draw.each("items", lambda: [{} for _ in range(draw.option("items"))])
    introduction = say.paragraph("Answer without working out any weight.")
    along = say("Softmax is taken along each row.")
    return question(draw, [largest(item, say) for item in items], introduction, [along])


TYPE = ProblemType(
    ask,
    name="largest",
    title="The largest weight",
    options={"items": (4, "how many rows of scores, from 1 to 6", up_to(6))},
    rows_only=True,
)
''',
    "writers/outline": '''
"""The headings of a page, one a line."""

from symattn.page.document import Heading, Solved, settled
from symattn.page.writers import text

SUFFIX = ".outline"
formula = text.formula


def write(document):
    return "\\n".join([document.title, *headings(settled(document).blocks)]) + "\\n"


def headings(blocks):
    for block in blocks:
        if isinstance(block, Heading):
            yield text.plain(block.content)
''',
    "exporters/gift": '''
"""GIFT: a box a line, with what is right in it."""

from symattn.foundation.languages import message

SUFFIX = ".gift"
LOST = message("GIFT has no matrices.")


def write(bank):
    places = (place for pool in bank.pools for item in pool.items for place in item.places)
    return "".join(f"{place.name} {{={place.texts[0]}}}\\n" for place in places).encode()
''',
}
CATALOGUES = (mechanisms, operations, misconceptions, problem_types)
Q, K, V = [[1, 0], [2, -1]], [[1, 0], [0, 1], [1, 1]], [[1, 2], [0, 1], [3, -1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("own")
    for name, source in WRITTEN.items():
        path = root / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, "utf-8")
    return root


@pytest.fixture(scope="module", autouse=True)
def added(folder):
    """The folder is in the catalogues, as it is where SYMATTN_PATH names it."""
    with pytest.MonkeyPatch.context() as patch:
        for path in folder.iterdir():
            package = importlib.import_module(WHERE[path.name])
            patch.setattr(package, "__path__", [*package.__path__, str(path)])
        patch.setenv("SYMATTN_PATH", str(folder))
        for catalogue in CATALOGUES:
            catalogue.cache_clear()
        patch.setitem(FORMATS.known, "outline", importlib.import_module(f"{WHERE['writers']}.outline"))
        patch.setitem(EXPORTERS.known, "gift", importlib.import_module(f"{WHERE['exporters']}.gift"))
        yield
    for name in WRITTEN:
        catalogue, _, module = name.partition("/")
        sys.modules.pop(f"{WHERE[catalogue]}.{module}", None)
    for catalogue in CATALOGUES:
        catalogue.cache_clear()


WHERE = {
    "mechanisms": "symattn.derivation.mechanisms",
    "ops": "symattn.derivation.ops",
    "misconceptions": "symattn.derivation.misconceptions",
    "problems": "symattn.teaching.problems",
    "exporters": "symattn.teaching.exporters",
    "writers": "symattn.page.writers",
}


def listed(*names):
    outcome = command("list", *names)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def in_every_format_and_language(document):
    for form in FORMATS:
        assert render(document, form)[1]
    for language in languages():
        assert render(replace(document, look=make_look(language=language)), "text")[1]


def as_numbers(matrix):
    return numpy.asarray(matrix, dtype=float)


ORIENTATIONS = pytest.mark.parametrize(
    ("orientation", "turn"), [("rows", Matrix), ("columns", lambda m: Matrix(m).T)], ids=["rows", "columns"]
)


@ORIENTATIONS
def test_a_mechanism(orientation, turn):
    by_hand = as_numbers(turn(numpy.array(Q) @ numpy.array(K).T @ numpy.array(V)))
    solution = symattn.derive("fast_weights", orientation=orientation, Q=turn(Q), K=turn(K), V=turn(V))
    assert (as_numbers(solution["Z"].result) == by_hand).all()
    in_letters = substituted(in_symbols(solution.derivation), solution.derivation.givens)
    assert in_letters["Z"].result == solution["Z"].result
    sheet = solution.worksheet()
    in_every_format_and_language(sheet.key)
    for layout in get_args(Layout):
        assert render(sheet.document("key", layout=layout), "markdown")[1]
    assert symattn.check(solution, {"S": solution["S"].result, "Z": solution["Z"].result}).right


def test_a_mechanism_is_listed_drawn_and_has_letters():
    assert "fast_weights" in listed("mechanisms")
    assert "Schlag et al. 2021" in listed("mechanism", "fast_weights")
    one, two = sheets(make_recipe("fast_weights", seed=3), 2)
    assert one.worksheet != two.worksheet
    letters = symattn.derive("fast_weights", symbolic=True, sizes={"n": "n", "m": "m", "d_k": 2, "d_v": 2})
    assert letters["Z"].result.shape == ("n", 2)
    assert "Σ" in letters.text()


@ORIENTATIONS
def test_an_operation_has_its_parameters_from_its_fields(orientation, turn):
    steps = [{"name": "P", "op": "powers", "of": "Q", "times": 3, "sign": "lost"}]
    solution = symattn.derive("custom", steps=steps, Q=turn(Q))
    assert (as_numbers(solution["P"].result) == abs(as_numbers(turn(Q))) ** 3).all()
    for form in FORMATS:
        assert solution.text(form)
    assert "powers" in listed("ops")
    back = symattn.derive("custom", steps=[{**steps[0], "sign": "kept"}], gradients=[{"of": "P"}], Q=turn(Q))
    assert (as_numbers(back["dQ"].result) == 3 * as_numbers(turn(Q)) ** 2).all()


@pytest.mark.parametrize(
    ("said", "sentence"),
    TABLES["parameters"],
)
def test_an_operation_with_wrong_parameters(said, sentence):
    with pytest.raises(InputError, match=sentence):
        symattn.derive("custom", steps=[{"name": "P", "op": "powers", "of": "Q", **said}], Q=Q)


@ORIENTATIONS
def test_a_misconception(orientation, turn):
    solution = symattn.derive("attention", orientation=orientation, Q=turn(Q), K=turn(K), V=turn(V))
    (wrong,) = replayed(solution.derivation, ["X9"])
    assert numpy.allclose(as_numbers(wrong.value("A")), 2 * as_numbers(solution["A"].result))
    marking = symattn.check(solution, {name: wrong.value(name) for name in ("S", "S'", "A", "Z")})
    assert not marking.right
    assert "X9" in marking.text("text", "teacher")
    assert "Weights are doubled.." not in " ".join(marking.text("text").split())
    for reader in ("student", "teacher"):
        in_every_format_and_language(marking.document(reader))
    assert "has been doubled" in " ".join(marking.text("text").replace("│", "").split())
    assert "X9" in listed("misconceptions")
    assert "Its rows sum to 2." in listed("misconception", "X9")


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("name", "orientation"), [("mixing", "rows"), ("mixing", "columns"), ("largest", "rows")])
def test_a_problem_type(name, orientation, tmp_path):
    recipe = make_recipe(problem=name, seed=5, settings={"orientation": orientation})
    made = list(sheets(recipe, 2))
    assert made[0].worksheet != made[1].worksheet
    for layout in get_args(Layout):
        assert render(made[0].document("key", layout=layout), "latex")[1]
    in_every_format_and_language(made[0].key)
    paths = write_sheets(made, tmp_path, Setting(["markdown"], "own"))
    frozen = thaw_sheets((tmp_path / "own.json").read_text("utf-8"), "own.json")
    assert [question.content for question in frozen.values()] == [sheet.question.content for sheet in made]
    assert len(paths) == 5
    assert name in listed("problems")
    assert "how many rows of scores, from 1 to 6" in listed("options")


@pytest.mark.parametrize(
    ("said", "sentence"),
    TABLES["options"],
)
def test_a_problem_type_with_wrong_options(said, sentence):
    with pytest.raises(InputError, match=sentence):
        make_recipe(problem="largest", **said)


def test_a_problem_type_keeps_what_it_promises():
    (sheet,) = sheets(make_recipe(problem="largest", seed=5), 1)
    chosen, asked = problem_types()["largest"], sheet.question
    chosen.prove(asked)
    for part, item in zip(asked.parts, asked.content["items"], strict=True):
        (right,) = part.answer.right
        assert right == numpy.argmax(item["scores"])
    wrong = replace(asked, content={**asked.content, "items": asked.content["items"][::-1]})
    with pytest.raises(SelfCheckError, match=r"Part a of largest, .*: the key says .* by another route"):
        chosen.prove(wrong)


def worksheet(folder, *options):
    """What a run says."""
    outcome = command("worksheet", *options, "--level", "starter", "--seed", 7, "--out", folder)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_a_format(tmp_path):
    assert "The headings of a page, one a line." in listed("formats")
    solution = symattn.derive("note-000")
    assert solution.text("outline").startswith(solution.document.title)
    assert [path.suffix for path in solution.write(tmp_path, forms=["outline"])] == [".outline"]
    worksheet(tmp_path, "attention", "--format", "outline")
    assert len(list(tmp_path.glob("*.outline"))) == 3


@pytest.mark.parametrize("form", [name for name in FORMATS if name in ("html", "latex", "markdown", "text", "typst")])
def test_a_format_may_be_another_but_for_one_node(form):
    document = next(iter(sheets(make_recipe("attention"), 1))).worksheet
    usual = FORMATS[form].write(document)
    with replacing({AnswerGrid: lambda grid: f"a grid of {grid.rows} rows"}):
        own = FORMATS[form].write(document)
    grids = [block for block in all_blocks(document.blocks) if isinstance(block, AnswerGrid)]
    assert own.count(f"a grid of {grids[0].rows} rows") >= 1
    assert own != usual == FORMATS[form].write(document)


def test_a_format_of_question_banks(tmp_path):
    assert "GIFT: a box a line" in listed("formats")
    assert "GIFT has no matrices." in worksheet(tmp_path, "fast_weights", "--format", "gift")
    (path,) = tmp_path.glob("*.gift")
    (sheet,) = sheets(make_recipe("fast_weights", seed=7, level="starter"), 1)
    q, k = (numpy.array(sheet.problem.derivation.givens[name].rows, dtype=int) for name in "QK")
    lines = path.read_text("utf-8").splitlines()
    assert lines[0].endswith(f"{{={(q @ k.T)[0, 0]}}}")


@pytest.mark.parametrize("suffix", ["gp", "", ".a/b", ". b", 7])
@pytest.mark.parametrize("catalogue", [FORMATS, EXPORTERS])
def test_an_ending_that_no_file_can_have_is_refused(catalogue, suffix, monkeypatch):
    """SUFFIX = "gp" made sheets called sheet-1gp."""
    one = importlib.import_module(f"{catalogue.package}.{next(iter(catalogue))}")
    assert catalogue.entries(one)
    monkeypatch.setattr(one, "SUFFIX", suffix)
    with pytest.raises(InputError, match=r"SUFFIX is .*; an ending with its dot was expected, as in '\.txt'\."):
        catalogue.entries(one)


ESPERANTO = """
msgid ""
msgstr ""
"Language: eo\\n"
"X-Language-Name: Esperanto\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgctxt "sign"
msgid "decimal"
msgstr ","

msgid "Answer key"
msgstr "Solvoj"

msgid "Conventions"
msgstr "Konvencioj"
"""


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("layout", get_args(Layout))
def test_a_language(tmp_path, layout):
    """What it has is said, the rest in English, in every format."""
    path = tmp_path / "esperanto.po"
    path.write_text(ESPERANTO, "utf-8")
    (sheet,) = sheets(make_recipe("attention", seed=7, level="starter"), 1)
    key = replace(sheet.document("key", layout=layout), look=make_look(language=str(path)))
    for form in sorted(set(FORMATS) - {"outline"}):
        text = render(key, form)[1].decode()
        assert "Solvoj" in text, form
        assert "Answer key" not in text, form
    worksheet(tmp_path, "attention", "--language", str(path), "--format", "text")
    assert any("Konvencioj" in made.read_text("utf-8") for made in tmp_path.glob("*.txt"))


# ------------------------------------------------------------------------------------------------ SYMATTN_PATH


def run(path, script):
    outcome = python("-c", script, SYMATTN_PATH=str(path))
    return outcome.stdout + outcome.stderr


def test_folders_that_the_environment_names_are_read(folder):
    script = """
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.ops import operations
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems import problem_types
from symattn.page.writers import FORMATS
from symattn.teaching.exporters import EXPORTERS
print("fast_weights" in mechanisms(), "powers" in operations(), "X9" in misconceptions(), "mixing" in problem_types(),
      "outline" in FORMATS, "gift" in EXPORTERS)
"""
    assert run(folder, script) == "True True True True True True\n"


def test_a_folder_that_is_not_there_is_refused_in_a_sentence(tmp_path):
    told = run(tmp_path / "no", "from symattn.cli import main; main(['list', 'mechanisms'])")
    assert told == f"Error: SYMATTN_PATH names {tmp_path / 'no'}, which is not a folder.\n"


def test_a_file_that_is_wrong_is_named(tmp_path):
    own = Path(symattn.__file__).parent / "derivation" / "mechanisms"
    (tmp_path / "wrong.py").write_text("import nothing_of_that_name\n", "utf-8")
    package = importlib.import_module("symattn.derivation.mechanisms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(package, "__path__", [str(own), str(tmp_path)])
        with pytest.raises(InputError, match=r"wrong\.py cannot be used: ModuleNot"):
            list(modules(package.__name__, package.__path__))
    (tmp_path / "wrong.py").rename(tmp_path / "attention.py")
    with pytest.raises(InputError, match=r"attention\.py has the name of .*; another name is needed"):
        list(modules(package.__name__, [str(own), str(tmp_path)]))
