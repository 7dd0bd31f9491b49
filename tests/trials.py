"""How often a law is tried that needs more or fewer examples than most; `make thorough` tries it ten times as often."""

from hypothesis import settings


def tries(count: int) -> settings:
    same_every_time = settings.default.derandomize  # which the thorough profile is not
    return settings(max_examples=count if same_every_time else count * 10)
