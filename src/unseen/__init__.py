"""How well will this model do on data it has never seen, and how sure can I be?

Public names load on first use, so that `import unseen` stays quick.
"""

import logging

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

logging.getLogger("unseen").addHandler(logging.NullHandler())
