# SPDX-License-Identifier: BSD-3-Clause
"""A run of tributary-bench allreduce on some hosts of a fabric."""

import json
import os
import pathlib
import subprocess
import tempfile

from lablib import ROOT, LabError

_LAB = ROOT / "tools" / "lab"
_NEVER_S = 30.0  # over the time limit: `lab run` itself hangs


class Reduction:
    """Started at once. One size, one algorithm; every element is checked unless `check` is off."""

    def __init__(self, fabric, hosts: list[str], *options, algorithm: str = "canary",
                 size: str = "4M", iterations: int = 1, warmups: int = 0, port: int = 29500,
                 deadline_s: float = 60, time_limit_s: float = 120,
                 environment: dict[str, str] | None = None):
        self._record = tempfile.NamedTemporaryFile(suffix=".json")
        self._what = f"{algorithm} on {','.join(hosts)}"
        self._time_limit_s = time_limit_s
        argv = [_LAB, "run", fabric.name, "--build-dir", fabric.build, "--hosts", ",".join(hosts),
                "--port", port, "--time-limit", time_limit_s, "--", "allreduce", "-b", size,
                "-e", size, "-n", iterations, "-w", warmups, "--algorithm", algorithm,
                "--deadline", deadline_s, "--record", self._record.name, *options]
        self.process = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, env=os.environ | (environment or {}))

    def require_running(self) -> None:
        if self.process.poll() is not None:
            raise LabError(f"{self._what} ended: {self.process.stderr.read().strip()}")

    def __enter__(self) -> "Reduction":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()  # it ends its workers
        self.process.wait()
        self.process.stderr.close()
        self._record.close()

    def finish(self) -> "Outcome":
        try:
            _, said = self.process.communicate(timeout=self._time_limit_s + _NEVER_S)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self._what}: 'lab run' did not end") from error
        if self.process.returncode != 0:
            return Outcome(None, " ".join(said.split())[:400] or "no reason given")
        document = json.loads(pathlib.Path(self._record.name).read_text())
        outcome = Outcome(document, "")
        if outcome.wrong:
            raise LabError(f"{self._what}: {outcome.wrong} wrong elements")
        return outcome


class Outcome:
    def __init__(self, document: dict | None, failure: str):
        self.document = document
        self.failure = failure  # empty if it ended well

    @property
    def _row(self) -> dict:
        return self.document["rows"][0]

    @property
    def wrong(self) -> int:
        return sum(self._row[place]["wrong"] for place in ("out_of_place", "in_place"))

    @property
    def times_s(self) -> list[float]:
        """Of the slowest rank, of every timed iteration, out of place and in place."""
        return [ns * 1e-9 for place in ("out_of_place", "in_place")
                for ns in self._row[place]["times_ns"]]

    @property
    def spans_s(self) -> list[tuple[float, float]]:
        """When each of them began and ended, on the clock that all labs of a machine share."""
        began = [ns * 1e-9 for place in ("out_of_place", "in_place")
                 for ns in self._row[place]["started_ns"]]
        return [(at, at + seconds) for at, seconds in zip(began, self.times_s)]

    @property
    def goodputs(self) -> list[float]:
        """Bits per second of the vector, of every timed iteration."""
        return [self._row["size"] * 8 / seconds for seconds in self.times_s]


def reduce(fabric, hosts: list[str], *options, **how) -> Outcome:
    with Reduction(fabric, hosts, *options, **how) as reduction:
        return reduction.finish()
