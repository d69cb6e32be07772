# SPDX-License-Identifier: BSD-3-Clause
"""Compares adaptive sleeping with polling: throughput, and latency at load."""

from ... import figures
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import feed, latency, memif

ABOUT = "adaptive sleeping against polling: throughput, and latency at 80 % load"

LOAD = 0.8
FEED = f"aggregation, {feed.FEEDS[0].name}, from a file (Mpps)"
BRIDGE = f"{memif.L2}, through memif (Mpps)"
REDUCTION = f"{memif.AGGREGATION}, through memif (Mpps)"
P50 = "p50 at 80 % load (us)"
P99 = "p99 at 80 % load (us)"

# For each row: the case, its figure and the figure's unit.
ROWS = {FEED: (FEED, "packets_per_second", 1e6),
        BRIDGE: (BRIDGE, "handled_per_second", 1e6),
        REDUCTION: (REDUCTION, "handled_per_second", 1e6),
        P50: (P50, "p50_us", 1),
        P99: (P50, "p99_us", 1)}


def bridged(setting: Setting, idle: str) -> dict[str, float]:
    with memif.switch(setting, memif.BRIDGE, idle) as daemon:
        return memif.forwarded(setting, memif.plain(setting, memif.BRIDGED, memif.LARGE),
                               daemon.pid)


def reduced(setting: Setting, idle: str) -> dict[str, float]:
    with memif.switch(setting, memif.REDUCER, idle) as daemon:
        return memif.reduced(setting, memif.ports(setting, memif.REDUCED), daemon.pid)


def cases(setting: Setting) -> list[Case]:
    with memif.switch(setting, memif.BRIDGE):
        rate = latency.search(setting) * LOAD
    found = []
    for idle in ("poll", "adaptive"):
        found += [
            Case(FEED, idle,
                 lambda idle=idle: feed.tributaryd_sample(feed.FEEDS[0], setting, idle)),
            Case(BRIDGE, idle, lambda idle=idle: bridged(setting, idle)),
            Case(REDUCTION, idle, lambda idle=idle: reduced(setting, idle)),
            Case(P50, idle,
                 lambda idle=idle: latency.through_tributaryd(setting, rate, idle)),
        ]
    return found


def tables(record: Record) -> list[Table]:
    rows = []
    for title, (case, figure, unit) in ROWS.items():
        poll, adaptive = (record.values(case, idle, figure) for idle in ("poll", "adaptive"))
        rows.append([title, figures.spread(poll, unit, 2), figures.spread(adaptive, unit, 2),
                     figures.spread([a / b for a, b in zip(adaptive, poll)], digits=2)])
    return [Table("Sleeping when nothing comes, against never sleeping.",
                  ["", "poll", "adaptive", "adaptive / poll"], rows)]


def charts(record: Record) -> list[Chart]:
    series = {}
    for idle in ("poll", "adaptive"):
        series[idle] = []
        for case, figure, _ in ROWS.values():
            base = record.median(case, "poll", figure)
            series[idle].append([value / base for value in record.values(case, idle, figure)])
    return [Chart("idle", "adaptive sleeping", "of polling", list(ROWS), series)]
