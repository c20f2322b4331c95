"""Designs: what is fitted on what, one file each; `design.plan(data, rng)` draws the splits."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Bootstrap": "unseen.designs.bootstrap",
        "KFold": "unseen.designs.kfold",
        "LeaveOut": "unseen.designs.leave_out",
        "LearningCurve": "unseen.designs.learning_curve",
        "MonteCarlo": "unseen.designs.monte_carlo",
        "RepeatedKFold": "unseen.designs.repeated_kfold",
        "Splits": "unseen.designs.splits",
    },
)
