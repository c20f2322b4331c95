# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.reproduction._experiment import experiments as experiments
from unseen.reproduction._experiment import reproduce as reproduce
from unseen.reproduction._published import published as published
from unseen.reproduction._record import Cell as Cell
from unseen.reproduction._record import Check as Check
from unseen.reproduction._record import Reproduction as Reproduction
from unseen.reproduction._seeds import SeedRuns as SeedRuns
from unseen.reproduction._seeds import reproduce_over_seeds as reproduce_over_seeds
