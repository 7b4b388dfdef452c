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
from hatchling.builders.macos import process_macos_plat_tag


def _plain() -> bool:
    return os.environ.get("MAHREM_BUILD_KERNELS") == "0"


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts built kernels into a wheel, and beside the sources for an editable install."""

    def dependencies(self) -> list[str]:
        """Numba translates the kernels; exactly this one was tried. Setuptools finds the C compiler."""
        return [] if _plain() else ["numba==0.68.1", "setuptools>=80,<90"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build them before files are collected."""
        if _plain():
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "native"))
        from build_kernels import build

        made = build(root / "src" / "mahrem" / "arrays")
        if version == "editable":
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if sys.platform == "darwin":
            platform = process_macos_plat_tag(platform, compat=False)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"  # the stable ABI: this Python and every later one
        build_data["force_include"] |= {str(path): f"mahrem/arrays/{path.name}" for path in made}
