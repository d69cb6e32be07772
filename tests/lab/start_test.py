# SPDX-License-Identifier: BSD-3-Clause
"""What tributaryd says when it cannot start, and that it can be stopped before it has."""

import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

import support

CONFIG = """
version = 1
[daemon]
hugepages = "never"
control = "{directory}/control.sock"
log_level = "warning"
packets = {packets}
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "first"
{port}
"""
MANY = 4194304


def available_megabytes() -> int:
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) // 1024


class Start(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="start-")
        self.addCleanup(self._directory.cleanup)
        self.file = pathlib.Path(self._directory.name) / "tributaryd.toml"

    def configure(self, port: str, packets: int = 1024) -> None:
        self.file.write_text(CONFIG.format(directory=self._directory.name, port=port,
                                           packets=packets))

    def opened_for_writing(self, fifo: str) -> bool:
        try:
            self.addCleanup(os.close, os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False  # nobody reads
        return True

    def refusal(self, *before: str) -> str:
        done = support.run(*before, support.DAEMON, "--config", self.file)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout + done.stderr

    @unittest.skipIf(available_megabytes() > 65536, "this machine has memory for all of them")
    def test_more_packets_than_there_is_memory_are_refused(self):
        self.configure('ring = "r"\nmtu = 9000', MANY)
        self.assertIn("make daemon.packets smaller", self.refusal())

    def test_sigterm_ends_a_start(self):
        """Here one that waits for what somebody writes into its file."""
        fifo = f"{self._directory.name}/fifo"
        subprocess.run(["mkfifo", fifo], check=True)
        self.configure(f'pcap = {{ rx = "{fifo}" }}')
        child = subprocess.Popen([*support.OWNED, support.DAEMON, "--config", self.file],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        support.until(lambda: self.opened_for_writing(fifo), what="the start")
        child.terminate()
        self.assertEqual(child.wait(timeout=support.PATIENCE_S), -signal.SIGTERM)

    def test_the_words_of_a_driver_are_the_reason(self):
        self.configure('device = "net_af_packet7,iface=none0"')
        error = next(line for line in self.refusal().splitlines() if " error " in line)
        self.assertIn("SIOCGIFINDEX", error)

    def test_a_log_that_nobody_reads_stops_nothing(self):
        self.configure('ring = "r"')
        self.file.write_text(self.file.read_text().replace('"warning"', '"info"'))
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        child = subprocess.Popen([*support.OWNED, support.DAEMON, "--config", self.file],
                                 stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        os.close(theirs)

        def status() -> dict:
            done = support.run(support.CTL, "--socket", f"{self._directory.name}/control.sock",
                               "status", "--json")
            return json.loads(done.stdout) if done.returncode == 0 else {}

        support.until(status, what="the start")

        def log_more() -> bool:
            for _ in range(100):  # each is worth a line
                with socket.socket(socket.AF_UNIX) as client:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO,
                                      struct.pack("ll", 10, 0))  # of connect()
                    client.connect(f"{self._directory.name}/control.sock")
            return status().get("log_dropped_total", 0) > 0  # none when it is busy

        support.until(log_more, what="a message that has no room")
        child.terminate()
        child.wait(timeout=support.PATIENCE_S)
        self.assertEqual(child.returncode, 0)

    def test_channels_that_no_queue_reads_are_warned_of(self):
        self.configure('interface = "x0"\ndriver = "af_xdp"', 8192)
        make = ("ip link add x0 numrxqueues $1 numtxqueues $1 type veth peer name x1 numrxqueues $1 numtxqueues $1\n"
                "ip link set x0 up; ip link set x1 up; shift; exec \"$@\"")
        socket_file = self.file.parent / "control.sock"
        for channels in (1, 2):
            log = self.file.with_suffix(f".{channels}.log")
            with log.open("w") as output:
                child = subprocess.Popen([*support.OWNED, "unshare", "--net", "sh", "-ec", make, "sh", str(channels),
                                          support.DAEMON, "--config", self.file],
                                         stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            support.until(lambda: support.ctl("--socket", socket_file, "status").returncode == 0,
                          what="the daemon's start")
            self.assertEqual("x0 spreads frames over 2 channels, and the port has 1 of these" in log.read_text(),
                             channels == 2, log.read_text())
            child.terminate()
            self.assertEqual(child.wait(timeout=support.PATIENCE_S), 0)

    def test_missing_privileges_have_names(self):
        self.configure('tap = "tstart0"')
        said = self.refusal("setpriv", "--bounding-set=-net_admin")
        self.assertIn('port "first"', said)
        self.assertIn("this process lacks CAP_NET_ADMIN", said)
        self.configure('interface = "lo"')
        said = self.refusal("setpriv", "--bounding-set=-net_admin,-net_raw")
        self.assertIn('port "first"', said)
        self.assertIn("give the daemon CAP_NET_RAW and CAP_NET_ADMIN", said)


if __name__ == "__main__":
    support.main()
