"""One fixed profile for property tests: the same examples on every run and every machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "holdfast",
    derandomize=True,
    deadline=None,
    max_examples=40,
    database=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
settings.load_profile("holdfast")
