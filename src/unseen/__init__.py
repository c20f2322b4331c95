"""How well will this model do on data it has never seen, and how sure can I be?

Public names load on first use, so that `import unseen` stays quick.
"""

import logging

from unseen._version import __version__
from unseen.core.lazy import attach

_NAMES = {
    "Assessment": "unseen.verbs.assessment",
    "BackwardElimination": "unseen.learners.elimination",
    "Comparison": "unseen.core.comparison",
    "Comparisons": "unseen.core.comparison",
    "Diagnosis": "unseen.verbs.diagnosis",
    "Estimate": "unseen.core.estimate",
    "ErrorDistribution": "unseen.core.distribution",
    "Interval": "unseen.core.estimate",
    "Measures": "unseen.verbs.measure_record",
    "PredictionTable": "unseen.core.table",
    "PrincipalScores": "unseen.learners.scores",
    "QuitWhenAhead": "unseen.learners.quit_when_ahead",
    "Ranking": "unseen.core.ranking",
    "Resubstitutions": "unseen.verbs.resubstitute",
    "Study": "unseen.study._study",
    "Target": "unseen.core.estimate",
    "TrainingProgress": "unseen.learners.progress",
    "UnseenError": "unseen.core.errors",
    "UtilityThreshold": "unseen.learners.threshold",
    "ZScore": "unseen.learners.scores",
    "assess": "unseen.verbs.assess",
    "compare": "unseen.verbs.compare",
    "datasets": "",
    "designs": "",
    "diagnose": "unseen.verbs.diagnose",
    "disagree": "unseen.verbs.disagree",
    "distribution": "unseen.verbs.distribution",
    "estimate": "unseen.verbs.estimate",
    "jackknife": "unseen.verbs.diagnose_training",
    "kinetics": "",
    "load": "unseen.verbs.run",
    "measure": "unseen.verbs.measure",
    "measures": "",
    "monitor": "unseen.learners.progress",
    "nets": "",
    "open_model": "unseen.adapt.load",
    "optimal_fraction": "unseen.verbs.fraction",
    "optimism_over_sets": "unseen.verbs.diagnose_optimism",
    "plan_test_size": "unseen.verbs.planning",
    "power": "unseen.verbs.power",
    "predictions": "unseen.verbs.predictions",
    "preprocessing_leak": "unseen.verbs.diagnose_leak",
    "rank": "unseen.verbs.rank",
    "resubstitute": "unseen.verbs.resubstitute",
    "resubstitution": "",
    "run": "unseen.verbs.run",
    "study": "",
    "training_variance": "unseen.verbs.diagnose_training",
    "variance_components": "unseen.verbs.diagnose_variance",
}

__getattr__, __dir__, __all__ = attach(__name__, _NAMES)
__all__ = [*__all__, "__version__"]

logging.getLogger("unseen").addHandler(logging.NullHandler())
