"""Hypothesis for the whole tree: slow machines are not failures; `--hypothesis-profile thorough` looks for longer."""

from hypothesis import HealthCheck, settings

settings.register_profile("symattn", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("symattn"), max_examples=400)
settings.load_profile("symattn")
