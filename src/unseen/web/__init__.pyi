# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.web._app import dashboard as dashboard
from unseen.web._server import serve as serve
