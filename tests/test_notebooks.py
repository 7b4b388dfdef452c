"""What a notebook shows of results: figures and verdicts, escaped, and never a cell."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import mahrem as mh
from mahrem.notebooks import notebook_table


def test_texts_are_escaped_and_nothing_is_a_dash() -> None:
    html = notebook_table("<b>", ["a&b"], [(None,), (0.123456,), ("<script>",)])
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<td>-</td>" in html
    assert "0.1235" in html


def test_results_show_themselves_without_a_cell(tmp_path: Path) -> None:
    rows = pl.DataFrame({"age": [31, 32, 58, 59] * 3, "d": ["MARKED-flu", "MARKED-gout"] * 6})
    release = mh.anonymize(rows, quasi=["age"], sensitive="d", k=2, l=2, html=False)
    release.save(tmp_path / "release", html=False)
    audit = mh.audit(release.table, quasi=["age"], sensitive="d", k=2)
    team = mh.attack(tmp_path / "release", original=rows)
    compared = mh.compare(rows, quasi=["age"], sensitive="d", k=2, methods=["mondrian"])
    for shown in (release, audit, team, compared):
        html = shown._repr_html_()
        assert html.startswith("<div>")
        assert "MARKED" not in html
    assert "holds" in release._repr_html_()
    assert "k-anonymity" in audit._repr_html_()
