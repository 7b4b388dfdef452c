"""The verbs of ``mahrem federate``: make a federation, serve it, take part, run it, or simulate one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, Row, VerbSettings, option, speaks_policy
from mahrem.cli._print import print_json
from mahrem.cli.federating._files import key, renew, schema
from mahrem.cli.federating._options import (
    DIR,
    FEDERATION,
    LANGUAGE,
    MANY,
    learns,
    plan_from,
    plan_panels,
    rows_of_spec,
    speaks_rows,
    take_reading,
    take_settings,
    teller,
)
from mahrem.cli.federating._results import predict, report
from mahrem.cli.federating._run import reveal, run, simulate
from mahrem.cli.federating._shapes import SHAPE_ROWS, agreed_shape, refuse_shape_settings
from mahrem.cli.federating._standing import check, status
from mahrem.errors import InvalidParameter
from mahrem.federated.flower import FederationSettings, NewFederation
from mahrem.federated.rules import FEW_PEOPLE
from mahrem.federated.runs import ClientSettings
from mahrem.federated.sums import least_of
from mahrem.federated.weights import LearningPlan
from mahrem.typed import listed
from mahrem.words import Note, load_catalogue

federate_verbs = typer.Typer(rich_markup_mode="rich")
federate_verbs.command("key")(key)
federate_verbs.command("schema")(schema)


_SCHEMA: Sequence[Row] = (
    ("target", str | None, "--target", "COL", "Rules: the column to predict."),
    ("columns", MANY, "--columns", "A,B", "Rules: the columns all tables share."),
    ("like", str | None, "--like", "SOURCE", "Rules: take the names of the columns from this table."),
    ("bins", MANY, "--bins", "COL=A,B", "Rules: where a column of numbers is cut."),
    ("schema", str | None, "--schema", "FILE", "Columns, values and bounds to agree on; see schema."),
)


@federate_verbs.command("init")
@speaks_rows(
    {"Columns": _SCHEMA, "Federation": rows_of_spec(FederationSettings), **plan_panels(), "Shape": SHAPE_ROWS}
)
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    client: Annotated[
        list[str], option("--client", "NAME[=PUB]", "A client and its public key; repeatable.")
    ],
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Make certificates, keys and the federation file that everybody gets.

    mahrem federate init study --target income --columns age,sex,job --client north=north.pub
    --client south=south.pub

    mahrem federate init study --model mlp --schema schema.toml --client north=north.pub
    --client south=south.pub

    mahrem federate init study --shape vertical --model boosting --schema schema.toml --id nr
    --holds bank=age,income --holds shop=spent --client bank=bank.pub --client shop=shop.pub

    Sums are masked unless --sum says otherwise, and counts of fewer than five people leave as 0: rules are
    then nearly those of all rows together, and exactly those with --least-count 1. A client without a public
    key gets a pair made here: move its key to it and delete it here.
    """
    from mahrem.federated import RulesTask, ShapeTask, WeightsTask, init_federation

    reading = take_reading(settings)
    own = FederationSettings(**take_settings(FederationSettings, settings))
    columns = {name: settings.pop(name, None) for name, *_ in _SCHEMA}
    file, clients = columns.pop("schema"), _clients(client)
    agreed = None if file is None else _agreed_schema(Path(file), columns)
    if "shape" in settings:
        if agreed is None:
            raise InvalidParameter("schema: shapes need a shared schema: give --schema FILE")
        _tell_made(
            init_federation(folder, ShapeTask(agreed, agreed_shape(settings)), clients, own), json, quiet
        )
        return
    refuse_shape_settings(settings)
    if not learns(settings):
        settings.setdefault("least_count", FEW_PEOPLE)
    plan = plan_from(settings, "masked", own.network)
    if plan.hides and plan.least_clients is None:  # noise is shared by as many as the file says
        plan = replace(plan, least_clients=least_of(plan, len(clients)))
    if isinstance(plan, LearningPlan):
        if agreed is None:
            raise InvalidParameter("schema: weights and trees need a shared schema: give --schema FILE")
        task: RulesTask | WeightsTask = WeightsTask(agreed, plan)
    elif agreed is not None:
        task = RulesTask.of_schema(agreed, plan)
    else:
        task = RulesTask(_rule_schema(reading, **columns), plan)
    _tell_made(init_federation(folder, task, clients, own), json, quiet)


def _tell_made(new: NewFederation, json: bool, quiet: bool) -> None:  # noqa: FBT001 - as options are
    moves = {name: str(path) for name, path in new.keys.items()}
    secret = None if new.sum_secret is None else str(new.sum_secret)
    written = str(new.folder / "federation.toml")
    if json:
        shown = {"file": written, "fingerprint": new.federation.fingerprint(), "keys": moves}
        print_json({**shown, "sum_secret": secret, "clients": sorted(new.federation.clients)})
    elif not quiet:
        _print_made(written, new.federation.fingerprint(), moves, secret)


def _print_made(file: str, fingerprint: str, moves: Mapping[str, str], secret: str | None) -> None:
    typer.echo(f"{file}: public; every client needs a copy")
    typer.echo(f"fingerprint {fingerprint}: compare it with every client, by another way")
    typer.echo("server/: stays on the server and leaves it never")
    for name, path in moves.items():
        typer.echo(f"{path}: move it to {name} (a safe way, then delete it here)")
    if secret is not None:
        typer.echo(f"{secret}: move it to all clients, delete it here; the server must not have it")


federate_verbs.command("renew")(renew)


@federate_verbs.command("server")
def server(
    folder: DIR,
    host: Annotated[
        str | None, option("--host", "ADDRESS", "Where to listen, if not at the federation's address.")
    ] = None,
    language: LANGUAGE = "en",
    *,
    quiet: QUIET = False,
) -> None:
    """Serve a federation (Flower's SuperLink behind our guard) until stopped.

    mahrem federate server study
    """
    from mahrem.federated import serve_federation

    tell = teller(quiet=quiet, language=language)
    serve_federation(
        folder, host=host, ready=lambda where: tell(Note("federation.listening", {"where": where}))
    )


federate_verbs.command("check")(check)


def _speaks_client(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks_policy(verb, {"Client": rows_of_spec(ClientSettings)})


@federate_verbs.command("join")
@federate_verbs.command("client", hidden=True)
@_speaks_client
def client(
    file: FEDERATION,
    source: SOURCE,
    key: Annotated[Path, option("--key", "FILE", "This client's private key.")],
    *,
    quiet: QUIET = False,
    policy: str | None,
    settings: VerbSettings,
) -> None:
    """Take part with a table that stays here, until stopped. No program is taken from the server.

    mahrem federate join federation.toml patients.csv --key north.key --review
    mahrem federate join federation.toml patients.csv --key north.key --qi age,sex -k 3

    --review shows what was agreed and asks; then another plan than the one that was agreed to is refused.
    Every question is written down here.

    Where weights or trees are learnt, the table is anonymised first under the policy said here: the options
    of mahrem anonymize.
    """
    from mahrem.federated import join_federation

    reading, language = take_reading(settings), settings.pop("language", "en")
    own = take_settings(ClientSettings, settings)
    chosen = ClientSettings(**own, policy=_policy(policy, settings))
    tell = teller(quiet=quiet, language=language)

    def confirm(words: Sequence[str]) -> bool:
        """Show what was agreed, and ask."""
        catalogue = load_catalogue(language)
        for line in words:
            typer.echo(catalogue.tell(line))
        return typer.confirm("Take part?", default=False)

    join_federation(file, source, key, chosen, reading=reading, tell=tell, confirm=confirm)


federate_verbs.command("status")(status)
federate_verbs.command("run")(run)
federate_verbs.command("predict")(predict)
federate_verbs.command("report")(report)
federate_verbs.command("reveal")(reveal)
federate_verbs.command("simulate")(simulate)


def _policy(file: str | None, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give a silo's policy: what was said, over what a file says; None if nothing was."""
    if file is None:
        return dict(given) or None
    from mahrem.release.decisions import read_policy

    return {**read_policy(file, beside=given), **given}


def _agreed_schema(file: Path, rules: Mapping[str, Any]) -> Any:
    from mahrem.federated import read_schema

    for name, given in rules.items():
        if given is not None:
            raise InvalidParameter(f"{name}: --schema has it; leave --{name} out")
    return read_schema(file)


def _rule_schema(
    reading: Any,
    *,
    target: str | None,
    columns: Iterable[str] | None,
    like: str | None,
    bins: Iterable[str] | None,
) -> Any:
    from mahrem.federated.rules import RulesSchema
    from mahrem.table import open_source

    if target is None:
        raise InvalidParameter("target: name it with --target; for weights and trees give --schema FILE")
    if (columns is None) == (like is None):
        raise InvalidParameter("columns: name them with --columns, or a table that has them with --like")
    names = listed(columns) if like is None else open_source(like, reading).columns
    chosen = tuple(name for name in names if like is None or name != target)
    return RulesSchema(columns=chosen, target=target, bins=_bins(bins or ()))


def _clients(texts: Iterable[str]) -> dict[str, Path | None]:
    files: dict[str, Path | None] = {}
    for text in texts:
        name, mark, file = text.partition("=")
        if name in files:
            raise InvalidParameter(f"client={name!r} is named twice")
        files[name] = Path(file) if mark else None
    return files


def _bins(texts: Iterable[str]) -> dict[str, tuple[float, ...]]:
    bins: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, mark, cuts = text.partition("=")
        try:
            bins[name] = tuple(float(cut) for cut in cuts.split(","))
        except ValueError:
            mark = ""
        if not mark or not name:
            raise InvalidParameter(f"bins={text!r} must read like age=25,40")
    return bins
