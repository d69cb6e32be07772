# SPDX-License-Identifier: BSD-3-Clause
"""The packet thread of a real tributaryd that is fed from a file: it makes no system calls and
allocates nothing."""

import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import unittest

import support
from pktgen_configs import ROUTER

BOARD = support.BUILD / "tests" / "perf" / "liballocation_board.so"


class PacketPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="packet-path-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        file = cls.directory / "feed.pcap"
        fed = support.run(support.PKTGEN, "pcap", "canary", "--file", file,
                          "--address", "10.1.1.2", "--gateway-mac", "02:00:00:01:00:01",
                          "--switch", "10.255.0.1", "--workers", "8", "--blocks", "64",
                          "--type", "f32,bf16")
        if fed.returncode != 0:
            raise AssertionError(fed.stderr)
        polling = ROUTER.replace("[daemon]", '[daemon]\nidle = "poll"')
        feed = f'pcap = {{ rx = "{file}", infinite = true }}\n'
        (cls.directory / "tributaryd.toml").write_text(polling.format(
            directory=cls.directory, core=min(os.sched_getaffinity(0)), device=feed + fed.stdout))

    @contextlib.contextmanager
    def daemon(self, **environment):
        child = subprocess.Popen(
            [*support.OWNED, support.DAEMON, "--config", self.directory / "tributaryd.toml"],
            stdin=subprocess.DEVNULL, env=os.environ | environment)
        try:
            support.until(lambda: child.poll() is not None or self.ctl("status").returncode == 0,
                          what="the daemon's start")
            yield child.pid
        finally:
            child.terminate()
            child.wait()

    def ctl(self, *arguments):
        return support.ctl("--socket", self.directory / "control.sock", *arguments)

    def packet_thread(self, daemon: int) -> int:
        for comm in pathlib.Path(f"/proc/{daemon}/task").glob("*/comm"):
            if comm.read_text().startswith("rte-worker-"):
                return int(comm.parent.name)
        raise AssertionError("no packet thread")

    @contextlib.contextmanager
    def traffic(self):
        """Packets are processed meanwhile. Being asked for figures is none of a packet's work."""
        before = self.results()
        yield
        self.assertGreater(self.results(), before + 1000)

    @staticmethod
    def await_work(daemon: int, thread: int) -> None:
        """Until the thread had half a second of its CPU."""
        def ran_ns() -> int:
            return int(pathlib.Path(f"/proc/{daemon}/task/{thread}/schedstat").read_text().split()[0])
        before = ran_ns()
        support.until(lambda: ran_ns() > before + 500_000_000, what="work")

    def results(self) -> int:
        done = self.ctl("engine", "--json")
        return json.loads(done.stdout)[0]["figures"]["results_total"]

    def system_calls(self, thread: int, meanwhile) -> list[str]:
        log = self.directory / "strace.log"
        tracer = subprocess.Popen(["strace", "-o", log, "-p", str(thread)],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn("attached", tracer.stderr.readline())
            meanwhile()
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()
        return log.read_text().splitlines()

    def allocations(self, thread: int) -> int:
        rows = struct.iter_unpack("=qQ", (self.directory / "allocations").read_bytes())
        return dict(rows).get(thread, 0)

    def test_makes_no_system_calls(self):
        with self.daemon() as daemon:
            calls = self.system_calls(daemon, lambda: self.ctl("status"))
            self.assertNotEqual(calls, [], "the control thread was traced")
            thread = self.packet_thread(daemon)
            with self.traffic():
                calls = self.system_calls(thread, lambda: self.await_work(daemon, thread))
            self.assertEqual(calls[:10], [])

    def test_allocates_nothing(self):
        with self.daemon(LD_PRELOAD=str(BOARD),
                         TRIBUTARY_ALLOCATIONS=str(self.directory / "allocations")) as daemon:
            self.assertGreater(self.allocations(daemon), 0)
            with self.traffic():
                thread = self.packet_thread(daemon)
                before = self.allocations(thread)
                self.await_work(daemon, thread)
                self.assertEqual(self.allocations(thread) - before, 0)


if __name__ == "__main__":
    support.main()
