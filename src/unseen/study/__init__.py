"""Monte-Carlo studies of the estimators themselves: a spec, a store, many replications, one summary."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CellSummary": "unseen.study._summary",
        "Measured": "unseen.study._measured",
        "PairTest": "unseen.study._pairs",
        "Study": "unseen.study._study",
        "StudySpec": "unseen.study._spec",
        "StudySummary": "unseen.study._summary",
        "drive": "unseen.study._driver",
        "run_group": "unseen.study._task",
        "summary_of": "unseen.study._summarize",
    },
)
