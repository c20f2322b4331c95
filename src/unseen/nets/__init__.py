"""Deep nets: training side by side, error estimates without retraining, and measures of generalization, for any torch module.

Needs numpy and torch alone (the extra ``torch``), so that it also runs from the source tree on a bare GPU machine.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CalibratedNetEstimate": "unseen.nets._records",
        "Copy80": "unseen.nets._net",
        "Factors": "unseen.nets._factors",
        "Measure": "unseen.nets._measure",
        "MeasureValue": "unseen.nets._measure",
        "Net": "unseen.nets._net",
        "NetEstimate": "unseen.nets._records",
        "augment": "unseen.nets._augment",
        "build_measure": "unseen.nets._measure",
        "draw_factors": "unseen.nets._factors",
        "estimate": "unseen.nets._estimate",
        "known_measures": "unseen.nets._measure",
        "no_augmentation": "unseen.nets._factors",
        "sample_net": "unseen.nets._sample",
    },
)
