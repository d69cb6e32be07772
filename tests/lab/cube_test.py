# SPDX-License-Identifier: BSD-3-Clause
"""Hosts with several interfaces: BCube and mesh, by the hosts and through switches, and interfaces that fail."""

import os
import random
import re
import unittest

import support

BOTH = ("--interfaces", "eth0,eth1")
ALGORITHMS = ("bcube", "mesh", "bcube-switches", "mesh-switches")
PIECES = ("--cube-pieces", "8")  # over BCube(2, 2) for a vector of 640 KiB or more, over (3, 2) of 512 KiB
ONCE = ("-n", "1", "-w", "0")
# Shaped as slowly as in the benchmarks, tests would wait for the links alone.
FAST = ("--rate", "none")
SEEDS = int(os.environ.get("TRIBUTARY_CUBE_SEEDS", "1"))
LOSS = ("--set", "switch.port.impair_in.loss=0.01", "--set", "switch.port.impair_in.seed={n}")


class Cube(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("bcube-3-2", *FAST).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def reduce(self, algorithm: str, *what: str) -> dict:
        document = self.lab.reduce("--algorithm", algorithm, *BOTH, *what)
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {algorithm})
        return document

    def test_sums_are_exact(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm):
                self.reduce(algorithm, "-d", "f32,i64,bf16", "--counts", "16385,100003", *ONCE)

    def test_all_interfaces_carry_the_same(self):
        for algorithm in ("bcube", "mesh"):
            figures = self.reduce(algorithm, "-b", "1179648", "-e", "1179648", *ONCE)["statistics"]
            calls = figures[f"collectives_by_{algorithm}"] / 9
            for interface in (0, 1):
                for way in ("sent", "received"):
                    with self.subTest(algorithm=algorithm, interface=interface, way=way):
                        # Of each of the nine ranks 2 (n - 1)/(n beta) of the vector.
                        self.assertEqual(figures[f"interface_{interface}_bytes_{way}"], calls * 8 * 1179648)

    def test_switches_add_on_every_interface(self):
        for algorithm in ("bcube-switches", "mesh-switches"):
            with self.subTest(algorithm=algorithm):
                support.assert_switches_reduce(self, self.reduce(algorithm, "-b", "1M", "-e", "1M", *ONCE))

    def test_switches_add_and_copy_in_pieces(self):
        whole, pieces = (self.reduce("bcube-switches", *how, "-b", "1M", "-e", "1M", *ONCE) for how in ((), PIECES))
        support.assert_switches_reduce(self, pieces)
        # By the model of two thirds of the bytes, and headers; what was asked for again is left out.
        self.assertLess(self.bytes_sent_once(pieces), 0.8 * self.bytes_sent_once(whole))
        self.reduce("bcube-switches", *PIECES, "-d", "f32,i64,bf16", "--counts", "16385,300007", *ONCE)

    @staticmethod
    def bytes_sent_once(document: dict) -> int:
        figures = document["statistics"]
        again = (figures["requests_sent"] + figures["replays_sent"]) * (document["payload_bytes_max"] + 64)
        return figures["bytes_sent"] - again

    def test_short_vectors_take_the_ring(self):
        document = self.lab.reduce("--algorithm", "bcube", *BOTH, "-b", "8K", "-e", "32K", *ONCE)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {"bcube(ring)"})

    def test_late_ranks_are_waited_for(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm):
                document = self.lab.reduce("--algorithm", algorithm, *BOTH, "-b", "1M", "-e", "1M", *ONCE,
                                           delay="h4=2")
                self.assertEqual(support.wrong(document), 0)

    def test_other_numbers_of_ranks_are_refused(self):
        bench = self.lab.bench("--algorithm", "bcube", *BOTH, "-b", "1M", "-e", "1M", hosts="h0,h1,h2")
        self.assertNotEqual(bench.end(), 0)
        self.assertIn("with 2 interfaces a BCube has 4, 9, 16, ... ranks, not 3", bench.said)

    def test_an_interface_that_is_not_there_is_named(self):
        bench = self.lab.bench("--algorithm", "bcube", "--interfaces", "eth0,eth7", "-b", "1M", "-e", "1M")
        self.assertNotEqual(bench.end(), 0)
        self.assertIn("no interface 'eth7'", bench.said)


class Failures(unittest.TestCase):
    """Each with a lab of its own, which it leaves broken."""

    def fail_amidst(self, algorithm: str, *break_it: str, size: str = "1M", stall_timeout_s: int = 30) -> str:
        """What all ranks said."""
        with support.Lab("bcube-2-2", *FAST, name=f"cube-{algorithm}-{break_it[0]}-{size.lower()}") as lab:
            bench = lab.bench("--algorithm", algorithm, *BOTH, "-b", size, "-e", size, "-n", "1000000", "-c", "0",
                              deadline_s=None, stall_timeout_s=stall_timeout_s)
            support.until(lambda: sum(row["received_packets_total"] for row in lab.rows("counters")) > 20000,
                          what="a reduction")
            lab.tool(*break_it)
            self.assertNotIn(bench.end(), (0, 124), bench.said)
            return bench.said

    def test_an_interface_that_fails_is_named_by_all_ranks(self):
        for algorithm in ("bcube", "mesh"):
            with self.subTest(algorithm=algorithm):
                said = self.fail_amidst(algorithm, "link", "h2e1", "down")
                named = {line.split(":")[0] for line in said.splitlines()
                         if "rank 2 over eth1 (10.1.2.2): the interface is down" in line}
                self.assertEqual(named, {"h0", "h1", "h2", "h3"}, said)

    def test_through_switches_its_rank_names_it_and_the_others_end(self):
        said = self.fail_amidst("mesh-switches", "link", "h2e1", "down")
        self.assertIn("h2: tributary-bench: rank 2 over eth1 (10.1.2.2): the interface is down", said)

    def test_through_switches_its_rank_names_it_in_calls_of_the_ring_too(self):
        """Short vectors, and the barriers between them, go by the ring, over the first interface."""
        said = self.fail_amidst("mesh-switches", "link", "h2e0", "down", size="4K", stall_timeout_s=5)
        self.assertIn("h2: tributary-bench: rank 2 over eth0 (10.0.2.2): the interface is down", said)

    def test_through_switches_one_that_is_down_from_the_beginning_is_named_by_all(self):
        with support.Lab("bcube-2-2", *FAST, name="cube-dead") as lab:
            lab.tool("link", "h2e1", "down")
            bench = lab.bench("--algorithm", "mesh-switches", *BOTH, "-b", "1M", "-e", "1M", deadline_s=None,
                              stall_timeout_s=30)
            self.assertNotIn(bench.end(), (0, 124), bench.said)
            self.assertEqual(bench.said.count("has not all connections for"), 4, bench.said)
            self.assertIn("over eth1", bench.said)

    def test_switches_that_die_are_noticed_though_interfaces_are_up(self):
        said = self.fail_amidst("bcube", "kill", "bcube-2-2")
        unanswered = r"rank \d over eth\d \(10\.\d\.\d\.2\): rank \d \(10\.\d\.\d\.2\) has not answered for"
        self.assertEqual(len(re.findall(unanswered, said)), 4, said)


class Loss(unittest.TestCase):
    def test_lost_packets_cost_time_alone(self):
        with support.Lab("bcube-2-2", *FAST, *LOSS, name="cube-loss") as lab:
            for algorithm, *how in (*((one,) for one in ALGORITHMS), ("bcube-switches", *PIECES)):
                with self.subTest(algorithm=algorithm, how=how):
                    document = lab.reduce("--algorithm", algorithm, *BOTH, *how, "-b", "256K", "-e", "1M", "-n", "2")
                    self.assertEqual(support.wrong(document), 0)


class ThroughSwitches(unittest.TestCase):
    """What cube_property draws for the hosts: calls over random cables, with late ranks, until an interface fails."""

    def test_sums_are_exact_until_an_interface_fails(self):
        for seed in range(1, SEEDS + 1):
            for algorithm, *how in (("bcube-switches",), ("mesh-switches",), ("bcube-switches", *PIECES)):
                with self.subTest(algorithm=algorithm, how=how, seed=seed):
                    self.how = (*BOTH, *how)
                    self.run_one(algorithm, random.Random(f"{algorithm} {seed}"))

    def run_one(self, algorithm: str, draw: random.Random) -> None:
        faults = [f"switch.port.impair_in.{fault}={draw.choice((0, 0.001, 0.01))}"
                  for fault in ("loss", "duplicate", "reorder")]
        faults.append("switch.port.impair_in.seed={n}")
        options = (word for fault in faults for word in ("--set", fault))
        with support.Lab("bcube-2-2", *FAST, *options, name=f"cube-drawn-{algorithm}") as lab:
            for _ in range(2):
                self.reduce(lab, algorithm, draw)
            self.fail_amidst(lab, algorithm, draw.randrange(4))

    def reduce(self, lab: support.Lab, algorithm: str, draw: random.Random) -> None:
        counts = ",".join(str(draw.randrange(32769, 300000)) for _ in range(2))
        late = {"delay": f"h{draw.randrange(4)}={draw.randrange(1, 3)}"} if draw.random() < 0.5 else {}
        types = ",".join(draw.sample(("f32", "i64", "bf16", "i8"), 2))
        document = lab.reduce("--algorithm", algorithm, *self.how, "-d", types, "--counts", counts, *ONCE, **late)
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {algorithm})

    def fail_amidst(self, lab: support.Lab, algorithm: str, rank: int) -> None:
        """Barriers between the calls go by the ring, over the other interface."""
        before = sum(row["received_packets_total"] for row in lab.rows("counters"))
        bench = lab.bench("--algorithm", algorithm, *self.how, "-b", "1M", "-e", "1M", "-n", "1000000", "-c", "0",
                          deadline_s=None, stall_timeout_s=30)
        support.until(lambda: sum(row["received_packets_total"] for row in lab.rows("counters")) > before + 5000,
                      what="a reduction")
        lab.tool("link", f"h{rank}e1", "down")
        self.assertNotIn(bench.end(), (0, 124), bench.said)
        self.assertIn(f"h{rank}: tributary-bench: rank {rank} over eth1 (10.1.{rank}.2): the interface is down",
                      bench.said)
        ended = {line.split(":")[0] for line in bench.said.splitlines() if ": tributary-bench: " in line}
        self.assertEqual(ended, {"h0", "h1", "h2", "h3"}, bench.said)


if __name__ == "__main__":
    support.main()
