# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.designs.bootstrap import Bootstrap as Bootstrap
from unseen.designs.cv5x2 import Cv5x2 as Cv5x2
from unseen.designs.holdout import Holdout as Holdout
from unseen.designs.kfold import KFold as KFold
from unseen.designs.learning_curve import LearningCurve as LearningCurve
from unseen.designs.leave_out import LeaveOut as LeaveOut
from unseen.designs.leave_p_out import LeavePOut as LeavePOut
from unseen.designs.loo import LeaveOneOut as LeaveOneOut
from unseen.designs.monte_carlo import MonteCarlo as MonteCarlo
from unseen.designs.nested import Nested as Nested
from unseen.designs.repeated_kfold import RepeatedKFold as RepeatedKFold
from unseen.designs.split_halves import SplitHalves as SplitHalves
from unseen.designs.splits import Splits as Splits
from unseen.designs.time_ordered import TimeOrdered as TimeOrdered
