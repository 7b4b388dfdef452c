"""No error path shows a cell, and none speaks in a library's words: every verb, on inputs that are marked."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.errors import InvalidInput, MahremError, Unforeseen, in_our_words
from marked_inputs import FRAMES, MARK, files, is_marked

ROWS = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "x": ["p", "q"] * 10, "s": ["u", "v"] * 10})
ROLES = {"quasi": ["a", "x"], "sensitive": "s", "k": 2, "rest": "drop"}
# How libraries put it; of what they raise only the class may be named.
FOREIGN = re.compile(
    r"conversion from|supertype|could not convert|Could not convert|not supported|Unsupported|unable to find|"
    r"got an unexpected|object has no|Error: |Traceback|panicked|invalid literal"
)
HEAVY = ("train", "synthesize", "anonymize, target", "anonymize, to a database", "anonymize, learnt groups")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("marked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAHREM_STATE", str(folder / "state"))
        mh.anonymize(ROWS, output=folder / "release", html=False, **ROLES)
        ROWS.write_csv(folder / "rows.csv")
        yield folder


@pytest.fixture(scope="module")
def sources(room: Path) -> dict[str, Callable[[], Any]]:
    return {**FRAMES, **{name: (lambda path=path: path) for name, path in files(room / "files").items()}}


def kinds() -> dict[str, Callable[[Any, Path], object]]:
    """Give the same column every role, read as every kind."""
    verbs: dict[str, Callable[[Any, Path], object]] = {}
    for kind in (None, "numeric", "date", "code", "categorical"):
        said = {} if kind is None else {"kind": {"x": kind}}
        verbs[f"anonymize, quasi {kind}"] = lambda source, _, said=said: mh.anonymize(source, **ROLES, **said)
        verbs[f"anonymize, sensitive {kind}"] = lambda source, _, said=said: mh.anonymize(
            source, quasi=["a"], sensitive="x", k=2, l=2, t=0.5, rest="drop", **said
        )
        verbs[f"audit, {kind}"] = lambda source, _, said=said: mh.audit(
            source, quasi=["a"], sensitive="x", k=2, l=2, t=0.5, **said
        )
    return verbs


def anonymized(**more: Any) -> Callable[[Any, Path], object]:
    return lambda source, _: mh.anonymize(source, **{**ROLES, **more})


def written(form: str, **more: Any) -> Callable[[Any, Path], object]:
    def verb(source: Any, room: Path) -> object:
        said = {"quasi": ["a"], "k": 2, "rest": "insensitive", "format": form, **more}
        return mh.anonymize(source, output=room / "out", force=True, **said)

    return verb


def ledger_of(source: Any, room: Path) -> Any:
    shutil.rmtree(room / "ledger", ignore_errors=True)
    (room / "ledger").mkdir()
    declared = {
        "a": {"lower": 0, "upper": 10},
        "x": {"lower": 0, "upper": 10},
        "s": {"categories": ["u", "v"]},
    }
    return mh.Ledger.create(room / "ledger" / "l", source, epsilon=9, delta=1e-5, rows=8, columns=declared)


def asked(question: str) -> Callable[[Any, Path], object]:
    return lambda source, room: mh.query(source, question, ledger=ledger_of(source, room), epsilon=0.5)


VERBS: dict[str, Callable[[Any, Path], object]] = {
    **kinds(),
    "anonymize, insensitive, CSV": written("csv"),
    "anonymize, insensitive, XLSX": written("xlsx", html=False),
    "anonymize, insensitive, Parquet": written("parquet", html=False),
    "anonymize, quasi, TSV": written("tsv", quasi=["a", "x"], html=False),
    "anonymize, ordinal": anonymized(order={"x": ["1", "2"]}),
    "anonymize, top": anonymized(top={"x": 5}),
    "anonymize, grid": anonymized(grid={"x": "month"}),
    "anonymize, decimal comma": anonymized(decimal=","),
    "anonymize, pairs": anonymized(cells="pairs"),
    "anonymize, centroids": anonymized(cells="centroid", method="mdav"),
    "anonymize, levels": anonymized(method="flash", suppression_limit=0.5),
    "anonymize, people": anonymized(quasi=["a"], subject="x"),
    "anonymize, target": anonymized(target="x", quasi=["a"], rest="insensitive"),
    "anonymize, learnt groups": anonymized(automatic="s", sensitive=None, rest="insensitive"),
    "anonymize, missing": anonymized(missing="suppress", null=["0"]),
    "anonymize, population": lambda source, _: mh.anonymize(
        source, population=source, delta_presence=(0, 0.9), bounds="exact", **ROLES
    ),
    "anonymize, hierarchy": lambda source, _: mh.anonymize(ROWS, hierarchy={"x": source}, **ROLES),
    "anonymize, policy": lambda source, _: mh.anonymize(ROWS, policy=source),
    "anonymize, to a database": lambda source, room: mh.anonymize(
        source, quasi=["a"], k=2, rest="insensitive", to=(str(room / "to.duckdb"), "t"), force=True
    ),
    "audit, quasi": lambda source, _: mh.audit(source, quasi=["a", "x"], sensitive="s", k=2, l=2),
    "audit, little memory": lambda source, _: mh.audit(
        source, quasi=["a", "x"], sensitive="s", k=2, l=2, memory=1000
    ),
    "audit, people": lambda source, _: mh.audit(source, quasi=["a"], subject="x", k=2),
    "audit, population": lambda source, _: mh.audit(source, quasi=["a", "x"], population=source, k=2),
    "inspect": lambda source, _: mh.inspect(source),
    "apply": lambda source, room: mh.apply(room / "release", source),
    "attack, of others": lambda source, _: mh.attack(
        source, original=source, quasi=["a", "x"], sensitive="s", trials=10
    ),
    "attack": lambda source, room: mh.attack(room / "release", original=source, trials=10),
    "compare": lambda source, _: mh.compare(source, **{**ROLES, "k": [2], "method": ["mondrian"]}),
    "hierarchy": lambda source, _: mh.make_hierarchy(source, "x"),
    "hierarchy, intervals": lambda source, _: mh.make_hierarchy(source, "x", intervals=[5, 10]),
    "hierarchy, dates": lambda source, _: mh.make_hierarchy(source, "x", dates=["month", "year"]),
    "query, mean": asked("mean(x) by s"),
    "query, count": asked("count() where x = 'p'"),
    "query, median": asked("median(x)"),
    "synthesize": lambda source, room: mh.synthesize(
        source, ledger=ledger_of(source, room), epsilon=1, delta=1e-6
    ),
    "train": lambda source, room: mh.train(
        source, ledger=ledger_of(source, room), epsilon=1, target="s", model="logistic"
    ),
    "sign": lambda source, room: mh.sign_release(room / "release", source),
    "load a model": lambda source, _: mh.load_model(source),
}


def told(call: Callable[[], object]) -> tuple[str, BaseException | None]:
    """Give all that a call prints, warns of and raises, with what a traceback would print before it."""
    out = io.StringIO()
    raised: BaseException | None = None
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:  # noqa: BLE001 - which one it is is what is tested
            raised = error
    said = [out.getvalue(), *(str(warning.message) for warning in seen)]
    before = raised
    while before is not None:
        said.append(str(before))
        before = before.__cause__ or (None if before.__suppress_context__ else before.__context__)
    return "\n".join(said), raised


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_shows_a_cell_or_speaks_in_the_words_of_a_library(
    verb: str, sources: dict[str, Callable[[], Any]], room: Path
) -> None:
    wrong = []
    for name in list(sources)[:: 4 if verb in HEAVY else 1]:
        source = sources[name]()
        text, raised = told(lambda source=source: VERBS[verb](source, room))
        if raised is not None and not isinstance(raised, MahremError):
            wrong.append(f"{name}: raised {type(raised).__name__}")
        if isinstance(raised, MahremError) and raised.exit_code == 70:
            wrong.append(f"{name}: {raised}")
        if is_marked(text):
            wrong.append(f"{name}: shows a cell")
        if FOREIGN.search(text):
            wrong.append(f"{name}: says {text[:300]}")
    assert not wrong, "\n".join(wrong)


def commands(source: Path, room: Path) -> Iterator[list[object]]:
    """Give every command of the command line that takes a table, with settings that do not fit it."""
    roles = ["--qi", "a,x", "--sensitive", "s", "-k", 2, "--rest", "drop"]
    yield ["anonymize", source, *roles, "-o", room / "out", "--force"]
    yield ["anonymize", source, *roles, "--kind", "x=numeric", "-l", 2, "-o", room / "out", "--force"]
    yield ["anonymize", source, *roles, "--kind", "x=date", "--dry-run"]
    yield ["anonymize", room / "rows.csv", *roles, "--hierarchy", f"x={source}", "-o", room / "out"]
    yield ["anonymize", room / "rows.csv", "--policy", source, "-o", room / "out"]
    yield ["audit", source, "--qi", "a,x", "--sensitive", "s", "-k", 2, "-l", 2]
    yield ["audit", source, "--qi", "a", "--sensitive", "x", "-k", 2, "-t", 0.3, "--json"]
    yield ["audit", room / "release", "--public-key", source]
    yield ["inspect", source]
    yield ["inspect", source, "--json"]
    yield ["compare", source, *roles, "-o", room / "compared"]
    yield ["attack", source, "--original", source, "--qi", "a,x", "--sensitive", "s"]
    yield ["attack", room / "release", "--original", source]
    yield ["apply", room / "release", source, "-o", room / "applied"]
    yield ["apply", source, room / "rows.csv", "-o", room / "applied"]
    yield ["hierarchy", "make", source, "--column", "x", "-o", room / "tree.csv"]
    yield ["hierarchy", "check", source, "--data", source, "--column", "x"]
    yield ["ledger", "new", room / "none.ledger", "--data", source, "--epsilon", 1]
    yield ["ledger", "show", source]
    yield ["query", source, "--ledger", source, "mean(x)", "--epsilon", 1]
    yield ["report", source]
    yield ["release", "sign", room / "release", "--key", source]
    yield ["release", "verify", source, "--public-key", source]


def test_no_command_shows_a_cell_or_speaks_in_the_words_of_a_library(room: Path, tmp_path: Path) -> None:
    wrong = []
    for name, path in files(tmp_path / "files").items():
        for arguments in commands(path, room):
            codes: list[int] = []
            words = [str(argument) for argument in arguments]
            text, raised = told(lambda words=words, codes=codes: codes.append(_run(words)))
            what = f"{name}, {' '.join(words[:2])}"
            if raised is not None and not isinstance(raised, SystemExit):
                wrong.append(f"{what}: raised {type(raised).__name__}")
            if codes and codes[0] in (70, 74):
                wrong.append(f"{what}: ends in {codes[0]}: {text[-200:]}")
            if is_marked(text):
                wrong.append(f"{what}: shows a cell")
            if FOREIGN.search(text):
                wrong.append(f"{what}: says {text[:300]}")
    assert not wrong, "\n".join(wrong)


def test_what_the_caller_raises_is_the_callers() -> None:
    class Stopped(Exception):
        pass

    def stop(_: object) -> None:
        raise Stopped(MARK)

    with pytest.raises(Stopped):
        mh.audit(ROWS, quasi=["a"], k=2, progress=stop)
    with pytest.raises(TypeError, match="missing"):
        mh.audit()  # type: ignore[call-arg]


def test_a_foreign_error_is_told_by_its_class_and_its_place() -> None:
    broken = pl.LazyFrame({"a": [MARK]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(InvalidInput, match="InvalidOperationError") as told_:
        mh.audit(broken, quasi=["a"], k=2)
    assert told_.value.__cause__ is None
    assert told_.value.__suppress_context__


def test_words_of_a_library_behind_an_error_of_ours_are_cut_off() -> None:
    @in_our_words
    def verb() -> None:
        try:
            int(MARK)
        except ValueError as error:
            raise InvalidInput("a sentence of ours") from error

    with pytest.raises(InvalidInput) as refused:
        verb()
    assert refused.value.__cause__ is None
    assert not is_marked("".join(traceback.format_exception(refused.value)).replace("int(MARK)", ""))
    assert issubclass(Unforeseen, MahremError)
