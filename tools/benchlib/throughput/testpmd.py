# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own forwarder, beside which tributaryd is measured."""

import contextlib
import json
import os
import shutil
import socket

from lablib import LabError

from . import processes
from .setting import Setting

_MBUFS = 16384
_MBUF_BYTES = 2048 + 128  # with headroom, as tributaryd's
_MBUF_BYTES_LARGE = 16384 + 128
_OVERHEAD_BYTES = 320


class Testpmd:
    def __init__(self, pid: int, telemetry: socket.socket, ports: int):
        self.pid = pid
        self._telemetry = telemetry
        self._ports = ports

    def port_counters(self) -> dict[str, int]:
        """Summed up over all ports."""
        ports = [self._ask(f"/ethdev/stats,{port}")["/ethdev/stats"]
                 for port in range(self._ports)]
        return {"rx_packets_total": sum(port["ipackets"] for port in ports),
                "tx_packets_total": sum(port["opackets"] for port in ports)}

    def _ask(self, question: str) -> dict:
        self._telemetry.send(question.encode())
        return json.loads(self._telemetry.recv(65536))


@contextlib.contextmanager
def testpmd(setting: Setting, mode: str, devices: list[str], *options: str, large: bool = False):
    """Forwards in `mode` between virtual devices; `large` buffers hold frames of 9,000 bytes."""
    if shutil.which("dpdk-testpmd") is None:
        raise LabError("dpdk-testpmd is missing; try: tools/install-packages test")
    mbuf_bytes = _MBUF_BYTES_LARGE if large else _MBUF_BYTES
    megabytes = (_MBUFS * (mbuf_bytes + _OVERHEAD_BYTES) >> 20) + 64
    log = setting.directory / "testpmd.log"
    argv = processes.pinned(
        f"{setting.other_cpu},{setting.switch_cpu}",
        "stdbuf", "-oL", "dpdk-testpmd", "-l", f"{setting.other_cpu},{setting.switch_cpu}",
        "--main-lcore", setting.other_cpu, "--no-huge", "-m", megabytes, "--no-pci",
        "--file-prefix", "testpmd",
        *(word for device in devices for word in ("--vdev", device)), "--",
        "--forward-mode", mode, f"--total-num-mbufs={_MBUFS}", f"--mbuf-size={mbuf_bytes}",
        "--disable-link-check", *options)
    # The EAL keeps its files where systemd would tell it to, so that none is left.
    environment = os.environ | {"RUNTIME_DIRECTORY": str(setting.directory)}
    files = setting.directory / "dpdk" / "testpmd"
    try:
        with processes.running(argv, log, env=environment) as child:
            processes.wait_for(child, log, lambda: "Press enter to exit" in log.read_text())
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as telemetry:
                telemetry.connect(str(files / "dpdk_telemetry.v2"))
                telemetry.recv(65536)  # a greeting
                yield Testpmd(child.pid, telemetry, len(devices))
    finally:
        shutil.rmtree(files, ignore_errors=True)
