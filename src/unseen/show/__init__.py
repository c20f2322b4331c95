"""The framework of showing results: text, figures, report sections and pages, which the owner of a record registers for it.

A figure is registered by `unseen.show.figures.figure`, a section by `unseen.show.sections.section`; a record names its owner
in `shown_by`, and showing it imports that owner alone.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
