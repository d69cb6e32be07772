# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tools/lab. Python 3.11, standard library only."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LabError(Exception):
    """Something the person at the keyboard can mend; the message says how."""
