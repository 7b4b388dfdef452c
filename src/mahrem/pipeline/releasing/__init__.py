"""Releases: a table anonymised, checked, published with its report, and applied to new rows.

One machine, a cluster and tables larger than memory go the same way; every folder is written here. Other
rooms of ``pipeline`` use what is listed; it stands lowest among them.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.releasing._anonymize import anonymize as anonymize
    from mahrem.pipeline.releasing._anonymizer import Anonymizer as Anonymizer
    from mahrem.pipeline.releasing._apply import apply as apply
    from mahrem.pipeline.releasing._dry_run import dry_run as dry_run
    from mahrem.pipeline.releasing._on_spark import explain as explain
    from mahrem.pipeline.releasing._publish import read_back as read_back
    from mahrem.pipeline.releasing._release import Release as Release
    from mahrem.pipeline.releasing._report import redraw as redraw
    from mahrem.pipeline.releasing._report import redraw_two as redraw_two
    from mahrem.pipeline.releasing._summary import floor_of as floor_of
else:
    __getattr__, __dir__, __all__ = offered(__name__)
