"""Short names: the check character finds what hands get wrong, shown by trying all of it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.foundation.identity import ALPHABET, digest, identity, is_identity

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_every_name_checks_itself_and_depends_on_content_alone(content):
    name = identity(content)
    assert is_identity(name)
    assert name == identity(content)
    assert is_identity(name.lower().replace("-", " ").replace(" ", "-"))


@pytest.mark.parametrize("content", [[1], {"a": 2}, "x", None])
def test_every_wrong_character_and_every_exchange_of_two_is_found(content):
    letters = identity(content).replace("-", "")
    for place, other in itertools.product(range(8), ALPHABET):
        changed = letters[:place] + other + letters[place + 1 :]
        assert is_identity(changed) == (changed == letters)
    for a, b in itertools.combinations(range(8), 2):
        swapped = list(letters)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        changed = "".join(swapped)
        assert is_identity(changed) == (changed == letters)


def test_what_is_easily_misread_is_forgiven():
    name = next(n for n in (identity(k) for k in range(1000)) if "1" in n and "0" in n)
    assert is_identity(name.replace("1", "I").replace("0", "o"))
    assert is_identity(name.replace("1", "l"))


@pytest.mark.parametrize("text", ["", "ABC", "0000-000U", "UUUU-UUUU", "00000-0000", "é000-0000"])
def test_what_is_no_name_is_refused(text):
    assert not is_identity(text)


def test_the_order_of_keys_makes_no_difference_and_content_does():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert len({identity({"k": k}) for k in range(20_000)}) == 20_000
