"""Files and folders that appear whole or not at all, keys among them; what a killed process left is swept.

Everything that writes goes through here: a stage is private from its first byte, held by a lock that dies
with its process, and takes its name in one step. It knows nothing of tables.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.files._keys import check_key as check_key
    from mahrem.files._keys import given_key as given_key
    from mahrem.files._keys import held_key as held_key
    from mahrem.files._keys import make_key as make_key
    from mahrem.files._keys import private_key as private_key
    from mahrem.files._keys import refuse_short_key as refuse_short_key
    from mahrem.files._keys import shared_key as shared_key
    from mahrem.files._keys import state_folder as state_folder
    from mahrem.files._replaced import move_new as move_new
    from mahrem.files._replaced import restore_interrupted as restore_interrupted
    from mahrem.files._replaced import staged_folder as staged_folder
    from mahrem.files._stages import StageFolder as StageFolder
    from mahrem.files._stages import appearing as appearing
    from mahrem.files._stages import locked as locked
    from mahrem.files._stages import sweep as sweep
    from mahrem.files._stages import write_whole as write_whole
else:
    __getattr__, __dir__, __all__ = offered(__name__)
