"""The commands, and how each ends."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from importlib import import_module
from typing import Any, NoReturn

import typer

from mahrem.cli._print import while_read
from mahrem.errors import PAID, MahremError, options_spelled, told_by_us, with_dashes

INTERRUPTED, FAILED_OUTPUT, OUR_BUG = 130, 74, 70

# What typer raises for a wrong word on the command line. It has no public name, and has moved;
# of the ancestors of one that has a name, the first one that can show itself is meant.
_Misspelt: Any = next(
    ancestor for ancestor in reversed(typer.BadParameter.__mro__) if "show" in vars(ancestor)
)

# Every command and where it lives, in the order of the help; one with commands of its own is a group.
COMMANDS = {
    "demo": "_anonymize",
    "anonymize": "_anonymize",
    "suppress": "_suppress",
    "perturb": "_perturb",
    "risk": "_risk",
    "audit": "_audit",
    "inspect": "_inspect",
    "compare": "_compare",
    "lattice": "_lattice",
    "report": "_report",
    "reproduce": "_reproduce",
    "data": "_data",
    "docs": "_docs",
    "attack": "_attack",
    "apply": "_apply",
    "release": "_release",
    "releases": "_releases",
    "key": "_key",
    "policies": "_policies",
    "query": "_query",
    "synthesize": "_synthesize",
    "generalize": "_generalize",
    "serve": "_serve",
    "train": "_train",
    "hierarchy": "_hierarchy",
    "ledger": "_ledger",
    "federate": "_federate",
}


def _top(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),  # noqa: FBT001
) -> None:
    if version:
        import mahrem

        typer.echo(f"mahrem {mahrem.__version__}")
        raise typer.Exit


def build_app(*names: str) -> typer.Typer:
    """Make the command line of these commands; of all, if none is named."""
    app = typer.Typer(
        name="mahrem",
        help="Publish and learn from personal data without giving anyone away.",
        no_args_is_help=True,
        suggest_commands=False,  # click does so itself
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        epilog="Begin with: mahrem demo. Exit codes: 0 it holds, 1 it does not, 2 usage, 3 infeasible, "
        "4 tampered, 5 budget exceeded, 6 a part is missing, 70 our bug, 74 output failed, 130 interrupted.",
    )
    app.callback(invoke_without_command=True)(_top)
    for name in names or COMMANDS:
        command = getattr(import_module(f"mahrem.cli.{COMMANDS[name]}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command()(command)
    return app


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with the code the contract names."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it was asked to be ignored
        signal.signal(signal.SIGINT, _interrupt)
    warnings.showwarning = _show_warning
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    try:
        # Not command.main(): it would turn ctrl-C and a closed pipe into exit codes of its own.
        command = typer.main.get_command(build_app(*_needed(arguments)))
        with (
            while_read(),
            options_spelled(spell_option),
            command.make_context("mahrem", list(arguments)) as context,
        ):
            command.invoke(context)
    except typer.Exit as error:
        return int(error.exit_code)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last one to catch it
        code = _explain(error)
        for note in getattr(error, "__notes__", ()):
            if note.startswith(PAID):  # what others note may hold cells
                _complain(note)
        return code
    return 0


def spell_option(name: str) -> str:
    """Spell a setting as its option, for messages."""
    from mahrem.release.decisions import release_settings

    known = release_settings().get(name)
    return with_dashes(name) if known is None else known.option


def _needed(arguments: list[str]) -> list[str]:
    """Give the commands that a line may be about: one for the version, none stands for all."""
    return ["data"] if arguments == ["--version"] else [name for name in arguments[:1] if name in COMMANDS]


def _explain(error: BaseException) -> int:
    """Say what went wrong and give the exit code."""
    nothing = "nothing half written was left behind"
    match error:
        case _Misspelt():
            error.show()
            return 0 if type(error).__name__ == "NoArgsIsHelpError" else 2  # a bare group shows its help
        case KeyboardInterrupt() | typer.Abort():
            _complain(f"interrupted; {nothing}")
            return INTERRUPTED
        case MahremError():
            _complain(str(error))
            return error.exit_code
        case OSError():
            _complain(f"input or output failed: {error.strerror or type(error).__name__}; {nothing}")
            return FAILED_OUTPUT
    if os.environ.get("MAHREM_TRACEBACK"):  # a traceback may show cells of the data: only on request
        traceback.print_exception(error)
    ours = told_by_us(error)
    if isinstance(ours, MahremError):
        _complain(f"{ours}; {nothing}")
        return ours.exit_code
    _complain(f"a bug of ours ({type(error).__name__}), please report it; {nothing}")
    return OUR_BUG


def _complain(message: str) -> None:
    print(f"mahrem: {message}", file=sys.stderr)  # noqa: T201 - this is where messages go


def _terminate(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)  # unwinds like ctrl-C, so that staged files are removed


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C by another name: Python kills itself at exit when its own one passed a string it ran.

    A data class being defined is such a string, so ctrl-C during an import would lose our exit code.
    """


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise _Interrupted


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _complain(f"warning: {message}")
