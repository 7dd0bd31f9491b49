"""`symattn` and `python -m symattn`."""

import gc

from symattn.foundation.remembered import keep_methods


def main() -> None:
    gc.set_threshold(100_000)  # modules and classes are no rubbish: to look for some took a tenth of a first worksheet
    keep_methods()
    from symattn.cli import main as command

    command()


if __name__ == "__main__":
    main()
