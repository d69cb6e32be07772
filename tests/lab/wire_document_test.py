# SPDX-License-Identifier: BSD-3-Clause
"""docs/wire.md suffices: a worker that was written from it alone, in Python, is a rank of jobs whose
other ranks are libtributary's. Both sides compare every element."""

import pathlib
import unittest

import support

RANK = pathlib.Path(__file__).resolve().parent / "wire_worker" / "rank.py"
FEW = "1,351,352,353,1409"
SEVERAL_WINDOWS = "0,10007,100003"  # the longest ends with a completion
ONCE = ("-n", "1", "-w", "0")


class Ranks(unittest.TestCase):
    def job(self, *arguments, ranks: str = "2", **where) -> dict:
        """A job on four hosts; `ranks` are Python's."""
        environment = {"WIRE_RANKS": ranks, "TRIBUTARY_BENCH": str(support.BENCH)}
        document = self.lab.reduce(*arguments, program=RANK, environment=environment,
                                   **where)
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {"canary"})
        return document


class OnOneSwitch(Ranks):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def test_allreduce_of_every_type_and_operator(self):
        document = self.job("-d", "all", "-o", "all", "--counts", FEW, *ONCE)
        self.assertGreater(document["statistics"]["switch_sums_seen"], 0)
        self.assertEqual(document["statistics"]["blocks_by_hosts"], 0)

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


class OverLossyCables(Ranks):
    """Requests, failures, pendings, releases, attempts: each rank leads a quarter of the blocks."""

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--set", "switch.port.impair_in.loss=0.02").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

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
        cls.lab = support.Lab("star-4", "--descriptors", "16").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def test_collisions(self):
        document = self.job("-d", "i32", "--counts", SEVERAL_WINDOWS, *ONCE)
        self.assertGreater(document["statistics"]["collisions_received"], 0)
        self.assertGreater(document["statistics"]["restorations_sent"], 0)


if __name__ == "__main__":
    support.main()
