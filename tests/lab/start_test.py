# SPDX-License-Identifier: BSD-3-Clause
"""What tributaryd says when it cannot start, and that it can be stopped before it has."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
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
    def test_more_packets_than_there_is_memory_are_refused_at_once(self):
        self.configure('ring = "r"\nmtu = 9000', MANY)
        start = time.monotonic()
        self.assertIn("make daemon.packets smaller", self.refusal())
        self.assertLess(time.monotonic() - start, 5)

    def test_sigterm_ends_a_start(self):
        """Here one that waits for what somebody writes into its file."""
        fifo = f"{self._directory.name}/fifo"
        subprocess.run(["mkfifo", fifo], check=True)
        self.configure(f'pcap = {{ rx = "{fifo}" }}')
        child = subprocess.Popen([support.DAEMON, "--config", self.file],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        support.until(lambda: self.opened_for_writing(fifo), what="the start")
        child.terminate()
        self.assertEqual(child.wait(timeout=5), -signal.SIGTERM)

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
