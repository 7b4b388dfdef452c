"""``mahrem federate``: make a federation, serve it, take part, run it, or simulate one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._federate_files import key, renew, schema
from mahrem.cli._federate_options import DIR, FEDERATION, MANY, plan_from, speaks_plan, take_reading, teller
from mahrem.cli._federate_run import reveal, run, simulate
from mahrem.cli._options import JSON, QUIET, SOURCE, option, speaks_policy
from mahrem.cli._print import print_json
from mahrem.errors import InvalidParameter
from mahrem.typed import listed

__all__ = ["federate"]

federate = typer.Typer(
    name="federate",
    help="Learn one classifier from many tables that stay where they are.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


federate.command("key")(key)
federate.command("schema")(schema)


@federate.command("init")
@speaks_plan
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    client: Annotated[
        list[str], option("--client", "NAME[=PUB]", "A client and its public key; repeatable.")
    ],
    target: Annotated[str | None, option("--target", "COL", "Rules: the column to predict.")] = None,
    columns: Annotated[MANY, option("--columns", "A,B", "Rules: the columns all tables share.")] = None,
    like: Annotated[
        str | None, option("--like", "SOURCE", "Rules: take the names of the columns from this table.")
    ] = None,
    bins: Annotated[MANY, option("--bins", "COL=A,B", "Rules: where a column of numbers is cut.")] = None,
    schema: Annotated[
        Path | None, option("--schema", "FILE", "Weights and trees: what silos agree on; see schema.")
    ] = None,
    address: Annotated[
        str, typer.Option("--address", help="Where clients reach the server.")
    ] = "127.0.0.1:9443",
    answer_seconds: Annotated[
        float, typer.Option("--answer-seconds", help="How long the server waits for answers.")
    ] = 60.0,
    days: Annotated[float, typer.Option("--days", help="How long the server's certificate holds.")] = 365.0,
    sum_public: Annotated[
        Path | None, option("--sum-public", "FILE", "Public key of homomorphic sums, made by a client.")
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Make certificates, keys and the federation file that everybody gets.

    mahrem federate init study --target income --columns age,sex,job --client north=north.pub
    --client south=south.pub

    mahrem federate init study --model mlp --schema schema.toml --client north=north.pub
    --client south=south.pub

    Sums are masked unless --sum says otherwise. A client without a public key gets a pair made here: move its
    key to it and delete it here.
    """
    from mahrem.federated import init_federation

    like_read = take_reading(settings)
    plan = plan_from(settings, {"sum": "masked"})
    rules: dict[str, Any] = {"target": target, "columns": columns, "like": like, "bins": bins}
    agreed = _rule_schema(like_read, **rules) if schema is None else _learning_schema(schema, rules)
    made = init_federation(
        folder,
        agreed,
        _clients(client),
        plan,
        address=address,
        answer_seconds=answer_seconds,
        days=days,
        sum_public=sum_public,
    )
    moves = {name: str(path) for name, path in made.keys.items()}
    secret = None if made.sum_secret is None else str(made.sum_secret)
    file = str(folder / "federation.toml")
    if json:
        said = {"file": file, "fingerprint": made.federation.fingerprint(), "keys": moves}
        print_json({**said, "sum_secret": secret, "clients": sorted(made.federation.clients)})
    elif not quiet:
        _print_made(file, made.federation.fingerprint(), moves, secret)


def _print_made(file: str, fingerprint: str, moves: Mapping[str, str], secret: str | None) -> None:
    typer.echo(f"{file}: public; every client needs a copy")
    typer.echo(f"fingerprint {fingerprint}: compare it with every client, by another way")
    typer.echo("server/: stays on the server and leaves it never")
    for name, path in moves.items():
        typer.echo(f"{path}: move it to {name} (a safe way, then delete it here)")
    if secret is not None:
        typer.echo(f"{secret}: move it to all clients, delete it here; the server must not have it")


federate.command("renew")(renew)


@federate.command("server")
def server(
    folder: DIR,
    host: Annotated[
        str | None, option("--host", "ADDRESS", "Where to listen, if not at the federation's address.")
    ] = None,
    *,
    quiet: QUIET = False,
) -> None:
    """Serve a federation (Flower's SuperLink behind our guard) until stopped.

    mahrem federate server study
    """
    from mahrem.federated import serve_federation

    tell = teller(quiet=quiet)
    serve_federation(folder, host=host, ready=lambda where: tell(f"listening on {where}; stop with ctrl-C"))


@federate.command("client")
@speaks_policy
def client(
    file: FEDERATION,
    source: SOURCE,
    key: Annotated[Path, option("--key", "FILE", "This client's private key.")],
    sum_secret: Annotated[
        Path | None, option("--sum-secret", "FILE", "The clients' key of homomorphic sums.")
    ] = None,
    least_count: Annotated[
        int | None, option("--least-count", "N", "Send counts of fewer people as 0, if more than agreed.")
    ] = None,
    epsilon: Annotated[
        float | None, option("--epsilon", "X", "Noise on the counts behind one-shot rules.")
    ] = None,
    ledger: Annotated[Path | None, option("--ledger", "FILE", "Pays for noise, in every run anew.")] = None,
    disguise: Annotated[
        Path | None, option("--disguise", "FILE", "The clients' key: mix dummies among one-shot rules.")
    ] = None,
    dummies: Annotated[float, typer.Option("--dummies", help="Dummy rules for each real one.")] = 1.0,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds without the server before giving up.")
    ] = 300.0,
    *,
    quiet: QUIET = False,
    policy: str | None,
    settings: dict[str, Any],
) -> None:
    """Take part with a table that stays here, until stopped. No program is taken from the server.

    mahrem federate client federation.toml patients.csv --key north.key
    mahrem federate client federation.toml patients.csv --key north.key --qi age,sex -k 3

    Where weights or trees are learnt, the table is anonymised first under the policy said here: the options
    of mahrem anonymize.
    """
    from mahrem.federated import join_federation

    reading = take_reading(settings)
    join_federation(
        file,
        source,
        key,
        policy=_policy(policy, settings),
        sum_secret=sum_secret,
        least_count=least_count,
        epsilon=epsilon,
        ledger=ledger,
        disguise=disguise,
        dummies=dummies,
        patience=patience,
        reading=reading,
        tell=teller(quiet=quiet),
    )


federate.command("run")(run)
federate.command("reveal")(reveal)
federate.command("simulate")(simulate)


def _policy(file: str | None, said: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give a silo's policy: what was said, over what a file says; None if nothing was."""
    if file is None:
        return dict(said) or None
    from mahrem.release import read_policy

    return {**read_policy(file, beside=said), **said}


def _learning_schema(file: Path, rules: Mapping[str, Any]) -> Any:
    from mahrem.federated import read_schema

    for name, said in rules.items():
        if said is not None:
            raise InvalidParameter(f"{name}: --schema has it; --{name} is for rules")
    return read_schema(file)


def _rule_schema(
    reading: Any,
    *,
    target: str | None,
    columns: Iterable[str] | None,
    like: str | None,
    bins: Iterable[str] | None,
) -> Any:
    from mahrem.federated import RulesSchema
    from mahrem.table import open_source

    if target is None:
        raise InvalidParameter("target: name it with --target; for weights and trees give --schema FILE")
    if (columns is None) == (like is None):
        raise InvalidParameter("columns: name them with --columns, or a table that has them with --like")
    names = listed(columns) if like is None else open_source(like, reading).columns
    chosen = tuple(name for name in names if like is None or name != target)
    return RulesSchema(columns=chosen, target=target, bins=_bins(bins or ()))


def _clients(said: Iterable[str]) -> dict[str, Path | None]:
    found: dict[str, Path | None] = {}
    for text in said:
        name, mark, file = text.partition("=")
        if name in found:
            raise InvalidParameter(f"client={name!r} is named twice")
        found[name] = Path(file) if mark else None
    return found


def _bins(said: Iterable[str]) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for text in said:
        name, mark, cuts = text.partition("=")
        try:
            found[name] = tuple(float(cut) for cut in cuts.split(","))
        except ValueError:
            mark = ""
        if not mark or not name:
            raise InvalidParameter(f"bins={text!r} must read like age=25,40")
    return found
