"""Words for people: one catalogue per language, and notes that are said in any of them.

Code speaks in codes (:class:`Note`): what happened, with its figures. What a person reads is written in
``en.toml``, ``tr.toml``, ``de.toml`` and nowhere else. A language is one file, here or in another
distribution.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.words._catalogue import LANGUAGES as LANGUAGES
    from mahrem.words._catalogue import NOTHING as NOTHING
    from mahrem.words._catalogue import Catalogue as Catalogue
    from mahrem.words._catalogue import Language as Language
    from mahrem.words._catalogue import LanguageName as LanguageName
    from mahrem.words._catalogue import braces as braces
    from mahrem.words._catalogue import describe_settings as describe_settings
    from mahrem.words._catalogue import explain_entry as explain_entry
    from mahrem.words._catalogue import explain_setting as explain_setting
    from mahrem.words._catalogue import load_catalogue as load_catalogue
    from mahrem.words._notes import Note as Note
    from mahrem.words._notes import Progress as Progress
    from mahrem.words._notes import in_silence as in_silence
    from mahrem.words._notes import warn_of as warn_of
else:
    __getattr__, __dir__, __all__ = offered(__name__)
