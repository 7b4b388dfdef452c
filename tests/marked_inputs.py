"""Awkward inputs whose every cell carries a mark, so that a value in a message can be found."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

MARK = "ZZMARKERZZ"
NUMBER = 918273645  # stands for the mark where a cell is a number
_ROWS = 8


def is_marked(text: str) -> bool:
    """Say whether a text shows a cell of these inputs."""
    plain = text.replace(",", "").replace("_", "").replace(".", "")
    return MARK.lower() in text.lower() or str(NUMBER)[:7] in plain


def _words(count: int = _ROWS) -> list[str]:
    return [f"{MARK}{place % 3}" for place in range(count)]


def _beside(**columns: Any) -> dict[str, Any]:
    """Put ordinary columns beside an awkward one, so that a verb comes as far as it can."""
    return {"a": [NUMBER + place % 2 for place in range(_ROWS)], "s": _words(), **columns}


MOMENT = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
FRAMES: dict[str, Callable[[], Any]] = {
    "words": lambda: pl.DataFrame(_beside(x=_words())),
    "words beside numbers": lambda: pl.DataFrame(_beside(x=[str(NUMBER), *_words(_ROWS - 1)])),
    "durations": lambda: pl.DataFrame(_beside(x=[dt.timedelta(seconds=NUMBER)] * _ROWS)),
    "times": lambda: pl.DataFrame(_beside(x=[dt.time(9, 18, 27, 364500)] * _ROWS)),
    "lists": lambda: pl.DataFrame(_beside(x=[[MARK]] * _ROWS)),
    "structs": lambda: pl.DataFrame(_beside(x=[{"y": MARK}] * _ROWS)),
    "arrays": lambda: pl.DataFrame(_beside(x=pl.Series([[NUMBER, 1]] * _ROWS, dtype=pl.Array(pl.Int64, 2)))),
    "binary": lambda: pl.DataFrame(_beside(x=[MARK.encode()] * _ROWS)),
    "objects": lambda: pl.DataFrame(_beside(x=pl.Series([{MARK}] * _ROWS, dtype=pl.Object))),
    "decimals": lambda: pl.DataFrame(_beside(x=[decimal.Decimal(f"{NUMBER}.{NUMBER}")] * _ROWS)),
    "wide decimals": lambda: pl.DataFrame(
        _beside(x=pl.Series([decimal.Decimal(str(NUMBER) * 4)] * _ROWS, dtype=pl.Decimal(38, 0)))
    ),
    "whole floats from 1e19": lambda: pl.DataFrame(
        _beside(x=[NUMBER * 1e12 * place for place in range(_ROWS)])
    ),
    "floats at the end": lambda: pl.DataFrame(_beside(x=[1.7e308, -1.7e308, *[float(NUMBER)] * (_ROWS - 2)])),
    "not numbers": lambda: pl.DataFrame(
        _beside(x=[float("nan"), float("inf"), *[float(NUMBER)] * (_ROWS - 2)])
    ),
    "large numbers": lambda: pl.DataFrame(
        _beside(x=pl.Series([2**64 - 1 - NUMBER] * _ROWS, dtype=pl.UInt64))
    ),
    "very large numbers": lambda: pl.DataFrame(_beside(x=pl.Series([2**100] * _ROWS, dtype=pl.Int128))),
    "booleans": lambda: pl.DataFrame(_beside(x=[True, False] * (_ROWS // 2))),
    "nothing": lambda: pl.DataFrame(_beside(x=[None] * _ROWS)),
    "categories": lambda: pl.DataFrame(_beside(x=pl.Series(_words(), dtype=pl.Categorical))),
    "enumerations": lambda: pl.DataFrame(
        _beside(x=pl.Series(_words(), dtype=pl.Enum([f"{MARK}{place}" for place in range(3)])))
    ),
    "zones": lambda: pl.DataFrame(_beside(x=[MOMENT] * _ROWS)),
    "zones in text": lambda: pl.DataFrame(_beside(x=["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"] * 4)),
    "first years": lambda: pl.DataFrame(_beside(x=[dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 4)),
    "no rows": lambda: pl.DataFrame(_beside(x=_words())).clear(),
    "one row": lambda: pl.DataFrame(_beside(x=_words()))[:1],
    "line ends": lambda: pl.DataFrame(_beside(x=[f"{MARK}\r\n\0\t"] * _ROWS)),
    "formulas": lambda: pl.DataFrame(_beside(x=[f"={MARK}()", f"'={MARK}()"] * 4)),
    "long text": lambda: pl.DataFrame(_beside(x=[MARK * 5000] * _ROWS)),
    "names with marks of patterns": lambda: pl.DataFrame(_beside(**{"^x.*$": _words()})),
    "lazy and broken": lambda: pl.LazyFrame(_beside(x=_words())).with_columns(pl.col("x").cast(pl.Int64)),
    "pandas mixed": lambda: pd.DataFrame(
        _beside(x=[MARK, NUMBER, 1.5, None, dt.date(2020, 1, 1), [MARK], {}, b""])
    ),
    "pandas objects": lambda: pd.DataFrame(_beside(x=[object()] * _ROWS)),
    "pandas periods": lambda: pd.DataFrame(_beside(x=pd.period_range("2020-01", periods=_ROWS, freq="M"))),
    "pandas intervals": lambda: pd.DataFrame(_beside(x=pd.interval_range(0, NUMBER, periods=_ROWS))),
    "pandas complex": lambda: pd.DataFrame(_beside(x=[complex(NUMBER, 1)] * _ROWS)),
    "pandas sparse": lambda: pd.DataFrame(_beside(x=pd.arrays.SparseArray([NUMBER, 0] * 4))),
    "pandas doubled names": lambda: pd.DataFrame([[NUMBER, MARK, MARK]] * _ROWS, columns=["a", "s", "s"]),
    "pandas numbers and names": lambda: pd.DataFrame(_beside(**{"1": _words()})).rename(columns={"1": 1}),
    "arrow unions": lambda: pa.table(
        _beside(
            x=pa.UnionArray.from_sparse(
                pa.array([0, 1] * 4, pa.int8()), [pa.array(_words()), pa.array([NUMBER] * _ROWS)]
            )
        )
    ),
    "arrow maps": lambda: pa.table(
        _beside(x=pa.array([[(MARK, NUMBER)]] * _ROWS, pa.map_(pa.string(), pa.int64())))
    ),
    "arrow months": lambda: pa.table(
        _beside(x=pa.array([(1, 2, NUMBER)] * _ROWS, pa.month_day_nano_interval()))
    ),
    "arrow half floats": lambda: pa.table(_beside(x=pa.array([1.5] * _ROWS, pa.float16()))),
    "a list": lambda: [[MARK, NUMBER]],
    "a mapping": lambda: {"a": [MARK], "s": [MARK]},
    "a number": lambda: NUMBER,
    "text": lambda: "nowhere.csv",
}

FILES: dict[str, tuple[str, bytes]] = {
    "ragged": ("t.csv", f"a,s,x\n{NUMBER},{MARK}\n{NUMBER},{MARK},{MARK},{MARK}\n".encode()),
    "an open quote": ("t.csv", f'a,s,x\n{NUMBER},"{MARK},{MARK}\n'.encode()),
    "a quote inside": ("t.csv", f'a,s,x\n{NUMBER},{MARK}"{MARK}",x\n"{MARK}"{MARK},s,x\n'.encode()),
    "no UTF-8": ("t.csv", f"a,s,x\n{NUMBER},{MARK}\xff,{MARK}\n".encode("latin-1")),
    "half UTF-16": ("t.csv", b"\xff\xfe" + f"a,s,x\n{MARK}".encode("utf-16-le")[:-1]),
    "zero bytes": ("t.csv", f"a,s,x\n{NUMBER},{MARK}\0,{MARK}\n".encode()),
    "a doubled name": ("t.csv", f"a,s,s\n{NUMBER},{MARK},{MARK}\n".encode()),
    "an empty name": ("t.csv", f"a,,s\n{NUMBER},{MARK},{MARK}\n".encode()),
    "only a header": ("t.csv", b"a,s,x\n"),
    "nothing": ("t.csv", b""),
    "numbers that are words": ("t.csv", f"a,s,x\n{NUMBER},{MARK},{NUMBER}\n1,{MARK},{MARK}\n".encode() * 1),
    "broken gzip": ("t.csv.gz", b"\x1f\x8b" + MARK.encode()),
    "broken zstd": ("t.csv.zst", b"\x28\xb5\x2f\xfd" + MARK.encode()),
    "broken Parquet": ("t.parquet", b"PAR1" + MARK.encode() * 9 + b"PAR1"),
    "cut Parquet": ("t.parquet", b"PAR1" + MARK.encode()),
    "broken Arrow": ("t.arrow", b"ARROW1\0\0" + MARK.encode() * 9),
    "broken spreadsheet": ("t.xlsx", b"PK\x03\x04" + MARK.encode() * 9),
    "an archive": ("t.zip", b"PK\x03\x04" + MARK.encode() * 9),
    "broken DuckDB": ("t.duckdb", b"\0" * 8 + b"DUCK" + MARK.encode() * 50),
    "SQLite": ("t.db", b"SQLite format 3\0" + MARK.encode()),
    "JSON": ("t.json", json.dumps([{"a": NUMBER, "s": MARK, "x": MARK}]).encode()),
    "lines of JSON": ("t.jsonl", (json.dumps({"a": NUMBER, "s": MARK}) + "\n").encode() * 3),
    "unknown": ("t.dat", bytes(range(256)) + MARK.encode()),
}


def files(folder: Path) -> dict[str, Path]:
    """Write every file, and every frame that a format can hold as it is."""
    written = {}
    for place, (name, (file, content)) in enumerate(FILES.items()):
        path = folder / str(place) / file
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        written[name] = path
    for place, (name, make) in enumerate(FRAMES.items()):
        frame = make()
        if isinstance(frame, pl.DataFrame) and pl.Object not in frame.dtypes:
            form = ("parquet", "arrow")[place % 2]
            path = folder / f"frame{place}.{form}"
            frame.write_parquet(path) if form == "parquet" else frame.write_ipc(path)
            written[f"{name} in a file"] = path
    return written
