"""How often laws are tried: in the fast suite a quarter as often."""

from hypothesis import settings

LEAST = 10


def tries(most: int) -> settings:
    """So many examples of a law; in the fast suite fewer."""
    few = settings.get_current_profile_name() == "fast"
    return settings(max_examples=max(most // 4, min(most, LEAST)) if few else most)
