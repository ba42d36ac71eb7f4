"""Why a model file is refused: each a ValueError whose message is one sentence with a way out."""

from __future__ import annotations

from ..text import one_line


class _RefusedError(ValueError):
    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class NotAModel(_RefusedError):  # noqa: N818
    """The file is something else."""


class DamagedModel(_RefusedError):  # noqa: N818
    """The file was a model before it was cut or changed."""


class OtherVersion(_RefusedError):  # noqa: N818
    """The file was written by a version whose models this one does not read."""


class UntrustedModel(_RefusedError):  # noqa: N818
    """The file names types, or settings of them, that are not known to be harmless."""


class TooLargeModel(_RefusedError):  # noqa: N818
    """The file would unpack to more than is allowed."""
