"""Hypothesis for the whole tree: slow machines are not failures."""

from hypothesis import HealthCheck, settings

settings.register_profile("symattn", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("symattn")
