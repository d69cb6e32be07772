# SPDX-License-Identifier: BSD-3-Clause
"""Each has `cases(setting)`, what to measure in turns, and `tables(record)`, what came of it."""

from . import feed, idle, latency, memif, memory

SUITES = {"feed": feed, "memif": memif, "latency": latency, "memory": memory, "idle": idle}
