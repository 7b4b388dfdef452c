"""What scikit-learn asks of an estimator, without importing it: parameters, copies, tags."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

from mahrem.errors import InvalidParameter


class Estimator:
    """A dataclass of settings that scikit-learn's pipelines, searches and ``clone`` can work with."""

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
