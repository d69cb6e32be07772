# SPDX-License-Identifier: BSD-3-Clause
"""The same allreduce by one engine or another, on all hosts of a fabric."""

import contextlib

from . import reduction, trees
from .fabric import Fabric

ALGORITHMS = ("canary", "panama", "flare", "netreduce", "roce-ring", "ring")
OF_A_FABRIC = ("canary", "panama", "flare", "netreduce", "ring")
BY_CONTROLLER = ("panama", "flare", "netreduce")  # it configures their jobs in the switches
OF_A_RING = ("netreduce", "roce-ring")  # of a ring of the lab, if one is given
# So nothing but the switches carries what is not looked at afterwards; the hosts' own algorithms refuse it.
WITHOUT_FALLBACK = {"TRIBUTARY_FALLBACK": "error"}
JOB = 1  # of the algorithms with trees; the others draw their number
# Settings that the labs' own configuration lacks.
SETTINGS = {"flare": ["switch.flare.working_memory=8192"],
            "netreduce": ["switch.netreduce.packet_memory=65536"]}


def settings(names: list[str]) -> list[str]:
    """Returns the settings of the fabric in which these algorithms run."""
    return [setting for name in names for setting in SETTINGS.get(name, [])]


class Engine:
    """While the context runs, reductions use `algorithm`, and the trees or the ring that it needs are in place.
    `of_job` has further settings of the job, and `more` further variables of the library."""

    def __init__(self, net: Fabric, algorithm: str, tree_count: int, ring: int | None = None,
                 of_job: dict | None = None, more: dict[str, str] | None = None):
        self._net, self._algorithm, self._tree_count = net, algorithm, tree_count
        self._ring = ring
        self._more = more or {}
        self._of_job = of_job or {}

    def __enter__(self) -> "Engine":
        with contextlib.ExitStack() as stack:
            has_ring = self._ring is not None and self._algorithm in OF_A_RING
            self._environment = {"TRIBUTARY_NETREDUCE_RING": str(self._ring)} if has_ring else {}
            if self._algorithm in BY_CONTROLLER and not has_ring:
                count = self._tree_count if self._algorithm == "panama" else 1
                placed = trees.Trees(self._net, JOB, self._net.hosts, count,
                                     algorithm=self._algorithm, **self._of_job)
                self._environment = stack.enter_context(placed).environment
            self._environment = self._environment | self._more
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *what) -> None:
        self._stack.__exit__(*what)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that give other programs the job."""
        return self._environment

    def start(self, *options, **how) -> reduction.Reduction:
        return self._start(*options, environment=self._environment, **how)

    def load(self, **how) -> reduction.Reduction:
        """Starts one allreduce after the other, without a pause, for what is measured beside them."""
        more = WITHOUT_FALLBACK if self._algorithm in BY_CONTROLLER else {}
        return self._start("-c", 0, iterations=100000, environment=self._environment | more, **how)

    def _start(self, *options, **how) -> reduction.Reduction:
        return reduction.Reduction(self._net, self._net.hosts, *options, algorithm=self._algorithm, **how)

    def reduce(self, *options, **how) -> reduction.Outcome:
        with self.start(*options, **how) as running:
            return running.finish()
