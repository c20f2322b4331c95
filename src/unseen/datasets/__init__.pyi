# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.datasets.bundled import load as load
from unseen.datasets.bundled import names as names
from unseen.datasets.conversion import as_data as as_data
from unseen.datasets.populations import GaussianBlocks as GaussianBlocks
