# SPDX-License-Identifier: BSD-3-Clause
"""docs/reference/wire suffices: workers that were written from it alone, in Python, are ranks of jobs whose
other ranks are libtributary's. Both sides compare every element."""

import os
import pathlib
import re
import unittest
from unittest import mock

import support
from panama_job import job as panama_job
from panama_job import summed as results_of_switches

RANK = pathlib.Path(__file__).resolve().parent / "wire_worker" / "rank.py"
FEW = "1,351,352,353,1409"
SEVERAL_WINDOWS = "0,10007,70001"  # the longest ends with a completion of Canary's
ONCE = ("-n", "1", "-w", "0")
LOSSY = ("--set", "switch.port.impair.loss=0.01", "--set", "switch.port.impair.seed={n}")
SLOW = ("--set", "switch.port.rate=2Mbit")  # so that something can happen to a call meanwhile


class Ranks(unittest.TestCase):
    protocol = ("--algorithm", "canary")

    def start(self, *arguments, ranks: str = "2", **where) -> support.Bench:
        """A job on the lab's hosts; `ranks` are Python's."""
        environment = {"WIRE_RANKS": ranks, "TRIBUTARY_BENCH": str(support.BENCH)}
        return self.lab.bench(*self.protocol, *arguments, program=RANK, environment=environment,
                              **where)

    def job(self, *arguments, **where) -> dict:
        document = self.start(*arguments, **where).finish()
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {self.protocol[1]})
        return document


class EveryCollective:
    def test_allreduce_of_every_type_and_operator(self):
        self.job("-d", "all", "-o", "all", "--counts", FEW, *ONCE)

    def test_several_windows_and_calls(self):
        self.job("-d", "i32,f32", "--counts", SEVERAL_WINDOWS, "-n", "2")

    def test_reduce_and_broadcast_wherever_the_root_is(self):
        for root in ("2", "1"):
            for collective in ("reduce", "broadcast"):
                with self.subTest(collective=collective, root=root):
                    self.job("-d", "i64,bf16", "--counts", "1,353,10007", *ONCE, "-r", root,
                             collective=collective)

    def test_barrier(self):
        self.job("-n", "5", collective="barrier")

    def test_most_ranks_are_pythons(self):
        self.job("-d", "i16", "--counts", SEVERAL_WINDOWS, ranks="1,2,3")


class OnOneSwitch(EveryCollective, Ranks):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("star-4"))

    def test_switches_reduce(self):
        document = self.job("--counts", "10007", *ONCE)
        support.assert_switches_reduce(self, document)


class OverLossyCables(Ranks):
    """Requests, failures, pendings, releases, attempts: each rank leads a quarter of the blocks."""

    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(
            support.Lab("star-4", "--set", "switch.port.impair_in.loss=0.02"))

    def test_loss_costs_time_only(self):
        document = self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, "-n", "3", "-w", "0")
        for what in ("requests_sent", "replays_sent", "blocks_reissued"):
            self.assertGreater(document["statistics"][what], 0, what)

    def test_reduce_and_broadcast(self):
        for collective in ("reduce", "broadcast"):
            self.job("--counts", "10007", "-r", "2", "-n", "3", collective=collective)


class OverFewDescriptors(Ranks):
    """Collisions: leaders restore children."""

    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("star-4", "--descriptors", "16"))

    def test_collisions(self):
        document = self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE)
        self.assertGreater(document["statistics"]["collisions_received"], 0)
        self.assertGreater(document["statistics"]["restorations_sent"], 0)


class Panama(Ranks):
    protocol = ("--algorithm", "panama")


class OnATree(EveryCollective, Panama):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("star-4"))
        cls.enterClassContext(panama_job(cls.lab))

    def test_without_congestion_control(self):
        with mock.patch.dict(os.environ, {"TRIBUTARY_CONGESTION_CONTROL": "off"}):
            self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE)


class OnATreeThatMayLackRanks(Panama):
    """Python's ranks are late, and everybody says of every element whom it lacks."""

    def job_that_lacks(self, *arguments, **where) -> None:
        for _ in range(10):  # it depends on who is late
            document = self.job("-d", "i32", *arguments, **where)
            if document["panama"]["results_partial"] > 0:
                return
        self.fail("nobody was late")

    def test_the_mask_says_who_is_in_a_sum(self):
        with support.Lab("star-4") as self.lab, panama_job(self.lab, more="share = 0.75\n"):
            self.job_that_lacks("--counts", SEVERAL_WINDOWS, "-n", "2")

    def test_results_are_asked_for_where_packets_are_lost(self):
        with support.Lab("star-4", *LOSSY) as self.lab, panama_job(self.lab, more="share = 0.5\n"):
            self.job_that_lacks("--counts", SEVERAL_WINDOWS, *ONCE, ranks="1,2")


class OnTwoTreesOverLossyCables(Panama):
    def test_loss_costs_time_only(self):
        with support.Lab("fat-tree-8", *LOSSY) as self.lab, panama_job(self.lab, "--trees", 2) as told:
            self.assertEqual(len(told["TRIBUTARY_TREES"].split(",")), 2)
            self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE, ranks="1,6")


class OnATreeWhoseSwitchForgets(Panama):
    def lose(self, share: float) -> None:
        """Of what goes to the workers."""
        self.lab.tool("reload", "--set", f"switch.port.impair_out.loss={share}",
                      "--set", "switch.port.impair_out.seed={n}")

    def answers_after_a_restart(self) -> int:
        """To the switch, which is killed amid losses; by workers that have what others lack."""
        with support.Lab("star-4", *SLOW) as self.lab, panama_job(self.lab):
            bench = self.start("-d", "i64", "--counts", "100003", *ONCE, ranks="1,2,3")
            support.until(lambda: results_of_switches(self.lab) > 0, what="the ranks to meet")
            self.lose(0.2)
            support.until(lambda: results_of_switches(self.lab) > 50, what="a reduction")
            self.lab.tool("kill", "star-4")
            was_running = bench.running()
            self.lab.tool("restart", "star-4")
            if not was_running:
                return 0  # it ended too early to prove anything
            self.lose(0)
            self.assertEqual(support.wrong(bench.finish()), 0)
        return sum(map(int, re.findall(r"answers to inquiries: (\d+)", bench.said)))

    def test_workers_have_the_results(self):
        """Whether somebody lacks a result in the moment of the kill is up to the losses."""
        self.assertTrue(any(self.answers_after_a_restart() for _ in range(5)))


class Flare(Ranks):
    protocol = ("--algorithm", "flare")

    @classmethod
    def start_lab(cls, *options) -> None:
        """With a tree for dense and sparse blocks."""
        cls.lab = cls.enterClassContext(
            support.Lab("star-4", "--set", "switch.flare.working_memory=8192", *options))
        cls.enterClassContext(panama_job(cls.lab, "--algorithm", "flare",
                                         more="settings = { window = 16, sparse_window = 8 }\n"))

    def sparse_job(self, density: str, *arguments, **where) -> dict:
        document = self.job(*arguments, "--density", density, collective="sparse_allreduce", **where)
        self.assertEqual(document["statistics"]["collectives_by_ring"], 0)
        self.assertGreater(document["flare"]["trees"][0]["sparse_results_received"], 0)
        return document


class OnATreeOfFlare(EveryCollective, Flare):
    @classmethod
    def setUpClass(cls):
        cls.start_lab()

    def test_sparse_vectors_from_none_to_all_elements(self):
        """In blocks that are empty, of few pairs, of several shards, and of runs."""
        for density in ("0", "0.001", "0.02", "0.3", "1"):
            with self.subTest(density=density):
                self.sparse_job(density, "-d", "i32,f64", "--counts", "1,353,40007", *ONCE)

    def test_sparse_vectors_of_every_type(self):
        self.sparse_job("0.05", "-d", "all", "--counts", "10007", *ONCE)

    def test_sparse_calls_after_others(self):
        self.sparse_job("0.1", "-d", "i64", "--counts", "0,10007,40009", "-n", "3", ranks="1,3")

    def test_sparse_vectors_where_most_ranks_are_pythons(self):
        self.sparse_job("0.05", "-d", "i16", "--counts", SEVERAL_WINDOWS, *ONCE, ranks="1,2,3")


class OnATreeOfFlareOverLossyCables(Flare):
    @classmethod
    def setUpClass(cls):
        cls.start_lab(*LOSSY)

    def test_loss_costs_time_only(self):
        document = self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE, ranks="1,2")
        self.assertGreater(document["flare"]["trees"][0]["retransmissions_sent"], 0)

    def test_sparse_blocks_are_sent_again_and_asked_for(self):
        for density in ("0.01", "0.5"):
            with self.subTest(density=density):
                document = self.sparse_job(density, "-d", "i32", "--counts", "40009", "-n", "2", "-w", "0",
                                           ranks="1,2")
                self.assertGreater(document["flare"]["trees"][0]["retransmissions_sent"], 0)


class NetReduce(Ranks):
    """Over Reliable Connections in software."""
    protocol = ("--algorithm", "netreduce", "--ring", "4")


class OverARing(EveryCollective, NetReduce):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("star-4"))


class OverARingOfLossyCables(NetReduce):
    def test_loss_costs_time_only(self):
        with support.Lab("star-4", *LOSSY) as self.lab:
            document = self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE, ranks="1,2")
        self.assertGreater(document["netreduce"]["retransmissions_sent"], 0)


if __name__ == "__main__":
    support.main()
