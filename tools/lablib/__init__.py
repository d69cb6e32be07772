# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tools/lab. Python 3.11, standard library only."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LabError(Exception):
    """An error that the user can mend; the message says how."""
