"""Versions of what computes: two runs agree to the last digit only if theirs do."""

from __future__ import annotations

import platform
from importlib.metadata import version

from unseen._version import __version__

__all__ = ["package_versions"]


def package_versions() -> dict[str, str]:
    """Return the versions of this package, of Python, and of the packages that results depend on.

    Examples
    --------
    >>> list(package_versions())
    ['unseen', 'python', 'numpy', 'scipy', 'scikit-learn']
    """
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"unseen": __version__, "python": platform.python_version(), **packages}
