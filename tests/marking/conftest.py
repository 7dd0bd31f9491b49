"""A failing test shows the scripts that it had marked last, and what became of them."""

import pytest
import scripts


def pytest_runtest_setup():
    scripts.LAST.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    report = yield
    if call.when == "call" and report.failed:
        report.sections += [("marked", scripts.shown(one)) for one in scripts.LAST]
    return report
