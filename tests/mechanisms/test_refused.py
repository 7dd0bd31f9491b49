"""What does not fit is refused in one sentence that names it: sizes, settings, masks, steps of one's own."""

import pytest
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.mechanisms import custom
from symattn.derivation.ops.normalisation import Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Degrees, Rotate
from symattn.derivation.ops.words import CrossEntropy
from symattn.errors import ReadError, ShapeError, SymattnError

FILE = tables_beside(__file__)
CALLS = [(name, call) for name, calls in FILE["refused"].items() for call in calls]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=str)
def test_what_does_not_fit_is_one_sentence(name, call):
    stated = {**FILE["givens"][name], **call}
    says, without = stated.pop("says"), stated.pop("without", [])
    stated = {key: value for key, value in stated.items() if key not in without}
    steps = {one: stated.pop(one) for one in ("steps", "gradients") if one in stated}
    with pytest.raises((SymattnError, ReadError)) as error:
        custom.run(stated, **steps) if steps else derive(name, **stated)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("op", "shapes", "says"),
    [
        (Exponentials(), [(2, 3), (1, 3)], "every row needs one number of its own"),
        (Accumulate(), [(2, 1), (2, 3), (2, 2)], "of the shape of the sum so far"),
        (RunningMaximum(), [(2, 1), (3, 1)], "as many rows"),
        (CrossEntropy(), [(2, 3), (2, 2)], "every probability needs a target"),
        (Rotate((Degrees(90),), (0,)), [(1, 3)], "needs 2 features"),
        (Rotate((Degrees(90),), (0, 1)), [(1, 2)], "2 positions needs as many tokens"),
        (Variance(), [(2, 3), (3, 1)], "one for every line"),
        (Variance("sample"), [(2, 1), (2, 1)], "two entries or more"),
        (Standardise(), [(2, 3), (2, 2), (2, 1)], "one mean and one variance"),
        (Rescale(), [(2, 3), (3, 3)], "one mean square"),
    ],
    ids=repr,
)
def test_shapes_that_an_operation_has_not_are_refused(op, shapes, says):
    with pytest.raises(ShapeError, match=says):
        op.shape(*shapes)
