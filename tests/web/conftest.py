"""One server for all tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from web_server import Server, serving


@pytest.fixture(scope="session")
def folder_of_tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "people.csv").write_text(
        "age,sex\n" + "".join(f"{20 + n % 40},{'fm'[n % 2]}\n" for n in range(60))
    )
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.write_text("age\n1\n2\n")
    (folder / "link.csv").symlink_to(secret)
    return str(folder)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, folder_of_tables: str) -> Iterator[Server]:
    options = ("--max-upload", "1MB", "--max-columns", "20", "--max-rows", "5000", "--log")
    with serving(tmp_path_factory.mktemp("server"), *options, "--folder", folder_of_tables) as running:
        yield running
