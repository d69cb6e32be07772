# SPDX-License-Identifier: BSD-3-Clause
"""Measures a switch whose packets another CPU puts into its buffers, as an adapter does by DMA, so that its core does
not copy every packet as net_pcap does."""

import dataclasses
from collections import Counter

from . import daemon, generator
from .reading import Gain
from .setting import Setting


@dataclasses.dataclass
class Fed:
    gain: Gain  # CPU time of the switch, without the time in which it waited
    waited_share: float  # for the feeder, as a share of the CPU time; it limits the rates, not the cycles


def measure(setting: Setting, switch: str) -> Fed:
    """Feeds the switch's ports with an endless pcap from their files."""
    document = generator.feed_switch(setting, daemon.configuration(setting, switch))
    counters = Counter(packets=document["packets"])
    for row in document["figures"]:
        counters[row["name"]] += row["gain"]
    cpu_seconds, waited = document["cpu_seconds"], document["waited_seconds"]
    return Fed(Gain(document["seconds"], counters, cpu_seconds - waited), waited / cpu_seconds)
