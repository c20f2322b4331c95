"""Reports: a result becomes sections, sections become one self-contained HTML file.

A section file registers functions with `unseen.report._sections.section`; importing this package loads none of them.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "build": "unseen.report._sections",
        "fragment": "unseen.report._render",
        "render": "unseen.report._render",
        "write": "unseen.report._render",
    },
)
