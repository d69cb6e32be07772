# SPDX-License-Identifier: BSD-3-Clause
"""Ports of virtual machines: a daemon with vhost, and a generator behind virtio_user in place of a guest."""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import time
import unittest

import support

DAEMON = """
version = 1
[daemon]
cores = "auto"
hugepages = "never"
packets = 4096
control = "{directory}/control.sock"
log_level = "warning"
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
"""
BRIDGE = DAEMON + """
[[switch.port]]
name = "a"
vhost = "{directory}/a.sock"
[[switch.port]]
name = "b"
vhost = "{directory}/b.sock"
"""
ROUTER = DAEMON + """
[switch.canary]
descriptors = 1024
[[switch.port]]
name = "a"
address = "10.1.1.1/24"
vhost = "{directory}/a.sock"
"""
# No more frames than a virtqueue has room for, should nobody take them meanwhile.
RATE = ("--rate", "100pps", "--duration", "2s", "--drain", "30s", "--settle", "5s")


class Vhost(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="vhost-")))

    def start(self, config: str, name: str = "tributaryd") -> subprocess.Popen:
        file = self.directory / f"{name}.toml"
        file.write_text(config.format(directory=self.directory))
        child = subprocess.Popen([*support.OWNED, support.DAEMON, "--config", file],
                                 stdin=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        support.until(lambda: self.ctl("status").returncode == 0, what="the daemon's start")
        return child

    @contextlib.contextmanager
    def daemon(self, config: str):
        child = self.start(config)
        yield
        child.terminate()
        self.assertEqual(child.wait(), 0)

    def ctl(self, *arguments):
        return support.ctl("--socket", self.directory / "control.sock", *arguments)

    def ports(self) -> list[dict]:
        return json.loads(self.ctl("port", "--json").stdout)

    def generate(self, *arguments) -> dict:
        done = support.run(support.PKTGEN, *arguments, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["wrong"], found["trials"][0]["lost"]), (0, 0), found)
        return found

    def bridge_frames(self, size: int) -> None:
        ends = [word for end in "ab"
                for word in ("--port", f"virtio_user={self.directory}/{end}.sock")]
        self.generate("plain", *ends, "--path", "0:1", "--size", size, *RATE)

    def await_links(self, up: bool) -> None:
        support.until(lambda: all(row["up"] == up for row in self.ports()), what=f"links: {up}")

    def test_guests_come_and_go(self):
        with self.daemon(BRIDGE):
            self.await_links(False)
            for size in (64, 1518):
                self.bridge_frames(size)
                self.await_links(False)
            for row in self.ports():
                self.assertGreater(row["counters"]["rx_packets_total"] +
                                   row["counters"]["tx_packets_total"], 100, row)

    def test_a_switch_that_was_killed_starts_again(self):
        child = self.start(BRIDGE)
        child.kill()
        child.wait()
        with self.daemon(BRIDGE):
            self.bridge_frames(256)

    def test_a_backend_that_went_is_named_once(self):
        server = self.start(BRIDGE)
        file = self.directory / "guest.toml"
        file.write_text(BRIDGE.format(directory=self.directory).replace("control.sock", "2.sock")
                        .replace("vhost =", "virtio_user ="))
        log = self.directory / "guest.log"
        with open(log, "w") as output:
            guest = subprocess.Popen([*support.OWNED, support.DAEMON, "--config", file],
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.addCleanup(guest.wait)
        self.addCleanup(guest.kill)
        self.await_links(True)
        server.kill()
        support.until(lambda: log.read_text().count("has gone; restart this daemon") == 2,
                      what="a line for each port")
        before = log.read_text()
        time.sleep(2)  # the links are looked at ten times a second
        self.assertEqual(log.read_text(), before)
        guest.terminate()
        self.assertEqual(guest.wait(), 0)

    def test_every_sum_is_right(self):
        """Results are frames of two segments, of which each worker's has the second in common."""
        port = f"virtio_user={self.directory}/a.sock,address=10.1.1.2,gateway=10.1.1.1"
        with self.daemon(ROUTER):
            found = self.generate("canary", "--port", port, "--block-timeout", "30s", *RATE)
        self.assertGreater(found["trials"][0]["done"], 0)

    def test_a_socket_that_is_served_stays_its_owners(self):
        with self.daemon(BRIDGE):
            file = self.directory / "second.toml"
            file.write_text(BRIDGE.format(directory=self.directory).replace("control.sock", "2.sock"))
            done = support.run(support.DAEMON, "--config", file)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("another process is the server of this socket", done.stderr)
            self.bridge_frames(256)

    def test_a_generator_without_a_switch_says_so(self):
        done = support.run(support.PKTGEN, "plain", "--port",
                           f"virtio_user={self.directory}/a.sock", *RATE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody serves", done.stderr)


if __name__ == "__main__":
    support.main()
