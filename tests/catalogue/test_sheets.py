"""The catalogue itself: its table has every value of every choice."""

from catalogue_sheets import ROWS
from finished_languages import FINISHED

from symattn.derivation.mechanisms import mechanisms
from symattn.page.notation import notations
from symattn.page.writers import FORMATS
from symattn.teaching.explanation import LAYOUTS
from symattn.teaching.problems import drawn_types


def test_every_choice_has_a_row():
    assert {row.name for row in ROWS} == {*mechanisms(), *drawn_types()}
    assert {row.notation for row in ROWS} == {*notations()}
    assert {row.language for row in ROWS} == {*FINISHED}
    assert {row.layout for row in ROWS} == {*LAYOUTS}
    assert {row.form for row in ROWS} == {*FORMATS}
