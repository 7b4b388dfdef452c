"""Spark's settings for a driver of ours: what keeps data private, what makes it quick, who may overrule."""

from __future__ import annotations

import os
import re
from pathlib import Path

NEEDED = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
BATCHES = {"spark.sql.execution.arrow.maxRecordsPerBatch": "100000"}
_PASSED_ON = ("MAHREM_KERNELS", "NUMBA_CACHE_DIR")


def is_here(master: str) -> bool:
    """Say whether all of a cluster runs on this machine."""
    return master.startswith(("local", "spark://127.", "spark://localhost"))


def settings_here(master: str, folder: str, memory: str | None) -> dict[str, str]:
    """Give all settings of a driver in this process.

    ``spark-defaults.conf`` wins over those that only make it quick, not over those that keep data private.

    Args:
        master: As Spark writes it.
        folder: Scratch folder; a file that keeps Java quiet is written into it.
        memory: Of the driver and of every executor; None for what the file says, else 2g.
    """
    file = _defaults()
    ours = {name: value for name, value in _quick(master, folder).items() if name not in file}
    ours |= {name: value for name, value in _memory(memory).items() if memory or name not in file}
    return ours | _private(folder, file.get("spark.driver.extraJavaOptions", ""), here=is_here(master))


def _quick(master: str, folder: str) -> dict[str, str]:
    """What makes a session quick; whoever knows the cluster may know better."""
    return {
        **BATCHES,
        "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
        "spark.driver.maxResultSize": "512m",
        "spark.network.timeout": "120s",
        **(_on_one_machine(master) if master.startswith("local") else {}),
        **{f"spark.executorEnv.{name}": os.environ[name] for name in _PASSED_ON if name in os.environ},
    }


def _memory(given: str | None) -> dict[str, str]:
    return dict.fromkeys(("spark.driver.memory", "spark.executor.memory"), given or "2g")


def _private(folder: str, options: str, *, here: bool) -> dict[str, str]:
    """What keeps data private and results right; ``options`` are those of Java that the file gives."""
    quiet = Path(folder) / "log4j2.properties"
    quiet.write_text("status=off\nrootLogger.level=off\n", encoding="utf-8")
    return {
        **NEEDED,
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "false",  # it would keep plans, and cut points in them
        "spark.ui.showConsoleProgress": "false",
        # Not TCP between Java and Python: with both buffers full, connections on loopback stalled for ever.
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.local.dir": folder,
        "spark.driver.extraJavaOptions": f"{options} -Dlog4j2.configurationFile={quiet.as_uri()}".strip(),
        **({"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} if here else {}),
    }


def _defaults() -> dict[str, str]:
    """Read the ``spark-defaults.conf`` that Spark itself would read; without one there is nothing in it."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    path = Path(os.environ.get("SPARK_CONF_DIR") or Path(home) / "conf") / "spark-defaults.conf"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = re.sub(r"\\\n[ \t]*", "", text).splitlines()  # a line may go on in the next one
    entries = (re.fullmatch(r"\s*([^\s=:#!][^\s=:]*)\s*[=:]?\s*(.*?)\s*", line) for line in lines)
    return {entry.group(1): entry.group(2) for entry in entries if entry}


def _on_one_machine(master: str) -> dict[str, str]:
    """With a few cores, planning a query anew after each of its stages costs more than it gains."""
    local = re.fullmatch(r"local\[(\d+)\]", master)
    cores = int(local.group(1)) if local else 1 if master == "local" else os.cpu_count() or 1
    return {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": str(2 * cores),
        # Many small tasks: five large ones keep two cores busy for three rounds, one of them half idle.
        "spark.sql.files.maxPartitionBytes": "64m",
    }
