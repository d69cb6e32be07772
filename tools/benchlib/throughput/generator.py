# SPDX-License-Identifier: BSD-3-Clause
"""Runs tributary-pktgen, which writes feeds and sends traffic through a switch on the other CPU."""

import json
import pathlib

from lablib import LabError

from . import processes, reading
from .setting import Setting

SWITCH_ADDRESS = "10.255.0.1"
PORT_MAC = "02:00:00:01:00:01"
_TIMEOUT_S = 120.0
_LONGER = (1, 5, 25)


def _pktgen(setting: Setting, *arguments, cpus: tuple[int, ...] = ()) -> str:
    argv = processes.pinned(",".join(map(str, cpus or (setting.other_cpu,))),
                            setting.program("tributary-pktgen"), *arguments)
    done = processes.output_of(argv, _TIMEOUT_S)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)}: {done.returncode} {done.stderr.strip()}")
    return done.stdout


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f}ms"


def feed(setting: Setting, file: pathlib.Path, *options, prefix: str = "") -> str:
    """Writes aggregation traffic for a net_pcap port and returns the neighbours that it needs, as [[switch.arp]].
    With the prefix of a network of IPv6 it is between addresses that embed those of IPv4."""
    return _pktgen(setting, "pcap", "canary", "--file", file, "--address", f"{prefix}10.1.1.2",
                   "--gateway-mac", PORT_MAC, "--switch", prefix + SWITCH_ADDRESS, *options)


def feed_panama(setting: Setting, file: pathlib.Path, *options) -> str:
    """Does the same for PANAMA, with a file for each worker, and returns the trees that the switch needs."""
    return _pktgen(setting, "pcap", "panama", "--file", file, *options)


def feed_flare(setting: Setting, file: pathlib.Path, *options) -> str:
    """Does the same for Flare."""
    return _pktgen(setting, "pcap", "flare", "--file", file, *options)


def feed_netreduce(setting: Setting, file: pathlib.Path, *options) -> str:
    """Does the same for NetReduce, and returns the ARP entries and the rings that the switch needs."""
    return _pktgen(setting, "pcap", "netreduce", "--file", file, "--address", "10.1.1.2",
                   "--gateway-mac", PORT_MAC, *options)


def feed_switch(setting: Setting, config: pathlib.Path) -> dict:
    """Runs the switch of `config` on its CPU, feeds it from the other, and returns the JSON document. It repeats
    the run as measure() does."""
    for factor in _LONGER:
        document = json.loads(_pktgen(setting, "feed", "--config", config, "--core",
                                      setting.other_cpu, "--warm-up",
                                      _milliseconds(setting.warm_up_s), "--duration",
                                      _milliseconds(factor * setting.seconds), "--json", "-",
                                      cpus=(setting.switch_cpu, setting.other_cpu)))
        if document["packets"] >= reading.ENOUGH:
            return document
    raise LabError(f"the switch took {document['packets']} packets of its feed, and not "
                   f"{reading.ENOUGH}")


def run(setting: Setting, *arguments) -> dict:
    """Carries out one run, or a search, and returns the JSON document."""
    return json.loads(_pktgen(setting, *arguments, "--core", setting.other_cpu, "--idle", "poll",
                              "--hugepages", "never", "--json", "-", "--quiet"))


def measure(setting: Setting, kind: str, *arguments) -> dict:
    """Returns the only trial of a run, which takes as long as the setting says. Its loss is a figure, since the
    switch is sent more than it can take. On a busy machine the generator may not get to its work in that time;
    such a run says nothing, and is repeated with more time."""
    for factor in _LONGER:
        trial = run(setting, kind, *arguments, "--warm-up", _milliseconds(setting.warm_up_s),
                    "--duration", _milliseconds(factor * setting.seconds),
                    "--send-only")["trials"][0]
        if trial["done"] != 0:
            return trial
    raise LabError(f"nothing of {trial['packets']} packets came back")
