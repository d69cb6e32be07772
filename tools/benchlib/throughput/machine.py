# SPDX-License-Identifier: BSD-3-Clause
"""Describes the machine of a measurement: CPUs, caches, and the rate of the time-stamp counter."""

import ctypes
import dataclasses
import functools
import math
import mmap
import os
import pathlib
import platform
import sys
import time

from lablib import LabError

from . import processes

_CALIBRATION_S = 0.5
_LOAD_MAX = 0.25  # per CPU, before anything is measured

# rdtsc; shl rdx, 32; or rax, rdx; ret
_RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")


def tsc_hz() -> float:
    """Measures the time-stamp counter against CLOCK_MONOTONIC_RAW; the name of the CPU may be wrong."""
    if platform.machine() != "x86_64":
        raise LabError("cycles are counted with rdtsc: run this on x86-64")
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_RDTSC)
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    start, begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), rdtsc()
    time.sleep(_CALIBRATION_S)
    end, stop = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), rdtsc()
    return (stop - begin) * 1e9 / (end - start)


@functools.cache  # so that the warning comes once
def packet_and_other_cpu() -> tuple[int, int]:
    """Returns the switch's CPU, and the one for everything else, of another core where there is one."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise LabError("this takes two CPUs: one for the switch, one for everything else")
    siblings = _siblings(cpus[0])
    apart = [cpu for cpu in cpus[1:] if cpu not in siblings]
    if not apart:
        print(f"warning: CPUs {cpus[0]} and {cpus[1]} share a core, so that everything else slows the switch down",
              file=sys.stderr)
    return (apart or cpus[1:])[0], cpus[0]


def _siblings(cpu: int) -> set[int]:
    """Returns the CPUs of the same core, of a list as "0-1" or "0,64"; none where the kernel does not tell."""
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    if not path.is_file():
        return set()
    ranges = [part.split("-") for part in path.read_text().strip().split(",")]
    return {number for ends in ranges for number in range(int(ends[0]), int(ends[-1]) + 1)}


@dataclasses.dataclass
class CpuState:
    """What other loads leave of the CPUs, as cpu_state measures it."""

    additions_per_ns: list[float]  # by CPU
    round_trip_ns: float | None = None  # of a cache line between two CPUs


class Neighbourhood:
    """Virtual CPUs move: at times they share a core with another load, or a cache with each other, and
    at other times they do not. A figure counts only if they were in one state all the time, the best
    that this machine has."""

    _TRIES = 5
    _SHARED = 0.85  # share of the most additions that were ever seen
    _FAR = 2.0  # multiple of the shortest round trip that was ever seen
    _PAUSE_S = 1.0
    _LOOKS = 10  # before the first measurement, to see a good state once

    def __init__(self, program: pathlib.Path, patience_s: float):
        """`patience_s` is the time to wait for a good state."""
        self._program = program
        self._patience_s = patience_s
        self._most_additions: dict[int, float] = {}
        self._shortest_ns = math.inf

    def observe(self, cpus: tuple[int, ...]) -> CpuState:
        done = processes.output_of([str(self._program), *map(str, cpus)])
        if done.returncode != 0:
            raise LabError(done.stderr.strip())
        told = [line.split() for line in done.stdout.splitlines()]
        additions = [float(value) for name, value in told if name == "additions_per_ns"]
        for cpu, value in zip(cpus, additions):
            self._most_additions[cpu] = max(value, self._most_additions.get(cpu, 0.0))
        distance = next((float(value) for name, value in told if name == "round_trip_ns"), None)
        if distance is not None:
            self._shortest_ns = min(distance, self._shortest_ns)
        return CpuState(additions, distance)

    def get_to_know(self, cpus: tuple[int, ...]) -> None:
        for _ in range(self._LOOKS):
            self.observe(cpus)
            time.sleep(self._PAUSE_S)

    def is_good(self, cpus: tuple[int, ...], state: CpuState) -> bool:
        near = state.round_trip_ns is None or state.round_trip_ns <= self._FAR * self._shortest_ns
        return near and all(value >= self._SHARED * self._most_additions[cpu]
                            for cpu, value in zip(cpus, state.additions_per_ns))

    def await_good(self, cpus: tuple[int, ...]) -> CpuState:
        """Returns a good state, or the present one when patience ends."""
        end = time.monotonic() + self._patience_s
        while not self.is_good(cpus, state := self.observe(cpus)) and time.monotonic() < end:
            time.sleep(self._PAUSE_S)
        return state

    def measure(self, cpus: tuple[int, ...], take) -> tuple[dict, dict]:
        """Returns what `take()` found while the state was good before and after, or what it found when patience or
        the tries ended, and the worse of both states."""
        for _ in range(self._TRIES):
            before = self.await_good(cpus)
            found = take()
            after = self.observe(cpus)
            good = [self.is_good(cpus, state) for state in (before, after)]
            if all(good) or not good[0]:
                break
        worse = after if good[0] else before
        return found, dataclasses.asdict(worse) | {"good": all(good)}


def describe() -> dict:
    return {"cpu": _cpu_model(), "cpus": len(os.sched_getaffinity(0)), "tsc_hz": tsc_hz(),
            "caches": _caches(), "kernel": platform.release(), "load": os.getloadavg()[0]}


def warning(found: dict) -> str | None:
    """Returns a warning if other loads are on the machine."""
    if found["load"] < _LOAD_MAX * found["cpus"]:
        return None
    return (f"the machine is busy (load {found['load']:.1f} on {found['cpus']} CPUs): figures will be "
            "too low, and differ from run to run")


def _cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def _caches() -> dict[str, str]:
    """Returns sizes as in {"L1d": "48K", "L3": "32768K"}."""
    found = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = {"Data": "d", "Instruction": "i"}.get((index / "type").read_text().strip(), "")
        found[f"L{(index / 'level').read_text().strip()}{kind}"] = (
            index / "size").read_text().strip()
    return found
