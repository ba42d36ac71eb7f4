"""Settings of the whole suite: repeatable examples, what many tests share, no silent skips."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import settings

# `--hypothesis-profile` names another: `few` where the same is asked once more on other processors
# and versions, `many` in `make test-slow`.
for _name, _examples in (("few", 2), ("repeatable", 6), ("many", 60)):
    settings.register_profile(
        _name, deadline=None, derandomize=True, database=None, max_examples=_examples
    )
settings.load_profile("repeatable")


@pytest.fixture(scope="module")
def client():
    """A cluster of two worker processes; gone with the module, since idle ones cost time too."""
    distributed = pytest.importorskip("distributed")
    from clusters import cluster

    with cluster() as started, distributed.Client(started) as connected:
        yield connected


@pytest.fixture
def many_rows(monkeypatch):
    """A number of rows of which the flagship looks at a part, and which stay on the cluster."""
    dask = pytest.importorskip("robustscn.dask")
    few = 500  # instead of thousands: what is asked here does not depend on it
    monkeypatch.setattr("robustscn.estimators.flagship.LOOKED_ROWS", few)
    monkeypatch.setattr(dask.DaskRobustSCNRegressor, "_few_rows", few)
    return few + 200


@pytest.fixture(scope="session")
def table_5(tmp_path_factory):
    """The smallest of the paper's Table 5, from the command line: folder and what was printed."""
    folder = tmp_path_factory.mktemp("table5")
    command = [sys.executable, "-m", "robustscn.cli", "reproduce", "table5", "--trials", "1"]
    done = subprocess.run(
        [*command, "--levels", "30", "--jobs", "1", "--out", str(folder)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return folder, done.stdout


@pytest.fixture(scope="session")
def in_one_go(tmp_path_factory):
    """A small reproduction of the paper that was not interrupted."""
    from paper_plan import run_whole

    return run_whole(tmp_path_factory.mktemp("one-go"))


ALONE = {"test_bad_input.py", "test_docs_code.py", "test_ecosystem.py", "test_estimators.py"}
"""Files whose tests share nothing: hundreds that fill what the others leave of each process."""

TOGETHER = {
    "test_dask_cost.py": "test_dask.py",
    "test_paper_page.py": "test_paper_running.py",
    "test_reproduce.py": "test_paper_running.py",
}
"""Files that share a fixture of the session with another."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Send whole files to a process: what their tests share takes long to make."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0].rpartition("/")[2]
            return nodeid if file in ALONE else TOGETHER.get(file, file)

    return ByFile(config, log)


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


def pytest_make_parametrize_id(val, argname):
    # An archive holds the clock: named by its bytes, a test has other names in other processes.
    return f"{argname} of {len(val)} bytes" if isinstance(val, bytes) else None
