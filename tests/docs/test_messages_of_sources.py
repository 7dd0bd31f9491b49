"""The messages of the sources, as translators find them: files of `docs/make`, which no source distribution has."""

import ast
import re
from functools import cache

import messages
import polib
import pytest

from symattn.foundation.languages import languages
from symattn.practice.choices import words

OTHERS = tuple(code for code in languages() if code != "en")
extracted = cache(messages.extracted)


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_the_messages_of_the_sources(language):
    """`make messages` was run; that a translation is missing fails no test: the page says it in English."""
    path = messages.LANGUAGES / f"{language}.po"
    file = polib.pofile(str(path))
    found = extracted()
    listed = {(e.msgctxt or "", e.msgid, e.msgid_plural) for e in file if e.msgctxt != "sign"}
    assert listed == {(t.context, t.one, t.other) for t in found}
    done, count = messages.coverage(file)
    assert 0 < done <= count == len(found)


@pytest.mark.parametrize(
    ("source", "templates"),
    [
        ('message("one {x}", x=1)', [("", "one {x}", "")]),
        ('partial(message, "one {x}", x=1)', [("", "one {x}", "")]),
        ('functools.partial(languages.message, "one {x}")', [("", "one {x}", "")]),
        ('partial(message, "one {x}" if few else "many {x}")', [("", "one {x}", ""), ("", "many {x}", "")]),
        ('partial(counted, "{n} line", "{n} lines", n=2)', [("", "{n} line", "{n} lines")]),
        ('partial(in_context, "a sign", "one {x}")', [("a sign", "one {x}", "")]),
        ('partial(sorted, "one two")', []),
        ("partial()", []),
    ],
)
def test_a_template_is_read_where_it_stands(source, templates):
    read = messages.templates_in(ast.parse(source))
    assert [(template.context, template.one, template.other) for template in read] == templates


def test_what_the_form_says_of_settings_and_options_is_in_the_catalogues():
    assert {*words()} <= {entry.msgid for entry in polib.pofile(str(messages.LANGUAGES / "de.po"))}


@pytest.mark.slow
def test_templates_that_wait_in_a_partial_are_read_for_translators():
    """Each is found in the text of the sources, not as `extracted` does it, and begins with its template in quotes."""
    waiting = re.compile(r"\bpartial\(\s*(?:\w+\.)*(?:message|counted|sentence)\b(?:,\s*\"([^\"]*)\")?")
    texts = [path.read_text("utf-8") for path in messages.PACKAGE.rglob("*.py")]
    found = {said for text in texts for said in waiting.findall(text)}
    assert "the reciprocal was written" in found
    assert found <= {template.one for template in extracted()}


def test_words_to_be_read_have_no_second_home():
    """No source has a word of another language that its file has to read by, unless it is one of ours as well."""
    files = [entry for code in OTHERS for entry in polib.pofile(str(messages.LANGUAGES / f"{code}.po"))]
    word = re.compile(r"[^\W\d_]{4,}")
    ours = {found for entry in files for found in word.findall(entry.msgid.lower())}
    theirs = {found for entry in files if entry.msgctxt == messages.READ for found in word.findall(entry.msgstr)} - ours
    assert {"zeile", "columna", "étape"} <= theirs
    for path in messages.PACKAGE.rglob("*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings)
        found = {said for text in texts if isinstance(text, str) for said in word.findall(text.lower())}
        assert not found & theirs, path
