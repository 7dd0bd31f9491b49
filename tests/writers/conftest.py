import pytest

from symattn.errors import InputError
from symattn.page.writers.pdf import latex_engine


@pytest.fixture(scope="session")
def tex():
    """Skips a test on a machine that has no TeX."""
    try:
        latex_engine()
    except InputError as error:
        pytest.skip(str(error))


def pytest_collection_modifyitems(items):
    """Slow tests that run a TeX come first, as those that are marked so."""
    for item in items:
        if "tex" in getattr(item, "fixturenames", ()) and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.players)
