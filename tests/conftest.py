"""Hypothesis for the whole tree: slow machines are not failures, and a run tries the same examples every time.

So a change is judged by what it changed and not by luck; `make thorough` looks for new failures, at random and longer.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "symattn", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("symattn"), max_examples=400, derandomize=False)
settings.load_profile("symattn")
