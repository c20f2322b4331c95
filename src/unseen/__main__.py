"""`python -m unseen`."""

from unseen.cli.app import main

if __name__ == "__main__":
    main()
