# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lablib import processes  # noqa: E402

# Its first thread ends at once, the other one when its input does.
OUTLIVED = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
print("begun", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


class Processes(unittest.TestCase):
    def test_one_lives_until_its_last_thread_ends(self):
        child = subprocess.Popen([sys.executable, "-c", OUTLIVED], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        self.addCleanup(child.wait)
        with child.stdin, child.stdout:
            child.stdout.readline()
            process = processes.record(child.pid, "outlived")
            self.await_state(child.pid, "Z")
            self.assertTrue(processes.alive(process))
        processes.end([process], grace_s=60.0)
        self.assertFalse(processes.alive(process))

    def await_state(self, pid: int, state: str) -> None:
        for _ in range(100_000):
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == state:
                    return
        self.fail(f"process {pid} is not in state {state}")


if __name__ == "__main__":
    unittest.main()
