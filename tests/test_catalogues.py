"""Whatever is in the catalogues works with everything else in them; who adds an entry has it tested here at once."""

import itertools

import pytest

from symattn.api import derive
from symattn.examples import examples, load_example
from symattn.explanation import Detail, derivation_document
from symattn.mechanisms import mechanisms
from symattn.notation import load_notation, notations
from symattn.writers import FORMATS


@pytest.mark.parametrize("notation", [None, *notations()])
@pytest.mark.parametrize("corrected", [True, False], ids=["corrected", "as-written"])
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "letters"])
@pytest.mark.parametrize("example", examples())
def test_every_example_in_every_notation_in_every_format(example, corrected, symbolic, notation):
    if symbolic and load_example(example).data["mechanism"] == "custom":
        pytest.skip("a custom problem has letters of its own")
    solution = derive(example, corrected=corrected, symbolic=symbolic, notation=notation)
    document = solution.document
    for form, writer in FORMATS.items():
        text = writer.write(document)
        assert text.strip(), form
        for left_over in ("Name(", "Number(", "object at", "None", "Traceback"):
            assert left_over not in text, f"{left_over} in {form}"


@pytest.mark.parametrize("notation", notations())
@pytest.mark.parametrize("name", mechanisms())
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("by", ["matrix", "token"])
def test_every_mechanism_in_every_notation_makes_a_worksheet_and_a_key(name, notation, by, orientation):
    from symattn.api import worksheet

    settings = {"orientation": orientation, "by": by}
    sizes = {"n": 3, "m": 3, "d_model": 4, "d_k": 2, "d_v": 2}
    [sheet] = worksheet(name, seed=1, notation=notation, sizes=sizes, **settings)
    for document, form in itertools.product((sheet.worksheet, sheet.key), ("text", "latex")):
        assert FORMATS[form].write(document).strip()
    page = derivation_document(sheet.problem)
    assert FORMATS["text"].write(page).strip()


@pytest.mark.parametrize("entries", ["auto", "all", "first-row", "none", ((0, 0), (1, 2), (99, 99))])
@pytest.mark.parametrize("places", [None, 0, 4, 30])
def test_every_amount_of_detail(entries, places):
    problem = derive("note-000").problem
    document = derivation_document(problem, Detail(entries=entries, places=places))
    for writer in FORMATS.values():
        assert writer.write(document)


def test_the_standard_notation_is_there_and_the_names_are_plain():
    assert "standard" in notations()
    for name in (*notations(), *examples()):
        assert name.replace("-", "").isalnum()
    for name in notations():
        assert load_notation(name) is load_notation(name), "a ready notation is read once"
