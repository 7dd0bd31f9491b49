"""How often a law is tried that needs more or fewer examples than most; `make thorough` tries it ten times as often."""

from hypothesis import settings


def tries(count: int) -> settings:
    thorough = settings.get_current_profile_name() == "thorough"
    return settings(max_examples=count * 10 if thorough else count)
