"""Messages stay messages: through a process, a copy, a list, at the beginning of a sentence."""

import copy
import pickle

import pytest

from symattn.foundation.languages import Message, capitalised, counted, in_context, listed, message, say, sentences

MESSAGES = [
    message("row {row}", row=2),
    counted("{n} row", "{n} rows", n=2),
    in_context("verb", "order"),
    capitalised("a row"),
    capitalised(message("row {row}", row=2)),
    listed(["1", "2", "3"], "or"),
    sentences("One.", message("Two.")),
    message("in {place}", place=message("row {row}", row=1)),
]


@pytest.mark.parametrize("said", MESSAGES, ids=str)
def test_a_message_comes_back_whole_from_another_process(said):
    for again in (pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
        assert isinstance(again, Message)
        assert again == said
        assert vars(again) == vars(said)


def test_writers_say_a_template_or_a_message():
    assert say("page {page} of {count}", page=1, count=3) == say(message("page {page} of {count}", page=1, count=3))
    assert say("{name} of {name2}, end of {name},", name="f", name2="x") == "f of x, end of f,"
