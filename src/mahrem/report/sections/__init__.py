"""Sections of the report's page: one module here is one section, with its entry ``SECTION``.

An entry says where the section stands, which facts it needs and how it is drawn. The page, the page of
``mahrem serve`` and the tests are made from these entries; a new section is a new module and its words.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from mahrem.report._section import Section

__all__ = ["list_sections"]


@cache
def list_sections() -> tuple[Section, ...]:
    """Give all sections in the order of the page."""
    modules = (import_module(f"{__name__}.{inner.name}") for inner in iter_modules(__path__))
    return tuple(sorted((module.SECTION for module in modules), key=lambda section: section.place))
