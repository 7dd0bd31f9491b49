"""output/samples is what `make samples` would make now, byte for byte."""

import samples


def test_samples_are_current() -> None:
    made = samples.samples()
    there = {path.name: path.read_bytes() for path in samples.FOLDER.iterdir()}
    assert sorted(there) == sorted(made), "run `make samples`"
    stale = [name for name, content in made.items() if there[name] != content]
    assert not stale, f"run `make samples`: {', '.join(stale)} changed"
