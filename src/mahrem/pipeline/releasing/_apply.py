"""Recode a later batch with the recipe of an earlier release, and verify the same promise again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.drafts import Draft, Prepared, admission, beside, plain_text, prepare, rewritten
from mahrem.errors import Infeasible, InvalidInput, in_our_words
from mahrem.matching import assign, recipe_cells
from mahrem.partition import Partition
from mahrem.partition.judging import rows_shown, standing_classes
from mahrem.pipeline.releasing._release import Destination, LocalRelease, publish, refuse_keys_inside
from mahrem.recode import default_recoding
from mahrem.release import BY_RECIPE, Recipe, read_recipe
from mahrem.release.decisions import Policy, hierarchies_of, reading_of, without_columns
from mahrem.table import EVERY, Hierarchy, Source, open_source
from mahrem.types import Labels, Mask
from mahrem.words import Note, Progress, in_silence

SETTINGS = (
    *("null", "delimiter", "encoding", "decimal", "query", "table", "hierarchy", "pseudonym"),
    *("thousands", "date_format", "header", "names", "skip_rows", "skip_last"),
    "shift_dates",
    *("suppression_limit", "format", "shuffle", "language"),
)


@in_our_words
def apply(
    recipe: str | Path,
    batch: object,
    *,
    output: str | Path | None = None,
    force: bool = False,
    strict: bool = False,
    html: bool = True,
    progress: Progress | None = None,
    **settings: Any,
) -> LocalRelease:
    """Recode a later batch with the cells of an earlier release.

    A row gets the narrowest class of the recipe whose cells hold all of its values. Rows that fit no class,
    and classes that do not keep the promise within the batch, show nothing. The rest is verified like any
    release: the promise holds for the batch on its own. Somebody who is in both releases can still be looked
    for in both.

    Args:
        recipe: A release folder, which is compared with its hashes first, or its ``release.recipe``.
        batch: Anything :func:`mahrem.anonymize` takes, with the columns the recipe knows.
        output: Write a release folder there; without it the table is only verified in memory.
        force: Replace an earlier release under ``output``.
        strict: Refuse a release that holds with doubts.
        html: Draw ``report.html``.
        progress: Called with the name of each stage as it begins.
        **settings: How the batch is read (``null``, ``delimiter``, ``encoding``, ``decimal``, ``thousands``,
            ``date_format``, ``header``, ``names``, ``skip_rows``, ``skip_last``, ``query``, ``table``),
            ``hierarchy``, ``pseudonym`` and ``shift_dates`` where the release had them, ``suppression_limit``
            (default: any number of rows), ``format``, ``shuffle``, ``language``.

    Raises:
        InvalidInput: If the batch has another schema than the recipe.
        Infeasible: If more rows than ``suppression_limit``, or all of them, would show nothing.

    Guarantees:
        - Every value lies inside its published cell, and every cell is one of the recipe.
        - The promise was checked on the published table.
    """
    destination = Destination(
        output=None if output is None else Path(output),
        force=force,
        strict=strict,
        html=html,
        progress=progress,
    )
    check.unknown_keys(settings, SETTINGS, where="setting of apply")
    destination.step(Note("stage.reading"))
    known = read_recipe(recipe)
    policy = recipe_policy(known, settings)
    refuse_keys_inside(policy, output)
    return publish(recoded(known, batch, policy, step=destination.step), batch, destination)


def recoded(
    recipe: Recipe, batch: object, policy: Policy, *, step: Progress = in_silence, judged: bool = True
) -> Draft:
    """Give a batch with the cells of a recipe, as a draft.

    Args:
        recipe: Of an earlier release.
        batch: Anything :func:`mahrem.anonymize` takes.
        policy: Of the recipe, with how the batch is read.
        step: Called with the name of each stage as it begins.
        judged: Suppress classes that do not keep the promise among the rows of the batch. Without it rows
            only look as the recipe shows them: nothing is promised, and nothing may be published.
    """
    opened = open_source(batch, reading_of(policy))
    policy = _same_schema(recipe, opened, policy)
    raw = plain_text(rewritten(opened, policy)[0], list(policy.quasi), policy)
    named = {*policy.quasi, *policy.sensitive}
    declared = {**recipe.hierarchies, **hierarchies_of(policy)}
    declared = {name: tree for name, tree in declared.items() if name in named}
    trees = _grown({name: tree for name, tree in declared.items() if name in policy.quasi}, raw)
    policy = replace(policy, hierarchy={**declared, **trees})
    prepared = prepare(opened, policy, to_publish=judged)
    step(Note("stage.recipe"))
    placed = _Placed(prepared, policy, raw.filter(pl.Series(_taking_part(prepared))), trees)
    return replace(_draft(recipe, placed, judged=judged), trees=declared)


def recipe_policy(recipe: Recipe, settings: Mapping[str, object]) -> Policy:
    """Give the policy that a recipe was made by, with how a batch is read."""
    own = {key: value for key, value in recipe.policy.items() if key != "suppression_limit"}
    own["kind"] = {name: str(kind) for name, kind in recipe.kinds.items()}
    given = {key: value for key, value in settings.items() if value is not None}
    if not given.get("pseudonym"):  # without its key no row is tied to another
        own.pop("trajectory_k", None)
    policy = Policy.of({**own, **given})
    policy = without_columns(policy, frozenset(policy.quasi))  # their cells are those of the recipe
    return replace(policy, method=BY_RECIPE, options={}, strategy="strict", jitter=None)


def _same_schema(recipe: Recipe, opened: Source, policy: Policy) -> Policy:
    """Refuse a batch of another schema; columns that were never published stay out."""
    needed = [*policy.quasi, *policy.sensitive]
    lacking = [name for name in needed if name not in opened.columns]
    if lacking:
        raise InvalidInput(
            f"the recipe is of another schema: the batch has no column={lacking[0]!r} "
            f"({len(lacking)} of {len(needed)} are missing)"
        )
    kept = {*needed, *policy.identifier, *recipe.published, *recipe.pseudonyms, policy.subject}
    strange = [name for name in opened.columns if name not in kept]
    if strange and policy.rest != "drop":
        raise InvalidInput(
            f"the recipe is of another schema: it does not know column={strange[0]!r} of the batch; "
            f"leave it out of the batch"
        )
    if policy.subject is not None and policy.subject not in opened.columns:
        raise InvalidInput(f"the recipe counts people by column={policy.subject!r}, which the batch lacks")
    # Without its key a pseudonym cannot be made: the identifier behind it must not be published instead.
    bare = [name for name in recipe.pseudonyms if name not in policy.pseudonym]
    present = {*opened.columns}
    policy = without_columns(policy, frozenset(recipe.published) - present)
    return replace(
        policy,
        identifier=tuple(name for name in (*policy.identifier, *bare) if name in present),
        insensitive=tuple(name for name in policy.insensitive if name in present and name not in bare),
        accept={name: reason for name, reason in policy.accept.items() if name in (*present, EVERY)},
        kind={name: kind for name, kind in policy.kind.items() if name in present},
        redact=tuple(name for name in policy.redact if name in present),
        suppress=tuple(name for name in policy.suppress if name in present),
    )


def _grown(trees: Mapping[str, Hierarchy], raw: pl.DataFrame) -> dict[str, Hierarchy]:
    """Give every labelled column its tree; values it does not know hang below the root alone."""
    grown = {}
    for name, tree in trees.items():
        values = raw[name].str.strip_chars().drop_nulls().unique().sort()
        strange = values.filter(tree.find(values)["code"].is_null()).to_list()
        grown[name] = (
            Hierarchy.from_rows([*tree.rows(), *([value] for value in strange)]) if strange else tree
        )
    return grown


@dataclass(frozen=True)
class _Placed:
    """A batch that is looked up in a recipe: all of it as arrays, and the rows that take part as text."""

    prepared: Prepared
    policy: Policy
    rows: pl.DataFrame
    trees: Mapping[str, Hierarchy]


def _taking_part(prepared: Prepared) -> Mask:
    part = prepared.keep.copy()
    part[prepared.keep] = ~prepared.suppress
    return part


def _draft(recipe: Recipe, batch: _Placed, *, judged: bool) -> Draft:
    prepared, policy = batch.prepared, batch.policy
    labels, shown = assign(recipe, batch.rows.select(list(recipe.cells)), batch.trees)
    unplaced = int(np.count_nonzero(labels < 0))
    if judged:
        labels = _second_choice(recipe, batch, labels)
    refused = int(np.count_nonzero(labels < 0)) - unplaced
    labels, classes = _renumbered(labels)
    shown = shown[classes]
    everyone = np.full(prepared.rows, -1, np.int64)
    everyone[~prepared.suppress] = labels
    if judged:
        _within_limit(everyone, policy)
    cells = {axis.name: recipe_cells(shown[axis.name], axis) for axis in prepared.axes}
    notes = []
    if unplaced:
        notes.append(Note("warning.unplaced"))
    if refused:
        notes.append(Note("warning.refused"))
    return Draft(
        prepared=prepared,
        policy=policy,
        method=BY_RECIPE,
        method_reason=None,
        labels=everyone,
        partition=Partition(labels=labels, classes=len(classes)),
        recodings={axis.name: default_recoding(axis) for axis in prepared.axes},
        cells=cells,
        beside=beside(prepared, policy, everyone < 0),
        trees=batch.trees,
        notes=tuple(notes),
    )


def _second_choice(recipe: Recipe, batch: _Placed, labels: Labels) -> Labels:
    """Suppress classes that do not keep the promise; their rows may join one that does and holds them."""
    stands = _standing(batch.prepared, labels)
    left = np.flatnonzero((labels >= 0) & (stands < 0))
    if recipe.classes is None or not len(left) or not (stands >= 0).any():
        return stands
    again = batch.rows.select(list(recipe.cells))[left]
    joined = stands.copy()
    joined[left], _ = assign(recipe, again, batch.trees, only=np.unique(stands[stands >= 0]))
    joined = _standing(batch.prepared, joined)
    return joined if np.count_nonzero(joined >= 0) > np.count_nonzero(stands >= 0) else stands


def _standing(prepared: Prepared, labels: Labels) -> Labels:
    """Suppress classes that do not keep the promise among those that are left."""
    numbers, classes = _renumbered(labels)
    sizes = np.bincount(numbers[numbers >= 0], minlength=len(classes))
    stands = standing_classes(numbers, sizes, sizes > 0, admission(prepared))
    return np.where(rows_shown(numbers, stands), labels, -1)


def _renumbered(labels: Labels) -> tuple[Labels, Labels]:
    """Number the classes that are left without gaps; gives the old number of each."""
    classes, inverse = np.unique(labels, return_inverse=True)
    hidden = int(len(classes) > 0 and classes[0] < 0)
    return inverse.reshape(-1) - hidden, classes[hidden:]


def _within_limit(labels: Labels, policy: Policy) -> None:
    share = float((labels < 0).mean())
    limit = policy.suppression_limit
    if share == 1.0:
        raise Infeasible(
            "no class of the recipe keeps the promise in this batch: every row would show nothing; "
            "anonymise it on its own, or wait for more rows",
            reached=round(share, 2),
        )
    if limit is not None and share > limit:
        raise Infeasible(
            f"suppression_limit={limit} is too small: {share:.2f} of the rows fit no class of the recipe "
            f"that keeps the promise; raise it, or anonymise the batch on its own",
            reached=round(share, 2),
        )
