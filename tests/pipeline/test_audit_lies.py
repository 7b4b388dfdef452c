"""Ways to talk an audit into "holds"; none may end in exit code 0."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

import mahrem as mh
from mahrem.errors import MahremError, Tampered


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lies") / "release"
    patients = mh.demo_patients(400).with_columns(ward=pl.lit("A"))
    mh.anonymize(
        patients,
        quasi=["age", "sex", "zip"],
        sensitive="diagnosis:l=2",
        insensitive=["ward"],
        rest="drop",
        k=5,
        output=folder,
    )
    return folder


@pytest.fixture
def release(made: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    for file in made.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def reseal(folder: Path) -> None:
    """Write the hashes anew, as anybody can."""
    beside = ("SHA256SUMS", "signature.json")
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in beside)
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


def exit_code(source: object, **settings: Any) -> int:
    try:
        return 0 if mh.audit(source, **settings).holds else 1
    except MahremError as error:
        return error.exit_code


def in_report(edit: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def lie(folder: Path) -> None:
        report = json.loads((folder / "report.json").read_text())
        edit(report)
        (folder / "report.json").write_text(json.dumps(report))

    return lie


def in_policy(**settings: Any) -> Callable[[Path], None]:
    def lie(folder: Path) -> None:
        policy = tomllib.loads((folder / "policy.toml").read_text())
        policy.update(settings)
        kept = {key: value for key, value in policy.items() if value is not None}
        (folder / "policy.toml").write_text(tomli_w.dumps(kept))

    return lie


def in_data(edit: Callable[[str], str]) -> Callable[[Path], None]:
    def lie(folder: Path) -> None:
        text = (folder / "data.csv").read_text()
        (folder / "data.csv").write_text(edit(text))

    return lie


def written(name: str, content: str | bytes) -> Callable[[Path], None]:
    def lie(folder: Path) -> None:
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)

    return lie


def gone(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def all_of(*lies: Callable[[Path], None]) -> Callable[[Path], None]:
    def lie(folder: Path) -> None:
        for one in lies:
            one(folder)

    return lie


def linked(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere.csv"
    (folder / "data.csv").rename(elsewhere)
    (folder / "data.csv").symlink_to(elsewhere)


def stars(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join([head, *(re.sub(r'"[^"]*"|[^,]+', "*", row) for row in rows)]) + "\n"


def set_in(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def edit(report: dict[str, Any]) -> None:
        inner: Any = report
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to

    return edit


lower_k = in_report(set_in("settings", "k", to=1))
TAMPERED = {
    "the report looks at a constant column": in_report(set_in("published", "quasi", to=["ward"])),
    "the report looks at one column only": in_report(set_in("published", "quasi", to=["sex"])),
    "the report names another sensitive column": in_report(set_in("published", "sensitive", to=["ward"])),
    "the report names no sensitive column": in_report(set_in("published", "sensitive", to=[])),
    "the report asks for less": in_report(set_in("promises", 0, "wanted", to=1)),
    "the report forgets l": in_report(lambda report: report["promises"].pop()),
    "the report promises nothing": in_report(set_in("promises", to=[])),
    "the report's settings ask for less": lower_k,
    "the report's settings forget l": in_report(lambda report: report["settings"].pop("sensitive")),
    "the report says suppress": in_report(set_in("settings", "missing", to="suppress")),
    "the report gives another role": in_report(set_in("columns", "age", "role", to="insensitive")),
    "the report gives sensitive another role": in_report(set_in("columns", "diagnosis", "role", to="quasi")),
    "the report counts other rows": in_report(set_in("rows", to=399)),
    "the report counts no number": in_report(set_in("rows", to="ZZ")),
    "the report does not hold": in_report(set_in("holds", to=False)),
    "the report has another format": in_report(set_in("settings", "format", to="tsv")),
    "the report has no settings": in_report(lambda report: report.pop("settings")),
    "the report has no published columns": in_report(set_in("published", to=None)),
    "the report is a list": written("report.json", "[]"),
    "the report is no JSON": written("report.json", "{"),
    "the report is not UTF-8": written("report.json", b"\xff\xfe{}"),
    "the policy asks for less": in_policy(k=1),
    "the policy forgets k": in_policy(k=None),
    "the policy forgets the sensitive column": in_policy(sensitive=None),
    "the policy forgets l": in_policy(sensitive={"diagnosis": {}}),
    "the policy looks at a constant column": in_policy(quasi=["ward"]),
    "the policy has no quasi-identifiers": in_policy(quasi=None),
    "the policy looks at fewer columns": in_policy(quasi=["age", "sex"]),
    "the policy says suppress": in_policy(missing="suppress"),
    "the policy says full-domain": in_policy(method="flash", suppression_limit=1.0),
    "the policy has an order": in_policy(order={"diagnosis": ["a", "b"]}),
    "the policy has a kind": in_policy(kind={"diagnosis": "categorical"}),
    "the policy has another format": in_policy(format="parquet"),
    "the policy has an unknown key": in_policy(kk=5),
    "the policy counts people": in_policy(subject="ward"),
    "the policy is no TOML": written("policy.toml", "k = = 5"),
    "the policy is empty": written("policy.toml", ""),
    "the policy is gone": gone("policy.toml"),
    "both ask for less, the promises do not": all_of(in_policy(k=1), lower_k),
    "both promise nothing": all_of(
        in_policy(k=None, sensitive=None),
        in_report(lambda report: [report["settings"].pop(key) for key in ("k", "sensitive")]),
        in_report(set_in("promises", to=[])),
        in_report(set_in("published", "sensitive", to=[])),
        in_report(set_in("columns", "diagnosis", "role", to="insensitive")),
    ),
    "the data lie elsewhere": linked,
    "the data are empty": in_data(lambda text: text.splitlines()[0] + "\n"),
    "a row is gone": in_data(lambda text: "\n".join(text.splitlines()[:-1]) + "\n"),
    "a row came": in_data(lambda text: text + text.splitlines()[-1] + "\n"),
    "a second table lies there": written("data.parquet", b"PAR1"),
    "raw rows lie there": written("original.csv", "name\nAda\n"),
    "the signature is none": written("signature.json", "{}"),
    "the signature is empty": written("signature.json", ""),
}
REFUSED = {
    "a column is renamed by its case": in_data(lambda text: text.replace("age", "Age", 1)),
    "a column is there twice": in_data(lambda text: text.replace("ward", "age", 1)),
    "the data show nothing": in_data(stars),
    "the data are gone": gone("data.csv"),
    "the data are binary": written("data.csv", b"\0\1\2"),
}


@pytest.mark.parametrize("lie", TAMPERED)
def test_a_folder_that_contradicts_itself_is_tampered_with(release: Path, lie: str) -> None:
    assert exit_code(release) == 0
    TAMPERED[lie](release)
    reseal(release)
    assert exit_code(release) == 4
    assert exit_code(release, k=1, quasi=["sex"]) == 4, "whatever is asked of it"


@pytest.mark.parametrize("lie", REFUSED)
def test_a_folder_whose_table_is_another_is_refused(release: Path, lie: str) -> None:
    REFUSED[lie](release)
    reseal(release)
    assert exit_code(release) not in (0, 70, 74)


@pytest.mark.parametrize("content", ["", "x", "no hashes here\n", b"\xff", "00  data.csv\n"])
def test_a_list_of_hashes_that_is_none_is_tampering(release: Path, content: str | bytes) -> None:
    written("SHA256SUMS", content)(release)
    assert exit_code(release) == 4


def test_a_folder_of_links_is_tampered_with_although_every_hash_fits(release: Path) -> None:
    (release.parent / "real").mkdir()
    for file in list(release.iterdir()):
        file.rename(release.parent / "real" / file.name)
        file.symlink_to(release.parent / "real" / file.name)
    with pytest.raises(Tampered, match="elsewhere"):
        mh.audit(release)


TRICKS = {
    "capitals": ["hiv", "HIV", "Hiv"],
    "blanks": ["hiv", "hiv ", " hiv", "\u00a0hiv", "hiv\u3000", "\u2800hiv"],
    "invisible": ["hiv", "h\u200biv", "hi\u00adv", "\u202ehiv", "hiv\u2060", "\ufeffhiv", "hiv\ufe0f"],
    "forms": ["caf\u00e9", "cafe\u0301", "CAFE\u0301", "\uff43\uff41\uff46\u00e9"],
    "ligatures": ["\ufb01brosis", "fibrosis", "FIBROSIS"],
    "sharp s": ["stra\u00dfe", "STRASSE", "stra\u1e9ee"],
    "dotless i": ["k\u0131zam\u0131k", "KIZAMIK", "kizamik", "k\u0130zam\u0130k"],
    "look-alikes": ["hiv", "h\u0456v", "\u04bb\u0456v"],
    "quotes": ["hiv", "'hiv", "'hiv'", '"hiv"', "\u201chiv\u201d", "hiv'"],
    "dots": ["hiv", "hiv.", "hiv...", "hiv;", "hiv!", "hiv?"],
    "brackets": ["hiv", "(hiv)", "[hiv]", "{hiv}"],
    "small capitals": ["hiv", "\u029c\u026a\u1d20"],
    "dashes": ["covid-19", "covid\u201319", "covid\u201119", "covid\u221219"],
    "stars": ["hiv", "*", "**", " * ", "* *", "\u2217", "\uff0a"],
    "marks alone": ["hiv", "--", "...", "{}", "()", "/", "\u2026"],
    "nothing": ["hiv", "", " ", "\t", "\u200b"],
    "words for nothing": ["hiv", "NA", "n/a", "NaN", "null", "?", "#N/A", "<NA>", "\\N"],
    "numbers": ["1", "1.0", "01", "+1", "1.00", "\uff11", "\u0661"],
    "numbers beside words": ["7", "7.0", "07", "7."],
    "minus nothing": ["0", "-0", "0.0", "-0.00"],
}


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "arrow", "frame", "pandas"])
@pytest.mark.parametrize("trick", TRICKS)
def test_no_spelling_makes_values_diverse(tmp_path: Path, trick: str, form: str) -> None:
    values = TRICKS[trick]
    frame = pl.DataFrame({"zip": ["1"] * len(values), "d": values})
    source: Any = tmp_path / f"table.{form}"
    match form:
        case "csv":
            frame.write_csv(source, quote_style="always")
        case "tsv":
            frame.write_csv(source, separator="\t", quote_style="always")
        case "parquet":
            frame.write_parquet(source)
        case "arrow":
            frame.write_ipc(source)
        case "pandas":
            source = frame.to_pandas()
        case _:
            source = frame
    for demand in ({"l": 2}, {"l": 1.5, "l_kind": "entropy"}, {"alpha": 0.9}):
        assert exit_code(source, quasi=["zip"], sensitive="d", k=2, **demand) == 1, demand
    with pytest.raises(MahremError) as refused:
        mh.anonymize(source, quasi=["zip"], sensitive="d", k=2, l=2)
    assert refused.value.exit_code == 3


FOREIGN = {
    "an apostrophe before a number": "zip,d\n-06100,hiv\n'-06100,flu\n",
    "an apostrophe before a formula": "zip,d\n=06100,hiv\n'=06100,flu\n",
    "blanks around": "zip,d\n06100,hiv\n06100 ,flu\n",
    "capitals": "zip,d\na,hiv\nA,flu\n",
    "forms": "zip,d\ncaf\u00e9,hiv\ncafe\u0301,flu\n",
    "no row": "zip,d\n",
    "nothing shown": "zip,d\n*,*\n*,*\n",
    "a name twice": "zip,zip\n1,1\n1,1\n",
    "one star among others": "zip,d\n*,hiv\n1,flu\n",
}


@pytest.mark.parametrize("trick", FOREIGN)
def test_a_file_of_others_shows_what_a_reader_sees(tmp_path: Path, trick: str) -> None:
    (tmp_path / "a.csv").write_text(FOREIGN[trick])
    assert exit_code(tmp_path / "a.csv", quasi=["zip"], sensitive="d", k=2) in (1, 2)


def test_a_column_has_one_role() -> None:
    frame = pl.DataFrame({"a": ["1", "1"], "s": ["x", "x"]})
    assert exit_code(frame, quasi=["a", "s"], sensitive="s", k=2) == 2
    with pytest.raises(MahremError, match="one role"):
        mh.audit(frame, quasi=["a", "s"], sensitive="s", k=2)


def test_cells_are_published_as_they_are_and_a_note_names_the_column(tmp_path: Path) -> None:
    spelt = ["hiv", "HIV ", "flu", "h\u200biv", "Flu", "cold"] * 4
    frame = pl.DataFrame({"age": list(range(24)), "d": spelt})
    made = mh.anonymize(
        frame, quasi=["age"], sensitive="d", k=4, l=2, output=tmp_path / "r", shuffle=False, html=False
    )
    assert pl.read_csv(tmp_path / "r" / "data.csv", truncate_ragged_lines=False)["d"].to_list() == spelt
    codes = [(note["code"], note["values"]) for note in made.report["notes"]]
    assert ("warning.spellings", {"column": "d"}) in codes
    found = mh.audit(tmp_path / "r")
    assert found.holds
    assert ("warning.spellings", {"column": "d"}) in [
        (note["code"], note["values"]) for note in found.report["notes"]
    ]
    assert not any("hiv" in text.lower() for text in found.report["warnings"])


def test_a_signature_finds_what_agreeing_files_hide(release: Path, tmp_path: Path) -> None:
    from mahrem.release.folders import make_signing_key

    make_signing_key(tmp_path / "key")
    mh.sign_release(release, tmp_path / "key")
    assert mh.audit(release, public_key=tmp_path / "key.pub").report["signature"]["trusted"]
    all_of(in_policy(k=2), in_report(set_in("settings", "k", to=2)))(release)
    in_report(set_in("promises", 0, "wanted", to=2))(release)
    reseal(release)
    assert exit_code(release) == 4
    (release / "signature.json").unlink()
    assert exit_code(release) == 0, "without a signature two files that agree are believed"
    assert exit_code(release, public_key=tmp_path / "key.pub") == 4
