# SPDX-License-Identifier: BSD-3-Clause
"""The duration, number of runs, CPUs and programs of a measurement."""

import dataclasses
import pathlib

from lablib import LabError, lifecycle

from . import machine


def perf_program(build: pathlib.Path, name: str) -> pathlib.Path:
    """Returns the path of a program of tests/perf."""
    path = build / "tests" / "perf" / name
    if not path.is_file():
        raise LabError(f"{path} is not built: tools/install-packages test, then 'meson setup "
                       f"--reconfigure {build} && ninja -C {build}'")
    return path


@dataclasses.dataclass
class Setting:
    build: pathlib.Path
    directory: pathlib.Path  # for sockets and feeds; gone at the end
    runs: int
    seconds: float
    quick: bool
    tsc_hz: float

    def __post_init__(self):
        self.switch_cpu, self.other_cpu = machine.packet_and_other_cpu()

    @property
    def warm_up_s(self) -> float:
        return 0.3 if self.quick else 1.0

    def program(self, name: str) -> str:
        return str(lifecycle.program(self.build, name))

    def perf_program(self, name: str) -> pathlib.Path:
        return perf_program(self.build, name)

    def choose(self, values: list) -> list:
        """Returns all cases, or only the first in a quick run."""
        return values[:1] if self.quick else values
