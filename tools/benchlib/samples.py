# SPDX-License-Identifier: BSD-3-Clause
"""The samples that tools/experiment-congestion measures, writes and plots."""

import dataclasses
import statistics


@dataclasses.dataclass
class Sample:
    """One run: one policy on one allocation of hosts."""

    policy: str
    share: float  # of the hosts that reduce
    congested: bool
    seed: int
    reducers: list[str]
    goodputs: list[float]  # bit/s
    utilisation: dict[str, float]  # by "switch:port"
    failure: str

    @property
    def fabric_links(self) -> list[float]:
        """The links between leaves and spines; each direction is a link."""
        return [value for port, value in self.utilisation.items()
                if port.startswith("spine") or ":spine" in port]


def select(samples: list[Sample], policy: str, share: float, congested: bool) -> list[Sample]:
    return [s for s in samples if (s.policy, s.share, s.congested) == (policy, share, congested)]


def goodput_by_seed(samples: list[Sample]) -> dict[int, float]:
    return {s.seed: statistics.median(s.goodputs) for s in samples if s.goodputs}
