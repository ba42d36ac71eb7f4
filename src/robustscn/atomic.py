"""Files that are there whole or not at all, whatever interrupts their writing."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file so that others see all of it or nothing.

    Parameters
    ----------
    path : str or path
        Where to; a file of that name is replaced.
    content : bytes
        What to write.

    Returns
    -------
    Path
        Where it is.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path
