# SPDX-License-Identifier: BSD-3-Clause
"""Finds first-party C++ files by walking the folders, not by git, so that the checks also run in an archive."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTORIES = ("src", "apps", "tests")


def cpp_files(root=ROOT, directories=DIRECTORIES, suffixes=(".h", ".cpp")):
    """Returns sorted paths below `directories`, relative to `root`."""
    return sorted(
        path.relative_to(root)
        for directory in directories
        for path in (root / directory).rglob("*")
        if path.suffix in suffixes and path.is_file())
