"""Every entry of a matrix has a name of its own, in every notation."""

from itertools import product

import pytest
from test_letters import SIZES

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.page.notation import load_notation, notations
from symattn.teaching.explanation.wording import Wording


@pytest.mark.covering(most=24)
@pytest.mark.parametrize("notation", notations())
@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_entries_are_told_apart(name, notation):
    sizes = {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    orientation = "columns" if notation == "columns" else "rows"
    solution = symattn.derive(name, symbolic=True, sizes=sizes, orientation=orientation)
    wording = Wording(solution.derivation, load_notation(notation))
    for matrix in (*solution.givens, *(step.name for step in solution)):
        rows, columns = solution.derivation.value(matrix).shape
        names = {wording.entry(matrix, i, j) for i, j in product(range(rows), range(columns))}
        assert len(names) == rows * columns, matrix
