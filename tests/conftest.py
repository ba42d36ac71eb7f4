"""Settings of the whole suite: repeatable examples, what many tests share, no silent skips."""

import os

import pytest
from hypothesis import settings

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, max_examples=12
)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def client():
    """A cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")
    from clusters import cluster

    with cluster() as started, distributed.Client(started) as connected:
        yield connected


@pytest.fixture(scope="session")
def in_one_go(tmp_path_factory):
    """A small reproduction of the paper that was not interrupted."""
    from paper_plan import run_whole

    return run_whole(tmp_path_factory.mktemp("one-go"))


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items):
    """Keep tests together that share what takes long to make, under `--dist loadgroup`.

    Each process makes it anew, and such tests are sent out first.
    """
    for item in items:
        if shared := _shared_by(item):
            item.add_marker(pytest.mark.xdist_group(shared))


def _shared_by(item):
    """Return the fixture of the session that a test uses, or its file if it uses one of that."""
    known = getattr(item, "_fixtureinfo", None)
    found = [each[-1] for each in known.name2fixturedefs.values()] if known else []
    ours = {each.argname: each.scope for each in found if each.baseid.startswith("tests")}
    session = [name for name, scope in ours.items() if scope == "session"]
    if session:
        return session[0]
    return item.path.stem if "module" in ours.values() else None


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
