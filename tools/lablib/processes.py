# SPDX-License-Identifier: BSD-3-Clause
"""Finds and ends processes, known by pid and start time, so that a recycled pid is never signalled."""

import os
import pathlib
import signal
import time


def start_time(pid: int) -> int | None:
    """Returns the start time in clock ticks since boot, or None if there is no such process. A process whose first
    thread has ended keeps its sockets until the other threads have ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2:].split()
    has_ended = fields[0] in "ZX" and int(fields[17]) <= 1  # num_threads, with the thread itself
    return None if has_ended else int(fields[19])


def alive(process: dict) -> bool:
    """A process that had ended before it was recorded has no start time."""
    return process["start_time"] is not None and start_time(process["pid"]) == process["start_time"]


def record(pid: int, role: str) -> dict:
    return {"pid": pid, "start_time": start_time(pid), "role": role}


def in_namespace(path: pathlib.Path) -> list[dict]:
    """Returns the processes whose network namespace is the one bound at `path`."""
    try:
        wanted = os.stat(path)
    except OSError:
        return []
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            own = os.stat(entry / "ns" / "net")
        except OSError:
            continue
        if (own.st_dev, own.st_ino) == (wanted.st_dev, wanted.st_ino):
            found.append(record(int(entry.name), "namespace"))
    return found


# The time that a process has to end after SIGTERM.
GRACE_S = 20.0
# Then it is gone when the kernel has got round to it.
_KILLED_S = 60.0


def end(processes: list[dict], grace_s: float = GRACE_S) -> None:
    """Sends SIGTERM, and SIGKILL to processes that have not ended within the grace; without a grace at once."""
    for how, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILLED_S)):
        if patience == 0.0:
            continue
        living = [process for process in processes if alive(process)]
        for process in living:
            _signal(process, how)
        until = time.monotonic() + patience
        while any(alive(process) for process in living) and time.monotonic() < until:
            _reap(living)
            time.sleep(0.02)


def _signal(process: dict, how: signal.Signals) -> None:
    try:
        # The pidfd pins the process; the start time is checked after it was opened.
        fd = os.pidfd_open(process["pid"])
    except OSError:
        return
    try:
        if alive(process):
            signal.pidfd_send_signal(fd, how)
    except OSError:
        pass
    finally:
        os.close(fd)


def _reap(processes: list[dict]) -> None:
    for process in processes:
        try:
            os.waitpid(process["pid"], os.WNOHANG)
        except ChildProcessError:
            pass  # not ours
