"""Projects of other tools read into a policy, with a list of what was not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.files import staged_folder
from mahrem.release.decisions import Policy
from mahrem.table import Hierarchy


@dataclass(frozen=True, kw_only=True)
class ImportedPolicy:
    """What a project of another tool says, in our words.

    Attributes:
        tool: Whose project it was.
        settings: Settings of a release, as a policy file writes them; hierarchies are beside.
        hierarchies: Trees by column.
        commands: What it does besides that is a verb of its own here.
        unread: What was not understood, and must be looked at by somebody.
    """

    tool: str
    settings: Mapping[str, Any]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    commands: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Policy.of(dict(self.settings))  # what no release could take is refused here

    def policy(self, folder: Path = Path()) -> str:
        """Write the policy as a file, with what is to be looked at in front; hierarchies lie in a folder."""
        head = [f"# Read from a project of {self.tool}. Look at every line."]
        head += [f"# not understood: {line}" for line in self.unread]
        head += [f"# besides: {line}" for line in self.commands]
        settings = dict(self.settings)
        if self.hierarchies:
            settings["hierarchy"] = {
                name: str(folder / f"hierarchy-{place}.csv") for place, name in enumerate(self.hierarchies)
            }
        return "\n".join(head) + "\n\n" + tomli_w.dumps(settings)

    def write(self, folder: str | Path) -> None:
        """Write the policy and its hierarchies into a new folder.

        Raises:
            InvalidParameter: If the folder is there already.
        """
        target = Path(folder)
        if target.exists():
            raise InvalidParameter(f"output={target.name!r} exists; choose another folder")
        with staged_folder(target) as stage:
            (stage / "policy.toml").write_text(self.policy(target), encoding="utf-8")
            for place, tree in enumerate(self.hierarchies.values()):
                tree.write(stage / f"hierarchy-{place}.csv")


def import_policy(path: str | Path) -> ImportedPolicy:
    """Read a project of ARX (``.deid``) or a script of sdcMicro (``.R``) into a policy.

    Guarantees:
        - Nothing of it is run, and nothing of a project's data is read.
        - What is not understood is listed, never guessed.

    Raises:
        InvalidInput: If it is neither, or of a version whose layout is not known.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"project={file.name!r} is no file")
    if file.suffix.lower() == ".deid":
        from mahrem.release._arx_project import read_arx_project

        return read_arx_project(file)
    if file.suffix.lower() == ".r":
        from mahrem.release._sdc_script import read_sdc_script

        return read_sdc_script(file.read_text(encoding="utf-8", errors="replace"))
    raise InvalidInput(f"project={file.name!r} must be a project of ARX (.deid) or a script of sdcMicro (.R)")
