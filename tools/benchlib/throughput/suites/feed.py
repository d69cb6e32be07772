# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation fed from a file: what one core does when nothing else has to keep up with it."""

import dataclasses
import pathlib

from .. import generator, reading
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from ..testpmd import testpmd

ABOUT = "aggregation of one core, fed by net_pcap from memory; beside it testpmd rxonly"

BLOCKS = 64  # all of them in flight: each worker sends its part of all, then the results follow
BYTES_PER_ELEMENT = 4

SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
[switch.canary]
descriptors = 4096
[[switch.port]]
name = "feed"
address = "10.1.1.1/24"
mac = "{generator.PORT_MAC}"
mtu = {{mtu}}
pcap = {{{{ rx = "{{file}}", infinite = true }}}}
{{neighbours}}"""


@dataclasses.dataclass
class Feed:
    workers: int = 8
    elements: int = 256

    @property
    def name(self) -> str:
        return f"{self.workers} workers, {self.elements} floats"

    @property
    def mtu(self) -> int:
        return 9000 if self.elements > 350 else 1500

    def write(self, setting: Setting) -> tuple[pathlib.Path, str]:
        """The file, and the [[switch.arp]] entries that it needs."""
        file = setting.directory / f"feed-{self.workers}-{self.elements}.pcap"
        neighbours = generator.feed(setting, file, "--workers", self.workers, "--blocks", BLOCKS,
                                    "--interleave", BLOCKS, "--elements", self.elements,
                                    "--mtu", self.mtu)
        return file, neighbours


FEEDS = [Feed(), Feed(elements=32), Feed(elements=350), Feed(elements=2048), Feed(workers=2),
         Feed(workers=16)]


def aggregated(daemon, feed: Feed, setting: Setting, cores: int = 1) -> dict[str, float]:
    """What the daemon makes of a feed."""
    def read() -> dict[str, int]:
        return daemon.figures() | daemon.core_counters()

    gain = reading.gain(read, daemon.pid, setting.warm_up_s, setting.seconds)
    packets = gain.counters["contributions_total"] + gain.counters["results_total"]
    not_taken = gain.counters["handover_full_packets_total"]
    contributions = gain.rate("contributions_total")
    return {
        "contributions_per_second": contributions,
        "packets_per_second": packets / gain.seconds,
        "payload_bits_per_second": contributions * feed.elements * BYTES_PER_ELEMENT * 8,
        "cycles_per_packet": gain.cycles(packets, setting.tsc_hz),
        # Of each block one contribution begins it and the others join; both end in one result.
        "share_joined": gain.rate("joined_total") / contributions,
        # What the owner has no time for never reaches the engine.
        "share_not_handed_over": not_taken / (not_taken + packets),
        "share_handed_over": gain.counters["handed_over_packets_total"] / packets,
        "cpu_share": gain.cpu_share(cores),
    }


def tributaryd_sample(feed: Feed, setting: Setting, idle: str = "poll") -> dict[str, float]:
    file, neighbours = feed.write(setting)
    switch = SWITCH.format(mtu=feed.mtu, file=file, neighbours=neighbours)
    with tributaryd(setting, switch, idle=idle) as daemon:
        return aggregated(daemon, feed, setting)


def testpmd_sample(feed: Feed, setting: Setting) -> dict[str, float]:
    file, _ = feed.write(setting)
    devices = [f"net_pcap0,rx_pcap={file},infinite_rx=1"]
    with testpmd(setting, "rxonly", devices, large=feed.mtu > 1500) as receiver:
        gain = reading.gain(receiver.port_counters, receiver.pid, setting.warm_up_s,
                            setting.seconds)
    packets = gain.counters["rx_packets_total"]
    return {"packets_per_second": packets / gain.seconds,
            "cycles_per_packet": gain.cycles(packets, setting.tsc_hz),
            "cpu_share": gain.cpu_share()}


def cases(setting: Setting) -> list[Case]:
    found = []
    for feed in setting.choose(FEEDS):
        found.append(Case(feed.name, "tributaryd",
                          lambda feed=feed: tributaryd_sample(feed, setting)))
        found.append(Case(feed.name, "testpmd rxonly",
                          lambda feed=feed: testpmd_sample(feed, setting)))
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
            ours("cpu_share", 0.01, 0)])
    return [Table("Fed from a file, one core; cycles are of the time-stamp counter, "
                  f"{record.machine['tsc_hz'] * 1e-9:.3f} GHz.",
                  ["feed", "contributions (Mpps)", "packets (Mpps)", "payload (Gbit/s)",
                   "cycles/packet", "testpmd rxonly (Mpps)", "its cycles/packet",
                   "of its CPU (%)"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "feed", "packets_per_second", 1e6, "packets (Mpps)"),
            Chart.of(record, "feed-cycles", "cycles_per_packet", 1, "cycles per packet")]
