"""`python -m posterior`: the command line."""

from posterior.app.cli import main

if __name__ == "__main__":
    main()
