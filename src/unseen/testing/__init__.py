"""Contract suites for designs, methods, measures, stores and engines; plug-ins import them too.

Each suite is a tuple of checks (`DESIGN_CHECKS`, ...), functions of one class that raise AssertionError with a
sentence; `check_design(cls)` and its like run all of one suite.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
