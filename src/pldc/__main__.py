"""``python -m pldc`` is the shell."""

from pldc.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
