"""One limit on the threads of BLAS, however many fits ask for it at once.

The limit belongs to the process and not to a fit. A fit that remembered what it found would find
the limit of another one that runs beside it, and leave that behind when it ends last; so the
first to come remembers, and the last to go restores. Libraries built on OpenMP keep a limit for
each thread instead: there the same holds within each thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class SharedLimit:
    """A limit that holds while anyone needs it.

    Parameters
    ----------
    n_threads : int
        Threads of each BLAS library.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._libraries: tuple[Sequence[Any], Sequence[Any]] | None = None
        self._process = _Level(n_threads)
        self._local = threading.local()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the limit; it may be held already, by this thread or others."""
        shared, own = self._found()
        if not hasattr(self._local, "level"):
            self._local.level = _Level(self.n_threads)
        with self._process.held(shared), self._local.level.held(own):
            yield

    def _found(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the libraries whose limit is the process's, and those whose is a thread's."""
        if self._libraries is None:  # looking for them takes a while: once
            blas = ThreadpoolController().select(user_api="blas").lib_controllers
            by_thread = [getattr(each, "threading_layer", None) == "openmp" for each in blas]
            self._libraries = (
                [each for each, own in zip(blas, by_thread, strict=True) if not own],
                [each for each, own in zip(blas, by_thread, strict=True) if own],
            )
        return self._libraries

    def after_fork(self) -> None:
        """Begin anew in a child, in which no thread runs but the one that forked."""
        left, self._process = self._process, _Level(self.n_threads)
        self._local = threading.local()
        left.restore()


class _Level:
    """Who holds a limit, and what was there before the first of them."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._lock = threading.Lock()
        self._holders = 0
        self._before: list[tuple[Any, int]] = []

    @contextmanager
    def held(self, libraries: Sequence[Any]) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._before = [(each, each.get_num_threads()) for each in libraries]
                for each in libraries:
                    _set(each, self._n_threads)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self.restore()

    def restore(self) -> None:
        """Bring back what was before, unless somebody else has set another limit since."""
        for library, count in self._before:
            if library.get_num_threads() == self._n_threads:
                _set(library, count)
        self._before = []


def _set(library: Any, count: int) -> None:
    """Set a limit whichever thread asks.

    threadpoolctl lets only the thread that set one first set another, and ignores the rest in
    silence; who may do what when is ours to know here, and the last to go is not the first.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


ONE_BLAS_THREAD = SharedLimit(1)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ONE_BLAS_THREAD.after_fork)
