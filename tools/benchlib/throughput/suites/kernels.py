# SPDX-License-Identifier: BSD-3-Clause
"""Measures the reduction kernels beside a loop that is unrolled by hand."""

from ... import figures
from .. import benchmark_program
from ..record import Case, Chart, Record, Table
from ..setting import Setting

ABOUT = "elements per second of every type and operator; beside them a hand-unrolled loop"

PROGRAM = "kernels_bench"
COUNT = "352"  # elements in the table: as many as fit a frame of 1,500 bytes


def sample(setting: Setting) -> dict[str, float]:
    options = [f"--benchmark_min_time={setting.seconds / 30:.3f}"]
    if setting.quick:
        options.append("--benchmark_filter=f32/sum")
    return {name: row["items_per_second"]
            for name, row in benchmark_program.run(setting, PROGRAM, *options).items()}


def cases(setting: Setting) -> list[Case]:
    return [Case("kernels", "switch", lambda: sample(setting))]


def rates(record: Record, *name: str) -> list[float]:
    """Returns the rates by KERNEL, TYPE, OPERATOR, PLACE, ELEMENTS."""
    return record.values("kernels", "switch", "/".join(name))


def operators(record: Record) -> dict[str, list[str]]:
    """Returns the operators by type, in the order of the program."""
    found: dict[str, list[str]] = {}
    for name in record.samples[0]["figures"]:
        kernel, kind, *rest = name.split("/")
        if kernel == "accumulate" and rest[1:] == ["packet", COUNT]:
            found.setdefault(kind, []).append(rest[0])
    return found


def by_hand(record: Record) -> Table:
    rows = []
    for name in record.samples[0]["figures"]:
        kernel, *rest = name.split("/")
        if kernel == "hand":
            ours, hand = rates(record, "accumulate", *rest), rates(record, *name.split("/"))
            rows.append([f"{rest[-1]}, {rest[-2]}", figures.spread(ours, 1e9, 2),
                         figures.spread(hand, 1e9, 2),
                         figures.spread([a / b for a, b in zip(ours, hand)], digits=2)])
    return Table("f32 sum beside a loop unrolled by hand, the same memory, in cache.",
                 ["elements, place", "kernel (G/s)", "by hand (G/s)", "ratio"], rows)


def tables(record: Record) -> list[Table]:
    by_type = operators(record)
    names = list(dict.fromkeys(name for found in by_type.values() for name in found))
    base = rates(record, "accumulate", "f32", "sum", "packet", COUNT)
    rows = []
    for kind in by_type:
        sums = rates(record, "accumulate", kind, "sum", "packet", COUNT)
        rows.append([kind, *(figures.spread(
            rates(record, "accumulate", kind, name, "packet", COUNT), 1e9) for name in names),
                     figures.spread([a / b for a, b in zip(sums, base)], digits=2)])
    return [by_hand(record),
            Table(f"All kernels, {COUNT} elements behind the headers of a packet, in cache: "
                  "elements per second (G/s).", ["type", *names, "sum, of f32's"], rows)]


def charts(record: Record) -> list[Chart]:
    kinds = list(operators(record))
    return [Chart("kernels", f"sum, {COUNT} elements", "elements per second (G/s)", kinds,
                  {"sum": [[rate * 1e-9 for rate in rates(record, "accumulate", kind, "sum",
                                                          "packet", COUNT)] for kind in kinds]})]
