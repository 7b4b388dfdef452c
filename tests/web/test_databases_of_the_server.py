"""A declared PostgreSQL database: which roles are asked questions, and within which limits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import adbc_driver_postgresql.dbapi as driver
import pytest

from mahrem.errors import InvalidInput
from mahrem.table.reading import refuse_wide_role
from mahrem.web import ServeSettings
from mahrem.web.bodies import Project, SourceFacts
from mahrem.web.projects import database_label, locate

WIDE = ("pg_read_server_files", "pg_write_server_files", "pg_execute_server_program")


def as_role(uri: str, role: str) -> str:
    parts = urlsplit(uri)
    return parts._replace(netloc=f"{role}:narrow-enough@{parts.hostname}:{parts.port}").geturl()


@pytest.fixture(scope="module")
def roles(postgres: str) -> dict[str, str]:
    """A role that can read tables, and roles that reach further, by themselves or by what they can become."""
    names = ("narrow", "through", "administers", "steps", "reads", "calls", *(f"may_{w}" for w in WIDE))
    with driver.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        for role in names:
            cursor.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'narrow-enough'")
        for wide in WIDE:
            cursor.execute(f"GRANT {wide} TO may_{wide}")
        for command in (
            "GRANT may_pg_read_server_files TO through",
            "CREATE ROLE chief SUPERUSER",
            "GRANT chief TO administers",  # whoever may become it asks questions as it
            "CREATE ROLE between NOINHERIT",
            "GRANT chief TO between",
            "GRANT between TO steps",
            "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO reads",
            "CREATE ROLE files",
            "GRANT EXECUTE ON FUNCTION pg_ls_dir(text) TO files",
            "ALTER ROLE calls NOINHERIT",
            "GRANT files TO calls",
        ):
            cursor.execute(command)
    return {role: as_role(postgres, role) for role in names}


def test_a_role_that_reaches_files_or_programs_is_asked_nothing(postgres: str, roles: dict[str, str]) -> None:
    refuse_wide_role(roles["narrow"])
    behind = f"{postgres}?options=-c%20role%3Dnarrow"  # a question can put the role down again
    for uri in (postgres, behind, *(uri for role, uri in roles.items() if role != "narrow")):
        with pytest.raises(InvalidInput, match="name a role"):
            refuse_wide_role(uri)


def test_what_a_job_asks_changes_nothing_and_does_not_run_for_ever(postgres: str, tmp_path: Path) -> None:
    settings = ServeSettings(databases=(postgres,), state=tmp_path, job_minutes=0.5)
    source = SourceFacts(kind="database", label="db", database=database_label(postgres), table="people")
    project = Project(id="0" * 32, name="p", created="", touched=0, source=source)
    place = locate(project, tmp_path, settings).table
    with driver.connect(place) as connection, connection.cursor() as cursor:
        shown = {}
        for name in ("default_transaction_read_only", "statement_timeout", "lock_timeout"):
            cursor.execute(f"SELECT current_setting('{name}')")
            shown[name] = cursor.fetchone()[0]  # type: ignore[index]
        assert shown == {
            "default_transaction_read_only": "on",
            "statement_timeout": "30s",
            "lock_timeout": "10s",
        }
        with pytest.raises(driver.Error, match="read-only"):
            cursor.execute("CREATE TABLE written (a int)")
    own = f"{postgres}{'&' if urlsplit(postgres).query else '?'}options=-c%20statement_timeout%3D5000"
    settings = ServeSettings(databases=(own,), state=tmp_path)
    source = source.model_copy(update={"database": database_label(own)})
    assert locate(project.model_copy(update={"source": source}), tmp_path, settings).table == own


def over_a_socket(uri: str) -> str:
    """The same server by the folder of its socket, which a URI names after its database."""
    with driver.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('unix_socket_directories')")
        (folder,) = cursor.fetchone()  # type: ignore[misc]
    parts = urlsplit(uri)
    own = f"host={folder}&port={parts.port}&user={parts.username}&password={parts.password}"
    return f"postgresql:///postgres?{own}&application_name=a+b"


def test_limits_leave_all_else_of_an_address_as_it_was(postgres: str, tmp_path: Path) -> None:
    for uri in (postgres, over_a_socket(postgres), f"{postgres}?application_name=a+b"):
        settings = ServeSettings(databases=(uri,), state=tmp_path)
        source = SourceFacts(kind="database", label="db", database=database_label(uri), table="people")
        project = Project(id="0" * 32, name="p", created="", touched=0, source=source)
        place = locate(project, tmp_path, settings).table
        assert place.startswith(uri)
        with driver.connect(place) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('application_name'), current_setting('lock_timeout')")
            assert cursor.fetchone() == ("a+b" if "a+b" in uri else "", "10s")
