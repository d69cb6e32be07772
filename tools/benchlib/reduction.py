# SPDX-License-Identifier: BSD-3-Clause
"""A run of tributary-bench allreduce on some hosts of a fabric."""

import subprocess

from lablib import LabError
from lablib.bench_run import BenchRun


class Reduction:
    """Runs from its construction on, with one algorithm and one size, or several by a factor up to `largest`. Every
    element is checked, unless the options say `-c 0`; then there is no outcome to finish with."""

    def __init__(self, fabric, hosts: list[str], *options, algorithm: str = "canary",
                 size: str | int = "4M", largest: str | int | None = None, factor: int = 2, iterations: int = 1,
                 warmups: int = 0, **how):
        self._what = f"{algorithm} on {','.join(hosts)}"
        self._run = BenchRun(fabric.name, fabric.build, "-b", size, "-e", largest or size, "-f", factor,
                             "-n", iterations, "-w", warmups, "--algorithm", algorithm, *options,
                             hosts=",".join(hosts), **how)

    def require_running(self) -> None:
        if not self._run.running():
            self._run.end()
            raise LabError(f"{self._what} ended: {self._run.said.strip()}")

    def __enter__(self) -> "Reduction":
        return self

    def __exit__(self, *_) -> None:
        self._run.stop()

    def finish(self) -> "Outcome":
        try:
            code = self._run.end()
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self._what}: 'lab run' did not end") from error
        if code != 0:
            return Outcome(None, " ".join(self._run.said.split())[:400] or "no reason given")
        outcome = Outcome(self._run.document(), "")
        if outcome.carriers:
            return Outcome(None, f"something else has carried it: {', '.join(outcome.carriers)}")
        if outcome.wrong:
            raise LabError(f"{self._what}: {outcome.wrong} wrong elements")
        return outcome


def _placements_of(row: dict) -> list[dict]:
    """Returns the placements: out of place and in place; sparse collectives have only one of these."""
    return [row[place] for place in ("out_of_place", "in_place") if place in row]


class Outcome:
    def __init__(self, document: dict | None, failure: str):
        self.document = document
        self.failure = failure  # empty if it ended well

    @property
    def _row(self) -> dict:
        return self.document["rows"][0]

    @property
    def _placements(self) -> list[dict]:
        return _placements_of(self._row)

    @property
    def carriers(self) -> list[str]:
        """Who did it in place of the algorithm that was asked for, as in `panama(ring)`."""
        return sorted({row["algorithm"] for row in self.document["rows"] if "(" in row["algorithm"]})

    @property
    def wrong(self) -> int:
        return sum(placement["wrong"] for row in self.document["rows"] for placement in _placements_of(row))

    @property
    def size_bits(self) -> float:
        """Bits of the vector."""
        return self._row["size"] * 8

    @property
    def times_s(self) -> list[float]:
        """The time of the slowest rank in every timed iteration, out of place and in place."""
        return [ns * 1e-9 for placement in self._placements for ns in placement["times_ns"]]

    @property
    def times_by_size_s(self) -> dict[int, list[float]]:
        """As times_s, by size where there were several."""
        return {row["size"]: [ns * 1e-9 for placement in _placements_of(row) for ns in placement["times_ns"]]
                for row in self.document["rows"]}

    @property
    def spans_s(self) -> list[tuple[float, float]]:
        """The times at which each iteration began and ended, on the clock that all labs of a machine share."""
        began = [ns * 1e-9 for placement in self._placements for ns in placement["started_ns"]]
        return [(at, at + seconds) for at, seconds in zip(began, self.times_s)]

    @property
    def goodputs(self) -> list[float]:
        """Bits of the vector per second, for every timed iteration."""
        return [self.size_bits / seconds for seconds in self.times_s]


def reduce(fabric, hosts: list[str], *options, **how) -> Outcome:
    with Reduction(fabric, hosts, *options, **how) as reduction:
        return reduction.finish()
