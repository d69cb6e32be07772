# SPDX-License-Identifier: BSD-3-Clause
"""Runs tributary-bench by the workers of a lab that is up."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from .tool import Tool

_NEVER_S = 60.0  # beyond the time limit, or after a signal to end: then `lab run` itself hangs


class BenchRun:
    """Runs from its construction on. Its measurements are in its record, its messages in `said`."""

    def __init__(self, lab: str, build: pathlib.Path, *options, collective: str = "allreduce",
                 port: int = 29500, stall_timeout_s: float = 120,
                 deadline_s: float | None = None, time_limit_s: float = 600,
                 environment: dict[str, str] | None = None, **where):
        """`where` has options of `lab run` that say where the workers are; those that are None are left out.
        With a deadline there is no stall timeout."""
        self._record = tempfile.NamedTemporaryFile(suffix=".json")
        self._limit_s = time_limit_s + _NEVER_S
        limit = (["--stall-timeout", stall_timeout_s] if deadline_s is None else
                 ["--deadline", deadline_s])
        self._process = Tool(
            "run", lab, "--build-dir", build, "--port", port, "--time-limit", time_limit_s,
            *(word for option, value in where.items() if value is not None for word in (f"--{option}", value)),
            "--", collective, *limit, "--record", self._record.name, *options,
            environment=os.environ | (environment or {}))
        self.said = ""

    def __str__(self) -> str:
        return " ".join(self._process.args)

    def running(self) -> bool:
        return self._process.poll() is None

    def end(self) -> int:
        """Waits for the end and returns the exit code. Raises subprocess.TimeoutExpired if it never ends."""
        _, self.said = self._process.communicate(timeout=self._limit_s)
        return self._process.returncode

    def stop(self) -> None:
        """Ends what is left of the run."""
        if self.running():
            self._process.terminate()  # it ends its workers
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=_NEVER_S)
        self._process.close()  # and with it processes that it has not ended
        self._record.close()

    def document(self) -> dict:
        """Returns the JSON document of a run that ended without error."""
        return json.loads(pathlib.Path(self._record.name).read_text())
