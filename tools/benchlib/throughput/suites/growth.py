# SPDX-License-Identifier: BSD-3-Clause
"""The logical switch without I/O: with what the cost of a packet grows."""

from ... import figures
from .. import benchmark_program
from ..record import Case, Chart, Record, Table
from ..setting import Setting

ABOUT = "cycles per packet by blocks in flight, jobs, ports, routes, stations; without I/O"

PROGRAM = "switch_bench"


def sample(setting: Setting) -> dict[str, float]:
    # Names are FAMILY:VALUE/..., what follows is how Google Benchmark ran it.
    options = ["--benchmark_filter=jobs"] if setting.quick else []
    return {"/".join(name.split("/")[:2]): row["cycles/packet"]
            for name, row in benchmark_program.run(setting, PROGRAM, *options).items()}


def cases(setting: Setting) -> list[Case]:
    return [Case("without I/O", "switch", lambda: sample(setting))]


def families(record: Record) -> dict[str, dict[int, list[float]]]:
    """Cycles per packet, by what grows and how large it is."""
    found: dict[str, dict[int, list[float]]] = {}
    for name in record.samples[0]["figures"]:
        family, _, value = name.partition(":")
        found.setdefault(family, {})[int(value)] = record.values("without I/O", "switch", name)
    return found


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
