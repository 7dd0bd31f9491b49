from __future__ import annotations

import pytest

from symattn.errors import InputError
from symattn.page.writers.pdf import latex_engine


@pytest.fixture(scope="session")
def tex() -> None:
    """Skips a test on a machine that has no TeX."""
    try:
        latex_engine()
    except InputError as error:
        pytest.skip(str(error))
