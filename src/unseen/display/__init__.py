"""Figures, one file each: `info(result)` gives the numbers, `draw(info, ax)` the picture.

A figure file ends with `figure("name", RecordClass, title=..., caption=...)(info, draw)`-style registration through
`unseen.display._figures`; importing this package loads none of them.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Figure": "unseen.display._figures",
        "draw": "unseen.display._figures",
        "figures_for": "unseen.display._figures",
        "info": "unseen.display._figures",
        "svg": "unseen.display._figures",
    },
)
