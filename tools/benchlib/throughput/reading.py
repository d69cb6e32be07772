# SPDX-License-Identifier: BSD-3-Clause
"""Computes the gain of counters between two readings, and its CPU time."""

import dataclasses
import time
from collections.abc import Callable

from lablib import LabError

from . import processes

# Fewer packets than these give no share: their bursts, of up to 512, began before, or end afterwards.
ENOUGH = 50_000
_PATIENCE_S = 300.0


@dataclasses.dataclass
class Gain:
    seconds: float
    counters: dict[str, int]
    cpu_seconds: float

    def rate(self, name: str) -> float:
        return self.counters[name] / self.seconds

    def cpu_share(self, cores: int = 1) -> float:
        """A share below 1 means that another load had the CPUs of the packet loops for a while."""
        return self.cpu_seconds / (cores * self.seconds)

    def cycles(self, packets: int, tsc_hz: float) -> float:
        """Cycles per packet, of the packet loops' own time."""
        return self.cpu_seconds * tsc_hz / packets


def gain(read: Callable[[], dict[str, int]], pid: int, warm_up_s: float, seconds: float,
         counted: str) -> Gain:
    """Returns the gain once `counted` went up far enough, which takes longer on a busy machine."""
    time.sleep(warm_up_s)
    (start, cpu_before), before = _stamped(read, pid)
    after = before
    while after[counted] < before[counted] + ENOUGH:
        time.sleep(seconds)
        (end, cpu_after), after = _stamped(read, pid)
        if after[counted] < before[counted] + ENOUGH and end - start > seconds + _PATIENCE_S:
            raise LabError(f"{counted} went up by {after[counted] - before[counted]} in "
                           f"{end - start:.0f} s, and not by {ENOUGH}")
    return Gain(end - start, {name: after[name] - before[name] for name in after},
                cpu_after - cpu_before)


def _clocks(pid: int) -> tuple[float, float]:
    return time.monotonic(), processes.cpu_seconds(pid)


def _stamped(read: Callable[[], dict[str, int]], pid: int):
    """Returns the counters, and the time and CPU time in the middle of reading them."""
    before = _clocks(pid)
    counters = read()
    return [sum(pair) / 2 for pair in zip(before, _clocks(pid))], counters
