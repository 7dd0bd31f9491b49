"""Tables that are opened with a spreadsheet: nothing that anybody typed becomes a formula there.

What programs do is imitated here: the line is read by Python's `csv` with another separator, and split without quotes.
"""

import csv
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from symattn.foundation.tables import csv_lines, harmless

SEPARATORS = ",;|\t"
HOSTILE = "foo;=cmd|' /C calc'!A0"


def fields_of(line):
    """Whatever can become of a line, by separator and way of quoting."""
    found = []
    for separator in SEPARATORS:
        for rows in (
            csv.reader([line], delimiter=separator),
            csv.reader([line], delimiter=separator, quoting=csv.QUOTE_NONE),
            csv.reader([line], delimiter=separator, skipinitialspace=True),
        ):
            found += [cell for row in rows for cell in row]
    return found


def runs(field):
    """Whether a spreadsheet may take it for a formula: it begins with a sign of one, and not with a whole number."""
    text = unicodedata.normalize("NFKC", field).strip(' "\r\n\t')
    return text[:1] in ("=", "+", "-", "@") and not re.match(r'[+-]\d+(\.\d+)?[ "]*($|[,;|\t])', text)


CELLS = st.one_of(
    st.text(st.sampled_from(list("=+-@＝－ ;,|\t\r\n\"'a1.")), max_size=12),
    st.text(max_size=8),
    st.integers(),
    st.none(),
)


@given(st.lists(CELLS, min_size=1, max_size=4))
def test_whatever_the_separator_nothing_becomes_a_formula(cells):
    [line] = csv_lines([cells])
    assert [field for field in fields_of(line) if runs(field)] == []


@given(st.lists(CELLS, min_size=1, max_size=4))
def test_it_is_still_the_table(cells):
    """Apart from apostrophes and space, every cell comes back."""
    [line] = csv_lines([cells])
    [back] = csv.reader([line])

    def plain(cell):
        return "".join(str("" if cell is None else cell).replace("'", "").split())

    assert [plain(cell) for cell in back] == [plain(cell) for cell in cells]


def test_without_the_apostrophe_it_would_run():
    """The imitation sees what it is there to see."""
    assert any(runs(field) for field in fields_of(f'1,"{HOSTILE}",x'))
    assert not any(runs(field) for field in fields_of(next(csv_lines([[1, HOSTILE, "x"]]))))


def test_numbers_stay_numbers_and_texts_texts():
    assert (harmless(-3), harmless("-3"), harmless("1; -2"), harmless("a - b")) == (-3, "'-3", "1; '-2", "a - b")
