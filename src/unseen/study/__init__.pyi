# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.study._driver import drive as drive
from unseen.study._measured import Measured as Measured
from unseen.study._pairs import PairTest as PairTest
from unseen.study._spec import StudySpec as StudySpec
from unseen.study._study import Study as Study
from unseen.study._summarize import summary_of as summary_of
from unseen.study._summary import CellSummary as CellSummary
from unseen.study._summary import StudySummary as StudySummary
from unseen.study._task import run_group as run_group
