# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that post collectives by name, each in an order of its own, through a switch."""

import json
import os
import subprocess
import unittest

import support

WORKER = support.BUILD / "tests" / "lab" / "queue_worker"
TENSORS = 40
ROUNDS = 5


class Queue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def run_ranks(self, *arguments, **variables) -> subprocess.CompletedProcess:
        return support.run(support.LAB, "run", self.lab.name, "--program", WORKER, "--time-limit",
                           int(support.PATIENCE_S) - 20, "--", *arguments,
                           env=os.environ | {"TRIBUTARY_STALL_TIMEOUT": "120s"} | variables)

    def post_one(self, how: str) -> list[str]:
        """What all ranks say."""
        done = self.run_ranks(how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def test_ranks_that_post_in_different_orders_get_exact_sums(self):
        for variables in ({"TRIBUTARY_ALGORITHM": "canary"}, {"TRIBUTARY_ALGORITHM": "ring"},
                          {"TRIBUTARY_ALGORITHM": "netreduce", "TRIBUTARY_NETREDUCE_RING": "4"}):
            with self.subTest(variables=variables):
                done = self.run_ranks("shuffle", ROUNDS, **variables)
                self.assertEqual(done.returncode, 0, done.stderr)
                figures = json.loads(done.stdout)
                self.assertEqual(figures["collectives"], ROUNDS * (TENSORS + 1))
                self.assertGreater(figures["collectives_fused"], 0)
                # After the first round only one name is new in each.
                self.assertLess(figures["announcements"], TENSORS + 2 * ROUNDS)
                if variables["TRIBUTARY_ALGORITHM"] == "canary":
                    self.assertGreater(figures["switch_sums_seen"], 0)
        self.lab.assert_balanced(self)

    def test_another_count_is_an_error_on_all_ranks(self):
        said = self.post_one("differ")
        self.assertEqual(sum("'gradient'" in line and "is not the same on rank" in line
                             for line in said), 4, said)

    def test_who_is_late_is_named_and_waited_for(self):
        said = self.post_one("late")
        # On a busy machine somebody else may be late, too; every rank hears it.
        self.assertGreaterEqual(sum("'gradient' (allreduce of 4 f32, sum) has waited for 1 s: it is "
                                    "not posted by rank" in line and line.endswith("3")
                                    for line in said), 4, said)

    def test_who_leaves_is_not_waited_for(self):
        said = self.post_one("leave")
        self.assertEqual(sum("rank 3 closed the queue without having posted it" in line
                             for line in said), 3, said)


if __name__ == "__main__":
    support.main()
