"""`python -m discoparse`: the command line, also where the package is not installed."""

from discoparse.cli import main

if __name__ == "__main__":
    main()
