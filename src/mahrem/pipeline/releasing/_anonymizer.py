"""Anonymisation as a step of a scikit-learn pipeline: some rows make classes, others follow them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import polars as pl

from mahrem.drafts import recipe_of
from mahrem.errors import InvalidInput, InvalidParameter, in_our_words
from mahrem.learning import Transformer
from mahrem.pipeline.releasing._anonymize import anonymize
from mahrem.pipeline.releasing._apply import recipe_policy, recoded
from mahrem.pipeline.releasing._release import LocalRelease

_TARGET = "target"  # what y is called while classes are judged by it


@dataclass(eq=False)  # one estimator is another, as scikit-learn wants it
class Anonymizer(Transformer):
    """Anonymise rows before something is learnt from them.

    ``fit`` makes a release of the training rows, with everything :func:`mahrem.anonymize` checks, and
    ``fit_transform`` gives its table: what is learnt behind it has seen published cells alone. ``transform``
    recodes other rows by the *recipe* of that release, each to the narrowest class that holds all of its
    values, so that a model finds the cells it knows. **Only the training rows were promised anything**: what
    ``transform`` gives is for predictions, not for publishing; :func:`mahrem.apply` publishes later batches.

    Args:
        quasi: Columns others may know; all that have no other role by default.
        sensitive: Columns not to be learnt.
        k: At least so many rows share every combination.
        l: Sensitive values every class shows.
        t: How far they may spread otherwise than in the table.
        method: How rows are sorted into classes.
        settings: Any other setting of :func:`mahrem.anonymize`, by name.
        sensitive_target: Judge ``l``, ``t`` and relatives on ``y``; it is not published.

    Attributes after ``fit``: ``release_`` (the verified release of the training rows), ``feature_names_in_``,
    ``n_features_in_``.

    Guarantees:
        - ``fit_transform`` gives the published table, with as many rows in the same order.
        - Every value of a row lies in the cell that ``transform`` gives; rows that fit no class show ``*``.

    Example:
        >>> rows = pl.DataFrame({"age": [31, 32, 58, 59], "ward": ["a", "a", "b", "b"]})
        >>> step = Anonymizer(quasi=["age"], k=2, settings={"insensitive": ["ward"]})
        >>> step.fit_transform(rows)["age"].to_list()
        ['[31, 32]', '[31, 32]', '[58, 59]', '[58, 59]']
        >>> step.transform(pl.DataFrame({"age": [59, 7], "ward": ["b", "b"]}))["age"].to_list()
        ['[58, 59]', '*']
    """

    quasi: Hashable | Sequence[Hashable] | None = None
    sensitive: Hashable | Sequence[Hashable] = ()
    k: int = 5
    l: float | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    method: str = "mondrian"
    settings: Mapping[str, Any] | None = field(default=None, repr=False)
    sensitive_target: bool = False

    @in_our_words
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make a release of the training rows."""
        frame = self.learn_features(X)
        asked = self._asked(frame.columns)
        if self.sensitive_target:
            frame, asked = _with_target(frame, y, asked)
        release = anonymize(frame, html=False, **asked)
        if not isinstance(release, LocalRelease):
            raise InvalidParameter("engine: a step of a pipeline runs on this machine; leave engine out")
        recipe = recipe_of(release._draft)  # noqa: SLF001 - one room
        if recipe is None:
            raise InvalidParameter("cells: other rows can only be recoded by cells that are text or pairs")
        if release.table.height != frame.height:
            raise InvalidInput(
                f"rows={frame.height}: rows with missing values would be dropped, and y has one for each; "
                f"take settings={{'missing': 'category'}}"
            )
        self.release_, self._recipe = release, recipe
        self._published = [name for name in release.table.columns if name in self._names()]
        return self

    @in_our_words
    def transform(self, X: Any) -> Any:
        """Recode rows by the recipe of the release; nothing is promised to them."""
        frame = self.refuse_other_features(X)
        policy = recipe_policy(self._recipe, self._reading())
        beside = tuple(name for name in policy.sensitive if name in frame.columns)
        policy = replace(policy, k=1, sensitive={}, models={}, insensitive=(*policy.insensitive, *beside))
        table: pl.DataFrame = recoded(self._recipe, frame, policy, judged=False).table()
        if table.height != frame.height:
            raise InvalidInput(f"rows={frame.height}: a row with missing values cannot be placed")
        return self._as_asked(table.select(self._published), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Give the published table of the training rows."""
        self.fit(X, y)
        return self._as_asked(self.release_.table.select(self._published), X)

    def _asked(self, columns: Sequence[str]) -> dict[str, Any]:
        own = dict(self.settings or {})
        twice = [name for name in ("quasi", "sensitive", "k", "l", "t", "method") if name in own]
        if twice:
            raise InvalidParameter(f"{twice[0]} is a setting of its own; leave it out of settings")
        others = (self.sensitive, own.get("identifier", ()), own.get("insensitive", ()))
        elsewhere = {name for names in others for name in _listed(names)}
        quasi = [name for name in columns if name not in elsewhere] if self.quasi is None else self.quasi
        asked = {"quasi": quasi, "sensitive": self.sensitive, "k": self.k, "l": self.l, "t": self.t}
        return own | asked | {"method": self.method}

    def _reading(self) -> dict[str, Any]:
        """Give the settings that say how rows are read, and keys, which no recipe holds."""
        own = self.settings or {}
        return {name: own[name] for name in ("null", "hierarchy", "pseudonym", "shift_dates") if name in own}

    def _places_out(self) -> Sequence[int]:
        names = self._names()
        return [names.index(name) for name in self._published]


def _listed(names: Any) -> Sequence[Hashable]:
    if isinstance(names, Mapping):
        return list(names)
    return names if isinstance(names, list | tuple) else [names]


def _with_target(frame: pl.DataFrame, y: Any, asked: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    if y is None:
        raise InvalidInput("sensitive_target: fit needs y, whose values are to be protected")
    if _TARGET in frame.columns:
        raise InvalidParameter(f"column={_TARGET!r}: y goes by this name here; rename the column")
    values = pl.Series(_TARGET, list(y), strict=False)
    if len(values) != frame.height:
        raise InvalidInput(f"rows={frame.height}, values={len(values)}: y needs one for each row")
    return frame.with_columns(values), asked | {"sensitive": [*_listed(asked["sensitive"]), _TARGET]}
