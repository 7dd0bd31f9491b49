"""`symattn` and `python -m symattn`."""

from symattn.foundation.compiled import keep_methods


def main() -> None:
    keep_methods()
    from symattn.cli import main as command

    command()


if __name__ == "__main__":
    main()
