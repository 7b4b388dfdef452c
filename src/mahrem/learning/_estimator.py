"""What scikit-learn asks of an estimator, without importing it: parameters, features, labels, tags."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.table import as_polars

FrameKind = Literal["default", "pandas", "polars"]


class Estimator:
    """A dataclass of settings that scikit-learn's pipelines, searches and ``clone`` can work with.

    What learns calls :meth:`learn_features` with its table, and what was learnt :meth:`refuse_other_features`
    with the next one: both refuse what is no table in the words that scikit-learn's checks look for.
    """

    _estimator_type = "transformer"

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002 - scikit-learn's own signature
        """Give the settings by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **settings: Any) -> Self:
        """Change settings."""
        known = self.get_params()
        for name, value in settings.items():
            if name not in known:
                raise InvalidParameter(f"{name} is no setting; they are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def learn_features(self, table: Any) -> pl.DataFrame:
        """Remember how many columns a table has, and their names where it names them."""
        frame, names = _read(table)
        self.n_features_in_ = frame.width
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        return frame

    def refuse_other_features(self, table: Any) -> pl.DataFrame:
        """Refuse a table that has other columns than the one that was learnt from.

        Columns with names may come in any order: they are taken by name.
        """
        self.refuse_unfitted()
        frame, names = _read(table, least=0)  # no row is told nothing
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None:
            for name in known:
                if name not in names:
                    raise ColumnNotFound(name, names)
            return frame.select(known.tolist())
        if frame.width != self.n_features_in_:
            raise InvalidInput(
                f"X has {frame.width} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                f"features as input"
            )
        if known is not None:  # rows without names stand in the order of those with names
            frame.columns = known.tolist()
        return frame

    def refuse_unfitted(self, learnt: str | None = None) -> None:
        """Refuse to be asked before anything was learnt, by scikit-learn's error where it is loaded.

        Args:
            learnt: The name of what must be there; without one anything that was learnt will do.
        """
        if self.__sklearn_is_fitted__() if learnt is None else hasattr(self, learnt):
            return
        message = f"{type(self).__name__} is not fitted: it has learnt nothing yet; call fit first"
        if "sklearn" not in sys.modules:
            raise InvalidParameter(message)
        from sklearn.exceptions import NotFittedError

        raise type("NotFitted", (InvalidParameter, NotFittedError), {})(message)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        kind = self._estimator_type
        return Tags(
            estimator_type=None if kind == "transformer" else kind,
            target_tags=TargetTags(required=kind != "transformer"),
            transformer_tags=TransformerTags() if kind == "transformer" else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))


class Transformer(Estimator):
    """An estimator that gives tables: in the kind that came in, or in the one :meth:`set_output` asks for."""

    def set_output(self, *, transform: FrameKind | None = None) -> Self:
        """Choose what tables are given: ``pandas``, ``polars``, or as they come in (``default``)."""
        if transform is None:
            return self
        if transform not in ("default", "pandas", "polars"):
            raise InvalidParameter(f"transform={transform!r} must be default, pandas or polars")
        self._output: FrameKind = transform
        return self

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Any:
        """Name the columns that ``transform`` gives."""
        self.refuse_unfitted()
        given = None if input_features is None else list(input_features)
        known = getattr(self, "feature_names_in_", None)
        if given is not None and known is not None and given != known.tolist():
            raise InvalidInput("input_features is not equal to feature_names_in_")
        if given is not None and len(given) != self.n_features_in_:
            raise InvalidInput(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}"
            )
        names = given if known is None and given is not None else self._names()
        return np.array([names[place] for place in self._places_out()], dtype=object)

    def _names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        if known is not None:
            return [str(name) for name in known]
        return [f"x{place}" for place in range(self.n_features_in_)]

    def _places_out(self) -> Sequence[int]:
        """Give the places of the columns that are kept; all, unless an estimator leaves some out."""
        return range(self.n_features_in_)

    def _as_asked(self, frame: pl.DataFrame, given: Any) -> Any:
        """Give a frame as :meth:`set_output` asks, else as the table that came in."""
        kind = getattr(self, "_output", "default")
        if kind == "default":
            kind = _kind_of(given)
        if kind == "polars":
            return frame
        if kind == "array":
            if not all(dtype.is_numeric() for dtype in frame.dtypes):
                return _objects(frame)
            own = getattr(given, "dtype", None)
            matrix = frame.to_numpy()
            return matrix.astype(own) if own is not None and own.kind == "f" else matrix
        table = frame.to_pandas()
        if kind == _kind_of(given) == "pandas":
            table.index = given.index
        return table


def given_classes(y: Any, rows: int) -> Any:
    """Read one class for each row; refuse what is none in the words scikit-learn's checks look for."""
    if y is None:
        raise InvalidInput("this estimator requires y to be passed, but the target y is None")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        _say_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != rows:
        raise InvalidInput(f"rows={rows}: y must be one class for each row")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise InvalidInput(
                f"rows={rows}: Input y contains NaN or infinity; leave out rows without a class"
            )
        if (labels != np.round(labels)).any():
            raise InvalidInput(
                f"rows={rows}: Unknown label type: continuous. y must name classes, not measure something"
            )
    return labels


def _say_column_vector() -> None:
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )


def _read(table: Any, *, least: int = 1) -> tuple[pl.DataFrame, list[str] | None]:
    """Read a frame or a matrix; gives its names where it has some that are text."""
    if hasattr(table, "tocsr") or hasattr(table, "nnz"):
        raise InvalidInput(
            "Sparse data was passed for X, but dense data is required: sparse input is not supported; use "
            "'.toarray()' to convert it"
        )
    if isinstance(table, pl.DataFrame | Mapping) or hasattr(table, "columns") or hasattr(table, "collect"):
        frame = as_polars(pl.DataFrame(table) if isinstance(table, Mapping) else table)
        named = all(isinstance(name, str) for name in getattr(table, "columns", frame.columns))
        names = frame.columns if named else None
    else:
        frame, names = _from_matrix(np.asarray(table)), None
    if frame.width == 0:
        raise InvalidInput(
            f"0 feature(s) (shape=({frame.height}, 0)) while a minimum of 1 is required: there is no column"
        )
    if frame.height < least:
        raise InvalidInput("0 sample(s) while a minimum of 1 is required: rows=0")
    return frame, names


def _from_matrix(matrix: Any) -> pl.DataFrame:
    if matrix.ndim != 2:
        raise InvalidInput(
            f"dimensions={matrix.ndim}: a table has 2, rows and columns. Reshape your data, with "
            f"array.reshape(-1, 1) for a single column or array.reshape(1, -1) for a single row"
        )
    if matrix.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: numbers must be real")
    columns = (matrix[:, place] for place in range(matrix.shape[1]))
    plain = matrix.dtype.kind in "biuf"
    return pl.DataFrame(
        [
            pl.Series(f"x{place}", column if plain else column.tolist(), strict=False)
            for place, column in enumerate(columns)
        ]
        or {},
        schema=None if matrix.shape[1] else {},
    )


def _kind_of(table: Any) -> str:
    if isinstance(table, pl.DataFrame | pl.LazyFrame):
        return "polars"
    module = type(table).__module__.split(".")[0]
    if module == "pandas":
        return "pandas"
    return "polars" if hasattr(table, "columns") or isinstance(table, Mapping) else "array"


def _objects(frame: pl.DataFrame) -> Any:
    cells = np.empty((frame.height, frame.width), dtype=object)
    for place, column in enumerate(frame):
        cells[:, place] = column.to_list()
    return cells
