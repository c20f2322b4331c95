# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.assessment.figures.resub_deviations import DEVIATIONS as DEVIATIONS
