"""Waiting for what another process does: for the event, however long a busy machine takes over it."""

import time

import pytest

GUARD = 1200
"""Seconds after which a test that hangs is ended: far more than any takes, so that nothing depends on them."""


def until(happened):
    """Wait until something holds."""
    given_up = time.monotonic() + GUARD
    while not happened():
        if time.monotonic() > given_up:
            pytest.fail("What the test waits for never happened.")
        time.sleep(0.002)
