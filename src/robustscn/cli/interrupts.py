"""Ctrl-C at once while libraries are imported, and not in the middle of what must be whole."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WORDS = "error: interrupted, nothing was written"


@contextmanager
def quitting_at_once() -> Iterator[None]:
    """Let Ctrl-C end the program while libraries are imported; they would swallow or dress it.

    Where it is ignored, as in the background of a script, or handled by whoever has called us,
    it stays so.

    Yields
    ------
    None
        While they are imported.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return

    def quit_now(_signal: int, _frame: Any) -> None:
        os.write(2, f"{WORDS}\n".encode())
        os._exit(130)

    before = signal.signal(signal.SIGINT, quit_now)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait until what is within is complete, and then be what it was.

    Yields
    ------
    None
        While it waits.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt
