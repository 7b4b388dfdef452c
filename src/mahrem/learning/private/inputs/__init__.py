"""What a private trainer is given: numbers, labels and rows by public declarations alone.

A cell that does not fit its declaration is missing, whatever the others are.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.learning.private.inputs._given_values import given_numbers as given_numbers
    from mahrem.learning.private.inputs._given_values import label_codes as label_codes
    from mahrem.learning.private.inputs._given_values import length_of as length_of
    from mahrem.learning.private.inputs._given_values import shape_of as shape_of
    from mahrem.learning.private.inputs._given_values import target_numbers as target_numbers
    from mahrem.learning.private.inputs._public_inputs import PublicInputs as PublicInputs
    from mahrem.learning.private.inputs._public_inputs import declared_features as declared_features
    from mahrem.learning.private.inputs._public_inputs import quiet_floats as quiet_floats
    from mahrem.learning.private.inputs._public_inputs import read_rows as read_rows
    from mahrem.learning.private.inputs._public_inputs import shaped_rows as shaped_rows
    from mahrem.learning.private.inputs._public_rows import PublicRows as PublicRows
    from mahrem.learning.private.inputs._public_rows import clip_rows as clip_rows
    from mahrem.learning.private.inputs._public_rows import given_rows as given_rows
else:
    __getattr__, __dir__, __all__ = offered(__name__)
