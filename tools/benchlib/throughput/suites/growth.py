# SPDX-License-Identifier: BSD-3-Clause
"""Measures the logical switch without I/O: how the cycles of a packet grow with tables, ports and blocks."""

from ... import figures
from .. import benchmark_program
from ..record import Case, Chart, Record, Table
from ..setting import Setting

ABOUT = "cycles per packet by blocks in flight, jobs, ports, routes, stations; without I/O"

PROGRAM = "switch_bench"


FAMILIES = ["aggregation/jobs", "aggregation/in_flight", "aggregation/ports", "panama/in_flight",
            "netreduce/in_flight", "flare/in_flight", "bridge/ports", "router/ports",
            "bridge/stations", "router/routes", "router/stations"]


def sample(setting: Setting, family: str) -> dict[str, float]:
    """Returns cycles per packet by the value of what grows."""
    # Names are FAMILY:VALUE/...; the rest says how Google Benchmark ran it.
    rows = benchmark_program.run(setting, PROGRAM, f"--benchmark_filter=^{family}:")
    return {name.removeprefix(f"{family}:").partition("/")[0]: row["cycles/packet"]
            for name, row in rows.items()}


def cases(setting: Setting) -> list[Case]:
    """Returns one case for each family, so that a case takes a second, in which other loads change little."""
    return [Case(family, "switch", lambda family=family: sample(setting, family))
            for family in setting.choose(FAMILIES)]


def families(record: Record) -> dict[str, dict[int, list[float]]]:
    """Returns cycles per packet, by the family and its value."""
    return {sample["case"]: {int(value): record.values(sample["case"], "switch", value)
                             for value in sample["figures"]} for sample in record.samples}


def tables(record: Record) -> list[Table]:
    rows = []
    for family, by_value in families(record).items():
        smallest, largest = min(by_value), max(by_value)
        growth = [max(run) / run[0] for run in zip(*(by_value[value]
                                                     for value in sorted(by_value)))]
        rows.append([family, f"{smallest} to {largest}",
                     figures.spread(by_value[smallest], digits=0),
                     figures.spread(by_value[largest], digits=0), figures.spread(growth, digits=2)])
    return [Table("Cycles per packet of a logical switch, without I/O.",
                  ["what grows", "from, to", "cycles/packet, smallest", "largest",
                   "the highest of all, of the smallest's"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart("growth-" + family.replace("/", "-"), family, "cycles per packet",
                  sorted(by_value), {"switch": [by_value[value] for value in sorted(by_value)]})
            for family, by_value in families(record).items()]
