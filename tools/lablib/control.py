# SPDX-License-Identifier: BSD-3-Clause
"""Asks a lab's daemons by tributaryctl."""

import json
import subprocess

from . import LabError

# On a busy machine a daemon may be late, and its packet cores may answer after it has stopped waiting for them.
PATIENCE_S = 60
_TRIES = 20
_LATE = 5  # tributaryctl's exit code for: the state is unknown, ask again


def ask(tributaryctl, socket, *question: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(tributaryctl), "--socket", socket, "--timeout", str(PATIENCE_S),
                           *question],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def _ask_until_it_knows(tributaryctl, socket, *question: str) -> subprocess.CompletedProcess:
    for _ in range(_TRIES):
        done = ask(tributaryctl, socket, *question)
        if done.returncode != _LATE:
            break
    return done


def rows(tributaryctl, sockets, *question: str) -> list[dict]:
    """Returns the rows of a list, of all these daemons."""
    found = []
    for path in sockets:
        done = _ask_until_it_knows(tributaryctl, path, *question, "--json")
        if done.returncode != 0:
            raise LabError(f"tributaryctl {' '.join(question)}: {done.returncode} "
                           f"{(done.stderr or done.stdout).strip()}")
        answer = json.loads(done.stdout)
        found += answer["switches"] if isinstance(answer, dict) else answer  # counters have a row "all" as well
    return found
