# SPDX-License-Identifier: BSD-3-Clause
"""Frames that nobody takes in time are lost, and counted, by whatever kind of port they come."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

import support

SENT = 4000
# Of each port: how it is attached, and the interface from which frames come to it.
PORTS = {
    "packet": ('interface = "packet0"', "packet1"),
    "xdp": ('interface = "xdp0"\ndriver = "af_xdp"', "xdp1"),
    "tap": ('tap = "tap0"', "tap0"),
    "wide": ('interface = "wide0"\nmtu = 1600', "wide1"),
}
CONFIG = """
version = 1
[daemon]
hugepages = "never"
packets = 4096
control = "{directory}/control.sock"
log_level = "warning"
[[switch]]
name = "s"
id = 1
"""
# Nobody but the test is to send anything.
PREPARE = """
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
for pair in packet xdp wide; do
  ip link add ${pair}0 type veth peer name ${pair}1
  ip link set ${pair}0 up; ip link set ${pair}1 up
done
ip link set wide1 mtu 1600
exec "$@"
"""
SEND = """
import socket, sys
interface, count, payload_bytes = sys.argv[1], *map(int, sys.argv[2:])
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as line:
    line.bind((interface, 0))
    for number in range(count):
        try:
            line.send(bytes.fromhex("020000000099" "020000000001" "88b5") + number.to_bytes(payload_bytes, "big"))
        except OSError:
            pass  # the interface has counted it
"""


class Losses(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        file = self.directory / "losses.toml"
        file.write_text(CONFIG.format(directory=self.directory) + "".join(
            f'[[switch.port]]\nname = "{name}"\n{attachment}\n'
            for name, (attachment, _) in PORTS.items()))
        self.daemon = subprocess.Popen(
            [*support.OWNED, "unshare", "--net", "sh", "-ec", PREPARE, "sh", support.DAEMON, "--config", file],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.kill)
        support.until(lambda: self.ctl("status").returncode == 0, what="the daemon's start")

    def ctl(self, *arguments) -> subprocess.CompletedProcess:
        return support.ctl("--socket", self.directory / "control.sock", *arguments)

    def rows(self, what: str) -> list[dict]:
        return json.loads(self.ctl(what, "--json").stdout)

    def inside(self, *argv) -> str:
        """In the daemon's network namespace."""
        done = support.run("nsenter", "--net", f"--target={self.daemon.pid}", *argv)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def dropped_by_sender(self, interface: str) -> int:
        """A TAP is at the same time the port's, which has counted them."""
        link = json.loads(self.inside("ip", "--json", "--statistics", "link", "show", interface))
        return 0 if interface == "tap0" else link[0]["stats64"]["tx"]["dropped"]

    def counters(self, port: str) -> dict:
        return next(row["counters"] for row in self.rows("port") if row["port"] == port)

    def test_each_frame_is_received_or_missed(self):
        self.daemon.send_signal(signal.SIGSTOP)
        for _, interface in PORTS.values():
            self.inside("python3", "-c", SEND, interface, SENT, 46)
        self.daemon.send_signal(signal.SIGCONT)
        for port, (_, interface) in PORTS.items():
            with self.subTest(port=port):
                def seen(port=port, interface=interface) -> list[int]:
                    counted = self.counters(port)
                    return [counted["rx_packets_total"], counted["rx_missed_packets_total"],
                            self.dropped_by_sender(interface)]

                support.until(lambda: sum(seen()) >= SENT, what=f"{port}: {seen()}, the count")
                received, missed, _ = seen()
                self.assertEqual(sum(seen()), SENT, seen())
                self.assertGreaterEqual(received, 512 if "tap" != port else 1)
                self.assertGreater(missed, 0)
                self.assertEqual(
                    [row["packets_total"] for row in self.rows("drops")
                     if (row["scope"], row["where"], row["reason"]) == ("port", f"s:{port}", "rx_missed")],
                    [missed])

    def test_a_frame_that_is_longer_than_the_next_port_s_mtu_is_counted_there(self):
        def count(payload_bytes: int) -> list[int]:
            before = self.counters("wide")["rx_packets_total"]
            self.inside("python3", "-c", SEND, "wide1", 100, payload_bytes)
            support.until(lambda: self.counters("wide")["rx_packets_total"] == before + 100, what="the frames")
            counted = self.counters("packet")
            return [counted["tx_packets_total"], counted["tx_device_dropped_packets_total"]]

        self.assertEqual(count(1500), [100, 0])
        self.assertEqual(count(1501), [100, 100])
        self.assertEqual(count(1600), [100, 200])


if __name__ == "__main__":
    support.main()
