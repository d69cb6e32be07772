# SPDX-License-Identifier: BSD-3-Clause
"""docs/wire.md suffices: workers that were written from it alone, in Python, are ranks of jobs whose
other ranks are libtributary's. Both sides compare every element."""

import pathlib
import unittest

import support

RANK = pathlib.Path(__file__).resolve().parent / "wire_worker" / "rank.py"
FEW = "1,351,352,353,1409"
SEVERAL_WINDOWS = "0,10007,100003"  # the longest ends with a completion of Canary's
ONCE = ("-n", "1", "-w", "0")


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
        self.assertGreater(document["statistics"]["switch_sums_seen"], 0)
        self.assertEqual(document["statistics"]["blocks_by_hosts"], 0)


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


if __name__ == "__main__":
    support.main()
