"""A PostgreSQL server for tests that need one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from postgres_process import postgres_programs, postgres_server


@pytest.fixture(scope="session")
def postgres(missing_part: Callable[[str], None]) -> Iterator[str]:
    """Start a server with a password and give its URI."""
    programs = postgres_programs()
    if programs is None:
        missing_part("PostgreSQL is not installed (apt-get install postgresql)")
    assert programs is not None
    with postgres_server(programs) as uri:
        yield uri
