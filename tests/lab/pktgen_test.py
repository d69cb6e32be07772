# SPDX-License-Identifier: BSD-3-Clause
"""The packet generator against a real tributaryd, over veth pairs and memif."""

import atexit
import contextlib
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import support
from lablib import namespaces
from pktgen_configs import (BRIDGE, BRIDGED_FLARE, BRIDGED_PANAMA, DAEMON, FED_FLARE, FLARE_TREE,
                            ONE_RACK, PANAMA_TREE, PREFIX, RING, ROUTER, ROUTER6, TWO_RACKS, embedding)

TRIES = 3  # on a machine that is busy otherwise


def catches(pid: int, number: signal.Signals) -> bool:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    return bool(caught >> (number - 1) & 1)


class Pktgen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.namespace = f"trib-pktgen-{os.getpid()}"
        cls.cpus = sorted(os.sched_getaffinity(0))
        subprocess.run(["ip", "netns", "add", cls.namespace], check=True)
        atexit.register(subprocess.run, ["ip", "netns", "delete", cls.namespace])
        for end in ("a", "b"):
            cls.ip("link", "add", f"{end}0", "type", "veth", "peer", "name", f"{end}1")
            for side in "01":
                cls.inside("sysctl", "-qw", f"net.ipv6.conf.{end}{side}.disable_ipv6=1")
                cls.inside("ethtool", "-K", f"{end}{side}", "tx", "off")
                cls.ip("link", "set", f"{end}{side}", "up")

    @classmethod
    def inside(cls, *argv, **more):
        return support.run(*namespaces.command(cls.namespace, *argv), **more)

    @classmethod
    def ip(cls, *arguments):
        subprocess.run(namespaces.command(cls.namespace, "ip", *arguments), check=True)

    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="pktgen-")
        self.addCleanup(self._directory.cleanup)
        self.directory = pathlib.Path(self._directory.name)

    @contextlib.contextmanager
    def daemon(self, config: str, **values):
        file = self.directory / "tributaryd.toml"
        file.write_text(config.format(directory=self.directory, core=self.cpus[0], **values))
        log = self.directory / "tributaryd.log"
        with open(log, "w") as output:
            child = subprocess.Popen(
                [*support.OWNED, *namespaces.command(self.namespace, support.DAEMON, "--config", file)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            support.until(lambda: child.poll() is not None or self.ctl("status").returncode == 0,
                          what=f"the daemon's start ({log.read_text()})")
            yield child
        finally:
            child.terminate()
            child.wait()

    def ctl(self, *arguments):
        return support.ctl("--socket", self.directory / "control.sock", *arguments)

    def figure(self, name: str) -> int:
        rows = json.loads(self.ctl("engine", "--json").stdout)
        return rows[0]["figures"][name]

    def pktgen(self, *arguments, code: int = 0):
        done = self.inside(support.PKTGEN, *arguments)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def document(self, *arguments, **more) -> dict:
        """Nothing counts as lost because somebody was held up: a run in which a port was full for too
        long is repeated."""
        patience = [] if "--drain" in arguments else ["--drain", "30s"]
        patience += ["--settle", "2s"]
        if arguments[0] in ("canary", "panama", "netreduce", "flare") \
                and "--block-timeout" not in arguments:
            patience += ["--block-timeout", "30s"]
        for _ in range(TRIES):
            before = self.found_full()
            done = self.pktgen(*arguments, "--core", self.cpus[-1], "--json", "-", *patience, **more)
            found = json.loads(done.stdout)
            unsent = any(port["unsent_packets"] for port in found["ports"])
            # Who looks for a rate fills ports on purpose.
            if not unsent and (arguments[0] == "ndr" or self.found_full() == before):
                break
        return found

    def found_full(self) -> int:
        """The frames that the daemon, if there is one, lost before or behind its switch: at a ring
        that was full, because the other side of it had no processor."""
        listed = self.ctl("drops", "--json")
        rows = json.loads(listed.stdout) if listed.returncode == 0 else []
        return sum(row["packets_total"] for row in rows
                   if row["reason"] in ("rx_missed", "queue_tail", "tx_device", "link_down"))

    def assert_all_came(self, found: dict) -> None:
        self.assertEqual((found["wrong"], found["trials"][0]["lost"]), (0, 0), found)

    def veths(self) -> list[str]:
        return ["--port", "interface=a0", "--port", "interface=b0"]

    def memif(self, prefix: str = "") -> list[str]:
        socket = self.directory / "gen.sock"
        return ["--port",
                f"memif={socket},role=client,address={prefix}10.1.1.2,gateway={prefix}10.1.1.1"]

    def memif_port(self, role: str) -> str:
        """Of the daemon."""
        return f'memif = "{self.directory}/gen.sock"\nmemif_role = "{role}"'

    def memif_server(self) -> str:
        return self.memif_port("server")

    def test_plain_frames_cross_a_bridge_without_loss(self):
        with self.daemon(BRIDGE, shaper=""):
            # So slowly that the rings keep what comes while the daemon is held up.
            found = self.document("plain", *self.veths(), "--rate", "500pps", "--duration", "3s",
                                  "--size", "imix", "--flows", "20", "--hosts", "4")
        self.assert_all_came(found)
        trial = found["trials"][0]
        self.assertGreater(trial["done"], 0)
        self.assertLess(trial["packets_per_second"], 525)
        self.assertEqual(trial["latency"]["count"], trial["done"])
        self.assertGreater(trial["latency"]["p50_us"], 0)

    def test_plain_frames_are_routed_over_ipv6(self):
        ports = [word for port, net in (("a0", 1), ("b0", 2)) for word in
                 ("--port",
                  f"interface={port},address=2001:db8:{net}::2,gateway=2001:db8:{net}::1")]
        with self.daemon(ROUTER6):
            found = self.document("plain", *ports, "--rate", "500pps", "--duration", "2s", "--size",
                                  "imix", "--flows", "20", "--hosts", "4")
            rows = json.loads(self.ctl("neighbour6", "--json").stdout)
        self.assert_all_came(found)
        self.assertGreater(found["trials"][0]["done"], 0)
        self.assertEqual({row["address"] for row in rows if row["address"].startswith("2001")},
                         {f"2001:db8:{net}::{host}" for net in (1, 2) for host in range(2, 6)})

    def check_sums(self, *options, over_ipv6: bool = False):
        config, prefix = (embedding(ROUTER), PREFIX) if over_ipv6 else (ROUTER, "")
        with self.daemon(config, device=self.memif_server()):
            found = self.document("canary", *self.memif(prefix), "--rate", "50kpps", "--duration",
                                  "1s", *options)
            self.assertGreater(self.figure("contributions_total"), 0)
            self.assertGreater(self.figure("results_total"), 0)
        trial = found["trials"][0]
        self.assert_all_came(found)
        self.assertGreater(trial["done"], 0)
        # Each block has one result for each worker but its leader.
        self.assertGreaterEqual(trial["figures"]["results_received"],
                                trial["done"] * (found["workers"] - 1))
        # The switch added up: fewer packets reached the leaders than workers sent.
        self.assertLess(trial["figures"]["sums_received"], trial["packets"] / 2)

    def test_every_sum_is_right(self):
        self.check_sums()

    def test_every_sum_of_all_types_and_operators_is_right(self):
        # All that is under way fits the rings of the port, so that nothing is lost while one side is
        # held up.
        self.check_sums("--type", "all", "--op", "all", "--elements", "88", "--workers", "5",
                        "--blocks", "2")

    def test_every_sum_is_right_directly_over_ethernet(self):
        self.check_sums("--encapsulation", "ethernet", "--workers", "4")

    def test_every_sum_over_ipv6_is_right(self):
        self.check_sums("--workers", "5", over_ipv6=True)
        self.check_sums("--workers", "4", "--encapsulation", "ethernet", over_ipv6=True)

    def check_panama(self, parent: str, *options, jobs: int = 2):
        trees = "".join(PANAMA_TREE.format(job=1 + i // 2, tree=i % 2, group=1 + i, parent=parent)
                        for i in range(2 * jobs))
        ports = [word for name in ("w0", "w1", "up")
                 for word in ("--port", f"memif={self.directory}/{name}.sock,role=client")]
        with self.daemon(BRIDGED_PANAMA, trees=trees):
            found = self.document("panama", *ports, "--workers", "2", "--jobs", jobs, "--trees", "2",
                                  "--collective", "100", "--rate", "20kpps", "--duration", "1s",
                                  *options)
            self.assertGreater(self.figure("contributions_total"), 0)
            self.assertEqual(self.figure("over_cap_total"), 0)
        trial = found["trials"][0]
        self.assert_all_came(found)
        self.assertGreater(trial["done"], 0)
        self.assertEqual(trial["latency"]["count"], trial["done"])
        # Each block has one result for each worker.
        self.assertGreaterEqual(trial["figures"]["results_received"], 2 * trial["done"])
        return trial

    def test_every_sum_of_panama_is_right(self):
        # With three ports for two workers a second job would be behind others.
        trial = self.check_panama("", jobs=1)
        self.assertEqual(trial["figures"]["sums_received"], 0)

    def test_every_sum_of_panama_below_a_root_is_right(self):
        trial = self.check_panama('parent = "up"', "--parent", "2")
        self.assertGreaterEqual(trial["figures"]["answers_sent"], trial["done"])

    def test_files_feed_a_root_of_panama_for_ever(self):
        trees = self.pktgen("pcap", "panama", "--file", self.directory / "feed.pcap", "--workers",
                            "2", "--jobs", "16", "--collective", "4").stdout
        ports = "".join(f'[[switch.port]]\nname = "feed{i}"\npcap = {{ rx = '
                        f'"{self.directory}/feed.{i}.pcap", infinite = true }}\n' for i in range(2))
        with self.daemon(DAEMON + "[[switch]]\nname = \"s\"\nid = 1\naddress = \"10.255.0.1\"\n"
                         "{ports}[switch.panama]\npacket_memory = 128\n{trees}",
                         ports=ports, trees=trees):
            frames = 11 * 4 * 16
            support.until(lambda: self.figure("results_total") > 10 * frames)
            drops = json.loads(self.ctl("drops", "--json").stdout)
        self.assertEqual([row for row in drops if row["packets_total"] > 0 and
                          row["reason"].startswith("panama")], [])

    def check_flare(self, place: str, *options, jobs: int, window: int = 16,
                    figure: str = "contributions_total") -> dict:
        """`place`: what the trees have beside their children."""
        trees = "".join(FLARE_TREE.format(job=job, place=place) for job in range(1, 1 + jobs))
        ports = [word for name in ("w0", "w1", "up")
                 for word in ("--port", f"memif={self.directory}/{name}.sock,role=client")]
        with self.daemon(BRIDGED_FLARE, trees=trees):
            found = self.document("flare", *ports, "--workers", "2", "--jobs", jobs, "--window",
                                  window, "--rate", "20kpps", "--duration", "1s", *options)
            self.assertGreater(self.figure(figure), 0)
        trial = found["trials"][0]
        self.assert_all_came(found)
        self.assertGreater(trial["done"], 0)
        self.assertGreaterEqual(trial["figures"]["results_received"], 2 * trial["done"])
        return trial

    def test_every_sum_of_flare_is_right(self):
        trial = self.check_flare("", jobs=1)
        self.assertEqual(trial["figures"]["sums_received"], 0)

    def test_every_sum_of_flare_below_a_root_is_right(self):
        trial = self.check_flare('parent = "up"', "--parent", "2", jobs=2)
        self.assertGreaterEqual(trial["figures"]["answers_sent"], trial["done"])

    def check_sparse_flare(self, place: str, *options, jobs: int) -> None:
        """With pairs of few elements in a packet, of many in several, and runs of all of them."""
        for sparse in (("--density", "0.001"), ("--density", "0.05", "--shards", "4", "--pairs", "50"),
                       ("--density", "1", "--type", "f64")):
            with self.subTest(sparse=sparse):
                trial = self.check_flare(f"sparse_window = 8\n{place}", *options, *sparse, jobs=jobs,
                                         window=8, figure="sparse_contributions_total")
                if "--parent" in options:
                    self.assertGreaterEqual(trial["figures"]["answers_sent"], trial["done"])

    def test_every_sparse_sum_of_flare_is_right(self):
        self.check_sparse_flare("", jobs=1)

    def test_every_sparse_sum_of_flare_below_a_root_is_right(self):
        self.check_sparse_flare('parent = "up"', "--parent", "2", jobs=2)

    def netreduce(self) -> dict:
        ports = [word for worker in range(4) for word in
                 ("--port", f"memif={self.directory}/w{worker}.sock,role=client,"
                            f"address=10.0.{worker}.1")]
        return self.document("netreduce", *ports, "--workers", "4", "--message-packets", "32",
                             "--rate", "20kpps", "--duration", "1s")

    def check_netreduce(self, found: dict):
        trial = found["trials"][0]
        self.assert_all_came(found)
        self.assertGreater(trial["done"], 0)
        self.assertEqual(trial["figures"]["results_received"], 4 * trial["done"])

    def test_every_sum_of_netreduce_is_right(self):
        with self.daemon(ONE_RACK, ring=RING):
            self.check_netreduce(self.netreduce())
            self.assertEqual(self.figure("results_total"), 4 * self.figure("sums_total"))

    def test_every_sum_of_netreduce_in_two_racks_is_right(self):
        with self.daemon(TWO_RACKS, ring=RING):
            self.check_netreduce(self.netreduce())
            rows = {row["switch"]: row["figures"]
                    for row in json.loads(self.ctl("engine", "--json").stdout)}
        # Each rack has a sum of its own, which goes up, and the spine that of both.
        sums = rows["spine"]["sums_total"]
        for leaf in ("leaf1", "leaf2"):
            for name in ("sums_total", "partials_total", "totals_total"):
                self.assertEqual(rows[leaf][name], sums, (leaf, name))
            self.assertEqual(rows[leaf]["results_total"], 2 * sums)
        self.assertEqual(rows["spine"]["results_total"], 2 * sums)

    def test_files_feed_a_ring_of_netreduce_for_ever(self):
        rings = self.pktgen("pcap", "netreduce", "--file", self.directory / "feed.pcap", "--workers",
                            "4", "--address", "10.1.1.2", "--gateway-mac",
                            "02:00:00:01:00:01").stdout
        with self.daemon(ROUTER.replace("[switch.canary]\ndescriptors = 1024\n", "") + "{rings}",
                         device=f'pcap = {{ rx = "{self.directory}/feed.pcap", infinite = true }}',
                         rings=rings):
            support.until(lambda: self.figure("runs") > 20)
            drops = json.loads(self.ctl("drops", "--json").stdout)
        self.assertEqual([row for row in drops if row["packets_total"] > 0 and
                          row["reason"].startswith("netreduce")], [])

    def test_a_memif_server_that_was_killed_starts_again(self):
        for _ in range(2):
            with self.daemon(ROUTER, device=self.memif_server()) as daemon:
                daemon.kill()
                daemon.wait()
        self.assertTrue((self.directory / "gen.sock").is_socket())
        self.check_sums("--workers", "4")

    def test_a_memif_client_comes_back_whenever_there_is_a_server(self):
        server = [word.replace("role=client", "role=server") for word in self.memif()]
        with self.daemon(ROUTER, device=self.memif_port("client")):
            for _ in range(3):
                found = self.document("canary", *server, "--rate", "20kpps", "--duration", "500ms")
                self.assert_all_came(found)
                self.assertGreater(found["trials"][0]["done"], 0)

    def test_a_memif_server_outlives_its_clients(self):
        with self.daemon(ROUTER, device=self.memif_server()):
            for _ in range(3):
                found = self.document("canary", *self.memif(), "--rate", "20kpps", "--duration",
                                      "500ms")
                self.assert_all_came(found)

    def test_large_packets_are_added_up(self):
        jumbo = ROUTER.replace('name = "gen"', 'name = "gen"\nmtu = 9000')
        with self.daemon(jumbo, device=self.memif_server()):
            found = self.document("canary", *self.memif(), "--mtu", "9000", "--elements", "2048",
                                  "--rate", "10kpps", "--duration", "1s")
        self.assert_all_came(found)
        self.assertGreater(found["trials"][0]["done"], 0)

    def test_ndr_finds_the_rate_of_a_shaped_port(self):
        # So slow that also a generator that is held up can offer more.
        with self.daemon(BRIDGE, shaper='rate = "2Mbit"\nqueue = "32KiB"'):
            for _ in range(TRIES):
                found = self.document("ndr", "plain", *self.veths(), "--path", "0:1", "--size",
                                      "1518", "--rate", "4Mbit", "--trial", "1s", "--precision",
                                      "4", "--drain", "1s")
                too_much = [trial for trial in found["trials"]
                            if trial["line_bits_per_second"] > 2.5e6]
                if too_much and found["best"]:
                    break
        self.assertGreater(len(found["trials"]), 3)
        self.assertGreater(min((trial["loss"] for trial in too_much), default=0), 0, found)
        self.assertEqual(found["best"]["lost"], 0)
        # What the queue holds at the end of a trial of one second is 0.26 Mbit.
        self.assertLess(found["best"]["line_bits_per_second"], 2.4e6, found)

    def test_a_file_feeds_a_switch_for_ever(self):
        file = self.directory / "feed.pcap"
        neighbours = self.pktgen("pcap", "canary", "--file", file, "--address", "10.1.1.2",
                                 "--gateway-mac", "02:00:00:01:00:01", "--switch", "10.255.0.1",
                                 "--workers", "8", "--blocks", "64").stdout
        feed = f'pcap = {{ rx = "{file}", infinite = true }}\n'
        with self.daemon(ROUTER, device=feed + neighbours):
            first = self.figure("contributions_total"), self.figure("results_total")
            support.until(lambda: self.figure("contributions_total") > first[0] + 64 * 7 * 10)
            support.until(lambda: self.figure("results_total") > first[1] + 64 * 10)
            self.assertLessEqual(self.figure("descriptors_high_water"), 64)
            drops = json.loads(self.ctl("drops", "--json").stdout)
        self.assertEqual([row for row in drops if row["packets_total"] > 0 and
                          row["reason"].startswith("canary")], [])

    def check_two_cores(self, order, handed_over: bool):
        """Each of two cores polls its own queue, of its own blocks or of the other's."""
        if len(self.cpus) < 2:
            self.skipTest("needs two CPUs")
        neighbours = self.pktgen("pcap", "canary", "--file", self.directory / "feed.pcap",
                                 "--cores", 2, "--address", "10.1.1.2", "--gateway-mac",
                                 "02:00:00:01:00:01", "--switch", "10.255.0.1", "--workers", "8",
                                 "--blocks", "256").stdout
        files = ", ".join(f'"{self.directory}/feed.{core}.pcap"' for core in order)
        feed = f"pcap = {{ rx = [{files}], infinite = true }}\n"
        two = ROUTER.replace("cores = [{core}]", 'cores = "auto"')
        with self.daemon(two, device=feed + neighbours):
            reload = self.ctl("config", "reload", self.directory / "tributaryd.toml")
            self.assertEqual(reload.returncode, 0, reload.stderr)
            support.until(lambda: self.figure("contributions_total") > 256 * 7 * 10)
            status = json.loads(self.ctl("status", "--json").stdout)
            drops = json.loads(self.ctl("drops", "--json").stdout)
            counters = json.loads(self.ctl("counters", "--json").stdout)
        for core in status["cores"]:
            self.assertEqual(core["handed_over_packets_total"] > 1000, handed_over, core)
        self.assertTrue(counters["all"]["balanced"], counters)
        return [row for row in drops if row["packets_total"] > 0]

    def test_a_file_of_ipv6_feeds_a_switch(self):
        file = self.directory / "feed.pcap"
        neighbours = self.pktgen("pcap", "canary", "--file", file, "--address", f"{PREFIX}10.1.1.2",
                                 "--gateway-mac", "02:00:00:01:00:01", "--switch",
                                 f"{PREFIX}10.255.0.1").stdout
        feed = f'pcap = {{ rx = "{file}", infinite = true }}\n'
        with self.daemon(embedding(ROUTER), device=feed + neighbours):
            support.until(lambda: self.figure("results_total") > 1000)

    def test_each_core_has_a_queue_of_its_own(self):
        self.assertEqual(self.check_two_cores((0, 1), handed_over=False), [])

    def test_blocks_of_the_other_core_are_handed_over(self):
        self.assertEqual(self.check_two_cores((1, 0), handed_over=True), [])

    def check_flare_by_the_other_core(self, partial_sums: bool):
        """Each of two cores receives nothing but contributions to blocks of the other's."""
        if len(self.cpus) < 2:
            self.skipTest("needs two CPUs")
        feed, workers = self.directory / "feed", 4
        trees = self.pktgen("pcap", "flare", "--file", f"{feed}.pcap", "--cores", 2, "--workers",
                            workers, "--jobs", 40, "--blocks", 4, "--window", 4).stdout
        ports = "".join(f'[[switch.port]]\nname = "feed{worker}"\npcap = {{ rx = ["{feed}.'
                        f'{2 * worker + 1}.pcap", "{feed}.{2 * worker}.pcap"], infinite = true }}\n'
                        for worker in range(workers))
        with self.daemon(FED_FLARE, ports=ports, trees=trees, partial_sums=str(partial_sums).lower()):
            support.until(lambda: self.figure("results_total") > 64 * 100)
            status = json.loads(self.ctl("status", "--json").stdout)
            counters = json.loads(self.ctl("counters", "--json").stdout)
            sums = self.figure("handed_over_sums_total")
        for core in status["cores"]:
            self.assertGreater(core["handed_over_packets_total"], 100, core)
        self.assertTrue(counters["all"]["balanced"], counters)
        self.assertEqual(sums > 1000, partial_sums, sums)

    def test_sums_of_the_other_cores_blocks_are_handed_over(self):
        self.check_flare_by_the_other_core(True)

    def test_contributions_to_the_other_cores_blocks_are_handed_over(self):
        self.check_flare_by_the_other_core(False)

    def test_a_pcap_of_plain_frames_has_as_many_as_asked_for(self):
        file = self.directory / "plain.pcap"
        self.pktgen("pcap", "plain", "--file", file, "--size", "64", "--count", "100")
        self.assertEqual(file.stat().st_size, 24 + 100 * (16 + 60))

    def test_sigint_ends_it_with_the_summary(self):
        with self.daemon(BRIDGE, shaper=""):
            rows = self.directory / "rows.csv"
            # So slowly that the rings keep what comes while the daemon is held up.
            child = subprocess.Popen(
                namespaces.command(self.namespace, support.PKTGEN, "plain", *self.veths(), "--rate",
                                   "100pps", "--duration", support.FOR_EVER, "--interval", "200ms",
                                   "--drain", "30s", "--settle", "2s", "--csv", rows),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            self.addCleanup(child.kill)
            support.until(lambda: rows.exists() and rows.read_text().count("\n") > 6, what="rows")
            text = support.end(child)
        self.assertEqual(child.returncode, 0)
        self.assertIn("lost 0 (", text)
        self.assertIn("latency: min", text)
        found = list(csv.DictReader(rows.read_text().splitlines()))
        self.assertGreater(len(found), 3)
        self.assertEqual(found[-1]["phase"], "done")

    def on_a_terminal(self, rows: int, columns: int) -> str:
        """What a run writes there."""
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (rows, columns))
        child = subprocess.Popen([support.PKTGEN, "plain", "--port", "ring=r0", "--rate", "1kpps",
                                  "--duration", "1s", "--interval", "200ms"],
                                 stdin=subprocess.DEVNULL, stdout=theirs)
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # how the end of the other side is told
            while got := os.read(ours, 4096):
                written += got
        os.close(ours)
        self.assertEqual(child.wait(), 0)
        return written.decode()

    def test_the_table_fits_the_terminal(self):
        written = self.on_a_terminal(rows=5, columns=40)
        drawn = re.findall(r"\x1b\[K(.*?)\r\n", written)
        self.assertGreater(len(drawn), 4, written)
        self.assertLess(max(map(len, drawn)), 40, written)
        self.assertLess(max(map(int, re.findall(r"\x1b\[(\d+)A", written))), 5, written)

    def test_the_setting_is_in_the_document(self):
        rows = self.directory / "rows.csv"
        found = self.document("plain", "--port", "ring=r0", "--rate", "1kpps", "--duration",
                              "300ms", "--size", "imix", "--flows", "3", "--csv", rows)
        self.assertEqual({key: found[key] for key in ("mtu", "sizes", "flows", "paths")},
                         {"mtu": 1500, "sizes": "imix", "flows": 3, "paths": ["0:0"]})
        last = list(csv.DictReader(rows.read_text().splitlines()))[-1]
        self.assertEqual(float(last["loss"]), 0.0)
        self.assertGreater(float(last["time_s"]), 0.25)  # though no interval was over
        found = self.document("canary", "--port", "ring=r0", "--rate", "1kpps", "--duration",
                              "300ms", "--type", "i32", "--op", "max", "--block-timeout", "1s")
        self.assertEqual(found["kinds"], [{"type": "i32", "op": "max"}])

    def test_sigint_ends_the_wait_for_a_link(self):
        for role, words in (("server", "has no link"), ("client", "nobody is at its socket")):
            socket = self.directory / "alone.sock"
            child = subprocess.Popen(
                [support.PKTGEN, "plain", "--port", f"memif={socket},role={role}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(child.kill)
            support.until(lambda: catches(child.pid, signal.SIGINT), what="that it may be asked to end")
            child.send_signal(signal.SIGINT)
            _, text = child.communicate(timeout=support.PATIENCE_S)
            self.assertEqual(child.returncode, 1, text)
            self.assertIn(words, text)

    def test_a_memif_client_waits_for_its_server(self):
        child = self.begin("canary", *self.memif(), "--rate", "20kpps", "--duration", "500ms",
                           "--settle", "2s", "--block-timeout", "30s", "--drain", "30s", "--json", "-")
        time.sleep(1)
        with self.daemon(ROUTER, device=self.memif_server()):
            text, _ = child.communicate(timeout=support.PATIENCE_S)
        self.assertEqual(child.returncode, 0, text)

    def test_a_memif_client_finds_its_server_again(self):
        results = self.directory / "found.json"
        with self.daemon(ROUTER, device=self.memif_server()):
            child = self.begin("canary", *self.memif(), "--rate", "20kpps", "--duration",
                               support.FOR_EVER, "-q", "--json", results)
            support.until(lambda: self.figure("results_total") > 100)
        with self.daemon(ROUTER, device=self.memif_server()):
            support.until(lambda: self.figure("results_total") > 1000)
            support.end(child)
        self.assertEqual(json.loads(results.read_text())["wrong"], 0)

    def mtu(self, name: str) -> int:
        return json.loads(self.inside("ip", "-json", "link", "show", name).stdout)[0]["mtu"]

    def test_an_interface_gets_its_mtu_back(self):
        self.ip("link", "set", "a0", "mtu", "1400")
        self.addCleanup(self.ip, "link", "set", "a0", "mtu", "1500")
        child = self.begin_sending("a0")
        support.until(lambda: self.mtu("a0") == 1500)
        support.end(child)
        self.assertEqual(self.mtu("a0"), 1400)

    def promiscuous(self, name: str) -> bool:
        shown = self.inside("ip", "-json", "link", "show", name).stdout
        return "PROMISC" in json.loads(shown)[0]["flags"]

    def frames_sent(self, name: str) -> int:
        shown = self.inside("ip", "-json", "-statistics", "link", "show", name).stdout
        return json.loads(shown)[0]["stats64"]["tx"]["packets"]

    def hears_everything_for_a_while(self, port: str) -> None:
        before = self.frames_sent("a0")
        child = self.begin_sending(port)
        # The kernel sends a few of its own.
        support.until(lambda: self.frames_sent("a0") > before + 100)
        self.assertTrue(self.promiscuous("a0"))
        support.end(child)

    def test_an_interface_leaves_promiscuous_mode(self):
        for port in ("a0", "a0,driver=af_xdp"):
            with self.subTest(port):
                self.hears_everything_for_a_while(port)
                self.assertFalse(self.promiscuous("a0"))

    def test_an_interface_that_was_promiscuous_stays_so(self):
        self.ip("link", "set", "a0", "promisc", "on")
        self.addCleanup(self.ip, "link", "set", "a0", "promisc", "off")
        self.hears_everything_for_a_while("a0")
        self.assertTrue(self.promiscuous("a0"))

    def test_an_mtu_that_somebody_else_has_set_stays(self):
        self.addCleanup(self.ip, "link", "set", "a0", "mtu", "1500")
        self.ip("link", "set", "a0", "mtu", "1400")
        child = self.begin_sending("a0")
        support.until(lambda: self.mtu("a0") == 1500)
        self.ip("link", "set", "a0", "mtu", "1300")
        support.end(child)
        self.assertEqual(self.mtu("a0"), 1300)

    def test_a_socket_has_one_server(self):
        server = [word.replace("role=client", "role=server") for word in self.memif()]
        with self.daemon(ROUTER, device=self.memif_server()):
            done = self.pktgen("canary", *server, code=1)
            self.assertIn("another process is the server", done.stderr)

    def test_bad_input_is_refused_with_advice(self):
        port = ("--port", "interface=a0")
        for arguments, words in [
            (("plain",), "--port is required"),
            (("fast",), "help"),
            (("plain", "--port", "veth0"), "interface=veth0"),
            (("plain", "--port", "eth=a0"), "say interface="),
            (("plain", *port, "--port", "interface=a0,driver=af_xdp"), "interface a0 is given twice"),
            (("plain", *port, "--rate", "fast"), "1.5Mpps"),
            (("plain", *port, "--rate", "50%"), "--line-rate"),
            (("plain", *port, "--size", "2000"), "--mtu"),
            (("plain", *port, "--path", "0:1"), "there are 1 ports"),
            (("plain", *port, "--destination-port", "17000"), "Canary's"),
            (("plain", *port, "--flows", "100000"), "--hosts 2"),
            (("canary", *port, "--elements", "2000"), "at most"),
            (("canary", *port, "--op", "xor"), "integers"),
            (("canary", *port, "--workers", "1"), "workers"),
            (("pcap", "canary", "--file", "x.pcap"), "--switch is required"),
            (("plain", "--port", "interface=a0,address=fe80::2"), "address of one link"),
            (("plain", *port, "--port", "interface=b0,address=fd00::2"), "one version of IP"),
            (("panama", *port, "--workers", "2"), "a port of its own"),
            (("panama", *port, "--parent", "1"), "there are 1 ports"),
            (("panama", *port, "--group", "10.0.0.1"), "multicast"),
            (("panama", *port, "--group", "239.255.255.255", "--trees", "2"), "not all groups"),
            (("panama", *port, "--elements", "2000"), "at most"),
            (("netreduce", *port, "--path-mtu", "1500"), "path-mtu"),
            (("netreduce", *port, "--path-mtu", "2048"), "say --mtu 2112"),
        ]:
            done = self.pktgen(*arguments, code=2)
            self.assertIn(words, done.stderr, arguments)
        for arguments, words in [
            (("plain", "--port", "interface=nowhere"), "there is no interface"),
            (("plain", *port, "--json", "/nowhere/x"), "cannot write --json"),
            (("plain", *port, "--core", "4095"), "may not use CPU 4095"),
            (("pcap", "plain", "--file", "/nowhere/x"), "cannot write --file"),
            (("pcap", "plain", "--file", "/dev/full"), "is the disk full?"),
            (("pcap", "canary", "--file", "/dev/full", "--switch", "10.1.1.1", "--jobs", "4096",
              "--blocks", "1048576"), "is the disk full?"),  # now, not after days
        ]:
            done = self.pktgen(*arguments, code=1)
            self.assertIn(words, done.stderr, arguments)

    def test_rows_can_be_read_along(self):
        rows = self.directory / "rows.csv"
        child = self.begin("plain", "--port", "device=net_null0,no-rx=1", "--rate", "1kpps",
                           "--duration", support.FOR_EVER, "-q", "--csv", rows)
        support.until(lambda: rows.exists() and rows.read_text().count("\n") > 1,
                      what="the first row of a run that goes on")
        support.end(child)

    def test_what_cannot_be_written_is_noticed(self):
        sending = ("plain", "--port", "device=net_null0,no-rx=1", "--duration", "100ms", "--rate",
                   "1kpps")
        for option in ("--json", "--csv"):
            done = self.pktgen(*sending, option, "/dev/full", code=1)
            self.assertIn(f"cannot write all of {option} /dev/full", done.stderr)
        with open("/dev/full", "w") as full:
            done = subprocess.run([support.PKTGEN, *sending], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)

    def test_nothing_that_comes_back_is_a_failure(self):
        sending = ("plain", "--duration", "200ms", "--drain", "200ms", "--rate", "1kpps", "--port")
        done = self.pktgen(*sending, "interface=a0", code=1)
        self.assertIn("nothing came back", done.stderr)
        self.pktgen(*sending, "interface=a0", "--send-only")
        self.pktgen(*sending, "device=net_null0,no-rx=1")

    def begin(self, *arguments) -> subprocess.Popen:
        child = subprocess.Popen(
            [str(word) for word in namespaces.command(self.namespace, support.PKTGEN, *arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def begin_sending(self, port: str) -> subprocess.Popen:
        return self.begin("plain", "--port", f"interface={port}", "--send-only", "--rate", "1kpps",
                          "--duration", support.FOR_EVER, "-q")

    def test_a_silent_gateway_has_a_name(self):
        done = self.pktgen("plain", "--port", "interface=a0,gateway=10.9.9.9", code=1)
        self.assertIn("10.9.9.9 does not answer", done.stderr)


if __name__ == "__main__":
    support.main()
