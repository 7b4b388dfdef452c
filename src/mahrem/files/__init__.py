"""Files and folders that appear whole or not at all, keys among them; what a killed process left is swept.

Everything that writes goes through here: a stage is private from its first byte, held by a lock that dies
with its process, and takes its name in one step. It knows nothing of tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.files._keys import (
        SHORTEST_KEY,
        check_key,
        given_key,
        held_key,
        make_key,
        private_key,
        refuse_short_key,
        shared_key,
        state_folder,
    )
    from mahrem.files._replaced import move_new, restore_interrupted, staged_folder
    from mahrem.files._stages import StageFolder, appearing, locked, sweep, write_whole
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "SHORTEST_KEY",
    "StageFolder",
    "appearing",
    "check_key",
    "given_key",
    "held_key",
    "locked",
    "make_key",
    "move_new",
    "private_key",
    "refuse_short_key",
    "restore_interrupted",
    "shared_key",
    "staged_folder",
    "state_folder",
    "sweep",
    "write_whole",
]
