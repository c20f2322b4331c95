# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.models.exact.hat import held_out_residuals as held_out_residuals
from unseen.models.named import describe as describe
from unseen.models.named import named_model as named_model
from unseen.models.named import names as names
from unseen.models.sklearn import FittedEstimator as FittedEstimator
