# SPDX-License-Identifier: BSD-3-Clause
"""Each has `cases(setting)`, what to measure in turns; `tables(record)` and
`charts(record)` show what came of it."""

from . import cores, feed, growth, idle, kernels, latency, memif, memory

SUITES = {"feed": feed, "memif": memif, "latency": latency, "memory": memory, "idle": idle,
          "cores": cores, "growth": growth, "kernels": kernels}
# In these, packets pass from one CPU to another.
ON_TWO_CPUS = {"feed", "memif", "latency", "idle", "cores"}
