"""Tables of records as people make them: by pandas, polars, Arrow, DuckDB, spreadsheets and plain files.

Whoever makes a table infers kinds from all rows, writes dictionaries, row groups, an index or marks of its
own; one record can change all of that. What a library cannot write at all, nobody has.
"""

from __future__ import annotations

import datetime as dt
import gzip
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from mahrem.table import Reading

Record = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """A file that says less than others, and what its owner says of it."""

    table: object
    reading: Reading


def _pandas(people: list[Record], _: Path) -> object:
    return pd.DataFrame(people)


def _pandas_tidied(people: list[Record], _: Path) -> object:
    return pd.DataFrame(people).convert_dtypes()


def _pandas_categories(people: list[Record], _: Path) -> object:
    frame = pd.DataFrame(people)
    return frame.astype({"ward": "category", "group": "category", "smoker": "category"})


def _polars(people: list[Record], _: Path) -> object:
    # By columns: from rows, polars turns days beside a NaN into numbers before anybody sees them.
    return pl.DataFrame({name: [person[name] for person in people] for name in people[0]})


def _polars_objects(people: list[Record], _: Path) -> object:
    return pl.DataFrame(
        {name: pl.Series([person[name] for person in people], dtype=pl.Object) for name in people[0]}
    )


def _arrow(people: list[Record], _: Path) -> object:
    return pa.Table.from_pandas(pd.DataFrame(people))


def _csv(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def _semicolons(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "semicolons.csv", index=False, sep=";")
    return folder / "semicolons.csv"


def _csv_read_by_pandas(people: list[Record], folder: Path) -> object:
    return pd.read_csv(_csv(people, folder))  # type: ignore[arg-type]


def _csv_read_by_duckdb(people: list[Record], folder: Path) -> object:
    relation = duckdb.read_csv(str(_csv(people, folder)))
    relation.to_arrow_table()  # it guesses kinds from the first rows, and may fail on its own guess
    return relation


def _parquet(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def _xlsx(people: list[Record], folder: Path) -> object:
    held = BytesIO()  # a file would stay open where a cell cannot be written
    with pd.ExcelWriter(held, engine="xlsxwriter", engine_kwargs={"options": {"in_memory": True}}) as writer:
        pd.DataFrame(people).to_excel(writer, index=False)
    (folder / "people.xlsx").write_bytes(held.getvalue())
    return folder / "people.xlsx"


def _duckdb(people: list[Record], folder: Path) -> object:
    path = folder / "people.duckdb"
    path.unlink(missing_ok=True)
    frame = pd.DataFrame(people)  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return path


def _pandas_arrow(people: list[Record], _: Path) -> object:
    return pd.DataFrame(people).convert_dtypes(dtype_backend="pyarrow")


def _pandas_ghosts(people: list[Record], _: Path) -> object:
    """Give categories that no row shows any more, of any kinds, in another order."""
    frame = pd.DataFrame(people)
    for name in ("ward", "smoker", "group"):
        kinds = list(dict.fromkeys([*frame[name].dropna().tolist()[::-1], "ghost", 99]))
        frame[name] = pd.Categorical(frame[name], categories=kinds)
    return frame


def _pandas_index(people: list[Record], _: Path) -> object:
    """Name rows by what is in them, twice the same and missing ones too."""
    frame = pd.DataFrame(people)
    frame.index = pd.Index([person["group"] for person in people], dtype=object, name="who")
    return frame


def _pandas_moments(people: list[Record], _: Path) -> object:
    """Read days as many do: what is none is no day, all in one zone."""
    frame = pd.DataFrame(people)
    days = pd.to_datetime(frame["admitted"].astype(str), errors="coerce", format="mixed", utc=True)
    return frame.assign(admitted=days)


def _pandas_twice(people: list[Record], _: Path) -> object:
    """Take a frame together from two, each of which has kinds of its own."""
    return pd.concat([pd.DataFrame(people[:1]), pd.DataFrame(people[1:])]) if len(people) > 1 else None


def _polars_categories(people: list[Record], folder: Path) -> object:
    frame: Any = _polars(people, folder)
    return frame.with_columns(pl.col("group").cast(pl.String).cast(pl.Categorical))


def _polars_lazy(people: list[Record], folder: Path) -> object:
    frame: Any = _polars(people, folder)
    return frame.lazy()


def _arrow_dictionaries(people: list[Record], folder: Path) -> object:
    table: Any = _arrow(people, folder)
    columns = {
        name: table[name].dictionary_encode() if pa.types.is_string(table[name].type) else table[name]
        for name in table.column_names
    }
    return pa.table(columns)


def _arrow_chunks(people: list[Record], folder: Path) -> object:
    table: Any = _arrow(people, folder)
    parts = [table.slice(place, 1) for place in range(table.num_rows)]
    return pa.concat_tables([table.slice(0, 0), *parts, table.slice(0, 0)])


def _feather(people: list[Record], folder: Path) -> object:
    pyarrow.feather.write_feather(_arrow(people, folder), str(folder / "people.feather"))
    return folder / "people.feather"


def _csv_quoted(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "quoted.csv", index=False, quoting=1, encoding="utf-8-sig")
    return folder / "quoted.csv"


def _csv_returns(people: list[Record], folder: Path) -> object:
    """End lines as old programs do."""
    pd.DataFrame(people).to_csv(folder / "returns.csv", index=False, quoting=1, lineterminator="\r")
    return folder / "returns.csv"


def _csv_packed(people: list[Record], folder: Path) -> object:
    (folder / "people.csv.gz").write_bytes(gzip.compress(pd.DataFrame(people).to_csv(index=False).encode()))
    return folder / "people.csv.gz"


def _csv_western(people: list[Record], folder: Path) -> object:
    text = pd.DataFrame(people).to_csv(index=False)
    (folder / "western.csv").write_bytes(text.encode("cp1252", errors="ignore"))
    return Told(folder / "western.csv", Reading(encoding="cp1252"))


def _csv_headerless(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "headerless.csv", index=False, header=False)
    said = Reading(header=False, names=tuple(people[0]), delimiter=",")
    return Told(folder / "headerless.csv", said)


def _csv_by_hand(people: list[Record], folder: Path) -> object:
    """Write cells as they are: who has a comma in a cell has a cell too many, and quotes stand anywhere."""
    lines = [",".join(people[0])]
    lines += [",".join("" if cell is None else str(cell) for cell in person.values()) for person in people]
    text = "\n".join(" ".join(line.split("\n")) for line in lines).replace("\r", " ")
    (folder / "by hand.csv").write_text(text + "\n", encoding="utf-8")
    return folder / "by hand.csv"


def _csv_by_polars(people: list[Record], folder: Path) -> object:
    frame: Any = _polars(people, folder)
    frame.write_csv(folder / "polars.csv")
    return folder / "polars.csv"


def _parquet_groups(people: list[Record], folder: Path) -> object:
    """Write a row group for every record, some of them empty, without dictionaries, with an index."""
    frame: Any = _pandas_index(people, folder)
    table = pa.Table.from_pandas(frame, preserve_index=True)
    with pq.ParquetWriter(folder / "groups.parquet", table.schema, use_dictionary=False) as writer:
        writer.write_table(table.slice(0, 0))
        for place in range(table.num_rows):
            writer.write_table(table.slice(place, 1))
        writer.write_table(table.slice(0, 0))
    return folder / "groups.parquet"


def _parquet_coded(people: list[Record], folder: Path) -> object:
    pq.write_table(_arrow_dictionaries(people, folder), folder / "coded.parquet", use_dictionary=True)
    return folder / "coded.parquet"


def _parquet_old(people: list[Record], folder: Path) -> object:
    frame: Any = _pandas_moments(people, folder)
    frame.to_parquet(folder / "old.parquet", use_deprecated_int96_timestamps=True)
    return folder / "old.parquet"


def _parquet_by_polars(people: list[Record], folder: Path) -> object:
    frame: Any = _polars(people, folder)
    frame.write_parquet(folder / "polars.parquet", row_group_size=2)
    return folder / "polars.parquet"


def _parquet_by_duckdb(people: list[Record], folder: Path) -> object:
    frame = pd.DataFrame(people)
    duckdb.from_df(frame).write_parquet(str(folder / "duckdb.parquet"))
    return folder / "duckdb.parquet"


def _duckdb_text(people: list[Record], folder: Path) -> object:
    path = folder / "text.duckdb"
    path.unlink(missing_ok=True)
    frame = pd.DataFrame(people).astype("string")  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return path


SOURCES: Mapping[str, Callable[[list[Record], Path], object]] = {
    "pandas": _pandas,
    "pandas, tidied": _pandas_tidied,
    "pandas, categories": _pandas_categories,
    "polars": _polars,
    "polars, objects": _polars_objects,
    "Arrow": _arrow,
    "CSV": _csv,
    "CSV with semicolons": _semicolons,
    "CSV read by pandas": _csv_read_by_pandas,
    "CSV read by DuckDB": _csv_read_by_duckdb,
    "Parquet by pandas": _parquet,
    "XLSX": _xlsx,
    "DuckDB": _duckdb,
    "pandas, Arrow types": _pandas_arrow,
    "pandas, unused categories": _pandas_ghosts,
    "pandas, rows with names": _pandas_index,
    "pandas, moments in a zone": _pandas_moments,
    "pandas, two frames": _pandas_twice,
    "polars, categories": _polars_categories,
    "polars, lazy": _polars_lazy,
    "Arrow, dictionaries": _arrow_dictionaries,
    "Arrow, in chunks": _arrow_chunks,
    "Arrow file": _feather,
    "CSV, all quoted, marked": _csv_quoted,
    "CSV, lines end as of old": _csv_returns,
    "CSV, packed": _csv_packed,
    "CSV, cp1252": _csv_western,
    "CSV without a header": _csv_headerless,
    "CSV by hand": _csv_by_hand,
    "CSV by polars": _csv_by_polars,
    "Parquet, row groups, index": _parquet_groups,
    "Parquet, dictionaries": _parquet_coded,
    "Parquet, old moments": _parquet_old,
    "Parquet by polars": _parquet_by_polars,
    "Parquet by DuckDB": _parquet_by_duckdb,
    "DuckDB, texts": _duckdb_text,
}


BY_ARROW = {
    *(name for name in SOURCES if "Arrow" in name),
    "Parquet by pandas",
    "Parquet, row groups, index",
    "Parquet, dictionaries",
    "Parquet, old moments",
}


AS_TEXT = {*(name for name in SOURCES if "CSV" in name), "DuckDB, texts"}


def _cuts_fractions(people: list[Record]) -> bool:
    """Say whether Arrow takes everybody's number for a time, and somebody has one that is not whole."""
    costs = [person["cost"] for person in people]
    timed = isinstance(costs[0], dt.time | dt.timedelta)
    return timed and any(isinstance(cost, float) and not cost.is_integer() for cost in costs)


def made(people: list[Record], source: str, folder: Path) -> object | None:
    """Make a table as that source does; None where its own library cannot write such rows."""
    folder.mkdir(parents=True, exist_ok=True)
    if source in AS_TEXT and any(
        isinstance(cell, np.complexfloating) for person in people for cell in person.values()
    ):
        return None  # pandas writes everybody's number as a complex one
    if source in BY_ARROW and _cuts_fractions(people):
        return None  # what Arrow cuts off nobody can read back
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return SOURCES[source](people, folder)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - nobody has such a table
        return None
