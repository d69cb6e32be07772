# SPDX-License-Identifier: BSD-3-Clause
"""One core against two, each fed from a file of its own; beside it what the machine gives two."""

from concurrent.futures import ThreadPoolExecutor

from ... import figures
from .. import benchmark_program, generator
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import feed

ABOUT = "two cores against one: packets arrive at their owner, or are all handed over"

CASE = "cores"
ONE = "one core"
OWNED = "two cores, packets arrive at their owner"
HANDED_OVER = "two cores, every packet is handed over"
# Nothing is shared here, not even a cache: what two cores lack of twice as much, the machine keeps.
KERNEL_ONE = "additions in cache, one core"
KERNEL_TWO = "additions in cache, two cores"

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


def additions(setting: Setting, count: int) -> dict[str, float]:
    def rate(cpu: int) -> float:
        rows = benchmark_program.run(
            setting, "kernels_bench", "--benchmark_filter=accumulate/f32/sum/packet/256$",
            f"--benchmark_min_time={setting.seconds}", cpu=cpu)
        return sum(row["items_per_second"] for row in rows.values())

    with ThreadPoolExecutor() as pool:
        rates = pool.map(rate, [setting.switch_cpu, setting.other_cpu][:count])
        return {"elements_per_second": sum(rates)}


def cases(setting: Setting) -> list[Case]:
    return [Case(CASE, KERNEL_ONE, lambda: additions(setting, 1)),
            Case(CASE, KERNEL_TWO, lambda: additions(setting, 2)),
            *(Case(CASE, subject, lambda subject=subject: sample(setting, subject))
              for subject in (ONE, OWNED, HANDED_OVER))]


def tables(record: Record) -> list[Table]:
    rows = []
    one = record.values(CASE, ONE, "contributions_per_second")
    for subject in (ONE, OWNED, HANDED_OVER):
        rates = record.values(CASE, subject, "contributions_per_second")
        rows.append([subject, figures.spread(rates, 1e6, 2),
                     figures.spread([a / b for a, b in zip(rates, one)], digits=2),
                     record.spread(CASE, subject, "cycles_per_packet", digits=0),
                     record.spread(CASE, subject, "share_handed_over", 0.01, 0),
                     record.spread(CASE, subject, "share_not_handed_over", 0.01, 0),
                     record.spread(CASE, subject, "cpu_share", 0.01, 0)])
    alone, both = (record.values(CASE, subject, "elements_per_second")
                   for subject in (KERNEL_ONE, KERNEL_TWO))
    ceiling = [[KERNEL_ONE, figures.spread(alone, 1e9), "1.00"],
               [KERNEL_TWO, figures.spread(both, 1e9),
                figures.spread([two / one for one, two in zip(alone, both)], digits=2)]]
    return [Table("What the machine gives two cores that share nothing.",
                  ["", "G elements/s", "of one core"], ceiling),
            Table(f"Aggregation fed from files, {feed.FEEDS[0].name}.",
                  ["", "contributions (Mpps)", "of one core", "cycles/packet",
                   "handed over (%)", "dropped before (%)", "of its CPUs (%)"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "cores", "contributions_per_second", 1e6, "contributions (Mpps)",
                     [ONE, OWNED, HANDED_OVER])]
