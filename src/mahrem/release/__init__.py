"""Releases: the gate before one, the recipe beside it; rooms for what is decided and what lies on disk."""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.release._gate import Doubt as Doubt
    from mahrem.release._gate import decided as decided
    from mahrem.release._gate import find_doubts as find_doubts
    from mahrem.release._gate import is_nearly_unique as is_nearly_unique
    from mahrem.release._gate import is_rarely_shared as is_rarely_shared
    from mahrem.release._gate import look_at as look_at
    from mahrem.release._gate import notes_of_several_rows as notes_of_several_rows
    from mahrem.release._gate import refuse_giving_away as refuse_giving_away
    from mahrem.release._imported import ImportedPolicy as ImportedPolicy
    from mahrem.release._imported import import_policy as import_policy
    from mahrem.release._recipe import BY_RECIPE as BY_RECIPE
    from mahrem.release._recipe import RECIPE as RECIPE
    from mahrem.release._recipe import Recipe as Recipe
    from mahrem.release._recipe import read_recipe as read_recipe
else:
    __getattr__, __dir__, __all__ = offered(__name__)
