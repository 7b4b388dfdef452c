"""The main job: a table in, a verified release out."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from mahrem import check
from mahrem.drafts import draft, prepare
from mahrem.errors import InvalidParameter, in_our_words, spelled
from mahrem.pipeline.releasing._release import Destination, Release, publish, refuse_keys_inside
from mahrem.release import decided
from mahrem.release.decisions import GivenPolicy, Policy, policy_from, reading_of
from mahrem.release.folders import earlier_seconds
from mahrem.table import Source, is_spark_frame, open_source, refuse_too_large
from mahrem.table.reading import PolarsSource
from mahrem.words import Note, Progress

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords
    from mahrem.spilled import MemoryBound

_ALWAYS_FITS = 1_000_000  # cells; the least bound on memory leaves room for them

_WORTH_SAYING = 3.0  # seconds


@in_our_words
def anonymize(
    source: object,
    *,
    policy: GivenPolicy = None,
    output: str | Path | None = None,
    to: str | tuple[str, str] | None = None,
    force: bool = False,
    strict: bool = False,
    html: bool = True,
    target: Hashable | None = None,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
) -> Release:
    """Anonymise a table and verify what comes out.

    Args:
        source: A pandas, polars or pyarrow frame; a DuckDB relation or any other object that hands its rows
            over by the Arrow protocol (``__arrow_c_stream__``); a CSV, Parquet, Arrow, XLSX or DuckDB file; a
            PostgreSQL URI; a Spark DataFrame, or with ``engine="spark"`` whatever Spark reads.
        policy: A policy file, a mapping or a :class:`~mahrem.Policy`; settings win over it.
        output: Write a release folder there; without it the table is only verified in memory.
        to: Also write the published table into this database, before the folder gets its name; as
            ``anonymised``, or with ``(database, table)`` under another name.
        force: Replace an earlier release under ``output`` and an earlier table of ``to``.
        strict: Refuse a release that holds with doubts: what was accepted, what the red team found.
        html: Draw ``report.html``; without it the report is brief: no figures of the original, no red team.
        target: A column to predict: the report then says what is left for learning.
        progress: Called with the name of each stage as it begins.
        **settings: Roles, promises, method, cells, as listed here.

    Settings:
        quasi: Columns others may know.
        sensitive: Columns not to be learnt; own promises: disease:l=3,t=0.2.
        identifier: Columns that name a person; they are dropped.
        insensitive: Columns to publish as they are.
        roles: Role of one column, also in ARX's or sdcMicro's words.
        rest: What undeclared columns are: insensitive, drop; else an error.
        accept: Publish a column as it is although its cells would stop it, and why.
        region: Country whose phone numbers and plates are meant: TR, DE, US.
        kind: numeric, ordinal, categorical, date or code.
        order: Order of an ordinal column, lowest first.
        null: Text that means missing, besides the empty cell.
        missing: Missing values: category, suppress, drop, drop-any, refuse; default category.
        subject: Says whose row it is: promises then count people, not rows.
        hierarchy: Hierarchy of a column in ARX's CSV form.
        automatic: Publish groups learnt against this published column.
        rho: Widths of learnt groups in percent; default 5,10,20,50.
        smoothing: Learnt groups: rows of the whole table added to each value.
        minimum_count: Learnt groups: rarer values do not decide.
        learn_from: Learn groups from this table, best a public one.
        pseudonym: Replace an identifier by keyed pseudonyms.
        redact: Free text: e-mails, numbers, dates, names … become [email], [name]; incomplete.
        shift_dates: Move each person's dates by so many days as a key says; intervals stay.
        shift_days: Days that dates move at most, either way; usual 182.
        k: At least k rows share every combination of quasi-identifiers.
        l: Every class shows at least l sensitive values (see l_kind).
        l_kind: distinct, entropy, grassberger, recursive; distinct by default, recursive needs c.
        c: The c of recursive (c,l)-diversity.
        t: In a class, sensitive values spread as in the table, up to t.
        t_kind: equal, ordered, hierarchical, kl; equal by default.
        alpha: No sensitive value makes up a larger share of a class.
        beta: No value's share grows by more than this factor in a class.
        beta_kind: basic, enhanced; basic by default.
        delta_disclosure: Bound on |ln(share in class / in table)|.
        delta_presence: Chance of being in, given the population.
        trajectory_k: At least so many people share all that tied rows show.
        k_map: So many people of the population fit a class, counted in population or estimated from fraction.
        journalist_risk: Largest expected chance to find somebody of a class in the population.
        no_attack: What finding somebody brings an attacker, and what looking costs: it must not pay.
        profitability: What a row earns, what it costs when found, what that brings an attacker, what looking
            costs: each row must earn something.
        average_risk: Largest mean chance to find a row.
        marketer_risk: Largest share of rows that somebody expects to find who matches all.
        sample_uniqueness: Largest share of published rows that stand alone.
        population_uniqueness: Largest share of the population thought to stand alone.
        population_uniqueness_kind: Estimator of population uniqueness.
        population: Table with everyone: for delta-presence, k-map, and for audits.
        known_absence: Whether people of the population may be known to be absent, under delta-presence:
            refused, allowed; usual refused.
        fraction: Share of the population in the table, for the risk figures.
        method: mondrian, optimised-mondrian, canon, u-mondrian, u-canon, mosaic, local-suppression, mdav,
            mdav+, v-mdav, mdav*, ona*, kanonymeans, kanonymeans*, datafly, bottom-up, top-down, incognito,
            ola, flash, mingen, auto; default mondrian; auto chooses by size, kinds, time (option seconds=10).
        options: A setting of the method: rounds=5.
        strategy: strict (equal values stay together) or relaxed; default strict.
        bounds: grid (snapped outward, no real extremes) or exact; default grid.
        grid: Step of a column's grid: age=5, admission=month.
        round: Numbers are rounded to multiples of STEP: cost=100.
        prefix: Codes show their first N characters: zip=2 makes 34***.
        bands: Cells are single steps, or *: age=5 shows [20, 24], [25, 29].
        at_least: No cell is finer: a width, characters hidden, a level; zip=2.
        at_most: No cell is coarser; rows that need one are suppressed: age=10.
        cells: text, pairs, midpoint, centroid; default text: [20, 29].
        top: Numbers from X up are published as [X, inf]: age=90.
        bottom: Numbers from X down are published as [-inf, X].
        jitter: Random first cuts, so far from the median: 0.1.
        repair: Change classes step by step while published cells lose less.
        local: Lift rows that would be suppressed again, by levels of their own.
        sparse: Codes that begin so are published as zeros: too few people live there.
        suppress: Quasi-identifiers to hide altogether.
        suppression_limit: Largest share of rows to suppress.
        suppressed: What suppressed rows show: hidden (nothing) or keep-sensitive (their sensitive values);
            default hidden.
        weights: How much a column's loss counts.
        minimality_safe: Make classes without sensitive values; default: where it costs under 5 %.
        seed: Seed of methods that draw; it stays out of the release.
        engine: Where it runs: local, spark; default local.
        master: Spark's master: local[2], spark://…, sc://…, yarn, k8s://…
        memory: Stay below this much memory: 512MB, 4GB; a table that does not fit is worked on from disk;
            default: half of what is free.
        delimiter: Field separator of a CSV; found out if not given.
        encoding: Encoding of a CSV that is not UTF-8: cp1252, cp1254, latin-1 …
        decimal: Decimal mark of a CSV: '.' or ','.
        thousands: Sign between thousands of numbers in text: '.', ',', ' ' or an apostrophe; found out where
            it is clear.
        date_format: How dates are written: %d day, %m month, %Y year, %y its last two digits, %H:%M time;
            found out where it is clear.
        header: The first row names the columns, or does not; found out if not given, and refused if it is
            data.
        names: Names of all columns in their order, for a file without a header or instead of it; in double
            quotes if one holds a comma.
        skip_rows: Lines above the header, such as a title; found out if not given.
        skip_last: Rows at the end of a file that are passed over, such as a total of the others.
        query: What to ask a database.
        table: Table to read from a database.
        format: Data file: csv, tsv, parquet, arrow, xlsx, sav, dta, xpt; default csv.
        shuffle: Shuffle the rows of the file (default).
        language: Language of the report: en, de, tr.
        recipient: Who is to have the release; the report says so.
        purpose: What the release is for; the report says so.
        rationale: Why these promises are enough; the report says so.
        reviewer: Who looked at the release; the report has a line to sign.
        look_for: What columns with such names are, where a table has them.

    Guarantees:
        - Every promise was checked on the published table by a verifier that does not know how it was made.
        - No row is lost or doubled; every value lies inside its published cell; other columns are untouched.
        - With ``output``, nothing gets its final name before the written file itself was verified.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(200)
        >>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5)
        >>> release.holds, release.table.height
        (True, 200)
    """
    began = time.perf_counter()
    policy = policy_from(policy, settings, whole=True, bounded=True)
    if not policy.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    destination = Destination(
        output=None if output is None else Path(output),
        database=(to, "anonymised") if isinstance(to, str) else to,
        force=force,
        strict=strict,
        html=html,
        target=None if target is None else check.column_name(target=target),
        began=began,
        progress=progress,
    )
    if policy.engine == "spark" or is_spark_frame(source):
        if to is not None or target is not None:
            raise InvalidParameter(
                f"to and target are for engine='local'; leave out {spelled('engine', 'spark')}"
            )
        if output is not None and "://" in str(output):
            raise InvalidParameter(
                "output must be a folder that this machine and the workers share; for other places take "
                "release.table and write it with Spark"
            )
        from mahrem.pipeline.releasing._on_spark import anonymize_on_spark

        return anonymize_on_spark(source, policy, destination)
    refuse_keys_inside(policy, output)
    destination.step(Note("stage.reading"))
    opened = open_source(source, reading_of(policy))
    bound = _bound(opened, policy, destination)
    if bound is not None and isinstance(opened, PolarsSource):
        from mahrem.pipeline.releasing._spilled import anonymize_spilled, decided_in_batches

        decided_policy = decided_in_batches(policy, opened, bound)
        return anonymize_spilled(source, opened, decided_policy, destination, bound)
    policy = replace(decided(policy, opened), memory=None)  # it fits
    prepared = prepare(opened, policy)
    if output is not None:
        refuse_too_large(policy.format, prepared.rows)  # before the work, not after it
    destination.step(_stage(prepared.rows, policy))
    return publish(draft(prepared, policy), source, destination)


def _bound(opened: Source, policy: Policy, destination: Destination) -> MemoryBound | None:
    """Give the bound on memory under which a table must be worked on from disk; None where it fits.

    What was asked for is kept or refused; by default, what cannot be done from disk is done in memory.
    """
    if policy.memory is None and not (isinstance(opened, PolarsSource) and opened.in_batches()):
        return None
    columns = len(opened.columns)
    if policy.memory is None and opened.rows * columns < _ALWAYS_FITS:
        return None
    from mahrem.spilled import needed_in_memory, usual_bound

    needed, most = needed_in_memory(opened.rows, columns), policy.memory or usual_bound()
    if needed <= most:
        return None
    from mahrem.spilled import MemoryBound, why_not_out_of_core

    bound = MemoryBound(most, opened.rows, columns, len(policy.quasi))
    reason = why_not_out_of_core(policy, opened)
    if destination.output is None:
        reason = f"a release that does not fit is written, not held: say {spelled('output', 'FOLDER')}"
    elif destination.database is not None or destination.target is not None:
        reason = "to and target need the whole table in memory: leave them out"
    refused = bound.too_small()
    if reason is not None:
        refused = (
            f"memory={policy.memory}: in memory this takes about {needed / 10**9:.1f} GB, and {reason}; or "
            f"give it that much ({spelled('memory', f'{-(-needed // 10**9)}GB')})"
        )
    if refused is None:
        return bound
    if policy.memory is None:
        return None
    raise InvalidParameter(refused)


def _stage(rows: int, policy: Policy) -> Note:
    """Name the long stage, and how long runs like this one took."""
    expected = earlier_seconds(policy.method, rows, len(policy.quasi))
    if expected is None or expected < _WORTH_SAYING:
        return Note("stage.anonymising")
    return Note("stage.anonymising_rows", {"rows": rows, "seconds": expected})
