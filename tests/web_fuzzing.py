"""Requests made up from the API's own description: ``python tests/web_fuzzing.py --cases 2000``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from web_server import Server, serving

PEOPLE = b"age,sex,illness\n" + b"31,f,flu\n32,m,cold\n" * 40


def fuzz(server: Server, cases: int) -> Counter[int]:
    """Send at least so many requests, good and bad ones; gives how often each status came back."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis import GenerationMode, openapi
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    described = server.client.get("/api/v1/openapi.json").json()
    schema = openapi.from_dict(described)
    operations = [found.ok() for found in schema.get_all_operations()]
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    each = -(-cases // (len(operations) * len(modes)))
    wanted: list[Any] = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
    ]
    seen: Counter[int] = Counter()
    project = server.project(PEOPLE)
    headers = {"authorization": str(server.client.headers["authorization"])}

    def send(case: Any) -> None:
        known = case.path_parameters or {}
        if "project" in known and case.method.upper() != "DELETE" and sum(seen.values()) % 2:
            case.path_parameters = {**known, "project": project}  # half of them meet a real one
        answer = case.call(base_url=server.home, headers=headers)
        seen[answer.status_code] += 1
        case.validate_response(answer, checks=wanted)

    often = settings(
        max_examples=each,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in operations:
        for mode in modes:
            try:
                often(given(operation.as_strategy(mode))(send))()
            except Unsatisfiable:  # nothing can be wrong about a request without parameters
                continue
    return seen


def main() -> None:
    """Run on a server of its own and print the statuses."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--cases", type=int, default=2000)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--workers", "1") as server:
        seen = fuzz(server, reader.parse_args().cases)
    print(f"{sum(seen.values())} requests, no server error: {dict(sorted(seen.items()))}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
