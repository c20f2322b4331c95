# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.nets.modules.device import device_of as device_of
from unseen.nets.modules.device import exact_float32 as exact_float32
from unseen.nets.modules.layers import eval_mode as eval_mode
from unseen.nets.modules.logits import LogitFunction as LogitFunction
