"""Projects of ARX and scripts of sdcMicro: what is read, what is listed, what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.release import import_policy

METADATA = "<metadata><version>3.9.1</version><vocabulary>{}</vocabulary></metadata>"
PROJECT = "<project><name>p</name><separator>;</separator></project>"
CONFIG = """<config><relativeMaxOutliers>0.04</relativeMaxOutliers><metric>Loss</metric>
<attributeWeights><attributeWeight><attribute>age</attribute><weight>1.0</weight></attributeWeight>
<attributeWeight><attribute>sex</attribute><weight>0.5</weight></attributeWeight></attributeWeights>
<criteria><criterion>5-anonymity</criterion>
<criterion>distinct-2-diversity for attribute 'disease'</criterion>
<criterion>0.4-closeness with equal ground-distance for attribute 'disease'</criterion>
<criterion>(0.1,0.9)-presence</criterion></criteria></config>"""
COLUMN = "<assigment><name>{}</name><type>{}</type><datatype>String</datatype>{}</assigment>"
DEFINITION = (
    "<definition>"
    + COLUMN.format("name", "IDENTIFYING_ATTRIBUTE", "")
    + COLUMN.format(
        "age", "QUASI_IDENTIFYING_ATTRIBUTE", "<ref>hierarchies/age.csv</ref><min>1</min><max>All</max>"
    )
    + COLUMN.format(
        "sex", "QUASI_IDENTIFYING_ATTRIBUTE", "<ref>hierarchies/sex.csv</ref><min>All</min><max>All</max>"
    )
    + COLUMN.format("disease", "SENSITIVE_ATTRIBUTE", "")
    + COLUMN.format("ward", "INSENSITIVE_ATTRIBUTE", "")
    + COLUMN.format("odd", "NEW_KIND_OF_ATTRIBUTE", "")
    + "</definition>"
)
AGE = "20;20-29;*\n25;20-29;*\n30;30-39;*\n35;30-39;*\n"
SEX = "f;*\nm;*\n"


def project(folder: Path, **parts: str) -> Path:
    path = folder / "project.deid"
    usual = {
        "metadata.xml": METADATA.format("2.0"),
        "project.xml": PROJECT,
        "input/config.xml": CONFIG,
        "input/definition.xml": DEFINITION,
        "input/hierarchies/age.csv": AGE,
        "input/hierarchies/sex.csv": SEX,
        "data/input.csv": "never read",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**usual, **parts}.items():
            if text:
                archive.writestr(name, text)
    return path


def test_a_project_of_arx_becomes_a_policy_that_makes_a_release(tmp_path: Path) -> None:
    found = import_policy(project(tmp_path))
    assert found.settings["quasi"] == ["age", "sex"]
    assert found.settings["identifier"] == ["name", "odd"]
    assert found.settings["insensitive"] == ["ward"]
    assert found.settings["k"] == 5
    assert found.settings["sensitive"]["disease"] == {
        "l": 2,
        "l_kind": "distinct",
        "t": 0.4,
        "t_kind": "equal",
    }
    assert found.settings["suppression_limit"] == 0.04
    assert found.settings["weights"] == {"age": 1.0, "sex": 0.5}
    assert found.settings["method"] == "flash"
    assert set(found.hierarchies) == {"age", "sex"}
    listed = " ".join(found.unread)
    assert all(word in listed for word in ("presence", "'odd'", "minimum level", "quality measure"))
    found.write(tmp_path / "policy")
    table = pl.DataFrame(
        {
            "name": [f"x{i}" for i in range(40)],
            "age": [20, 25, 30, 35] * 10,
            "sex": ["f", "m"] * 20,
            "disease": ["flu", "cold", "flu", "cold", "cold"] * 8,
            "ward": ["a"] * 40,
            "odd": ["b"] * 40,
        }
    )
    release = mh.anonymize(table, policy=tmp_path / "policy" / "policy.toml")
    assert release.holds
    with pytest.raises(InvalidParameter):
        found.write(tmp_path / "policy")


@pytest.mark.parametrize(
    "parts",
    [
        {"metadata.xml": METADATA.format("3.0")},
        {"metadata.xml": METADATA.format("")},
        {"metadata.xml": ""},
        {"input/definition.xml": ""},
        {"input/config.xml": "<config>"},
        {"input/config.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><config>&b;</config>"},
    ],
)
def test_projects_of_another_version_or_layout_are_refused(tmp_path: Path, parts: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="project="):
        import_policy(project(tmp_path, **parts))


def test_files_that_are_no_projects_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.deid").write_text("no zip")
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.R").write_text("x <- 1")
    for name in ("a.deid", "a.txt", "a.R", "missing.deid"):
        with pytest.raises(InvalidInput):
            import_policy(tmp_path / name)


SCRIPT = """
library(sdcMicro)  # createSdcObj(keyVars=c("not", "this"))
sdc <- createSdcObj(dat=testdata, keyVars=c('urbrur','roof',"sex"), numVars=c('income'),
                    weightVar='sampling_weight',
                    hhId='ori_hid', sensibleVar = "health")
sdc <- kAnon(sdc, k=3, importance=c(1,2,3))
sdc <- pram(sdc, variables=c("walls"), pd=0.7)
sdc <- addNoise(sdc, noise=20, variables="income")
sdc <- rankSwap(sdc, variables=c("income","expend"), P=10)
sdc <- globalRecode(sdc, column="age", breaks=c(0,10,20))
suda2(sdc, DisFraction=0.02)
"""


def test_a_script_of_sdcmicro_is_read_as_far_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "mask.R").write_text(SCRIPT)
    found = import_policy(tmp_path / "mask.R")
    assert found.settings["quasi"] == ["urbrur", "roof", "sex"]
    assert found.settings["k"] == 3
    assert found.settings["method"] == "local-suppression"
    assert found.settings["sensitive"] == ["health"]
    told = "\n".join(found.commands)
    assert "weight=sampling_weight, household=ori_hid" in told
    assert "walls=pram:keep=0.7" in told
    assert "income=noise:share=0.2,kind=additive" in told
    assert "income,expend=rank-swap:percent=10" in told
    assert "fraction=0.02" in told
    assert any("globalRecode" in line for line in found.unread)
    assert any("importance" in line for line in found.unread)
    assert "not understood: globalRecode" in found.policy()
