# SPDX-License-Identifier: BSD-3-Clause
"""NetReduce from end to end, over Reliable Connections that workers make in software."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
from lablib import namespaces
from panama_job import job

STRANGER = pathlib.Path(__file__).resolve().parent / "forged_gradients.py"
SIZES = ("-b", "4K", "-e", "256K", "-f", "8", "-n", "2")
# The rings of conf/star-4.toml, and their members.
RINGS = {2: "h1,h2", 3: "h1,h2,h3", 4: "h1,h2,h3,h4", 5: "h3,h4"}


def figures(lab: support.Lab) -> dict[str, int]:
    return next(row["figures"] for row in lab.rows("engine") if row["engine"] == "netreduce")


def worker(ring: int, *options: str) -> tuple:
    return ("--algorithm", "netreduce", "--fallback", "error", "--ring", ring, *options)


class NetReduce(unittest.TestCase):
    def reduce(self, lab: support.Lab, ring: int, *options, sizes=SIZES, **where) -> dict:
        """Exact, and the switch has added: as many sums as the vectors have packets, at least."""
        before = figures(lab)["sums_total"]
        document = lab.reduce(*sizes, *worker(ring), *options, hosts=RINGS[ring], **where)
        self.assertEqual(support.wrong(document), 0)
        rounds = document["iterations"] + document["warmup_iterations"]
        wanted = sum(rounds * len([place for place in ("in_place", "out_of_place") if place in row])
                     * -(-row["size"] // document["payload_bytes_max"]) for row in document["rows"])
        self.assertGreaterEqual(figures(lab)["sums_total"] - before, wanted)
        return document

    def test_two_to_four_workers(self):
        with support.Lab("star-4") as lab:
            for ring in (2, 3, 4):
                self.reduce(lab, ring)
            lab.assert_balanced(self)
            self.assertEqual(lab.drops(), {})

    def test_types_and_operators(self):
        with support.Lab("star-4") as lab:
            self.reduce(lab, 3, "-d", "all", "-o", "all",
                        sizes=("--counts", "1,127,2500", "-n", "1", "-w", "0"))

    def test_other_collectives(self):
        with support.Lab("star-4") as lab:
            for collective, options in (("reduce", ("-r", "2")), ("broadcast", ("-r", "1"))):
                self.reduce(lab, 4, *options, collective=collective)
            document = lab.reduce(*worker(4), "-n", "5", hosts=RINGS[4], collective="barrier")
            self.assertEqual(support.wrong(document), 0)

    def test_path_mtu_of_4096(self):
        with tempfile.TemporaryDirectory() as directory, \
                mock.patch.dict(os.environ, {"TRIBUTARY_NETREDUCE_MTU": "4096",
                                             "TRIBUTARY_NETREDUCE_MESSAGE": "40"}):
            with support.Lab(with_rings(directory, "mtu = 4096\nmessage_packets = 40\n"), "--mtu",
                             "4200", name="netreduce-4096") as lab:
                document = self.reduce(lab, 4)
                self.assertEqual(document["payload_bytes_max"], 4088)

    def test_one_percent_of_everything(self):
        weather = [option for place in ("impair_in", "impair_out")
                   for what in ("loss", "duplicate", "corrupt", "reorder")
                   for option in ("--set", f"switch.port.{place}.{what}=0.01",
                                  "--set", f"switch.port.{place}.seed={{n}}")]
        with support.Lab("star-4", *weather) as lab:
            document = self.reduce(lab, 4, sizes=("-b", "4K", "-e", "256K", "-f", "8", "-n", "1"))
            self.assertGreater(document["netreduce"]["retransmissions_sent"], 0)
            lab.assert_balanced(self)

    def test_two_rings_at_once(self):
        with support.Lab("star-4") as lab:
            benches = [lab.bench(*SIZES, *worker(ring), hosts=RINGS[ring], port=port)
                       for ring, port in ((2, 29500), (5, 29600))]
            for bench in benches:
                self.assertEqual(support.wrong(bench.finish()), 0)
            lab.assert_balanced(self)

    def test_a_ring_that_a_controller_set_up_and_took_away(self):
        memory = ("--set", "switch.netreduce.packet_memory=65536")
        with support.Lab("star-4", *memory) as lab:
            with job(lab, "--algorithm", "netreduce", "--hosts", "h3,h1,h2", number=77) as told:
                self.assertEqual(told["TRIBUTARY_NETREDUCE_RING"], "77")
                before = figures(lab)["sums_total"]
                document = lab.reduce(*SIZES, "--fallback", "error", hosts="h3,h1,h2")
                self.assertEqual(support.wrong(document), 0)
                self.assertGreater(figures(lab)["sums_total"], before)
                state = lab.rows("tree")[0]["state"]
                self.assertIsNotNone(state["idle_seconds"], "nobody knew that it is in use")
                self.assertGreater(state["results_total"], 0)
            self.assertEqual(figures(lab)["rings"], len(RINGS) + 2)

    def test_rings_over_racks_that_a_controller_set_up(self):
        memory = ("--set", "switch.netreduce.packet_memory=65536")
        with support.Lab("fat-tree-8", *memory) as lab, \
                job(lab, "--algorithm", "netreduce", number=77):
            document = lab.reduce(*SIZES, "--fallback", "error")
            self.assertEqual(support.wrong(document), 0)
            self.assertGreater(figures(lab)["sums_total"], 0)

    def test_beside_canary_and_panama(self):
        with support.Lab("star-4") as lab, job(lab, "--hosts", RINGS[4]) as told:
            plain = dict(os.environ)
            benches = [lab.bench(*SIZES, *worker(4), hosts=RINGS[4], port=29500)]
            benches.append(lab.bench(*SIZES, "--algorithm", "canary", "--fallback", "error",
                                     hosts=RINGS[4], port=29600))
            with mock.patch.dict(os.environ, plain | told):
                benches.append(lab.bench(*SIZES, "--algorithm", "panama", "--fallback", "error",
                                         hosts=RINGS[4], port=29700))
            for bench in benches:
                self.assertEqual(support.wrong(bench.finish()), 0)
            lab.assert_balanced(self)

    def test_a_stranger_changes_nothing(self):
        with support.Lab("star-4") as lab:
            with lab.background("h4", sys.executable, STRANGER, "10.0.0.2", "3", "3"):
                support.until(lambda: lab.drops().get("netreduce_not_member", 0) > 100,
                              what="the stranger's packets")
                self.reduce(lab, 3)
            lab.assert_balanced(self)

    def test_a_ring_that_is_not_there(self):
        with support.Lab("star-4") as lab:
            bench = lab.bench(*SIZES, *worker(99), hosts=RINGS[2], deadline_s=15)
            self.assertNotEqual(bench.end(), 0)
            self.assertIn("no switch on the way adds for ring 99", bench.said)
            # The hosts help themselves where they may.
            document = lab.reduce(*SIZES, "--algorithm", "netreduce", "--ring", "99",
                                  hosts=RINGS[2])
            self.assertEqual(support.wrong(document), 0)
            self.assertGreater(document["statistics"]["collectives_by_ring"], 0)
            # And say so in every row.
            self.assertEqual({row["algorithm"] for row in document["rows"]}, {"netreduce(ring)"})
            said = support.run(support.LAB, "run", lab.name, "--build-dir", support.BUILD,
                               "--hosts", RINGS[2], "--", "allreduce",
                               *SIZES, "--algorithm", "netreduce", "--ring", 99).stdout
            self.assertEqual(said.count("  netreduce(ring) "), len(document["rows"]), said)

    def by_other_settings(self, lab, **settings):
        variables = {f"TRIBUTARY_NETREDUCE_{name}": value for name, value in settings.items()}
        with mock.patch.dict(os.environ, variables):
            bench = lab.bench("-b", "1M", "-e", "1M", "-n", "1", "--algorithm", "netreduce",
                              "--ring", "2", hosts=RINGS[2])
            document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        return document["rows"][0]["algorithm"], bench.said

    def test_a_ring_of_shorter_messages(self):
        """What the first full message would meet is known when the communicator is there."""
        with support.Lab("star-4") as lab:
            algorithm, said = self.by_other_settings(lab, MESSAGE="200")
            self.assertEqual(algorithm, "netreduce(ring)")
            self.assertIn("the same `window` and `message_packets`", said)
            self.assertGreater(lab.drops()["netreduce_malformed"], 0)

    def test_packets_smaller_than_the_rings(self):
        with support.Lab("star-4") as lab:
            algorithm, _ = self.by_other_settings(lab, MTU="512")
            self.assertEqual(algorithm, "netreduce")
            lab.assert_balanced(self)

    def test_workers_that_would_share_an_address(self):
        """Each of them knows, so that nobody waits for who does not come."""
        with support.Lab("star-4") as lab:
            for algorithm in (("netreduce", "--ring", 4), ("roce-ring",)):
                done = support.run(support.LAB, "run", lab.name, "--build-dir", support.BUILD,
                                   "--per-host", 2, "--", "allreduce", "--algorithm", *algorithm)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("the 2 ranks of this machine"), 8, done.stderr)

    def test_members_in_another_order(self):
        with support.Lab("star-4") as lab:
            bench = lab.bench(*SIZES, *worker(3), hosts="h1,h3,h2", deadline_s=15)
            self.assertNotEqual(bench.end(), 0)
            self.assertIn("`members`", bench.said)

    def test_a_ring_of_hosts_over_the_same_endpoints(self):
        with support.Lab("star-4") as lab:
            before = figures(lab)["sums_total"]
            document = lab.reduce(*SIZES, "--algorithm", "roce-ring")
            self.assertEqual(support.wrong(document), 0)
            self.assertEqual(figures(lab)["sums_total"], before)
            document = lab.reduce("-n", "3", "--algorithm", "roce-ring", collective="barrier")
            self.assertEqual(support.wrong(document), 0)

    def test_what_linux_puts_into_the_ip_header(self):
        """The ICRC covers it, and a UDP socket does not show it."""
        with support.Lab("star-4") as lab:
            with subprocess.Popen(
                    namespaces.command(f"trib-{lab.name}-h1", "tcpdump", "-Z", "root", "-vni", "any",
                                       "-c", "20", "udp", "src", "port", "4791", "and", "src", "host",
                                       "10.0.0.1"),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as capture:
                capture.stderr.readline()  # it listens
                self.reduce(lab, 2)
                seen, _ = capture.communicate(timeout=support.PATIENCE_S)
            headers = re.findall(r"id (\d+), offset 0, flags \[(\w*)\]", seen)
            self.assertEqual(set(headers), {("0", "DF")}, seen)


def with_rings(directory: str, settings: str) -> pathlib.Path:
    """The lab star-4, with these settings in each ring."""
    conf = support.ROOT / "conf"
    text = (conf / "star-4.toml").read_text()
    daemon = pathlib.Path(directory) / "star-4.toml"
    daemon.write_text(re.sub(r"(?m)^(members = .*\n)", r"\g<1>" + settings, text))
    lab = pathlib.Path(directory) / "lab.toml"
    lab.write_text((conf / "labs" / "star-4.toml").read_text().replace("../star-4.toml",
                                                                       str(daemon)))
    return lab


if __name__ == "__main__":
    support.main()
