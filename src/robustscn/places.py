"""Where an output may go: links followed, devices told from files, what must not change refused.

A name may stand for a file, for nothing yet, or for something that takes bytes and is no file: a
device, a FIFO, an open descriptor such as /dev/stdout. Files are replaced as a whole; the others
must only ever be written through, for a file in their place would destroy them. A disk would be
destroyed either way, and a socket takes no bytes by its name: both are refused.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

_MOST_LINKS = 40


@dataclass(frozen=True)
class Place:
    """What a name stands for.

    Parameters
    ----------
    named : Path
        As the caller has it.
    target : Path
        The same with links followed.
    before : os.stat_result or None
        What is there; None where nothing is.
    descriptor : int or None, default=None
        The open file of this process that it names, if it does.
    """

    named: Path
    target: Path
    before: os.stat_result | None
    descriptor: int | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it is written through instead of being replaced."""
        if self.descriptor is not None:
            return True
        return self.before is not None and not stat.S_ISREG(self.before.st_mode)

    @property
    def is_null(self) -> bool:
        """Whether what is written there is gone, so that any number of outputs may go there."""
        if self.before is None or not stat.S_ISCHR(self.before.st_mode):
            return False
        return os.path.exists(os.devnull) and self.before.st_rdev == os.stat(os.devnull).st_rdev

    def opened(self) -> int:
        """Return a descriptor to write through; of a FIFO, once somebody reads it."""
        if self.descriptor is not None:
            return os.dup(self.descriptor)
        return os.open(self.target, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))


def place_of(path: str | os.PathLike[str]) -> Place:
    """Return what a name stands for; raise where nothing can be written to it.

    Parameters
    ----------
    path : str or path
        The name.

    Returns
    -------
    Place
        Where to write, and how.

    Raises
    ------
    OSError
        Whose `strerror` is one sentence that says what to do.
    """
    place = _followed(Path(path))
    if place.descriptor is None:
        _refuse_no_files(place)
        _refuse_protected(place)
    return place


def _followed(path: Path) -> Place:
    target = path
    try:
        for _ in range(_MOST_LINKS):
            if (descriptor := _descriptor(target)) is not None:
                return Place(path, target, os.fstat(descriptor), descriptor)
            if not target.is_symlink():
                break
            target = target.parent / os.readlink(target)
        else:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return Place(path, target, os.lstat(target))
    except (FileNotFoundError, NotADirectoryError):
        return Place(path, target, None)
    except OSError as error:
        raise OSError(
            error.errno, f"{path} cannot be written to: {error.strerror or error}"
        ) from None


def _descriptor(target: Path) -> int | None:
    """Return which of our own open files a name is, as /dev/stdout and /dev/fd/3 are."""
    ours = f"/proc/{os.getpid()}/fd"
    if target.name.isdigit() and os.path.realpath(target.parent) == ours:
        return int(target.name)
    return None


def _refuse_no_files(place: Place) -> None:
    path, folder = place.named, place.target.parent
    if place.before is not None and stat.S_ISDIR(place.before.st_mode):
        raise OSError(errno.EISDIR, f"{path} is a folder: add a file name")
    if place.before is not None and stat.S_ISBLK(place.before.st_mode):
        raise OSError(errno.EINVAL, f"{path} is a disk, and would be lost: name a file")
    if place.before is not None and stat.S_ISSOCK(place.before.st_mode):
        raise OSError(errno.EINVAL, f"{path} is a socket: name a file, or pipe to what listens")
    if not folder.is_dir():
        raise OSError(errno.ENOENT, f"there is no folder {folder}: create it first")
    if not place.is_stream and not os.access(folder, os.W_OK):
        raise OSError(errno.EACCES, f"the folder {folder} cannot be written to: choose another")


def _refuse_protected(place: Place) -> None:
    """Raise where someone has said that what is there shall stay, or its owner would be lost."""
    before, path = place.before, place.named
    if before is None:
        return
    # The superuser may write to anything; a mode that allows nobody to is a wish all the same.
    if not before.st_mode & 0o222 or not os.access(place.target, os.W_OK):
        raise OSError(errno.EACCES, f"{path} is read-only: allow writing, or choose another name")
    if not place.is_stream and not _can_be_kept(before):
        raise OSError(
            errno.EPERM,
            f"{path} belongs to another user or group, which a new file would not: remove it, or "
            "choose another name",
        )


def _can_be_kept(before: os.stat_result) -> bool:
    """Return whether this process may make a file of the same owner and group."""
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        return True
    groups = {os.getegid(), *os.getgroups()}
    return before.st_uid == os.geteuid() and before.st_gid in groups
