"""What hatchling does beside copying files: it builds the kernels into the wheel (native/build_kernels.py).

With ``MAHREM_BUILD_KERNELS=0`` the wheel is plain Python for any platform, and kernels are compiled where
they run.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts built kernels into a wheel, and beside the sources for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build them before files are collected."""
        if os.environ.get("MAHREM_BUILD_KERNELS") == "0":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "native"))
        from build_kernels import build

        made = build(root / "src" / "mahrem" / "arrays")
        if version == "editable":
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"  # the stable ABI: this Python and every later one
        build_data["force_include"] |= {str(path): f"mahrem/arrays/{path.name}" for path in made}
