"""Awkward tables and settings from a seed: every method, every model, files and databases."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

from mahrem.partition import METHODS

WORDS = [
    "flu",
    "gout",
    "a, b",
    "{x}",
    '"quoted"',
    "*",
    "[1, 2]",
    " blank ",
    "ünal",
    "=1+1",
    "-x",
    "061**",
    "none",
]
TREE_WORDS = ["cold", "flu", "gout", "arthritis", "hiv", "a, b", "*x", "{y}"]
ILLNESSES = ["flu", "gout", "hiv", "cancer", "ms"]
SPELT = ["flu", "Flu", "FLU ", "gout", "go\u200but", "hiv", "ménière", "me\u0301nie\u0300re", "n/a", "?"]
STAGES = ["low", "middle", "high", "worst"]
ZIPS = ["06100", "06101", "06200", "34000", "34710", "0", "99999"]
FULL_DOMAIN = tuple(name for name, method in METHODS.items() if method.full_domain)
RISKS = (
    "average_risk",
    "marketer_risk",
    "journalist_risk",
    "no_attack",
    "sample_uniqueness",
    "k_map",
    "population_uniqueness",
)
STATISTICS = ("sav", "dta", "xpt")
SOURCES = (
    *("polars",) * 40,
    *("pandas", "arrow", "categories", "csv", "parquet", "duckdb") * 2,
    *("postgres", *STATISTICS),
)
FORMATS = ("csv", "tsv", "parquet", "arrow", "xlsx", *STATISTICS)
KEY = b"of nobody's, thirty-two bytes ..."


@dataclass(frozen=True)
class Case:
    """A table, how it is given and written, and what is asked of it."""

    seed: int
    rows: list[dict[str, Any]] = field(repr=False)
    types: dict[str, pl.DataType | type[pl.DataType]]
    settings: dict[str, Any]
    trees: dict[str, list[list[str]]] = field(default_factory=dict)
    population: list[dict[str, Any]] | None = None
    source: str = "polars"
    format: str | None = None  # a folder is written, with a data file of this kind
    database: str | None = None  # the published table goes into a database as well

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, schema=self.types, strict=False)

    @property
    def everyone(self) -> pl.DataFrame:
        quasi = {name: self.types[name] for name in self.settings["quasi"]}
        return pl.DataFrame(self.population, schema=quasi, strict=False)

    def with_rows(self, kept: list[int]) -> Case:
        """The same case on some of its rows; the others leave the population too."""
        rows = [self.rows[place] for place in kept]
        if self.population is None:
            return replace(self, rows=rows)
        quasi = self.settings["quasi"]
        others = self.population[len(self.rows) :]
        return replace(
            self, rows=rows, population=[*({name: row[name] for name in quasi} for row in rows), *others]
        )

    @property
    def model(self) -> str:
        """What is promised beyond k, in a word."""
        said = self.settings
        if "delta_presence" in said:
            return "presence" if said.get("known_absence") != "allowed" else "presence-shown"
        if self.population is not None:
            return "k_map-population"
        risk = next((name for name in RISKS if name in said), None)
        if risk is not None:
            return risk
        for figure in ("l", "t", "beta"):
            if figure in said:
                return f"{figure}-{said.get(f'{figure}_kind', 'usual')}"
        return next((name for name in ("alpha", "delta_disclosure") if name in said), "k")


UNLOOKED = 0.75  # of the tables pass the gate unseen, which looks for other things than promises


def random_case(seed: int) -> Case:
    """Make the case of a seed."""
    rng = random.Random(seed)
    count = rng.choice([1, 2, 3, 5, 8, 13, 20, 30, 45])
    method = rng.choice([*METHODS, "auto"])
    present = rng.random() < 0.12 and (method in FULL_DOMAIN or rng.random() < 0.5)
    if present and method not in FULL_DOMAIN:
        method = "mondrian"
    quasi: list[_Column] = [_quasi(rng, f"q{place}") for place in range(rng.choice([1, 1, 2, 2, 3, 4]))]
    sensitive = [_sensitive(rng, f"s{place}") for place in range(rng.choice([0, 1, 1, 1, 2]))]
    columns = [*quasi, *sensitive, _Column("note", pl.String, lambda: rng.choice(WORDS), gaps=0.1)]
    people = max(1, count // rng.choice([1, 1, 2, 3]))
    columns.append(_Column("person", pl.String, lambda: f"P{rng.randrange(people)}"))
    rows = [{column.name: column.draw(rng) for column in columns} | {"tag": place} for place in range(count)]
    types = {column.name: column.type for column in columns} | {"tag": pl.Int64}
    settings = _settings(rng, method, quasi, sensitive, present=present)
    settings |= {} if present else _risk(random.Random(f"risk of {seed}"))
    if random.Random(f"gate of {seed}").random() < UNLOOKED:
        settings["accept"] = {"*": "somebody looked at every column"}
    if "subject" in settings or "pseudonym" in settings:
        _tie(rng, rows, settings)
    trees = {column.name: column.tree for column in [*quasi, *sensitive] if column.tree}
    settings |= {"order": orders} if (orders := {c.name: c.order for c in columns if c.order}) else {}
    kinds = {column.name: column.kind for column in columns if column.kind}
    settings |= {"kind": kinds} if kinds else {}
    population = None
    if present:
        names = settings["quasi"]
        others = [
            {column.name: column.draw(rng) for column in quasi} for _ in range(rng.randrange(2 * count + 1))
        ]
        population = [*({name: row[name] for name in names} for row in rows), *others]
    return Case(
        seed,
        rows,
        types,
        settings,
        trees,
        population,
        source=rng.choice(SOURCES) if population is None else "polars",
        format=rng.choice(FORMATS) if rng.random() < 0.08 else None,
        database=rng.choice(["duckdb", "postgres"]) if rng.random() < 0.02 else None,
    )


def _tie(rng: random.Random, rows: list[dict[str, Any]], settings: dict[str, Any]) -> None:
    """Let people be alike now and then: as many rows for each, one value for all rows of a person."""
    if "pseudonym" in settings and rng.random() < 0.8:
        visits = rng.choice([1, 2, 3])
        for place, row in enumerate(rows):
            row["person"] = f"P{min(place, len(rows) // visits * visits - 1) // visits}"
    for name in settings.get("sensitive", ()):
        if rng.random() < 0.5:
            own: dict[str, Any] = {}
            for row in rows:
                row[name] = own.setdefault(row["person"], row[name])


@dataclass
class _Column:
    name: str
    type: Any
    value: Any  # draws one
    gaps: float = 0.0
    tree: list[list[str]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    kind: str = ""

    def draw(self, rng: random.Random) -> Any:
        return None if rng.random() < self.gaps else self.value()


def _quasi(rng: random.Random, name: str) -> _Column:
    gaps = rng.choice([0.0, 0.0, 0.1, 0.4])
    kind = rng.choice(
        ["whole", "float", "day", "moment", "word", "code", "ordinal", "tree", "numbers", "same"]
    )
    few = rng.choice([2, 4, 12, 60])
    if kind == "whole":
        low = rng.choice([0, -20, 10**9, 18])
        return _Column(name, pl.Int64, lambda: low + rng.randrange(few), gaps)
    if kind == "float":
        scale = rng.choice([0.1, 0.25, 1e6, 1e-4])
        return _Column(name, pl.Float64, lambda: round(rng.randrange(-few, few) * scale, 6), gaps)
    if kind == "day":
        first = date(rng.choice([1890, 1969, 2020]), 12, 28)
        return _Column(name, pl.Date, lambda: first + timedelta(days=rng.randrange(few * 7)), gaps)
    if kind == "moment":
        start = datetime(2024, 2, 28, 23, 0, 1)  # noqa: DTZ001 - without a zone
        minutes = rng.choice([1, 60, 1440])
        return _Column(
            name, pl.Datetime("us"), lambda: start + timedelta(minutes=minutes * rng.randrange(few)), gaps
        )
    if kind == "word":
        words = rng.sample(WORDS, min(len(WORDS), few))
        return _Column(name, pl.String, lambda: rng.choice(words), gaps, kind="categorical")
    if kind == "code":
        return _Column(name, pl.String, lambda: rng.choice(ZIPS), gaps, kind="code")
    if kind == "ordinal":
        return _Column(name, pl.String, lambda: rng.choice(STAGES), gaps, order=STAGES)
    if kind == "tree":
        tree = _tree(rng, TREE_WORDS)
        return _Column(name, pl.String, lambda: rng.choice(tree)[0], gaps, tree=tree)
    if kind == "numbers":
        tree = [
            [str(age), f"{age // 5 * 5} to {age // 5 * 5 + 4}", "all" if age < 15 else "old"]
            for age in range(30)
        ]
        return _Column(name, pl.Int64, lambda: rng.randrange(30), gaps, tree=tree)
    return _Column(name, pl.Int64, lambda: 7, gaps)


def _tree(rng: random.Random, words: list[str]) -> list[list[str]]:
    """A tree of one to three levels below the root."""
    leaves = rng.sample(words, rng.randrange(2, len(words) + 1))
    rows, groups = [[leaf] for leaf in leaves], len(leaves)
    for level in range(rng.randrange(3)):
        groups = max(1, groups // 2)
        parents: dict[str, str] = {}
        for row in rows:
            row.append(parents.setdefault(row[-1], f"{'abc'[level]} group {rng.randrange(groups)}"))
    return rows


def _sensitive(rng: random.Random, name: str) -> _Column:
    gaps = rng.choice([0.0, 0.0, 0.0, 0.15])
    kind = rng.choice(["word", "word", "number", "ordinal", "tree"])
    if kind == "number":
        return _Column(name, pl.Int64, lambda: rng.randrange(6), gaps)
    if kind == "ordinal":
        return _Column(name, pl.String, lambda: rng.choice(STAGES), gaps, order=STAGES)
    if kind == "tree":
        tree = _tree(rng, ILLNESSES)
        return _Column(name, pl.String, lambda: rng.choice(tree)[0], gaps, tree=tree)
    words = SPELT if rng.random() < 0.2 else ILLNESSES
    return _Column(name, pl.String, lambda: rng.choice(words), gaps)


def _settings(
    rng: random.Random, method: str, quasi: list[_Column], sensitive: list[_Column], *, present: bool
) -> dict[str, Any]:
    names = [column.name for column in quasi]
    said: dict[str, Any] = {"quasi": names, "insensitive": ["note", "tag"], "method": method, "html": False}
    said["k"] = rng.choice([1, 2, 2, 3, 3, 5])
    said |= {"identifier": "person"} if present and rng.random() < 0.8 else _person(rng)
    said["accept"] = {"tag": "it tells the oracle which row it was"}
    said["missing"] = rng.choice(["category", "category", "suppress", "drop", "drop-any"])
    if sensitive:
        said["sensitive"] = [column.name for column in sensitive]
        said |= _model(rng, sensitive)
    if rng.random() < 0.5:
        said["suppression_limit"] = rng.choice([0.0, 0.05, 0.2, 0.5, 1.0])
    if method in FULL_DOMAIN:
        said["options"] = {"loss": rng.choice(["ncp", "dm", "precision", "classes"])}
        if sensitive and said.get("suppression_limit") and rng.random() < 0.5:
            said["suppressed"] = "keep-sensitive"
    elif method == "kanonymeans*":
        said["options"] = {"evaluations": 2}
    return said | (_presence(rng) if present else _cells(rng, method, quasi))


def _person(rng: random.Random) -> dict[str, Any]:
    """What becomes of the column that names people."""
    drawn = rng.random()
    if drawn < 0.72:
        return {"identifier": "person"}
    if drawn < 0.92:
        return {"subject": "person"}
    tied = {"pseudonym": {"person": KEY}, "trajectory_k": rng.choice([2, 2, 2, 3])}
    return tied | ({"subject": "person"} if drawn < 0.97 else {})


def _presence(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.3:
        bounds, missing = rng.choice(["grid", "exact"]), rng.choice(["category", "drop"])
        return {"k_map": rng.choice([2, 3, 5, 9]), "bounds": bounds, "missing": missing}
    low, high = sorted(rng.choice([0.0, 0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]) for _ in range(2))
    said = {"delta_presence": (low, high), "bounds": "exact", "missing": rng.choice(["category", "drop"])}
    return said | ({"known_absence": rng.choice(["allowed", "refused"])} if rng.random() < 0.3 else {})


def _cells(rng: random.Random, method: str, quasi: list[_Column]) -> dict[str, Any]:
    said: dict[str, Any] = {"bounds": rng.choice(["grid", "grid", "exact"]), "seed": rng.randrange(100)}
    if method not in FULL_DOMAIN:
        said["strategy"] = rng.choice(["strict", "strict", "relaxed"])
        said["cells"] = rng.choice(["text"] * 6 + ["pairs", "midpoint"])
        if rng.random() < 0.1:
            said["jitter"] = 0.2
        numbers = [column for column in quasi if column.type in {pl.Int64, pl.Float64} and not column.tree]
        for column in numbers:
            if rng.random() < 0.2:
                said.setdefault(rng.choice(["top", "bottom"]), {})[column.name] = float(column.value())
            if rng.random() < 0.1:
                said.setdefault("grid", {})[column.name] = rng.choice([0.5, 2, 10])
    if rng.random() < 0.1:
        said["suppress"] = [rng.choice(quasi).name]
    if rng.random() < 0.1:
        said["weights"] = {rng.choice(quasi).name: 3.0}
    return said


def _risk(rng: random.Random) -> dict[str, Any]:
    """Now and then a promise about the sizes of classes, or of all of them together, as well."""
    if rng.random() > 0.1:
        return {}
    return rng.choice(
        [
            {"average_risk": rng.choice([0.1, 0.3, 0.5])},
            {"marketer_risk": rng.choice([0.1, 0.3, 0.5]), "fraction": rng.choice([0.05, 0.4, 1.0])},
            {"journalist_risk": rng.choice([0.1, 0.2, 0.3, 0.5]), "fraction": rng.choice([0.05, 0.4, 1.0])},
            {"no_attack": [rng.choice([4.0, 9.0, 16.0]), 3.0]},
            {"no_attack": [rng.choice([4.0, 9.0, 16.0]), 3.0], "fraction": 0.4},
            {"sample_uniqueness": rng.choice([0.0, 0.05, 0.2])},
            {"k_map": rng.choice([2, 5, 9]), "fraction": rng.choice([0.05, 0.2, 0.7])},
            {"population_uniqueness": rng.choice([0.01, 0.05, 0.3]), "fraction": rng.choice([0.05, 0.3])},
        ]
    )


def _model(rng: random.Random, sensitive: list[_Column]) -> dict[str, Any]:
    """A promise about all sensitive columns, of a kind that suits them or does not."""
    treed = all(column.tree for column in sensitive)
    return rng.choice(
        [
            {},
            {"l": rng.choice([1, 2, 3])},
            {"l": rng.choice([1.5, 2, 2.4]), "l_kind": "entropy"},
            {"l": rng.choice([1.5, 2, 2.4]), "l_kind": "grassberger"},
            {"l": rng.choice([2, 3]), "l_kind": "recursive", "c": rng.choice([1.5, 3.0, 8.0])},
            {"t": rng.choice([0.1, 0.3, 0.5])},
            {"t": rng.choice([0.1, 0.3, 0.5]), "t_kind": "ordered"},
            {"t": rng.choice([0.1, 0.3, 0.5]), "t_kind": "hierarchical" if treed else "kl"},
            {"t": rng.choice([0.1, 0.5, 1.0]), "t_kind": "kl"},
            {"alpha": rng.choice([0.4, 0.6, 0.9])},
            {"beta": rng.choice([0.5, 1.0, 3.0])},
            {"beta": rng.choice([1.0, 3.0]), "beta_kind": "enhanced"},
            {"delta_disclosure": rng.choice([0.8, 1.5, 3.0])},
        ]
    )
