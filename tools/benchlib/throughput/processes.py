# SPDX-License-Identifier: BSD-3-Clause
"""Starts the programs of a measurement, and reads the CPU time of their packet loops."""

import contextlib
import pathlib
import subprocess
import time

from lablib import LabError

_END_TIMEOUT_S = 10.0
_LOG_LINES = 10


def pinned(cpus: str, *argv) -> list[str]:
    """Returns the command on that CPU; the program ends with this one, even if this one is killed."""
    return ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", cpus, *(str(arg) for arg in argv)]


@contextlib.contextmanager
def running(argv: list[str], log: pathlib.Path, **more):
    """Runs a program whose standard input stays open, and is empty."""
    with open(log, "w", encoding="utf-8") as output:
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output,
                                 stderr=subprocess.STDOUT, **more)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdin.close()


def output_of(argv: list[str], timeout_s: float | None = None) -> subprocess.CompletedProcess:
    """Returns the output of a program that has ended. Unlike with subprocess.run(), nothing of the program is left
    when this is interrupted."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        try:
            said, complaints = child.communicate(timeout=timeout_s)
        except BaseException:
            child.kill()
            child.wait()
            raise
    return subprocess.CompletedProcess(argv, child.returncode, said, complaints)


def wait_for(child: subprocess.Popen, log: pathlib.Path, ready, timeout_s: float = 300.0) -> None:
    """Waits for `ready()`; if the program ends before, the error has its log."""
    end = time.monotonic() + timeout_s
    while not ready():
        if child.poll() is not None or time.monotonic() > end:
            said = "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:])
            state = "has not started" if child.poll() is None else f"ended with {child.returncode}"
            raise LabError(f"{' '.join(child.args)}: {state}: {said}")
        time.sleep(0.02)


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of all threads; where one of them polls, nearly all of it is that thread's."""
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) has it


def resident_bytes(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LabError(f"process {pid} has ended")
