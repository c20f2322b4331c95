"""Contract suites for designs, methods, measures, stores and engines; plug-ins import them too.

Each suite is a tuple of checks (`DESIGN_CHECKS`, ...), functions of one class that raise AssertionError with a
sentence; `check_design(cls)` and its like run all of one suite.

A plug-in inherits the base class of its kind, which declares the usual values, and states what differs: `TableMethod`,
`DirectMethod`, `Recipe`, `PairedTest` or `RankTest` of `unseen.core.kinds`, `Loss` or `SetMeasure` of `unseen.core.measure`,
`Design` of `unseen.core.plan`. A class that inherits none of them declares

- `group`: "estimators", "designs", "resubstitution", "significance" or "measures", the part of the entry-point group after
  "unseen.";
- `kind`, unless it is a design: "table", "direct" or "recipe" among estimators, "direct" or "recipe" among methods of
  resubstitution, "test" or "ranking" among those of significance, "loss" or "set" among measures;

and gets the usual values of what else it does not declare when it registers or a suite runs.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
