"""Deep nets: training side by side, error estimates without retraining, and measures of generalization, for any torch module.

Needs numpy and torch alone (the extra ``torch``), so that it also runs from the source tree on a bare GPU machine.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CalibratedNetEstimate": "unseen.nets._records",
        "Classifier": "unseen.nets._classifier",
        "Copy80": "unseen.nets._net",
        "Examples": "unseen.nets._data",
        "Factors": "unseen.nets._factors",
        "Fits": "unseen.nets._fits",
        "GranulatedTau": "unseen.nets._rank_scores",
        "Measure": "unseen.nets._measure",
        "MeasureValue": "unseen.nets._measure",
        "Net": "unseen.nets._net",
        "NetEstimate": "unseen.nets._records",
        "NoiseFloor": "unseen.nets._cmi",
        "Posterior": "unseen.nets._posterior",
        "RobustError": "unseen.nets._rank_scores",
        "Score": "unseen.nets._cmi",
        "Zoo": "unseen.nets._zoo",
        "ZooGrid": "unseen.nets._zoo_grids",
        "ZooNet": "unseen.nets._zoo_plan",
        "augment": "unseen.nets._augment",
        "build_measure": "unseen.nets._measure",
        "cmi": "unseen.nets._cmi",
        "draw_factors": "unseen.nets._factors",
        "estimate": "unseen.nets._estimate",
        "fit_many": "unseen.nets._fit_many",
        "granulated_tau": "unseen.nets._rank_scores",
        "kendall_tau": "unseen.nets._rank_scores",
        "known_measures": "unseen.nets._measure",
        "load_weights": "unseen.nets._saved",
        "make_lenet5": "unseen.nets._architectures",
        "make_mlp": "unseen.nets._architectures",
        "make_nin": "unseen.nets._architectures",
        "make_vgg": "unseen.nets._architectures",
        "no_augmentation": "unseen.nets._factors",
        "posterior": "unseen.nets._sample_posterior",
        "read_examples": "unseen.nets._data",
        "read_idx": "unseen.nets._idx",
        "robust_error": "unseen.nets._rank_scores",
        "sample_net": "unseen.nets._sample",
        "write_idx": "unseen.nets._idx",
    },
)
