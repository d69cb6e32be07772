# SPDX-License-Identifier: BSD-3-Clause
"""One core against two, each fed from a file of its own."""

from ... import figures
from .. import generator
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import feed

ABOUT = "two cores against one: packets arrive at their owner, or are all handed over"

ONE = "one core"
OWNED = "two cores, packets arrive at their owner"
HANDED_OVER = "two cores, every packet is handed over"

PORT = f"""address = "{generator.SWITCH_ADDRESS}"
[switch.canary]
descriptors = 4096
[[switch.port]]
name = "feed"
address = "10.1.1.1/24"
mac = "{generator.PORT_MAC}"
pcap = {{{{ rx = {{files}}, infinite = true }}}}
{{neighbours}}"""


def sample(setting: Setting, subject: str) -> dict[str, float]:
    load = feed.FEEDS[0]
    count = 1 if subject == ONE else 2
    file = setting.directory / "feed.pcap"
    split = ("--cores", count) if count > 1 else ()
    neighbours = generator.feed(setting, file, "--workers", load.workers, "--blocks",
                                feed.BLOCKS * count, "--interleave", feed.BLOCKS,
                                "--elements", load.elements, *split)
    # File k has the blocks of core k, which polls queue k.
    files = [f"{file.with_suffix('')}.{k}.pcap" for k in range(count)] if split else [str(file)]
    if subject == HANDED_OVER:
        files.reverse()
    switch = PORT.format(files=files, neighbours=neighbours)
    cores = [setting.switch_cpu, setting.other_cpu][:count]
    with tributaryd(setting, switch, cores) as daemon:
        return feed.aggregated(daemon, load, setting, count)


def cases(setting: Setting) -> list[Case]:
    return [Case("feed", subject, lambda subject=subject: sample(setting, subject))
            for subject in (ONE, OWNED, HANDED_OVER)]


def tables(record: Record) -> list[Table]:
    rows = []
    one = record.values("feed", ONE, "contributions_per_second")
    for subject in record.subjects():
        rates = record.values("feed", subject, "contributions_per_second")
        rows.append([subject, figures.spread(rates, 1e6, 2),
                     figures.spread([a / b for a, b in zip(rates, one)], digits=2),
                     record.spread("feed", subject, "cycles_per_packet", digits=0),
                     record.spread("feed", subject, "share_handed_over", 0.01, 0),
                     record.spread("feed", subject, "share_not_handed_over", 0.01, 0),
                     record.spread("feed", subject, "cpu_share", 0.01, 0)])
    return [Table(f"Aggregation fed from files, {feed.FEEDS[0].name}.",
                  ["", "contributions (Mpps)", "of one core", "cycles/packet",
                   "handed over (%)", "dropped before (%)", "of its CPUs (%)"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "cores", "contributions_per_second", 1e6, "contributions (Mpps)")]
