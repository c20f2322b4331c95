# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.store._errors import StoreBusy as StoreBusy
from unseen.store._errors import StoreError as StoreError
from unseen.store._errors import StoreFull as StoreFull
from unseen.store._errors import StoreLost as StoreLost
from unseen.store._open import DEFAULT_URL as DEFAULT_URL
from unseen.store._open import masked as masked
from unseen.store._open import open_store as open_store
from unseen.store._records import Kept as Kept
from unseen.store._records import Progress as Progress
from unseen.store._records import TaskResult as TaskResult
from unseen.store._records import TaskRow as TaskRow
from unseen.store._sql import SqlStore as SqlStore
