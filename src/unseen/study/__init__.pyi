# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.study.cells import tasks_over as tasks_over
from unseen.study.driver import drive as drive
from unseen.study.statistics import Measured as Measured
from unseen.study.summary import EstimatorPair as EstimatorPair
from unseen.study.spec import StudySpec as StudySpec
from unseen.study.study import Study as Study
from unseen.study.summary import summary_of as summary_of
from unseen.study.summary import CellSummary as CellSummary
from unseen.study.summary import StudySummary as StudySummary
from unseen.study.task import run_group as run_group
