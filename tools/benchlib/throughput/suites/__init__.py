# SPDX-License-Identifier: BSD-3-Clause
"""The suites of tools/bench. Each has `cases(setting)`, which are measured in turns, and `tables(record)` and
`charts(record)`, which show the results."""

from . import cores, feed, growth, idle, kernels, latency, memif, memory

SUITES = {"feed": feed, "memif": memif, "latency": latency, "memory": memory, "idle": idle,
          "cores": cores, "growth": growth, "kernels": kernels}
# In these, packets pass from one CPU to another.
ON_TWO_CPUS = {"feed", "memif", "latency", "idle", "cores"}
