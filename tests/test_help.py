"""Help and lists: every option stands in one group, on one line; every setting is explained."""

import re
from dataclasses import fields

import click
import pytest
from click.testing import CliRunner

from symattn.cli import main
from symattn.cli.options import GROUPS, SETTINGS, Option
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.mechanisms.settings import CHOICES, NOT_OF_ALL
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import COUNTING
from symattn.derivation.settings import ABOUT
from symattn.derivation.slips import SLIPS

COMMANDS = sorted(main.commands)
ALL = [field.name for field in fields(Settings)]
LINES = 69
"""What the help of a command may have."""


def output(*arguments):
    done = CliRunner().invoke(main, arguments, catch_exceptions=False, terminal_width=100)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def options_of(name):
    return [one for one in main.commands[name].params if isinstance(one, click.Option)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_exactly_one_group(name):
    command = main.commands[name]
    groups = command.groups(command.make_context(name, ["-h"], resilient_parsing=True))
    assert list(groups) == [group for group in GROUPS if group in groups]  # in this order
    grouped = [option for group in groups.values() for option in group]
    assert len(grouped) == len(set(map(id, grouped)))
    assert [o for o in grouped if not isinstance(o, Option)] == [o for o in grouped if o.opts == ["-h", "--help"]]
    assert {id(o) for o in options_of(name)} <= set(map(id, grouped))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_one_line_of_help_and_settings_are_named(name):
    lines = output(name, "--help")
    assert output(name, "-h") == lines
    assert max(map(len, lines)) <= 100
    assert len(lines) <= LINES
    after = lines[lines.index(next(line for line in lines if re.fullmatch(r"[A-Z][\w ]+:", line))) :]
    for option in options_of(name):
        flag = max(option.opts, key=len)
        found = [line for line in after if re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", line)]
        if option.group == SETTINGS:
            assert len(found) == 1, flag
        else:
            starts = [line for line in found if re.match(rf"  (-\w, )?{re.escape(flag)}(?![\w-])", line)]
            assert len(starts) == 1, flag
            assert option.help
            assert option.help in starts[0], f"the help of {flag} takes more than a line"
    inside = [line for line in after if line and not line.endswith(":")]
    assert all(re.match(r"  -", line) for line in inside), "a line that goes on in the next"


def test_no_command_is_described_by_half_a_sentence():
    lines = output("--help")
    said = lines[lines.index("Commands:") + 1 :]
    assert len(said) == len(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in said)


def test_settings_have_words_and_values():
    assert list(ABOUT) == ALL
    for name, choices in CHOICES.items():
        assert all(choice in ABOUT[name].values for choice in choices), name


def test_every_setting_is_in_the_list_of_all():
    lines = output("list", "settings")
    assert max(map(len, lines)) <= 100
    heads = [found[1] for line in lines if (found := re.match(r"  (\w+) = ", line))]
    assert heads == ALL


@pytest.mark.parametrize("name", mechanisms())
def test_the_settings_of_a_mechanism_are_those_that_it_takes_with_its_defaults(name):
    lines = output("list", "settings", name)
    assert max(map(len, lines)) <= 100
    assert lines[0] == f"{name}: {mechanism(name).title}"
    stated = dict(found.groups() for line in lines if (found := re.match(r"  (\w+) = (.*?)  ", line)))
    assert set(stated) == {s for s in ALL if s in mechanism(name).uses or s not in NOT_OF_ALL}
    default = Settings.read(mechanism(name).defaults)
    for setting, text in stated.items():
        typed_as_listed = Settings.read({**mechanism(name).defaults, setting: text})
        assert getattr(typed_as_listed, setting) == getattr(default, setting)


def words_of(lines):
    return " ".join(" ".join(lines).split())


def test_every_misconception_and_slip_is_explained():
    listed = [line.split()[0] for line in output("list", "misconceptions")]
    assert listed == [*misconceptions(), *COUNTING, *SLIPS]
    for code in listed:
        lines = output("list", "misconception", code)
        assert max(map(len, lines)) <= 100
        said = words_of(lines)
        if code in SLIPS:
            assert SLIPS[code].detect in said
            continue
        entry = misconceptions().get(code) or COUNTING[code]
        for text in (f"{code}: {entry.name}", entry.exactly, entry.tell, entry.source):
            assert words_of([text]) in said
        assert "PEDAGOGY" not in said


def test_the_teacher_is_told_where_the_mistakes_are_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = "[[2, 4, 4], [4, 16, 12], [4, 12, 10]]"
    (tmp_path / "answers.toml").write_text(f'[answers]\nS = {scores}\n"S\'" = {scores}\n', "utf-8")
    said = words_of(output("check", "note-002", "answers.toml", "--for", "teacher"))
    command = re.search(r"similar mistakes: symattn (list misconceptions (?:\w+ ?)+)\.", said)
    assert command, said
    codes = command[1].split()[2:]
    assert "C1" in codes
    heads = [line.partition(":")[0] for line in output(*command[1].split()) if line and not line.startswith(" ")]
    assert heads == codes
    assert "list misconceptions" not in words_of(output("check", "note-002", "answers.toml"))  # the student is not


def test_the_options_of_one_type_are_listed():
    assert output("list", "options", "masks") == output("list", "problem", "masks")
