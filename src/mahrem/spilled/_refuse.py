"""What cannot be done out of core, said in a sentence and never ignored."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.errors import spelled
from mahrem.partition import METHODS
from mahrem.release.decisions import Policy, coarsened_by_row
from mahrem.settings import settings_of
from mahrem.table import EVERY, FORMATS, Missing, Source
from mahrem.table.formats import SlicedFiles
from mahrem.table.reading import PolarsSource

_ALSO = {"thousands", "date_format", "header", "names", "skip_rows", "memory", "minimality_safe", "subject"}
_ALSO |= {"average_risk", "marketer_risk", "sample_uniqueness"}  # classes of all rows tell


def why_not_out_of_core(policy: Policy, source: Source) -> str | None:
    """Give the first reason why a table cannot be anonymised out of core, with what to do; None: it can."""
    return next(_reasons(policy, source), None)


def why_not_by_passes(policy: Policy) -> str | None:
    """Give the first reason why the numbers of all rows must fit into memory; None: they need not."""
    return next(_about_method(policy), None)


def _reasons(policy: Policy, source: Source) -> Iterator[str]:
    if not isinstance(source, PolarsSource) or not source.in_batches():
        yield (
            f"the source is a {source.label}, which cannot be read in parts: save it as CSV in UTF-8 or as "
            f"Parquet with columns of text, numbers and dates"
        )
    for name, known in settings_of(Policy).items():
        if not known.on_spark and name not in _ALSO and not known.is_default(getattr(policy, name)):
            yield f"{name} needs all rows at once: leave it out"
    if policy.method != "auto" and policy.method in METHODS:
        method = METHODS[policy.method]
        if method.hides or (method.full_domain and policy.suppression_limit):
            yield f"method={policy.method!r} hides single rows or cells then: choose another one"
    yield from _about_cells(policy)
    if not source.textual and policy.date_format and set(policy.date_format) != {EVERY}:
        yield "date_format is about text: leave it out"
    if not isinstance(FORMATS[policy.format].load(), SlicedFiles):
        yield f"format={policy.format!r} is not written in parts: say {spelled('format', 'parquet')}"


def _about_method(policy: Policy) -> Iterator[str]:
    if policy.method not in {"mondrian", "auto"} or policy.options:
        yield f"method={policy.method!r} looks at all rows at once ({spelled('method', 'mondrian')} does not)"
    if policy.strategy != "strict":
        yield (
            f"strategy={policy.strategy!r} looks at all rows at once "
            f"({spelled('strategy', 'strict')} does not)"
        )
    for name in (
        "subject",
        "repair",
        "minimality_safe",
        "average_risk",
        "marketer_risk",
        "sample_uniqueness",
    ):
        if getattr(policy, name):
            yield f"{name} is about all rows at once"
    if set(policy.hierarchy) & set(policy.quasi):
        yield "hierarchies of quasi-identifiers are cut by their nodes, for which all rows are looked at"


def _about_cells(policy: Policy) -> Iterator[str]:
    by_row = next(iter(coarsened_by_row(policy).items()), None)
    if by_row is not None:
        yield f"{next(iter(by_row[1]))}.{by_row[0]} is for quasi-identifiers then: leave it out"
    if policy.missing not in {Missing.CATEGORY, Missing.REFUSE}:
        yield f"missing={str(policy.missing)!r} needs all rows at once: leave such rows out before"
    if policy.cells != "text":
        yield f"cells={policy.cells!r} needs all rows at once: say {spelled('cells', 'text')}"
    if policy.shuffle is False:
        yield "rows cannot keep their order then: let them be shuffled"
