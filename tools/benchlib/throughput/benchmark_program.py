# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs of tests/perf that use Google Benchmark."""

import json

from lablib import LabError

from . import processes
from .setting import Setting


def run(setting: Setting, name: str, *options: str, cpu: int | None = None) -> dict[str, dict]:
    """Returns the program's figures of each benchmark. They run in random order, so that disturbances are spread,
    and on the switch's CPU, unless another is given."""
    path = setting.perf_program(name)
    argv = processes.pinned(str(setting.switch_cpu if cpu is None else cpu), path, "--benchmark_format=json",
                            "--benchmark_enable_random_interleaving=true", *options)
    done = processes.output_of(argv)
    if done.returncode != 0:
        raise LabError(f"{name}: {done.returncode} {done.stderr.strip()}")
    rows = json.loads(done.stdout)["benchmarks"]
    for row in rows:
        if row.get("error_occurred"):
            raise LabError(f"{name}: {row['name']}: {row['error_message']}")
    rows.sort(key=lambda row: (row["family_index"], row["per_family_instance_index"]))
    return {row["run_name"]: row for row in rows}
