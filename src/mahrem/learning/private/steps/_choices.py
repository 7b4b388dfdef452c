"""Words a training may be given, listed without loading what they stand for."""

from __future__ import annotations

NOISES = ("gaussian", "laplace")
OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("constant", "cosine")
