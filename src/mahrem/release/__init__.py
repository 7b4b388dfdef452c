"""Release folders and run records: policy in, staged files, hashes, and one atomic rename."""

from mahrem.release._folder import DATA_FILES, check_hashes, find_data, is_release, staged_release
from mahrem.release._policy import Policy, read_policy
from mahrem.release._record import input_fingerprint, keep_record, state_folder
from mahrem.release._settings import Settings

__all__ = [
    "DATA_FILES",
    "Policy",
    "Settings",
    "check_hashes",
    "find_data",
    "input_fingerprint",
    "is_release",
    "keep_record",
    "read_policy",
    "staged_release",
    "state_folder",
]
