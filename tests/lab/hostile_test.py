# SPDX-License-Identifier: BSD-3-Clause
"""Broken, lying and foreign packets cost other jobs nothing, and every one of them is counted."""

import pathlib
import sys
import unittest

import support

HERE = pathlib.Path(__file__).resolve().parent
SENDER = HERE / "hostile_sender.py"
STRANGER = HERE / "rendezvous_stranger.py"
BUSY = "l1h1,l2h1,l3h1,l4h1,l2h2,l3h2,l4h2"  # l1h2 is the stranger
LEADER = "10.4.1.2"
RANK_0 = "10.1.1.2"
JOB = "4711"  # of the reductions, and of what the stranger sends


class Hostile(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab("fat-tree-8").__enter__()
        self.addCleanup(self.lab.__exit__)

    def send(self, *arguments):
        done = self.lab.exec("l1h2", sys.executable, SENDER, *arguments, "--job", JOB,
                             "--hosts", len(BUSY.split(",")), timeout=5 * support.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)

    def reductions_survive(self, attack):
        support.long_enough(lambda iterations: self.attack_reductions(attack, iterations), 25)

    def attack_reductions(self, attack, iterations: int) -> None:
        before = self.contributions()
        bench = self.lab.bench("-b", "256K", "-e", "256K", "-n", iterations, "-d", "f32,i32",
                               "--job", JOB, hosts=BUSY)
        try:
            support.until(lambda: self.contributions() > before or not bench.running(),
                          what="a reduction")
            attack()
            over = not bench.running()
        finally:
            document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        self.lab.assert_balanced(self)
        if over:
            raise support.TooEarly("the reductions ended before the attack")

    def contributions(self) -> int:
        return sum(row["contributions_total"] for row in self.lab.rows("job") if row["job"] == int(JOB))

    def test_truncated_packets(self):
        self.reductions_survive(lambda: self.send("truncated", LEADER))
        self.assertGreater(self.lab.drops().get("canary_truncated", 0), 100)

    def test_every_field_at_zero_and_maximum(self):
        self.reductions_survive(lambda: self.send("fields", LEADER))
        drops = self.lab.drops()
        for reason in ("canary_version", "canary_malformed", "canary_crc"):
            self.assertGreater(drops.get(reason, 0), 0, (reason, drops))

    def test_oversized_packets(self):
        self.reductions_survive(lambda: self.send("oversized", LEADER))
        self.assertGreater(self.lab.drops().get("canary_oversized", 0), 0)

    def test_random_bytes(self):
        self.reductions_survive(lambda: self.send("random", LEADER))

    def test_foreign_ids_while_reductions_run(self):
        self.reductions_survive(lambda: self.send("ids", LEADER, "--count", "20000",
                                                  "--rate", "4000"))

    def test_forged_messages_of_every_kind(self):
        self.reductions_survive(lambda: self.send("messages", LEADER, "--count", "6000"))
        figures = {}
        for row in self.lab.rows("engine"):
            for name, value in row["figures"].items():
                figures[name] = figures.get(name, 0) + value
        for name in ("requests_total", "failures_total", "pendings_total"):
            self.assertGreaterEqual(figures[name], 1000, figures)
        # Hearsay, but bounded, and it does not stay.
        self.assertLessEqual(len(self.lab.rows("stalled", "--limit", "10000")), 6 * 256)
        support.until(lambda: not self.lab.rows("stalled"),
                      what="an end of the forged stalls")

    def test_a_stranger_who_greets_like_every_rank_before_they_come(self):
        stranger = self.lab.background("l1h2", sys.executable, STRANGER, RANK_0,
                                       len(BUSY.split(",")))
        with stranger as process:
            for _ in range(3):
                document = self.lab.reduce("-b", "64K", "-e", "64K", "-n", "3", hosts=BUSY)
                self.assertEqual(support.wrong(document), 0)
            self.assertIsNone(process.poll())

    def test_a_million_ids(self):
        self.send("ids", LEADER, "--count", "1000000", "--rate", "0")
        document = self.lab.reduce("-b", "256K", "-e", "256K", "-n", "3", "--job", JOB, hosts=BUSY)
        self.assertEqual(support.wrong(document), 0)
        self.lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
