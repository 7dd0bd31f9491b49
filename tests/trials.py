"""How often a law is tried, which of many cases it is tried with, and which mechanisms are left to the slow part."""

from hypothesis import settings

LONG = frozenset({
    "encoder", "encoder_block", "encoder_block_gradient", "decoder_block", "multi_head_gradient",
    "cross_attention_gradient", "rotary_attention_gradient",
})  # fmt: skip
"""Mechanisms of so many steps that the fast suite leaves them out where a test takes a few mechanisms only."""


def tries(count):
    """So many examples; `make thorough` tries ten times as many."""
    same_every_time = settings.default.derandomize  # which the thorough profile is not
    return settings(max_examples=count if same_every_time else count * 10)


def some(cases, count):
    """So many of the cases, spread evenly; `make thorough` takes all."""
    every = list(cases)
    if not settings.default.derandomize or len(every) <= count:
        return every
    return [every[k * len(every) // count] for k in range(count)]


def at_least_one(items):
    """Them, and a failure if there are none: a law of nothing would hold."""
    found = list(items)
    assert found
    return found
