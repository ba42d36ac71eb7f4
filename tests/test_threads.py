"""The limit on BLAS threads: whatever overlaps, the process gets back what it had."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from robustscn import RVFLRegressor
from robustscn.estimators._base import one_blas_thread
from robustscn.estimators._threads import SharedLimit

pytestmark = pytest.mark.hostile


def threads():
    return [
        each["num_threads"] for each in ThreadpoolController().info() if each["user_api"] == "blas"
    ]


@pytest.fixture(autouse=True)
def _several():
    """Three threads to begin with, whatever the environment says."""
    with threadpool_limits(3, user_api="blas"):
        assert set(threads()) == {3}
        yield


def test_limits_nest():
    with one_blas_thread():
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert set(threads()) == {3}


def test_the_first_to_come_may_be_the_first_to_go():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert set(threads()) == {3}


def test_the_thread_that_goes_last_restores_though_the_first_still_runs():
    """threadpoolctl itself would ignore it."""
    taken, over = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            taken.set()
            over.wait(30)
        still.wait(30)

    still, worker = threading.Event(), threading.Thread(target=first)
    worker.start()
    taken.wait(30)
    with one_blas_thread():
        over.set()
        assert set(threads()) == {1}
    for _ in range(3000):
        if set(threads()) == {3}:
            break
        still.wait(0.01)
    assert set(threads()) == {3}
    assert worker.is_alive()
    still.set()
    worker.join()


def test_another_limit_set_meanwhile_stays():
    with one_blas_thread(), threadpool_limits(2, user_api="blas"):
        assert set(threads()) == {2}
        with one_blas_thread():  # held already: the caller's own limit is newer
            assert set(threads()) == {2}
    assert set(threads()) == {3}
    outer = threadpool_limits(4, user_api="blas")
    with one_blas_thread():
        outer.restore_original_limits()
    assert set(threads()) == {3}


class OpenMP:
    """Stands for a library that keeps a limit for each thread."""

    threading_layer = "openmp"

    def __init__(self):
        self.local = threading.local()

    def get_num_threads(self):
        return getattr(self.local, "count", 5)

    def set_num_threads(self, count):
        self.local.count = count


def test_where_each_thread_has_a_limit_each_gets_its_own_back():
    library, limit, seen = OpenMP(), SharedLimit(1), []
    limit._libraries = ([], [library])

    def work():
        with limit.held(), limit.held():
            seen.append(library.get_num_threads())
        seen.append(library.get_num_threads())

    with limit.held():
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        assert library.get_num_threads() == 1
    assert library.get_num_threads() == 5
    assert seen == [1, 5]


def test_an_error_gives_the_limit_back():
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert set(threads()) == {3}


def test_many_threads_in_and_out_at_random():
    limit, failed = SharedLimit(1), []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            with limit.held():
                if rng.random() < 0.2 and set(threads()) != {1}:
                    failed.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed == []
    assert set(threads()) == {3}


def test_fits_that_overlap_leave_blas_as_it_was():
    X = np.random.default_rng(0).random((400, 3))
    models = [RVFLRegressor(n, random_state=0) for n in (20, 150, 60, 200, 30, 90)]
    workers = [threading.Thread(target=m.fit, args=(X, X[:, 0])) for m in models]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(hasattr(model, "n_nodes_") for model in models)
    assert set(threads()) == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_during_a_fit_has_all_its_threads():
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            inside = set(threads()) == {3}
            with one_blas_thread():
                inside &= set(threads()) == {1}
            os._exit(0 if inside and set(threads()) == {3} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert set(threads()) == {1}
