"""Spark DataFrames, recognised without loading Spark."""

from __future__ import annotations


def is_spark_frame(source: object) -> bool:
    """Say whether something is a Spark DataFrame, without loading Spark."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
