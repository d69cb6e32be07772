# SPDX-License-Identifier: BSD-3-Clause
"""What was measured on: CPUs, caches, and how fast the time-stamp counter runs."""

import ctypes
import mmap
import os
import pathlib
import platform
import subprocess
import time

from lablib import LabError

_CALIBRATION_S = 0.5
_LOAD_MAX = 0.25  # per CPU, before anything is measured

# rdtsc; shl rdx, 32; or rax, rdx; ret
_RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")


def tsc_hz() -> float:
    """Counted against CLOCK_MONOTONIC_RAW, so that nobody has to believe what the CPU is called."""
    if platform.machine() != "x86_64":
        raise LabError("cycles are counted with rdtsc: run this on x86-64")
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_RDTSC)
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    start, begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), rdtsc()
    time.sleep(_CALIBRATION_S)
    end, stop = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), rdtsc()
    return (stop - begin) * 1e9 / (end - start)


def packet_and_other_cpu() -> tuple[int, int]:
    """The switch's, and the one for everything else."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise LabError("this takes two CPUs: one for the switch, one for everything else")
    return cpus[1], cpus[0]


class Neighbourhood:
    """Two virtual CPUs share a cache now, and the next moment they do not: what passes between them
    takes a multiple of the time. A figure of two CPUs is worth something only if they stayed near."""

    _TRIES = 8
    _FAR = 2.0  # times the least that was ever seen
    _PAUSE_S = 5.0  # for them to come back

    def __init__(self, program: pathlib.Path, cpus: tuple[int, int]):
        self._argv = [str(program), *map(str, cpus)]
        self._least_ns = min(self.distance_ns() for _ in range(self._TRIES))

    def distance_ns(self) -> float:
        done = subprocess.run(self._argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise LabError(done.stderr.strip())
        return float(done.stdout)

    def measure(self, take) -> dict[str, float]:
        """What `take()` found while the CPUs were near, before and after; at the last try, however
        far they were."""
        for _ in range(self._TRIES):
            before = self.distance_ns()
            found = take()
            apart = max(before, self.distance_ns())
            self._least_ns = min(self._least_ns, before)
            if apart <= self._FAR * self._least_ns:
                break
            time.sleep(self._PAUSE_S)
        return found | {"cpus_apart_ns": apart}


def describe() -> dict:
    return {"cpu": _cpu_model(), "cpus": len(os.sched_getaffinity(0)), "tsc_hz": tsc_hz(),
            "caches": _caches(), "kernel": platform.release(), "load": os.getloadavg()[0]}


def warning(found: dict) -> str | None:
    """Of a machine on which others are at work."""
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
    """As in {"L1d": "48K", "L3": "32768K"}."""
    found = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = {"Data": "d", "Instruction": "i"}.get((index / "type").read_text().strip(), "")
        found[f"L{(index / 'level').read_text().strip()}{kind}"] = (
            index / "size").read_text().strip()
    return found
