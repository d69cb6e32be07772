# SPDX-License-Identifier: BSD-3-Clause
"""Measures a switch with the generator on the other CPU and shared memory between them, beside testpmd."""

import contextlib
import time
from collections.abc import Iterator

from ... import figures
from .. import generator, processes
from ..daemon import Daemon, tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from ..testpmd import testpmd

ABOUT = "plain L2, plain L3 and aggregation through memif; beside them testpmd"

LARGE = 1104  # 1,100 bytes and the check sequence
SMALL = 64
L2 = "L2, 1100 bytes"
AGGREGATION = "aggregation, 1 KiB"
FLOWS = ("--flows", 64, "--hosts", 8)

BRIDGE = """[[switch.port]]
name = "a"
memif = "{directory}/a.sock"
memif_role = "server"
[[switch.port]]
name = "b"
memif = "{directory}/b.sock"
memif_role = "server"
"""

ROUTER = """[[switch.port]]
name = "a"
address = "10.1.1.1/24"
mac = "02:00:00:01:00:01"
memif = "{directory}/a.sock"
memif_role = "server"
[[switch.port]]
name = "b"
address = "10.1.2.1/24"
mac = "02:00:00:01:00:02"
memif = "{directory}/b.sock"
memif_role = "server"
"""

REDUCER = f"""address = "{generator.SWITCH_ADDRESS}"
[switch.canary]
descriptors = 4096
[[switch.port]]
name = "a"
address = "10.1.1.1/24"
mac = "{generator.PORT_MAC}"
memif = "{{directory}}/a.sock"
memif_role = "server"
"""

# Frames go to the router, whose MAC address is asked for, or to testpmd, which answers no ARP request.
ROUTED = ("a:address=10.1.1.2,gateway=10.1.1.1", "b:address=10.1.2.2,gateway=10.1.2.1")
REWRITTEN = ("a:address=10.1.1.2,gateway-mac=02:00:00:01:00:01",
             "b:address=10.1.2.2,gateway-mac=02:00:00:01:00:02")
REDUCED = ("a:address=10.1.1.2,gateway=10.1.1.1",)
BRIDGED = ("a:address=10.1.1.2", "b:address=10.1.1.130")


def ports(setting: Setting, places: tuple[str, ...]) -> list[str]:
    """Returns options of the generator, whose ports are clients of the switch's sockets."""
    found = []
    for place in places:
        name, _, rest = place.partition(":")
        found += ["--port", f"memif={setting.directory}/{name}.sock,role=client,{rest}"]
    return found


def plain(setting: Setting, places: tuple[str, ...], size: int, *options) -> list:
    """Returns options of one direction: in by the first port of the switch, out by the second."""
    return [*ports(setting, places), "--path", "0:1", "--size", size, *FLOWS, *options]


@contextlib.contextmanager
def switch(setting: Setting, body: str, idle: str = "poll") -> Iterator[Daemon]:
    with tributaryd(setting, body.format(directory=setting.directory), idle=idle) as daemon:
        yield daemon


@contextlib.contextmanager
def forwarder(setting: Setting, mode: str, sockets: str = "ab"):
    """Runs testpmd; with a single port it sends everything back."""
    devices = [f"net_memif{i},role=server,id=0,socket={setting.directory}/{name}.sock,"
               "socket-abstract=no,bsize=2048" for i, name in enumerate(sockets)]
    with testpmd(setting, mode, devices) as program:
        yield program.pid


def forwarded(setting: Setting, arguments: list, pid: int | None = None) -> dict[str, float]:
    """Counts frames that came back; the switch handles each twice, receiving and sending it."""
    trial, share = measured(setting, "plain", arguments, pid)
    return {"handled_per_second": 2 * trial["done_per_second"],
            "on_the_way": trial["done_per_second"] * trial["latency"]["mean_us"] * 1e-6,
            "line_bits_per_second": trial["line_bits_per_second"], "loss": trial["loss"], **share}


def reduced(setting: Setting, port_options: list[str], pid: int | None = None) -> dict[str, float]:
    """Counts packets that the switch received (contributions, answers of leaders) and sent (sums, results)."""
    trial, share = measured(setting, "canary", [*port_options, "--workers", 8, "--blocks", 64,
                                                "--elements", 256], pid)
    counted = trial["figures"]
    handled = (trial["packets"] + counted["answers_sent"] + counted["sums_received"]
               + counted["results_received"])
    return {"handled_per_second": handled / trial["seconds"],
            "contributions_per_second": trial["packets_per_second"],
            "sums_per_block": counted["sums_received"] / trial["done"], "loss": trial["loss"],
            **share}


def measured(setting: Setting, kind: str, arguments: list, pid: int | None):
    """Returns the generator's trial, and the share of its CPU that the switch had meanwhile."""
    if pid is None:
        return generator.measure(setting, kind, *arguments), {}
    start, before = time.monotonic(), processes.cpu_seconds(pid)
    trial = generator.measure(setting, kind, *arguments)
    used = processes.cpu_seconds(pid) - before
    return trial, {"cpu_share": used / (time.monotonic() - start)}


def both(setting: Setting, case: str, body: str, places: tuple[str, ...], size: int, mode: str,
         testpmd_places: tuple[str, ...]) -> list[Case]:
    """Returns cases of frames of one size through either switch, and inside the generator."""
    def ours() -> dict[str, float]:
        with switch(setting, body) as daemon:
            return forwarded(setting, plain(setting, places, size), daemon.pid)

    def theirs() -> dict[str, float]:
        with forwarder(setting, mode) as pid:
            return forwarded(setting, plain(setting, testpmd_places, size), pid)

    def alone() -> dict[str, float]:
        return forwarded(setting, ["--port", "ring=r0", "--size", size, *FLOWS])

    return [Case(case, "tributaryd", ours), Case(case, "testpmd", theirs),
            Case(case, "generator alone", alone)]


def aggregation(setting: Setting) -> list[Case]:
    """Returns cases of aggregation; testpmd sends every packet back, so that the leader adds up all."""
    def ours() -> dict[str, float]:
        with switch(setting, REDUCER) as daemon:
            return reduced(setting, ports(setting, REDUCED), daemon.pid)

    def theirs() -> dict[str, float]:
        with forwarder(setting, "io", "a") as pid:
            return reduced(setting, ports(setting, ("a:address=10.1.1.2",)), pid)

    def alone() -> dict[str, float]:
        return reduced(setting, ["--port", "ring=r0"])

    return [Case(AGGREGATION, "tributaryd", ours), Case(AGGREGATION, "testpmd", theirs),
            Case(AGGREGATION, "generator alone", alone)]


def cases(setting: Setting) -> list[Case]:
    return [*both(setting, L2, BRIDGE, BRIDGED, LARGE, "io", BRIDGED),
            *aggregation(setting),
            *both(setting, "L3, 1100 bytes", ROUTER, ROUTED, LARGE, "mac", REWRITTEN),
            *both(setting, "L3, 64 bytes", ROUTER, ROUTED, SMALL, "mac", REWRITTEN)]


def row(record: Record, title: str, case: str, beside: str) -> list[str]:
    """Returns the row of a case, beside testpmd in the same case or another."""
    ours = record.values(case, "tributaryd", "handled_per_second")
    theirs = record.values(beside, "testpmd", "handled_per_second")
    return [title, figures.spread(ours, 1e6, 2), figures.spread(theirs, 1e6, 2),
            figures.spread([a / b for a, b in zip(ours, theirs)], digits=2),
            record.spread(case, "generator alone", "handled_per_second", 1e6, 2),
            record.spread(case, "tributaryd", "on_the_way", digits=0),
            record.spread(beside, "testpmd", "on_the_way", digits=0),
            record.spread(case, "tributaryd", "cpu_share", 0.01, 0)]


def tables(record: Record) -> list[Table]:
    rows = [row(record, case, case, case) for case in record.cases()]
    rows.append(row(record, f"{AGGREGATION}, beside {L2}", AGGREGATION, L2))
    return [Table("Through memif: packets that the switch received and sent, as the generator saw "
                  "them go and come back.",
                  ["traffic", "tributaryd (Mpps)", "testpmd (Mpps)", "ratio",
                   "generator alone (Mpps)", "frames on the way, tributaryd", "testpmd",
                   "of its CPU (%)"], rows)]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "memif", "handled_per_second", 1e6,
                     "packets received and sent (Mpps)", ["tributaryd", "testpmd"])]
