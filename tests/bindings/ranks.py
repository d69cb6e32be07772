# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as processes on the loopback: a script runs itself once for each, with the name of a case."""

import contextlib
import dataclasses
import os
import pathlib
import random
import socket
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TRIBUTARY_BUILD", ROOT / "build")).resolve()
PACKAGE = BUILD / "src" / "bindings" / "python"
# Bounds what is waited for, and judges nothing.
PATIENCE_S = 120.0
_MESON_SKIP = 77


def skip(why: str) -> None:
    """Ends a test that cannot run here; meson shows it as skipped."""
    print(why)
    sys.exit(_MESON_SKIP)


@dataclasses.dataclass
class Ended:
    """How a rank has ended."""
    code: int
    said: str
    complaints: str


def free_port() -> int:
    """One that the system gives no connection of its own accord: ranks may meet there a second time."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def environment(rank: int, size: int, port: int) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
        "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port), "TRIBUTARY_ALGORITHM": "ring"}


def run(command: list, size: int = 2, **variables: str) -> list[Ended]:
    """Runs it as so many ranks, and waits for them."""
    port = free_port()
    ranks = [subprocess.Popen([str(word) for word in command], text=True,
                              env=environment(rank, size, port) | variables,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
             for rank in range(size)]
    until = time.monotonic() + PATIENCE_S
    ended = []
    try:
        for rank in ranks:
            said, complaints = rank.communicate(timeout=max(until - time.monotonic(), 0.1))
            ended.append(Ended(rank.returncode, said, complaints))
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
            rank.stdout.close()
            rank.stderr.close()
    return ended


class Cases(unittest.TestCase):
    """Tests, each of which runs a case of the same name as ranks."""

    def case(self, name: str, size: int = 2, **variables: str) -> list[str]:
        """What the ranks say; all have to succeed."""
        ended = run([sys.executable, pathlib.Path(sys.argv[0]).resolve(), name], size, **variables)
        for rank, one in enumerate(ended):
            self.assertEqual(one.code, 0, f"rank {rank} of {name}:\n{one.said}{one.complaints}")
        return [one.said for one in ended]


def main(cases: dict) -> None:
    """As a rank, if there is the name of a case; or else the tests."""
    if len(sys.argv) == 2 and sys.argv[1] in cases:
        cases[sys.argv[1]]()
    else:
        unittest.main(verbosity=2)
