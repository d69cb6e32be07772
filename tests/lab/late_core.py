# SPDX-License-Identifier: BSD-3-Clause
"""A packet core of a lab that is kept from its CPU."""

import contextlib
import ctypes
import os
import pathlib

import support

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000  # also threads that are no child of ours


def _packet_thread(lab: support.Lab) -> int:
    tasks = pathlib.Path(f"/proc/{lab.state['processes'][0]['pid']}/task")
    return next(int(task.name) for task in tasks.iterdir()
                if "worker" in (task / "comm").read_text())


@contextlib.contextmanager
def late_core(lab: support.Lab):
    """That of the lab's only daemon, for as long as this takes."""
    thread = _packet_thread(lab)
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]

    def stop() -> None:
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            if ptrace(request, thread, None, None) != 0:
                raise AssertionError(f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(thread, WALL)

    try:
        stop()
        # One that has begun with a command is waited for, and here it would be for ever.
        while "the packet core on CPU" not in lab.ctl("--timeout", "20", "engine").stderr:
            ptrace(PTRACE_DETACH, thread, None, None)
            stop()
        yield
    finally:
        ptrace(PTRACE_DETACH, thread, None, None)
