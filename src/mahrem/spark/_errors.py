"""What Spark and its workers raise, in our words: their own may hold data."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from pathlib import PurePath

from mahrem.errors import InvalidInput, MissingExtra


def worker_error(message: str) -> Exception:
    """Say in our words why a worker could not work; Spark's own words may hold data."""
    if "PYTHON_VERSION_MISMATCH" in message:
        return InvalidInput("workers run another Python than this; set PYSPARK_PYTHON to one of this version")
    missing = re.search(r"No module named '?([\w.]+)", message)
    if missing:
        return MissingExtra(f"workers have no {missing.group(1)}; install mahrem[spark] for PYSPARK_PYTHON")
    if "pyarrow" in message.lower() or "PyArrow" in message:
        return MissingExtra("workers have no usable pyarrow; install mahrem[spark] for PYSPARK_PYTHON")
    if "Cannot run program" in message:
        return InvalidInput("workers cannot start Python; set PYSPARK_PYTHON to a path that they have")
    return InvalidInput("workers could not run a first small job; see Spark's log")


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in PurePath(record.pathname).parts


@contextlib.contextmanager
def _loggers_quiet() -> Iterator[None]:
    """Keep PySpark from writing every exception, in its own words, to the standard error as well.

    So does Py4J through the root logger, above all on ctrl-C.
    """
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        yield
        return
    loggers = [PySparkLogger.getLogger(f"{name}QueryContextLogger") for name in ("DataFrame", "SQL")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    logging.getLogger().addFilter(_not_of_py4j)
    try:
        yield
    finally:
        logging.getLogger().removeFilter(_not_of_py4j)
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Turn what Spark raises into errors of ours; its own words may hold data.

    Raises:
        InvalidInput: If the source is broken, or Spark gave up for another reason.
        MissingExtra: If workers lack something.
    """
    try:
        with _loggers_quiet():
            yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "pyarrow", "grpc")):
            raise
        message = str(error)
    else:
        return
    broken = ("MALFORMED", "FAILED_READ_FILE", "CANNOT_READ", "CANNOT_MERGE", "ParquetDecodingException")
    if any(sign in message for sign in broken):
        raise InvalidInput(
            "the source cannot be read: a record has more or fewer fields than the header, a cell holds a "
            "line break, or a part is broken; Parquet knows none of this"
        ) from None
    lacking = ("No module named", "PYTHON_VERSION_MISMATCH", "Cannot run program")
    if any(sign in message for sign in lacking):
        raise worker_error(message) from None
    reason = re.search(r"\[([A-Z_.]+)\]", message)
    named = f" ({reason.group(1)})" if reason else ""
    raise InvalidInput(f"Spark gave up{named}; its log says why; nothing was left behind") from None
