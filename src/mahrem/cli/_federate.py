"""``mahrem federate``: its verbs are loaded when one of them is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    import click


class _WhenAsked(TyperGroup):
    """A group whose commands are made when they are listed or called: other commands' help needs none."""

    @cached_property
    def _verbs(self) -> TyperGroup:
        from mahrem.cli.federating import federate_verbs

        return cast("TyperGroup", typer.main.get_command(federate_verbs))

    def list_commands(self, ctx: Any) -> list[str]:
        return self._verbs.list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> click.Command | None:
        return self._verbs.get_command(ctx, cmd_name)


federate = typer.Typer(
    name="federate",
    help="Learn one classifier from many tables that stay where they are.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    cls=_WhenAsked,
)
