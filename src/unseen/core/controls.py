"""Characters that change how a text is shown, and are not seen themselves: written out as escapes."""

from __future__ import annotations

import re

__all__ = ["escape_controls"]

# control characters but for tab and line ends, marks of direction (Unicode's bidirectional algorithm), line and paragraph separators
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


def escape_controls(text: str) -> str:
    r"""Return text in which characters that could move the cursor, colour a terminal or turn words around are seen.

    They are written as JSON writes them, so that a JSON text stays the same value.

    Examples
    --------
    >>> print(escape_controls("a\x1b[2Jb, invoice\u202efdp.exe"))
    a\u001b[2Jb, invoice\u202efdp.exe
    """
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
