"""The program `discoparse`, also as `python -m discoparse` where the package is not installed."""

import sys


def main() -> None:
    """Run the command line. Its imports take a while, so an interrupt is taken care of before them."""
    try:
        from discoparse.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("discoparse: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
