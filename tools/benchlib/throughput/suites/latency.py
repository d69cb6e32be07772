# SPDX-License-Identifier: BSD-3-Clause
"""Measures the latency that one hop adds to a frame, at low load and at high load."""

from lablib import LabError

from ... import figures
from .. import generator
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import memif

ABOUT = "latency added by one hop, at 10 % and 80 % load; beside it testpmd"

LOADS = (10, 80)
LOSS_PERCENT = 0.1  # loss that a search accepts: on a shared machine no rate is without any
ALONE = "generator alone"


def search(setting: Setting) -> float:
    """Returns the highest rate (frames per second) at which nearly all frames come back."""
    trial, precision = ("200ms", 25) if setting.quick else ("1s", 5)
    document = generator.run(setting, "pdr", "plain",
                             *memif.plain(setting, memif.BRIDGED, memif.LARGE), "--loss",
                             LOSS_PERCENT, "--trial", trial, "--precision", precision)
    if document["best"] is None:
        raise LabError(f"no rate came through with a loss of {LOSS_PERCENT} % or less; "
                       "is the machine busy?")
    return document["best"]["done_per_second"]


def highest_rate(setting: Setting) -> float:
    """Returns the highest rate that both switches can forward, so that they are compared at the same rates."""
    with memif.switch(setting, memif.BRIDGE):
        ours = search(setting)
    with memif.forwarder(setting, "io"):
        theirs = search(setting)
    return min(ours, theirs)


def figures_of(trial: dict) -> dict[str, float]:
    latency = trial["latency"]
    return {"rate": trial["packets_per_second"], "loss": trial["loss"],
            **{name: latency[name] for name in ("p50_us", "p99_us", "p99_9_us")}}


def delayed(setting: Setting, rate: float) -> dict[str, float]:
    """Returns the latency of frames that pass the running switch."""
    return figures_of(generator.measure(
        setting, "plain", *memif.plain(setting, memif.BRIDGED, memif.LARGE), "--rate",
        f"{rate:.0f}pps"))


def through_tributaryd(setting: Setting, rate: float, idle: str) -> dict[str, float]:
    with memif.switch(setting, memif.BRIDGE, idle):
        return delayed(setting, rate)


def through_testpmd(setting: Setting, rate: float) -> dict[str, float]:
    with memif.forwarder(setting, "io"):
        return delayed(setting, rate)


def alone(setting: Setting, rate: float) -> dict[str, float]:
    return figures_of(generator.measure(setting, "plain", "--port", "ring=r0", "--size",
                                        memif.LARGE, *memif.FLOWS, "--rate", f"{rate:.0f}pps"))


def cases(setting: Setting) -> list[Case]:
    highest = highest_rate(setting)
    found = []
    for load in LOADS:
        name, rate = f"{load} %", highest * load / 100
        found += [
            Case(name, "testpmd", lambda rate=rate: through_testpmd(setting, rate)),
            Case(name, "tributaryd, poll",
                 lambda rate=rate: through_tributaryd(setting, rate, "poll")),
            Case(name, "tributaryd, adaptive",
                 lambda rate=rate: through_tributaryd(setting, rate, "adaptive")),
            Case(name, ALONE, lambda rate=rate: alone(setting, rate)),
        ]
    return found


def added(record: Record, case: str, subject: str, figure: str) -> list[float]:
    """Returns what the switch adds to the latency of the generator alone, run by run."""
    return [through - without for through, without in zip(
        record.values(case, subject, figure), record.values(case, ALONE, figure))]


def tables(record: Record) -> list[Table]:
    rows = []
    for case in record.cases():
        for subject in record.subjects():
            row = [case, subject, record.spread(case, subject, "rate", 1e6, 3)]
            for figure in ("p50_us", "p99_us"):
                row.append(record.spread(case, subject, figure))
                row.append("-" if subject == ALONE else
                           figures.spread(added(record, case, subject, figure)))
            rows.append([*row, record.spread(case, subject, "loss", 0.01, 3)])
    return [Table("One hop through memif, frames of 1,100 bytes, L2; load is of the highest rate "
                  f"that both switches forward with a loss below {LOSS_PERCENT} %. Added: to what "
                  "the generator takes by itself.",
                  ["load", "switch", "rate (Mpps)", "p50 (us)", "p50 added", "p99 (us)",
                   "p99 added", "loss (%)"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, f"latency-{name}", f"{name}_us", 1, f"{name} (us)", logarithmic=True)
            for name in ("p50", "p99")]
