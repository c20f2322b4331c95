"""Designs: what is fitted on what, one file each; `design.plan(data, rng)` draws the splits."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Bootstrap": "unseen.designs.bootstrap",
        "Cv5x2": "unseen.designs.cv5x2",
        "Holdout": "unseen.designs.holdout",
        "KFold": "unseen.designs.kfold",
        "LeaveOneOut": "unseen.designs.loo",
        "LeaveOut": "unseen.designs.leave_out",
        "LeavePOut": "unseen.designs.leave_p_out",
        "LearningCurve": "unseen.designs.learning_curve",
        "MonteCarlo": "unseen.designs.monte_carlo",
        "Nested": "unseen.designs.nested",
        "RepeatedKFold": "unseen.designs.repeated_kfold",
        "SplitHalves": "unseen.designs.split_halves",
        "Splits": "unseen.designs.splits",
        "TimeOrdered": "unseen.designs.time_ordered",
    },
)
