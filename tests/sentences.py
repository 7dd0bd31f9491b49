"""What is wrong is said in one sentence, at whatever height it is found."""

import re
from contextlib import contextmanager

import pytest

from symattn.errors import InputError


def assert_sentence(said):
    assert "\n" not in said, said
    assert re.search(r"[.…?)\]]$", said), f"no whole sentence: {said}"
    assert not re.search(r"Traceback|object at|Error:", said), said


@contextmanager
def refused_saying(words):
    """Ends in a sentence in which these words stand, a regular expression."""
    with pytest.raises(InputError, match=words) as error:
        yield error
    assert_sentence(str(error.value))
