"""Text that others wrote, made fit to be shown: printable, and no longer than a reader wants.

A name in a file can hold what moves the cursor of a terminal, colours it or goes on for a
megabyte. Wherever such text is shown it passes through here.
"""

from __future__ import annotations


def shortened(text: object, most: int = 40) -> str:
    r"""Return a text that fits into a message, without control characters.

    Parameters
    ----------
    text : object
        What is to be shown.
    most : int, default=40
        Characters that are kept.

    Returns
    -------
    str
        The text, or its beginning and an ellipsis.

    Examples
    --------
    >>> from robustscn.text import shortened
    >>> shortened("flow\x1b[31m of the mill", 12)
    'flow [31m o…'
    """
    whole = "".join(_shown(character) for character in str(text)[: most + 1])
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    # A byte of a file name that is no text; Python keeps it as half of a surrogate pair.
    byte = ord(character) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else " "


def one_line(text: object, most: int = 1000) -> str:
    r"""Return a text as one line to print, with single blanks and no control characters.

    Bytes of a file name that are no text are shown by their numbers, as in `\xff`.

    Parameters
    ----------
    text : object
        What is to be shown.
    most : int, default=1000
        Characters that are kept.

    Returns
    -------
    str
        The line, or its beginning and an ellipsis.

    Examples
    --------
    >>> from robustscn.text import one_line
    >>> one_line("two" + chr(10) + "lines" + chr(27) + "[2J")
    'two lines [2J'
    """
    line = " ".join(shortened(text, 4 * most).split())
    return line if len(line) <= most else line[: most - 1] + "…"
