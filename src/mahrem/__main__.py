"""``python -m mahrem`` is ``mahrem``."""

from mahrem.cli import main

main()
