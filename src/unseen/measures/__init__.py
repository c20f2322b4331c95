"""Losses and measures: `per_example` where they decompose over examples, else `of_set`; one file each."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BrierParts": "unseen.measures._calibration",
        "Cost": "unseen.measures.cost",
        "Outlying": "unseen.measures._continuous",
        "PredictiveValue": "unseen.measures._prevalence",
        "Threshold": "unseen.measures._costs",
        "Utility": "unseen.measures.utility",
        "best_threshold": "unseen.measures._costs",
        "brier_decomposition": "unseen.measures._calibration",
        "delong": "unseen.measures._delong",
        "outlying": "unseen.measures._continuous",
        "predictive_value": "unseen.measures._prevalence",
    },
)
