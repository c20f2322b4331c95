# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.reproduction.experiment import experiments as experiments
from unseen.reproduction.experiment import reproduce as reproduce
from unseen.reproduction.published_numbers import read_published as read_published
from unseen.reproduction.record import Cell as Cell
from unseen.reproduction.record import Check as Check
from unseen.reproduction.record import Reproduction as Reproduction
from unseen.reproduction.seeds import SeedRuns as SeedRuns
from unseen.reproduction.seeds import reproduce_over_seeds as reproduce_over_seeds
