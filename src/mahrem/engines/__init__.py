"""Where it runs: the same kernels on this machine or inside a cluster's workers."""

from mahrem.engines._local import Local, in_parallel

__all__ = ["Local", "in_parallel"]
