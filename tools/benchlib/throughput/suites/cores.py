# SPDX-License-Identifier: BSD-3-Clause
"""Compares two cores with one, each fed from a file of its own, and with what the machine gives two cores."""

from concurrent.futures import ThreadPoolExecutor

from ... import figures
from .. import benchmark_program, generator, reading
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import feed

ABOUT = ("two cores against one, Canary and Flare: packets arrive at their owner, or are all handed over, "
         "or, of Flare, are added up first")

CASE = "cores"
ONE = "one core"
OWNED = "two cores, packets arrive at their owner"
HANDED_OVER = "two cores, every packet is handed over"
# With this Flare's cores add up the packets that arrive there, and hand over one partial sum of each block.
FLARE_CASE = "cores, Flare"
PARTIAL_SUMS = "two cores, partial sums are handed over"
# Nothing is shared here, not even a cache: where two cores do less than twice as much, the machine is the cause.
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


FLARE_PORT = """[[switch.port]]
name = "feed{worker}"
pcap = {{ rx = {files}, infinite = true }}
"""
FLARE_SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
{{ports}}
[switch.flare]
partial_sums = {{partial_sums}}
{{trees}}"""


# A core of several owns some of the blocks of each job, in whole bursts: as many as it has alone.
FLARE_JOBS = {1: feed.FLARE_JOBS, 2: feed.FLARE_JOBS * 5 // 2}
FLARE_PACKETS = 65536


def flare_sample(setting: Setting, subject: str) -> dict[str, float]:
    load = feed.FEEDS[0]
    count = 1 if subject == ONE else 2
    file = setting.directory / "flare.pcap"
    trees = generator.feed_flare(setting, file, "--workers", load.workers, "--jobs",
                                 FLARE_JOBS[count], "--blocks", feed.FLARE_BLOCKS, "--runs",
                                 feed.FLARE_RUNS, "--window", feed.FLARE_WINDOW, "--elements",
                                 load.elements, "--cores", count)
    ports = []
    for worker in range(load.workers):
        files = [f"{file.with_suffix('')}.{worker * count + core}.pcap" for core in range(count)]
        if subject in (HANDED_OVER, PARTIAL_SUMS):
            files.reverse()
        ports.append(FLARE_PORT.format(worker=worker, files=files))
    switch = FLARE_SWITCH.format(ports="".join(ports), trees=trees,
                                 partial_sums=str(subject != HANDED_OVER).lower())
    cores = [setting.switch_cpu, setting.other_cpu][:count]
    with tributaryd(setting, switch, cores, packets=FLARE_PACKETS) as daemon:
        return flare_figures(daemon, load, setting, count)


def flare_figures(daemon, load: feed.Feed, setting: Setting, cores: int) -> dict[str, float]:
    """Counts what is in a result: a sum that is lost on its way to the other core does not count."""
    def read() -> dict[str, int]:
        return daemon.figures() | daemon.core_counters()

    gain = reading.gain(read, daemon.pid, setting.warm_up_s, setting.seconds, "results_total")
    summed = gain.counters["results_total"] * load.workers
    not_taken = gain.counters["handover_full_packets_total"]
    handed_over = gain.counters["handed_over_packets_total"]
    return {
        "contributions_per_second": summed / gain.seconds,
        "cycles_per_packet": gain.cycles(summed, setting.tsc_hz),
        "share_not_handed_over": not_taken / max(1, not_taken + handed_over),
        "share_handed_over": handed_over / summed,
        "cpu_share": gain.cpu_share(cores),
    }


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
              for subject in (ONE, OWNED, HANDED_OVER)),
            *(Case(FLARE_CASE, subject, lambda subject=subject: flare_sample(setting, subject))
              for subject in (ONE, OWNED, HANDED_OVER, PARTIAL_SUMS))]


def aggregation_table(record: Record, case: str, title: str, subjects: tuple) -> Table:
    rows = []
    one = record.values(case, ONE, "contributions_per_second")
    for subject in subjects:
        rates = record.values(case, subject, "contributions_per_second")
        rows.append([subject, figures.spread(rates, 1e6, 2),
                     figures.spread([a / b for a, b in zip(rates, one)], digits=2),
                     record.spread(case, subject, "cycles_per_packet", digits=0),
                     record.spread(case, subject, "share_handed_over", 0.01, 0),
                     record.spread(case, subject, "share_not_handed_over", 0.01, 0),
                     record.spread(case, subject, "cpu_share", 0.01, 0)])
    return Table(title, ["", "contributions (Mpps)", "of one core", "cycles/packet",
                         "handed over (%)", "dropped before (%)", "of its CPUs (%)"], rows)


def tables(record: Record) -> list[Table]:
    alone, both = (record.values(CASE, subject, "elements_per_second")
                   for subject in (KERNEL_ONE, KERNEL_TWO))
    ceiling = [[KERNEL_ONE, figures.spread(alone, 1e9), "1.00"],
               [KERNEL_TWO, figures.spread(both, 1e9),
                figures.spread([two / one for one, two in zip(alone, both)], digits=2)]]
    return [Table("What the machine gives two cores that share nothing.",
                  ["", "G elements/s", "of one core"], ceiling),
            aggregation_table(record, CASE, f"Canary fed from files, {feed.FEEDS[0].name}.",
                              (ONE, OWNED, HANDED_OVER)),
            aggregation_table(record, FLARE_CASE, f"Flare fed from files, {feed.FEEDS[0].name}.",
                              (ONE, OWNED, HANDED_OVER, PARTIAL_SUMS))]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "cores", "contributions_per_second", 1e6, "contributions (Mpps)",
                     [ONE, OWNED, HANDED_OVER])]
