"""What is sent, opened by path, or refused, each with words a layman understands."""

from __future__ import annotations

import gzip
import io
import os
import socket
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.web import ServeSettings
from mahrem.web._errors import Refused
from mahrem.web._orders import JobLimits, JobOrder, JobRequest, TablePlace
from mahrem.web.jobs._verbs import perform
from mahrem.web.projects._sources import kind_of, pick_file
from mahrem.web.projects._upload import _Sink
from web_server import Server, serving

PEOPLE = b"age,sex,illness\n" + b"".join(
    f"{20 + n % 50},{'fm'[n % 2]},{['flu', 'cold', 'gout'][n % 3]}\n".encode() for n in range(300)
)


def send(server: Server, content: bytes, name: str = "people.csv") -> tuple[int, dict[str, str], str]:
    project = server.client.post("/api/v1/projects", json={}).json()["id"]
    answer = server.client.put(f"/api/v1/projects/{project}/source", params={"name": name}, content=content)
    body = answer.json()
    if answer.status_code != 202:
        return answer.status_code, body["error"], project
    job = server.wait(body["job"]["id"])
    return answer.status_code, job["error"] or {}, project


def parquet() -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"age": [1, 2], "sex": ["f", "m"]}).write_parquet(file)
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * 10**6)
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo("people.csv")
        entry.size = len(PEOPLE)
        archive.addfile(entry, io.BytesIO(PEOPLE))
    return file.getvalue()


def test_a_csv_is_taken_and_its_columns_are_described(server: Server) -> None:
    status, error, project = send(server, PEOPLE)
    assert (status, error) == (202, {})
    profile = server.client.get(f"/api/v1/projects/{project}").json()["profile"]
    assert profile["rows"] == 300
    assert [column["suggested_role"] for column in profile["columns"]] == ["quasi", "quasi", "sensitive"]
    assert all(column["reason"] for column in profile["columns"])


def test_a_parquet_file_is_known_by_its_content() -> None:
    assert kind_of(parquet()[:512], "people.csv") == "source.parquet"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (zipped(), "archive_refused"),
        (b"\x1f\x8b\x08\x00" + bytes(40), "archive_refused"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "archive_refused"),
        (b"BZh91AY&SY" + bytes(40), "archive_refused"),
        (tarred(), "archive_refused"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40), "not_a_table"),
        (b"", "empty_file"),
        (b"\n\n  \n", "empty_file"),
    ],
    ids=["zip", "gzip", "zstd", "bzip2", "tar", "picture", "nothing", "blank"],
)
def test_what_is_no_table_is_refused_at_once(server: Server, content: bytes, code: str) -> None:
    status, error, project = send(server, content)
    assert (status, error["code"]) == (415, code)
    assert error["message"]
    assert error["hint"]
    assert sorted(path.name for path in (server.state / "projects" / project).iterdir()) == ["project.json"]


def test_a_packed_csv_is_taken_and_a_packed_archive_is_not(server: Server) -> None:
    status, error, project = send(server, gzip.compress(PEOPLE), "people.csv.gz")
    assert (status, error) == (202, {})
    assert server.client.get(f"/api/v1/projects/{project}").json()["profile"]["rows"] == 300
    assert kind_of(gzip.compress(b"a\tb\n1\t2\n"), "people.tsv.gz") == "source.tsv"
    for inner in (tarred(), parquet(), zipped(), gzip.compress(PEOPLE), b""):
        with pytest.raises(Refused):
            kind_of(gzip.compress(inner)[:512])


def workbook(rows: int = 300) -> bytes:
    out = io.BytesIO()
    pl.read_csv(PEOPLE).head(rows).write_excel(out)
    return out.getvalue()


@given(st.integers(1, 600))
def test_a_file_is_known_however_its_first_bytes_arrive(cut: int) -> None:
    for name, content in {"a.xlsx": workbook(20), "a.csv": PEOPLE, "a.csv.gz": gzip.compress(PEOPLE)}.items():
        sink = _Sink(io.BytesIO(), 10**6)
        sink.name = name
        for block in (content[:cut], content[cut:]):
            sink.write(block)
        assert (sink.facts(name).file or "").startswith(f"source.{name.split('.')[1]}")


def test_a_spreadsheet_is_read_and_an_archive_that_is_called_one_is_not(server: Server) -> None:
    status, error, project = send(server, workbook(), "people.xlsx")
    assert (status, error) == (202, {})
    found = server.client.get(f"/api/v1/projects/{project}").json()["profile"]
    assert (found["rows"], [column["name"] for column in found["columns"]]) == (
        300,
        ["age", "sex", "illness"],
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("people.csv", PEOPLE)
    assert send(server, packed.getvalue(), "people.xlsx")[1]["code"] == "archive_refused"
    assert send(server, workbook(), "people.csv")[1]["code"] == "archive_refused"
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("[Content_Types].xml", b"<nothing/>")
    status, error, _ = send(server, packed.getvalue(), "people.xlsx")
    assert (status, error["code"]) == (202, "invalid_input")


def test_a_workbook_that_grows_beyond_its_memory_is_stopped(tmp_path: Path) -> None:
    plain = zipfile.ZipFile(io.BytesIO(workbook(5)))
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in plain.namelist():
            content = plain.read(name)
            if name.startswith("xl/worksheets/sheet"):
                row = b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>' + b"x" * 2000 + b"</t></is></c></row>"
                many = b"".join(row % (n, n) for n in range(7, 60_000))
                content = content.replace(b"</sheetData>", many + b"</sheetData>")
            archive.writestr(name, content)
    with serving(tmp_path / "server", "--job-memory", "300MB") as server:
        status, error, _ = send(server, (tmp_path / "bomb.xlsx").read_bytes(), "people.xlsx")
        assert status == 202
        assert error["code"] in {"out_of_memory", "too_many_rows"}
        assert server.client.get("/api/v1/health").json()["works"]


def test_a_message_calls_a_file_as_it_was_called_where_it_came_from(server: Server) -> None:
    _, error, _ = send(server, "yaş;şehir\n31;İzmir\n".encode("cp1254"), "hastalar.csv")
    said = f"{error['message']} {error['hint']}"
    assert "hastalar.csv" in said
    assert "“Encoding”" in said
    assert not {"source.csv", "--encoding", "encoding="} & set(said.replace("'", " ").split())


def test_a_csv_that_begins_like_an_archive_is_still_a_csv() -> None:
    assert kind_of(b"BZh,age\n1,2\n") == "source.csv"
    with pytest.raises(Refused):
        kind_of(b"BZh9" + bytes(20))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("yaş;şehir\n31;İzmir\n".encode("cp1254"), "encoding"),
        (b"age,sex\n1,f\n2,m,extra\n", "line"),
        (b'age,sex\n1,"f\n2,m\n', "quote"),
        (b"age,sex\n", "no rows"),
    ],
    ids=["wrong encoding", "ragged", "open quote", "no rows"],
)
def test_a_broken_csv_is_explained(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "source.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=word):
        perform(order(path), lambda _: None)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b",".join(b"c%d" % n for n in range(21)) + b"\n" + b",".join([b"1"] * 21), "too_many_columns"),
        (b"age\n" + b"1\n" * 5001, "too_many_rows"),
    ],
    ids=["columns", "rows"],
)
def test_a_table_that_is_too_wide_or_too_long_is_refused_in_words(
    tmp_path: Path, content: bytes, code: str
) -> None:
    path = tmp_path / "source.csv"
    path.write_bytes(content)
    with pytest.raises(Refused, match="at most are taken") as refused:
        perform(order(path), lambda _: None)
    assert refused.value.code == code


def order(path: Path, **source: str) -> JobOrder:
    return JobOrder(
        verb="inspect",
        folder=str(path.parent),
        source=TablePlace(table=str(path), **source),
        request=JobRequest(),
        limits=JobLimits(rows=5000, columns=20, memory=10**9, seconds=60),
    )


def test_an_order_reaches_its_process_as_it_was_given(tmp_path: Path) -> None:
    given = order(tmp_path / "t.csv", sql="SELECT 1")
    assert JobOrder.from_line(given.as_line()) == given


def test_the_page_says_what_is_wrong_with_a_file_and_reads_it_once_it_knows_how(server: Server) -> None:
    status, error, project = send(server, "yaş;şehir\n31;İzmir\n32;Muş\n".encode("cp1254"))
    assert (status, error["code"]) == (202, "invalid_input")
    assert server.client.get(f"/api/v1/projects/{project}").json()["problem"] == error
    page = server.client.get(f"/projects/{project}/columns")
    assert page.status_code == 200
    assert "Read again" in page.text
    answer = server.client.put(f"/api/v1/projects/{project}/reading", json={"encoding": "cp1254"})
    assert server.wait(answer.json()["job"]["id"])["state"] == "done"
    columns = server.client.get(f"/api/v1/projects/{project}").json()["profile"]["columns"]
    assert [column["name"] for column in columns] == ["yaş", "şehir"]


def test_the_page_shows_no_cell_of_a_file_without_a_header_and_takes_names(server: Server) -> None:
    content = PEOPLE.partition(b"\n")[2]
    status, error, project = send(server, content)
    assert (status, error["code"]) == (202, "invalid_input")
    page = server.client.get(f"/projects/{project}/columns").text
    assert "looks like data" in page
    assert "flu" not in page
    assert 'name="names"' in page
    form = {"header": "false", "names": 'age,"sex, at birth",illness', "skip_rows": "", "thousands": " "}
    answer = server.client.post(f"/projects/{project}/reading", data=form, follow_redirects=False)
    assert answer.status_code in {200, 303}, answer.text
    said = server.client.get(f"/api/v1/projects/{project}").json()["reading"]
    assert (said["header"], said["names"], said["thousands"]) == (
        False,
        ["age", "sex, at birth", "illness"],
        " ",
    )
    again = {"header": False, "names": ["age", "sex", "illness"], "skip_last": 1}
    answer = server.client.put(f"/api/v1/projects/{project}/reading", json=again)
    assert server.wait(answer.json()["job"]["id"])["state"] == "done"
    profile = server.client.get(f"/api/v1/projects/{project}").json()["profile"]
    assert [column["name"] for column in profile["columns"]] == ["age", "sex", "illness"]
    assert profile["rows"] == 299


def test_a_file_of_three_gigabytes_is_refused_before_it_arrives(server: Server) -> None:
    project = server.client.post("/api/v1/projects", json={}).json()["id"]
    host, port = server.home.removeprefix("http://").split(":")
    head = (
        f"PUT /api/v1/projects/{project}/source HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: {server.client.headers['authorization']}\r\n"
        "Content-Length: 3000000000\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode())
        answer = connection.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 413")


def test_a_file_that_does_not_say_its_size_is_stopped_at_the_limit(server: Server) -> None:
    project = server.client.post("/api/v1/projects", json={}).json()["id"]

    def endless() -> object:
        yield b"age,sex\n"
        for _ in range(30):
            yield b"31,f\n" * 10_000

    try:
        answer = server.client.put(f"/api/v1/projects/{project}/source", content=endless())  # type: ignore[arg-type]
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "file_too_large"
    finally:
        kept = sorted(path.name for path in (server.state / "projects" / project).iterdir())
    assert kept == ["project.json"]


def test_two_uploads_at_once_become_two_projects(server: Server) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: send(server, PEOPLE), range(2)))
    assert [(status, error) for status, error, _ in found] == [(202, {})] * 2
    assert found[0][2] != found[1][2]


@pytest.mark.parametrize("name", ["../../../etc/cron.d/x", "..\\..\\x.csv", "/etc/passwd", "a\0b", "x" * 150])
def test_a_file_name_is_shown_and_never_used_as_a_path(server: Server, name: str) -> None:
    with server.browser() as browser:
        browser.headers["authorization"] = server.client.headers["authorization"]
        answer = browser.post("/projects", files={"file": (name, PEOPLE)})
    assert answer.status_code == 303
    project = answer.headers["location"].split("/")[2]
    folder = server.state / "projects" / project
    (kept,) = folder.glob("source-*.csv")
    assert kept.read_bytes() == PEOPLE
    names = {path.name.split("-")[0] for path in folder.iterdir() if not path.name.startswith(".")}
    assert names <= {"project.json", "source", "job"}


def test_a_form_without_a_file_says_so(server: Server) -> None:
    server_headers = {"origin": server.home, "accept": "text/html"}
    answer = server.client.post("/projects", files={"file": ("", b"")}, headers=server_headers)
    assert answer.status_code == 422
    assert "No file was chosen" in answer.text
    broken = server.client.post(
        "/projects",
        content=b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nage\n1",
        headers={**server_headers, "content-type": "multipart/form-data; boundary=x"},
    )
    assert broken.status_code == 422
    assert "incomplete" in broken.text


def test_files_below_a_declared_folder_are_opened_by_path(server: Server) -> None:
    (folder,) = server.client.get("/api/v1/about").json()["folders"]
    assert folder["files"] == ["people.csv"]  # the link that leads out is not listed
    project = server.client.post("/api/v1/projects", json={}).json()["id"]
    body = {"folder": 0, "path": "people.csv"}
    answer = server.client.post(f"/api/v1/projects/{project}/source/path", json=body)
    assert server.wait(answer.json()["job"]["id"])["state"] == "done"


@pytest.mark.parametrize(
    "path",
    [
        "../elsewhere/secret.csv",
        "link.csv",
        "/etc/passwd",
        "..",
        ".",
        "people.csv/..",
        "a\0b",
        "nothing.csv",
        "%2e%2e/x",
    ],
)
def test_no_path_leads_out_of_a_declared_folder(server: Server, folder_of_tables: str, path: str) -> None:
    assert os.path.exists(Path(folder_of_tables) / "link.csv")  # noqa: PTH110 - it would be found
    project = server.client.post("/api/v1/projects", json={}).json()["id"]
    answer = server.client.post(f"/api/v1/projects/{project}/source/path", json={"folder": 0, "path": path})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "path", ["/static/../_app.py", "/static/%2e%2e/_app.py", "/projects/../../x", "/static/..%2f_app.py"]
)
def test_no_address_leads_out_of_the_house(server: Server, path: str) -> None:
    host, port = server.home.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
            f"Authorization: {server.client.headers['authorization']}\r\n\r\n".encode()
        )
        answer = connection.makefile("rb").read().decode()
    assert answer.startswith(("HTTP/1.1 404", "HTTP/1.1 422", "HTTP/1.1 400"))
    assert "import annotations" not in answer


def test_a_question_to_a_duckdb_file_sees_that_file_alone(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path, other = tmp_path / "people.duckdb", tmp_path / "other.csv"
    other.write_text("age\n1\n")
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE people AS SELECT range % 50 AS age, range % 2 AS sex FROM range(200)")
    found = perform(order(path, sql="SELECT age FROM people WHERE sex = 1"), lambda _: None)
    assert found["rows"] == 100
    for query in (f"FROM read_csv('{other}')", "SELECT * FROM read_text('/etc/hostname')"):
        with pytest.raises(InvalidInput, match="refused the query"):
            perform(order(path, sql=query), lambda _: None)


def test_a_view_in_a_duckdb_file_cannot_read_other_files(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path, other = tmp_path / "people.duckdb", tmp_path / "other.csv"
    other.write_text("age\n1\n2\n")
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE people AS SELECT range % 50 AS age, INTERVAL 1 DAY AS stay FROM range(9)"
        )
        database.execute(f"CREATE VIEW sly AS FROM read_csv('{other}')")
    assert perform(order(path, sql_table="people"), lambda _: None)["rows"] == 9
    with pytest.raises(InvalidInput, match="refused the query"):
        perform(order(path, sql_table="sly"), lambda _: None)


def test_hidden_files_and_the_own_state_cannot_be_opened(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    for name in ("good.csv", ".secret.csv", "state/api-key"):
        (tmp_path / name).write_text("age\n1\n")
    settings = ServeSettings(state=state, folders=(tmp_path,))
    assert pick_file(settings, 0, "good.csv")[0] == tmp_path / "good.csv"
    for name in (".secret.csv", "state/api-key"):
        with pytest.raises(Refused):
            pick_file(settings, 0, name)


def test_the_head_of_a_part_is_not_kept_in_memory_without_end(server: Server) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + b"a" * 50_000
    answer = server.client.post(
        "/projects",
        content=head + b'.csv"\r\n\r\nage\n1\n\r\n--x--\r\n',
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    assert answer.status_code in {413, 422}  # ours, or the parser's own limit


def test_who_is_still_sending_when_a_file_is_refused_gets_the_answer(server: Server) -> None:
    project = server.client.post("/api/v1/projects", json={}).json()["id"]
    for content, status in ((zipped() + bytes(900_000), 415), (b"age\n" + b"1\n" * 10**6, 413)):
        for _ in range(3):
            answer = server.client.put(f"/api/v1/projects/{project}/source", content=content)
            assert answer.status_code == status
