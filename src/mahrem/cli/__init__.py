"""The command line: parse, call one verb, print, exit with a meaning."""

from mahrem.cli._app import main

__all__ = ["main"]
