"""`python -m unseen`, and the command `unseen`."""

from __future__ import annotations

import sys

INTERNAL_ERROR = 70  # an installation that cannot even be imported is no finding, for which 1 stands

__all__ = ["main"]


def main() -> None:
    """Run the command line; a package that does not load ends it with a sentence."""
    try:
        from unseen.cli.app import main as run
    except Exception as error:  # whatever a broken installation raises
        print(f"unseen: the installation is broken ({type(error).__name__}: {error}).", file=sys.stderr)
        sys.exit(INTERNAL_ERROR)
    run()


if __name__ == "__main__":
    main()
