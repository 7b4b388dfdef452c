from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as judge

from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra
from mahrem.learning.classifiers import (
    CLASSIFIERS,
    FIGURES,
    EvaluationSettings,
    PublishedRows,
    answer_figures,
    evaluate,
    train_classifier,
)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 160)
    job = rng.choice(["clerk", "nurse", "{smith}"], 160)
    rich = (age + 25 * (job == "nurse") + rng.normal(0, 8, 160)) > 55
    return pl.DataFrame({"age": age, "job": job, "rich": np.where(rich, "yes", "no")})


def coarse(people: pl.DataFrame, asked: list[np.ndarray] | None = None) -> Any:
    def anonymise(rows: np.ndarray) -> PublishedRows:
        if asked is not None:
            asked.append(rows)
        low = (pl.col("age") // 10 * 10).cast(pl.String)
        shown = people[rows].with_columns(
            age="[" + low + ", " + (pl.col("age") // 10 * 10 + 9).cast(pl.String) + "]"
        )
        return PublishedRows(shown, rows)

    return anonymise


@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_every_classifier_learns_from_anonymised_rows(people: pl.DataFrame, name: str) -> None:
    score = evaluate(
        people,
        target="rich",
        quasi=["age"],
        anonymise=coarse(people),
        settings=EvaluationSettings(classifiers=[name], splits=2, tune=False),
    )[name]
    assert score.mean("auc") > 0.75
    assert set(score.as_dict()) >= {*FIGURES, "accuracy_std", "accuracy_interval"}


def test_a_limit_is_what_a_classifier_sees_at_most(people: pl.DataFrame) -> None:
    def settings(limit: int) -> float:
        names = ["knn", "gaussian_nb"]
        scores = evaluate(
            people,
            target="rich",
            settings=EvaluationSettings(classifiers=names, splits=1, tune=False, limits={"knn": limit}),
        )
        others.add(scores["gaussian_nb"].mean("auc"))
        return scores["knn"].mean("auc")

    others: set[float] = set()
    few, many, all_rows = settings(20), settings(10_000), settings(112)
    assert few != many == all_rows
    assert len(others) == 1


def test_several_jobs_give_the_same_figures(people: pl.DataFrame) -> None:
    said: list[str] = []

    def found(jobs: int) -> list[float]:
        scores = evaluate(
            people,
            target="rich",
            quasi=["age"],
            anonymise=coarse(people),
            progress=said.append,
            settings=EvaluationSettings(classifiers=["extra_trees"], splits=3, tune=False, jobs=jobs),
        )
        return scores["extra_trees"].figures["auc"].tolist()

    assert found(1) == found(2)
    assert said[-1] == "split 3 of 3"
    with pytest.raises(InvalidParameter, match="jobs"):
        found(0)


def test_the_same_seed_gives_the_same_figures_and_another_does_not(people: pl.DataFrame) -> None:
    def found(seed: int, threads: int = 1) -> list[float]:
        scores = evaluate(
            people,
            target="rich",
            settings=EvaluationSettings(
                classifiers=["random_forest"], splits=1, seed=seed, tune=False, threads=threads
            ),
        )
        return scores["random_forest"].figures["auc"].tolist()

    assert found(1) == found(1, threads=2)
    assert found(1) != found(2)


def test_untouched_anonymises_training_rows_only(people: pl.DataFrame) -> None:
    asked: list[np.ndarray] = []
    evaluate(
        people,
        target="rich",
        quasi=["age"],
        anonymise=coarse(people, asked),
        settings=EvaluationSettings(classifiers=["gaussian_nb"], splits=3, test=0.25),
    )
    assert [len(rows) for rows in asked] == [120, 120, 120]


def test_published_anonymises_all_rows_once(people: pl.DataFrame) -> None:
    asked: list[np.ndarray] = []
    scores = evaluate(
        people,
        target="rich",
        quasi=["age"],
        anonymise=coarse(people, asked),
        settings=EvaluationSettings(classifiers=["gaussian_nb"], splits=3, protocol="published"),
    )
    assert [len(rows) for rows in asked] == [160]
    assert scores.protocol == "published"


def test_rows_an_anonymiser_hides_are_not_learnt_from(people: pl.DataFrame) -> None:
    def hides(rows: np.ndarray) -> PublishedRows:
        return PublishedRows(people[rows[::2]], rows[::2])

    score = evaluate(
        people,
        target="rich",
        anonymise=hides,
        settings=EvaluationSettings(classifiers=["gaussian_nb"], splits=2),
    )["gaussian_nb"]
    assert score.ratio == pytest.approx(48 / 56)


def test_tuning_chooses_from_the_grid(people: pl.DataFrame) -> None:
    chosen = evaluate(people, target="rich", settings=EvaluationSettings(classifiers=["knn"], splits=2))[
        "knn"
    ].settings
    assert all(setting["n_neighbors"] in CLASSIFIERS["knn"].grid["n_neighbors"] for setting in chosen)


def test_a_row_without_target_is_left_out(people: pl.DataFrame) -> None:
    holes = people.with_columns(rich=pl.when(pl.int_range(pl.len()) < 10).then(None).otherwise("rich"))
    score = evaluate(
        holes, target="rich", settings=EvaluationSettings(classifiers=["gaussian_nb"], splits=1, test=0.2)
    )["gaussian_nb"]
    assert score.ratio == 30 / 120
    assert score.interval("accuracy") is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"classifiers": []}, "classifiers"),
        ({"classifiers": ["oracle"]}, "oracle"),
        ({"protocol": "none"}, "protocol"),
        ({"splits": 0}, "splits"),
        ({"test": 1.5}, "test"),
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        EvaluationSettings(**{"classifiers": ["gaussian_nb"], **wrong})


def test_a_target_that_would_be_rewritten_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="quasi-identifier"):
        evaluate(people, target="rich", quasi=["rich"])


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (["a"] * 160, "1 value"),
        ([str(n) for n in range(160)], "160 values"),
        (["a"] * 158 + ["b"] * 2, "rarest"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(
    people: pl.DataFrame, values: list[str], named: str
) -> None:
    with pytest.raises(InvalidParameter, match=named):
        evaluate(people.with_columns(rich=pl.Series(values)), target="rich")


def test_an_anonymiser_that_loses_count_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(InvalidInput, match="as many"):
        evaluate(people, target="rich", anonymise=lambda rows: PublishedRows(people[rows], rows[1:]))


def test_without_the_extra_it_is_said_how_to_get_it(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def gone(name: str, *rest: Any) -> Any:
        if name == "sklearn":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", gone)
    with pytest.raises(MissingExtra, match=r"mahrem\[learning\]"):
        evaluate(people, target="rich")


def test_large_tables_get_an_approximate_kernel() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3100, 2))
    ring = (np.hypot(*points.T) < 1).astype(np.int64)
    fitted = train_classifier("svm", points, 2, ring, seed=0, threads=1, tune=False)
    assert "parts" in fitted.model["model"].named_steps
    assert (fitted.predict(points) == ring).mean() > 0.95


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
def test_figures_are_what_scikit_learn_says(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), rng.integers(classes, size=20)])
    scores = rng.random((len(truth), classes)).round(1)
    scores = scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-9)
    said = rng.integers(classes, size=len(truth))
    found = answer_figures(truth, said, scores)
    assert found["accuracy"] == pytest.approx(judge.accuracy_score(truth, said))
    for name, known in (("precision", judge.precision_score), ("recall", judge.recall_score)):
        assert found[name] == pytest.approx(known(truth, said, average="macro", zero_division=0))
    assert found["macro_f1"] == pytest.approx(judge.f1_score(truth, said, average="macro", zero_division=0))
    areas = [judge.roc_auc_score(truth == c, scores[:, c]) for c in ([1] if classes == 2 else range(classes))]
    assert found["auc"] == pytest.approx(np.mean(areas))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_table_of_words_alone_can_be_learnt_from(name: str) -> None:
    words = np.repeat(np.eye(3), 20, axis=0)
    target = np.repeat([0, 1, 1], 20)
    fitted = train_classifier(name, words, 0, target, seed=0, threads=1, tune=False)
    assert (fitted.predict(words) == target).mean() > 0.6
