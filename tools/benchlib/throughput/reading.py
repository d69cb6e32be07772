# SPDX-License-Identifier: BSD-3-Clause
"""What counters gained between two readings, and the CPU time that it took."""

import dataclasses
import time
from collections.abc import Callable

from . import processes


@dataclasses.dataclass
class Gain:
    seconds: float
    counters: dict[str, int]
    cpu_seconds: list[float]  # of the busiest threads, the busiest first

    def rate(self, name: str) -> float:
        return self.counters[name] / self.seconds

    def cpu_share(self, cores: int = 1) -> float:
        """Below 1, somebody else had the CPUs of the packet loops for a while."""
        return sum(self.cpu_seconds[:cores]) / (cores * self.seconds)

    def cycles(self, packets: int, tsc_hz: float, cores: int = 1) -> float:
        """Per packet, of the packet loops' own time."""
        return sum(self.cpu_seconds[:cores]) * tsc_hz / packets


def gain(read: Callable[[], dict[str, int]], pid: int, warm_up_s: float, seconds: float) -> Gain:
    time.sleep(warm_up_s)
    cpu_before = processes.cpu_seconds_by_thread(pid)
    start, before = _stamped(read)
    time.sleep(seconds)
    end, after = _stamped(read)
    cpu_after = processes.cpu_seconds_by_thread(pid)
    used = sorted((cpu_after[thread] - cpu_before.get(thread, 0) for thread in cpu_after),
                  reverse=True)
    return Gain(end - start, {name: after[name] - before[name] for name in after}, used)


def _stamped(read) -> tuple[float, dict[str, int]]:
    """Counters with the middle of the time that it took to read them."""
    before = time.monotonic()
    counters = read()
    return (before + time.monotonic()) / 2, counters
