"""Templates of the pages this room draws."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template

__all__ = ["load_template"]


@cache
def load_template(name: str) -> Template:
    """Load a template; all text is escaped, and a name it does not get is an error."""
    return _environment().get_template(f"{name}.html.jinja")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(str(files("mahrem.report").joinpath("templates"))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
