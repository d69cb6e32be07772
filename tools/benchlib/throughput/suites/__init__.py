# SPDX-License-Identifier: BSD-3-Clause
"""Each has `cases(setting)`, what to measure in turns, and `tables(record)`, what came of it."""

from . import feed, memif

SUITES = {"feed": feed, "memif": memif}
