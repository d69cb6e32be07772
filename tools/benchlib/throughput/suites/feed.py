# SPDX-License-Identifier: BSD-3-Clause
"""Measures aggregation by one core, fed from files, so that nothing else has to keep up with the core."""

import dataclasses
import pathlib

from ... import figures
from .. import benchmark_program, generator, no_copy, reading
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from ..testpmd import testpmd

ABOUT = ("aggregation of one core, Canary, PANAMA, NetReduce and Flare, fed from memory by net_pcap, and "
         "without its copy by the other core; beside it testpmd rxonly")

BLOCKS = 64  # all of them in flight: each worker sends its contributions to all, then the results follow
BYTES_PER_ELEMENT = 4
ARITHMETIC = "CRCs and additions"
NO_COPY = "no copy"
# PANAMA's workers have a port and a file each. One burst of a port has two packets of each tree,
# which is what a tree may always have waiting.
PANAMA_JOBS = 16
PANAMA_COLLECTIVE = 4
PANAMA_COLLECTIVES = 11
PANAMA_MEMORY = 128
# Flare's workers have them as well. A burst of a port has two blocks of each job.
FLARE_JOBS = 16
FLARE_BLOCKS = 4
FLARE_RUNS = 10
FLARE_WINDOW = 4
# Five runs: of one message with one packet, and of two messages with as many packets as Canary has in flight.
NETREDUCE_MESSAGES = 3
NETREDUCE_PATH_MTU = 1024

PREFIX = "2001:db8:64::"
SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
{{embedding}}
[switch.canary]
descriptors = 4096
# No block is given up because somebody else had the processor meanwhile. The switch is the leader's
# last hop.
root_timeout = "10s"
age_max = "10s"
[[switch.port]]
name = "feed"
{{address}}
mac = "{generator.PORT_MAC}"
mtu = {{mtu}}
pcap = {{{{ rx = "{{file}}", infinite = true }}}}
{{neighbours}}"""


PANAMA_SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
{{ports}}
[switch.panama]
packet_memory = {PANAMA_MEMORY}
{{trees}}"""

NETREDUCE_SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
[[switch.port]]
name = "feed"
address = "10.1.1.1/24"
mac = "{generator.PORT_MAC}"
mtu = 1500
pcap = {{{{ rx = "{{file}}", infinite = true }}}}
{{rings}}"""

FLARE_SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
{{ports}}
[switch.flare]
{{trees}}"""

WORKER_PORT = """[[switch.port]]
name = "feed{number}"
mtu = {mtu}
pcap = {{ rx = "{file}", infinite = true }}
"""


@dataclasses.dataclass
class Feed:
    workers: int = 8
    elements: int = 256
    blocks: int = BLOCKS  # in the file
    over_ipv6: bool = False  # Canary's

    @property
    def name(self) -> str:
        name = f"{self.workers} workers, {self.elements} floats{', IPv6' if self.over_ipv6 else ''}"
        return name if self.blocks == BLOCKS else f"{name}, {self.blocks} blocks"

    @property
    def mtu(self) -> int:
        return 9000 if self.elements > 350 else 1500

    def write(self, setting: Setting) -> tuple[pathlib.Path, str]:
        """Writes the file, and returns the neighbours that it needs."""
        version = 6 if self.over_ipv6 else 4
        file = setting.directory / f"feed{version}-{self.workers}-{self.elements}-{self.blocks}.pcap"
        neighbours = generator.feed(setting, file, "--workers", self.workers, "--blocks", self.blocks,
                                    "--interleave", BLOCKS, "--elements", self.elements,
                                    "--mtu", self.mtu, prefix=PREFIX if self.over_ipv6 else "")
        return file, neighbours

    def switch(self, setting: Setting) -> str:
        """Writes the file, and returns the configuration with which a switch aggregates it."""
        file, neighbours = self.write(setting)
        embedding, address = (
            (f'embedding_prefix = "{PREFIX}/96"', f'address6 = "{PREFIX}10.1.1.1/120"')
            if self.over_ipv6 else ("", 'address = "10.1.1.1/24"'))
        return SWITCH.format(mtu=self.mtu, file=file, neighbours=neighbours, embedding=embedding,
                             address=address)

    def panama_switch(self, setting: Setting) -> str:
        """Writes the files, and returns the configuration of a switch that is the root of their trees."""
        file = setting.directory / f"panama-{self.workers}-{self.elements}.pcap"
        trees = generator.feed_panama(setting, file, "--workers", self.workers, "--jobs",
                                      PANAMA_JOBS, "--collective", PANAMA_COLLECTIVE,
                                      "--collectives", PANAMA_COLLECTIVES,
                                      "--elements", self.elements, "--mtu", self.mtu)
        return PANAMA_SWITCH.format(ports=self._ports_of_workers(file), trees=trees)

    def flare_switch(self, setting: Setting) -> str:
        """Does the same for Flare."""
        file = setting.directory / f"flare-{self.workers}-{self.elements}.pcap"
        trees = generator.feed_flare(setting, file, "--workers", self.workers, "--jobs", FLARE_JOBS,
                                     "--blocks", FLARE_BLOCKS, "--runs", FLARE_RUNS, "--window",
                                     FLARE_WINDOW, "--elements", self.elements, "--mtu", self.mtu)
        return FLARE_SWITCH.format(ports=self._ports_of_workers(file), trees=trees)

    def _ports_of_workers(self, file: pathlib.Path) -> str:
        return "".join(WORKER_PORT.format(number=worker, mtu=self.mtu,
                                          file=file.with_suffix(f".{worker}.pcap"))
                       for worker in range(self.workers))

    def netreduce_switch(self, setting: Setting) -> str:
        """Writes the file, and returns the configuration of a switch that serves its ring."""
        file = setting.directory / f"netreduce-{self.workers}.pcap"
        rings = generator.feed_netreduce(setting, file, "--workers", self.workers,
                                         "--message-packets", BLOCKS, "--messages",
                                         NETREDUCE_MESSAGES, "--path-mtu", NETREDUCE_PATH_MTU,
                                         "--interleave", BLOCKS)
        return NETREDUCE_SWITCH.format(file=file, rings=rings)


FEEDS = [Feed(), Feed(elements=32), Feed(elements=350), Feed(elements=2048), Feed(workers=2),
         Feed(workers=16), Feed(over_ipv6=True)]
# Files of PANAMA have so many blocks: more than a switch remembers; those of NetReduce and Flare have a
# tenth less. They are compared with Canary with about as many frames, which lie as far from the core.
ENGINES_FEED = Feed(blocks=PANAMA_JOBS * PANAMA_COLLECTIVE * PANAMA_COLLECTIVES)


def aggregated(daemon, feed: Feed, setting: Setting, cores: int = 1) -> dict[str, float]:
    """Returns the figures of the daemon for a feed."""
    def read() -> dict[str, int]:
        return daemon.figures() | daemon.core_counters()

    gain = reading.gain(read, daemon.pid, setting.warm_up_s, setting.seconds,
                        "contributions_total")
    return canary_figures(gain, feed, setting, cores)


def canary_figures(gain: reading.Gain, feed: Feed, setting: Setting,
                   cores: int = 1) -> dict[str, float]:
    packets = gain.counters["contributions_total"] + gain.counters["results_total"]
    not_taken = gain.counters["handover_full_packets_total"]
    contributions = gain.rate("contributions_total")
    return {
        "contributions_per_second": contributions,
        "packets_per_second": packets / gain.seconds,
        "payload_bits_per_second": contributions * feed.elements * BYTES_PER_ELEMENT * 8,
        "cycles_per_packet": gain.cycles(packets, setting.tsc_hz),
        "cycles_per_contribution": gain.cycles(gain.counters["contributions_total"],
                                               setting.tsc_hz),
        # One contribution begins a block and the others join it; all of them end in one result.
        "share_joined": gain.rate("joined_total") / contributions,
        # Packets that the owner has no time for never reach the engine.
        "share_not_handed_over": not_taken / (not_taken + packets),
        "share_handed_over": gain.counters["handed_over_packets_total"] / packets,
        "cpu_share": gain.cpu_share(cores),
    }


def tributaryd_sample(feed: Feed, setting: Setting, idle: str = "poll") -> dict[str, float]:
    with tributaryd(setting, feed.switch(setting), idle=idle) as daemon:
        return aggregated(daemon, feed, setting)


def engine_gain(setting: Setting, switch: str, counted: str) -> reading.Gain:
    with tributaryd(setting, switch) as daemon:
        return reading.gain(daemon.figures, daemon.pid, setting.warm_up_s, setting.seconds, counted)


def tree_figures(gain: reading.Gain, feed: Feed, setting: Setting) -> dict[str, float]:
    contributions = gain.rate("contributions_total")
    return {
        "contributions_per_second": contributions,
        "payload_bits_per_second": contributions * feed.elements * BYTES_PER_ELEMENT * 8,
        "cycles_per_contribution": gain.cycles(gain.counters["contributions_total"],
                                               setting.tsc_hz),
        # The files are in step with each other, so that no worker is left out.
        "results_per_contribution": gain.rate("results_total") / contributions,
        "cpu_share": gain.cpu_share(),
    }


def netreduce_figures(gain: reading.Gain, _feed: Feed, setting: Setting) -> dict[str, float]:
    contributions = gain.rate("gradients_total")
    return {
        "contributions_per_second": contributions,
        "packets_per_second": contributions,
        "payload_bits_per_second": contributions * NETREDUCE_PATH_MTU * 8,
        "cycles_per_contribution": gain.cycles(gain.counters["gradients_total"], setting.tsc_hz),
        # Every packet goes on, with the sum in it.
        "results_per_contribution": gain.rate("results_total") / contributions,
        "cpu_share": gain.cpu_share(),
    }


# By engine: the switch's configuration, the figures of a feed, and the counter of its contributions.
ENGINES = {"Canary": (Feed.switch, canary_figures, "contributions_total"),
           "PANAMA": (Feed.panama_switch, tree_figures, "contributions_total"),
           "NetReduce": (Feed.netreduce_switch, netreduce_figures, "gradients_total"),
           "Flare": (Feed.flare_switch, tree_figures, "contributions_total")}


def engine_sample(engine: str, feed: Feed, setting: Setting) -> dict[str, float]:
    switch, figures_of, counted = ENGINES[engine]
    return figures_of(engine_gain(setting, switch(feed, setting), counted), feed, setting)


def no_copy_sample(engine: str, feed: Feed, setting: Setting) -> dict[str, float]:
    switch, figures_of, _ = ENGINES[engine]
    fed = no_copy.measure(setting, switch(feed, setting))
    # Packets that were received and dropped are part of the cycles, and are not counted.
    return figures_of(fed.gain, feed, setting) | {
        "received_per_second": fed.gain.rate("packets"),
        "waited_share": fed.waited_share}


def testpmd_sample(feed: Feed, setting: Setting) -> dict[str, float]:
    file, _ = feed.write(setting)
    devices = [f"net_pcap0,rx_pcap={file},infinite_rx=1"]
    with testpmd(setting, "rxonly", devices, large=feed.mtu > 1500) as receiver:
        gain = reading.gain(receiver.port_counters, receiver.pid, setting.warm_up_s,
                            setting.seconds, "rx_packets_total")
    packets = gain.counters["rx_packets_total"]
    return {"packets_per_second": packets / gain.seconds,
            "cycles_per_packet": gain.cycles(packets, setting.tsc_hz),
            "cpu_share": gain.cpu_share()}


def arithmetic_sample(feed: Feed, setting: Setting) -> dict[str, float]:
    """Measures the CRCs and additions alone, of packets that are in the cache."""
    rows = benchmark_program.run(
        setting, "arithmetic_bench", f"--benchmark_min_time={setting.seconds / 10:.3f}",
        f"--benchmark_filter=arithmetic/{feed.workers}/{feed.elements}/{feed.blocks}$")
    (row,) = rows.values()
    return {"cycles_per_packet": row["cycles/packet"]}


def subject_of(engine: str, copied: bool) -> str:
    if engine == "Canary":
        return "tributaryd" if copied else NO_COPY
    return engine if copied else f"{engine}, {NO_COPY}"


def cases(setting: Setting) -> list[Case]:
    found = []
    for feed in [*setting.choose(FEEDS), ENGINES_FEED]:
        def add(subject: str, sample, *arguments, feed=feed) -> None:
            found.append(Case(feed.name, subject, lambda: sample(*arguments, feed, setting)))

        add("tributaryd", tributaryd_sample)
        add(NO_COPY, no_copy_sample, "Canary")
        add("testpmd rxonly", testpmd_sample)
        if feed in FEEDS:
            add(ARITHMETIC, arithmetic_sample)
        if feed == ENGINES_FEED:
            for engine in ("PANAMA", "NetReduce", "Flare"):
                add(subject_of(engine, True), engine_sample, engine)
                add(subject_of(engine, False), no_copy_sample, engine)
    return found


def tables(record: Record) -> list[Table]:
    rows = []
    for case in record.cases():
        def ours(figure: str, unit: float = 1.0, digits: int = 1, case=case) -> str:
            return record.spread(case, "tributaryd", figure, unit, digits)

        rows.append([
            case, ours("contributions_per_second", 1e6, 2), ours("packets_per_second", 1e6, 2),
            ours("payload_bits_per_second", 1e9), ours("cycles_per_packet", digits=0),
            record.spread(case, "testpmd rxonly", "packets_per_second", 1e6, 2),
            record.spread(case, "testpmd rxonly", "cycles_per_packet", digits=0),
            record.spread(case, ARITHMETIC, "cycles_per_packet", digits=0),
            ours("cpu_share", 0.01, 0)])
    return [Table("Fed from a file, one core; cycles are of the time-stamp counter, "
                  f"{record.machine['tsc_hz'] * 1e-9:.3f} GHz.",
                  ["feed", "contributions (Mpps)", "packets (Mpps)", "payload (Gbit/s)",
                   "cycles/packet", "testpmd rxonly (Mpps)", "its cycles/packet",
                   "CRCs and additions alone, cycles/packet", "of its CPU (%)"], rows),
            no_copy_table(record), *engine_tables(record)]


def no_copy_table(record: Record) -> Table:
    """Returns the table beside net_pcap; cycles are the switch's, without the time in which it waited."""
    rows = []
    for case in record.cases():
        def ours(figure: str, unit: float = 1.0, digits: int = 1, case=case) -> str:
            return record.spread(case, NO_COPY, figure, unit, digits)

        rows.append([
            case, ours("contributions_per_second", 1e6, 2), ours("packets_per_second", 1e6, 2),
            ours("payload_bits_per_second", 1e9), ours("cycles_per_packet", digits=0),
            record.spread(case, "tributaryd", "cycles_per_packet", digits=0),
            ours("waited_share", 0.01, 0), ours("cpu_share", 0.01, 0)])
    return Table("Fed without a copy, one core; the other one puts the packets into its buffers.",
                 ["feed", "contributions (Mpps)", "packets (Mpps)", "payload (Gbit/s)",
                  "cycles/packet", "fed by net_pcap, cycles/packet", "waited for packets (%)",
                  "of its CPU (%)"], rows)


def engine_tables(record: Record) -> list[Table]:
    """Returns the tables of the engines side by side; cycles leave out the CPU time of other loads."""
    rows = []
    for case in record.cases():
        for copied in (True, False):
            subjects = {engine: subject_of(engine, copied) for engine in ENGINES}
            cycles = {engine: record.values(case, subject, "cycles_per_contribution")
                      for engine, subject in subjects.items()
                      if record.values(case, subject, "cycles_per_contribution")}
            if len(cycles) < 2:
                continue
            for engine, own in cycles.items():
                def ours(figure: str, unit: float = 1.0, digits: int = 1, case=case,
                         subject=subjects[engine]) -> str:
                    return record.spread(case, subject, figure, unit, digits)

                rows.append([
                    case, engine if copied else f"{engine}, {NO_COPY}",
                    ours("contributions_per_second", 1e6, 2),
                    ours("payload_bits_per_second", 1e9),
                    ours("cycles_per_contribution", digits=0),
                    figures.spread([canary / other for canary, other in zip(cycles["Canary"], own)], digits=2),
                    ours("cpu_share", 0.01, 0)])
    return [Table("The engines, fed from files with as many frames, one core.",
                  ["feed", "engine", "contributions (Mpps)", "payload (Gbit/s)",
                   "cycles/contribution", "of Canary's rate, per cycle", "of its CPU (%)"],
                  rows)] if rows else []


def charts(record: Record) -> list[Chart]:
    subjects = ["tributaryd", NO_COPY, "testpmd rxonly"]
    return [Chart.of(record, "feed", "packets_per_second", 1e6, "packets (Mpps)", subjects),
            Chart.of(record, "feed-cycles", "cycles_per_packet", 1, "cycles per packet", subjects)]
