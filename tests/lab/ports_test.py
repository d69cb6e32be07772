# SPDX-License-Identifier: BSD-3-Clause
"""Ports of other kinds than one packet socket: AF_XDP, several queues, memif, jumbo frames."""

import contextlib
import ctypes
import json
import os
import pathlib
import socket
import stat
import subprocess
import tempfile
import time
import unittest

import support

# Around the ends of packets, and one that takes some hundreds of them.
COUNTS = "0,1,353,10007,300007"


class Ports(unittest.TestCase):
    def reduce(self, *options: str) -> dict:
        """Every element of every type; what comes out must be exact, and the switch's books right."""
        with support.Lab("star-4", "--rate", "none", *options) as lab:
            document = lab.reduce("-d", "all", "-o", "sum", "--counts", COUNTS, "-n", "1", "-w", "0")
            self.assertEqual(support.wrong(document), 0)
            lab.assert_balanced(self)
            self.handed_over = [core["handed_over_packets_total"]
                                for core in lab.ctl_json("status")["cores"]]
            self.devices = [row["device"] for row in lab.rows("port")]
            for row in lab.rows("port"):
                self.assertGreater(row["counters"]["rx_packets_total"], 100, row)
                self.assertEqual(row["cpu"], row["cpus"][0])
            self.queues = [len(row["cpus"]) for row in lab.rows("port")]
        return document

    def refusal(self, *options: str) -> str:
        done = support.run(support.LAB, "up", "star-4", "--name", f"t{os.getpid()}-refused",
                           "--build-dir", support.BUILD, *options)
        if done.returncode == 0:
            support.run(support.LAB, "down", f"t{os.getpid()}-refused")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_af_xdp(self):
        self.reduce("--set", "switch.port.driver=af_xdp")
        self.assertTrue(all(device.startswith("af_xdp ") for device in self.devices), self.devices)

    def test_af_xdp_says_what_it_cannot(self):
        driver = ("--set", "switch.port.driver=af_xdp")
        self.assertIn("an MTU of at most", self.refusal(*driver, "--mtu", "9000"))
        self.assertIn("make queues smaller", self.refusal(*driver, "--set", "switch.port.queues=2"))

    def test_two_queues_on_two_cores(self):
        self.reduce("--cores", "0,1", "--set", "switch.port.queues=2")
        self.assertEqual(self.queues, [2, 2, 2, 2])
        self.assertEqual(len(self.handed_over), 2)
        self.assertGreater(min(self.handed_over), 100)

    def test_two_queues_with_one_shaper(self):
        self.reduce("--cores", "0,1", "--set", "switch.port.queues=2",
                    "--set", "switch.port.rate=200Mbit")

    def test_a_shaper_may_come_and_go(self):
        """While packets pass, whose cores hand over to one owner, and then do not any more."""
        with support.Lab("star-4", "--rate", "none", "--cores", "0,1",
                         "--set", "switch.port.queues=2") as lab:
            bench = lab.bench("-b", "256K", "-e", "256K", "-n", "100")
            for rate in ("100Mbit", "none", "200Mbit", "none"):
                time.sleep(0.7)
                lab.tool("reload", "--rate", rate)
            self.assertEqual(support.wrong(bench.finish()), 0)
            support.until(lambda: all(row["queue_packets"] == 0 for row in lab.rows("port")))
            for row in lab.rows("port"):
                counters = {key.removesuffix("_packets_total"): value
                            for key, value in row["counters"].items()}
                self.assertEqual(counters["tx_offered"],
                                 counters["tx"] + counters["tx_device_dropped"] +
                                 counters["queue_tail_dropped"] + counters["link_down_dropped"],
                                 row)
            lab.assert_balanced(self)

    def test_frames_of_nine_thousand_bytes(self):
        document = self.reduce("--cores", "0,1", "--set", "switch.port.queues=2", "--mtu", "9000")
        # Headers, and the largest multiple of 64 bytes that is left.
        self.assertEqual(document["payload_bytes_max"], (9000 - 20 - 8 - 64) // 64 * 64)


MEMIF = """
version = 1
[daemon]
cores = [0, 1]
hugepages = "never"
packets = 4096
control = "{directory}/{name}.sock"
log_level = "warning"
[[switch]]
name = "{name}"
id = 1
[[switch.port]]
name = "memif"
memif = "{directory}/memif.sock"
memif_role = "{role}"
queues = 2
[[switch.port]]
name = "other"
{other}
"""


class Memif(unittest.TestCase):
    """Two daemons, joined by shared memory with two rings in each direction."""

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    @contextlib.contextmanager
    def daemon(self, name: str, role: str, other: str):
        file = self.directory / f"{name}.toml"
        file.write_text(MEMIF.format(directory=self.directory, name=name, role=role, other=other))
        child = subprocess.Popen([*support.OWNED, support.DAEMON, "--config", file],
                                 stdin=subprocess.DEVNULL)
        try:
            support.until(lambda: self.ctl(name, "status").returncode == 0, what=f"{name}'s start")
            yield
        finally:
            child.terminate()
            self.assertEqual(child.wait(), 0)

    def ctl(self, name: str, *arguments):
        return support.ctl("--socket", self.directory / f"{name}.sock", *arguments)

    def memif(self, name: str) -> dict:
        row = json.loads(self.ctl(name, "port", "--json").stdout)[0]
        return {"up": row["up"], **row["counters"]}

    def test_what_one_sends_the_other_receives(self):
        frames = self.directory / "frames.pcap"
        support.run(support.PKTGEN, "pcap", "plain", "--file", frames, "--count", 64,
                    "--gateway-mac", "02:99:00:00:00:01")
        feed = f'pcap = {{ rx = ["{frames}", "{frames}"], infinite = true }}'
        sink = 'device = "net_null0,no-rx=1"\nqueues = 2'
        with self.daemon("b", "client", feed), self.daemon("a", "server", sink):
            support.until(lambda: self.memif("a")["rx_packets_total"] > 10000)
            self.ctl("b", "port", "down", "b", "other")
            support.until(lambda: self.memif("b")["tx_packets_total"] ==
                          self.memif("a")["rx_packets_total"])
            status = json.loads(self.ctl("a", "status", "--json").stdout)
            for core in status["cores"]:
                self.assertGreater(core["busy_loops_total"], 10, status)


SERVER = """
version = 1
[daemon]
cores = [{cpu}]
idle = "poll"
hugepages = "never"
packets = 8192
control = "{directory}/server.sock"
log_level = "warning"
[[switch]]
name = "server"
id = 1
[[switch.port]]
name = "a"
memif = "{directory}/a.sock"
memif_role = "server"
[[switch.port]]
name = "b"
memif = "{directory}/b.sock"
memif_role = "server"
"""


def hang_up(pid: int) -> None:
    """Ends the memif connections of a process, which knows nothing of it and goes on sending."""
    pidfd_getfd = 438
    process = os.pidfd_open(pid)
    for name in os.listdir(f"/proc/{pid}/fd"):
        number = ctypes.CDLL(None).syscall(pidfd_getfd, process, int(name), 0)
        if number < 0:
            continue
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            os.close(number)
            continue
        with socket.socket(fileno=number) as end:
            if end.family == socket.AF_UNIX and end.type == socket.SOCK_SEQPACKET:
                end.shutdown(socket.SHUT_WR)
    os.close(process)


class MemifPeers(unittest.TestCase):
    """A packet core is somewhere in a ring when the peer leaves, and its memory goes."""

    PEERS = 12

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cpu = min(os.sched_getaffinity(0))

    def start(self, *argv, **more) -> subprocess.Popen:
        child = subprocess.Popen([*support.OWNED, *(str(arg) for arg in argv)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, **more)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def ports(self) -> list[dict]:
        done = support.ctl("--socket", self.directory / "server.sock", "port",
                           "--json")
        self.assertEqual(done.returncode, 0, f"{done.stderr}; the daemon: {self.daemon.poll()}")
        return json.loads(done.stdout)

    def forwarded(self) -> int:
        return sum(row["counters"]["tx_packets_total"] for row in self.ports())

    def move_sockets(self, before: str, after: str) -> None:
        for end in "ab":
            (self.directory / f"{end}.sock{before}").rename(self.directory / f"{end}.sock{after}")

    def generator(self) -> subprocess.Popen:
        ports = [word for end in "ab"
                 for word in ("--port", f"memif={self.directory}/{end}.sock,role=client")]
        return self.start(support.PKTGEN, "plain", *ports, "--rate", "2Mpps", "--size", "1518", "--duration",
                          support.FOR_EVER, "--idle", "poll", stderr=subprocess.DEVNULL)

    def start_server(self) -> None:
        file = self.directory / "server.toml"
        file.write_text(SERVER.format(directory=self.directory, cpu=self.cpu))
        # All of its threads on one CPU: DPDK's interrupts take it from the packet core wherever that is.
        self.daemon = self.start("taskset", "-c", self.cpu, support.DAEMON, "--config", file)
        support.until((self.directory / "server.sock").exists, what="the daemon's start")

    def end_server(self) -> None:
        self.assertIsNone(self.daemon.poll())
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)

    def test_a_server_outlives_who_hangs_up_before_it_is_greeted(self):
        self.start_server()
        for _ in range(50):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as passer_by:
                passer_by.connect(str(self.directory / "a.sock"))
        self.generator()
        support.until(lambda: self.forwarded() > 1000, what="traffic")
        self.end_server()

    def test_a_server_outlives_clients_that_leave_under_traffic(self):
        self.start_server()
        for _ in range(self.PEERS):
            before = self.forwarded()
            generator = self.generator()
            support.until(lambda: self.forwarded() > before + 1000, what="traffic")
            self.move_sockets("", ".away")  # or it comes again before anybody has looked
            hang_up(generator.pid)
            support.until(lambda: not any(row["up"] for row in self.ports()), what="the end")
            generator.kill()
            generator.wait()
            self.move_sockets(".away", "")
        self.end_server()


if __name__ == "__main__":
    support.main()
