"""Every entry of a matrix has a name of its own, in every notation."""

from itertools import product

import pytest

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.page.notation import load_notation, notations
from symattn.teaching.explanation.wording import Wording


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_entries_are_told_apart(name):
    sizes = dict.fromkeys(mechanisms()[name].letters, 2)
    for orientation, used in (("columns", {"columns"}), ("rows", set(notations()) - {"columns"})):
        solution = symattn.derive(name, symbolic=True, sizes=sizes, orientation=orientation)
        matrices = (*solution.givens, *(step.name for step in solution))
        for matrix, notation in product(matrices, used):
            wording = Wording(solution.derivation, load_notation(notation))
            rows, columns = solution.derivation.value(matrix).shape
            names = {wording.entry(matrix, i, j) for i, j in product(range(rows), range(columns))}
            assert len(names) == rows * columns, (matrix, notation)
