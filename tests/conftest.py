"""Settings of the whole suite: repeatable examples, and no silent skips where that is asked."""

import os
import signal
import threading

import pytest
from hypothesis import settings

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, max_examples=12
)
settings.load_profile("repeatable")


def _failed_if_skipped(report):
    # An expected failure is reported as a skip too; that one is a result.
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"ROBUSTSCN_NO_SKIPS is set, but this was skipped: {report.longrepr}"


if os.environ.get("ROBUSTSCN_NO_SKIPS"):

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport():
        outcome = yield
        _failed_if_skipped(outcome.get_result())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report():
        outcome = yield
        _failed_if_skipped(outcome.get_result())


def pytest_configure():
    # Started in the background of a script, Ctrl-C is ignored here and in all that is started
    # from here: programs that a test interrupts would run on.
    ours = threading.current_thread() is threading.main_thread()
    if ours and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
