# SPDX-License-Identifier: BSD-3-Clause
"""A switch whose packets another CPU puts into its buffers, as an adapter does by DMA: what its core
takes without the copy that net_pcap makes of every packet."""

import dataclasses
from collections import Counter

from . import daemon, generator
from .reading import Gain
from .setting import Setting


@dataclasses.dataclass
class Fed:
    gain: Gain  # the CPU time is the switch's: without what it waited
    waited_share: float  # of the CPU's, for the feeder; it limits the rates, not the cycles


def measure(setting: Setting, switch: str) -> Fed:
    """The switch's ports with an endless pcap are fed from its files."""
    document = generator.feed_switch(setting, daemon.configuration(setting, switch))
    counters = Counter(packets=document["packets"])
    for row in document["figures"]:
        counters[row["name"]] += row["gain"]
    cpu_seconds, waited = document["cpu_seconds"], document["waited_seconds"]
    return Fed(Gain(document["seconds"], counters, cpu_seconds - waited), waited / cpu_seconds)
