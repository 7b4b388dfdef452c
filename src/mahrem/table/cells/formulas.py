"""Text that a spreadsheet would run: disarmed on the way out, restored on the way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

DISARMED = r"^'+[=+\-@\t\r]"
FORMULA = (  # what begins like one, less plain numbers [+-][0-9.,]+([eE][+-]?[0-9]+)?: in one pass
    r"^(?:'+[=+\-@\t\r]|[=@\t\r]|[+\-](?:$|[^0-9.,])|[+\-][0-9.,]+"
    r"(?:[^0-9.,eE]|[eE](?:$|[^0-9+\-]|[+\-](?:$|[^0-9])|[+\-]?[0-9]+[^0-9])))"
)
TEXT = (pl.String, pl.Categorical, pl.Enum)


def neutralise_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text (cells and header) that begins like a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, tab or carriage return, after any number of apostrophes,
    gets one more apostrophe. Plain numbers such as ``-5`` and ``+3.2e4`` are left alone.

    Guarantees:
        - :func:`restore_formulas` gives the same table back.
        - No text cell begins like a formula, unless it is a plain number.

    References:
        OWASP: CSV injection.

    Example:
        >>> neutralise_formulas(pl.DataFrame({"note": ["=1+1", "-5", "'@x", "fine"]}))["note"].to_list()
        ["'=1+1", '-5', "''@x", 'fine']
    """
    kinds = frame.schema  # read once: polars builds it anew at each look, and there may be 10,000 columns
    names = [name for name, dtype in kinds.items() if isinstance(dtype, TEXT)]
    flat = frame.with_columns(pl.col(name).cast(pl.String) for name in names if kinds[name] != pl.String)
    disarmed = flat.with_columns(
        pl.when(_runs(pl.col(name))).then(pl.lit("'") + pl.col(name)).otherwise(pl.col(name)).alias(name)
        for name in _with(flat, names, _runs)
    )
    return disarmed.rename(dict(zip(frame.columns, neutralise_names(frame.columns), strict=True)))


def restore_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo :func:`neutralise_formulas` on text read back.

    Example:
        >>> restore_formulas(pl.DataFrame({"note": ["'=1+1", "-5", "'til"]}))["note"].to_list()
        ['=1+1', '-5', "'til"]
    """
    restored = frame.with_columns(restored_cells(frame.schema))
    header = pl.Series(frame.columns, dtype=pl.String).to_frame("name")
    plain = header.select(
        pl.when(_disarmed(pl.col("name"))).then(pl.col("name").str.slice(1)).otherwise(pl.col("name"))
    )
    return restored.rename(dict(zip(frame.columns, plain.to_series().to_list(), strict=True)))


def restored_cells(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Undo :func:`neutralise_formulas` on the text of cells, lazily, and leave the header alone."""
    texts = [pl.col(name) for name, dtype in schema.items() if dtype == pl.String]
    return [pl.when(_disarmed(text)).then(text.str.slice(1)).otherwise(text).name.keep() for text in texts]


def restore_cells(table: pl.LazyFrame) -> pl.LazyFrame:
    """Undo :func:`neutralise_formulas` in columns where a cell begins with an apostrophe at all."""
    begins = pl.col(pl.String).str.starts_with("'"), pl.col(pl.Categorical).cat.starts_with("'")
    quoted = _true(table.select(begun.any() for begun in begins).collect(engine="streaming"))
    if not quoted:
        return table
    texts = table.with_columns(pl.col(quoted).cast(pl.String))
    return texts.with_columns(restored_cells(dict.fromkeys(quoted, pl.String())))


def neutralise_names(names: Sequence[str]) -> list[str]:
    """Disarm the names of columns in the same way."""
    column = pl.col("name")
    frame = pl.DataFrame({"name": pl.Series(names, dtype=pl.String)})
    return frame.select(pl.when(_runs(column)).then(pl.lit("'") + column).otherwise(column).alias("name"))[
        "name"
    ].to_list()


def _runs(column: pl.Expr) -> pl.Expr:
    return column.str.contains(FORMULA)


def _disarmed(column: pl.Expr) -> pl.Expr:
    return column.str.contains(DISARMED)


def _with(frame: pl.DataFrame, names: Sequence[str], holds: Callable[[pl.Expr], pl.Expr]) -> list[str]:
    """Find the columns with such text; only what begins like it goes through the regular expression."""
    near = _true(frame.select(_begins(pl.col(name)).any() for name in names))
    return _true(frame.select(holds(pl.col(name).filter(_begins(pl.col(name)))).any() for name in near))


def _begins(column: pl.Expr) -> pl.Expr:
    """In the order of bytes the signs lie before the digits, or between digits and letters."""
    return ((column < "0") & (column != "*")) | ((column >= "=") & (column < "A"))  # suppressed cells abound


def _true(answers: pl.DataFrame) -> list[str]:
    return [name for name in answers.columns if answers[name].item()]
