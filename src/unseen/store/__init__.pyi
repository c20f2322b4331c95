# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.store.errors import StoreBusy as StoreBusy
from unseen.store.errors import StoreError as StoreError
from unseen.store.errors import StoreFull as StoreFull
from unseen.store.errors import StoreLost as StoreLost
from unseen.store.errors import StoreOutdated as StoreOutdated
from unseen.store.opening import DEFAULT_URL as DEFAULT_URL
from unseen.store.opening import mask_password as mask_password
from unseen.store.opening import open_store as open_store
from unseen.store.records import Kept as Kept
from unseen.store.records import Progress as Progress
from unseen.store.records import TaskResult as TaskResult
from unseen.store.records import TaskRow as TaskRow
from unseen.store.sql_store import SqlStore as SqlStore
