# SPDX-License-Identifier: BSD-3-Clause
"""`tributaryctl stalled` names job, block and rank of what waits."""

import os
import signal
import time
import unittest

import support

HOSTS = "l1h1,l1h2,l2h1,l2h2,l3h1,l3h2,l4h1,l4h2"
VICTIM = "l3h1"
RANK = HOSTS.split(",").index(VICTIM)


class Stalled(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab("fat-tree-8").__enter__()
        self.addCleanup(self.lab.__exit__)

    def contributions(self) -> int:
        return sum(row["contributions_total"] for row in self.lab.rows("job"))

    def named(self) -> list[dict]:
        """Rows that blame the victim alone. Others may be late for a while, or wait for it before the next reduction
        where it was stopped between two."""
        return [row for row in self.lab.rows("stalled") if row["missing_ranks"] == [RANK]]

    def test_nothing_is_stalled_where_nothing_runs(self):
        self.assertEqual(self.lab.rows("stalled"), [])
        self.assertEqual(self.lab.ctl("stalled").stdout, "nothing is stalled\n")

    def test_a_stopped_worker_is_named_and_the_rest_is_exact(self):
        began = time.monotonic()
        bench = self.lab.bench("-b", "1M", "-e", "1M", "-n", "40", hosts=HOSTS)
        support.until(lambda: self.contributions() > 20000, what="a reduction")
        pid = self.lab.processes(VICTIM, "tributary-bench")[0]
        rows = []
        for _ in range(8):
            os.kill(pid, signal.SIGSTOP)
            try:
                stopped = time.monotonic()
                while not (rows := self.named()) and time.monotonic() < stopped + 15:
                    time.sleep(0.05)
                people = self.lab.ctl("stalled").stdout
                asked = time.monotonic()
            finally:
                os.kill(pid, signal.SIGCONT)
            # Or it was stopped where all tell each other their times, over the ring.
            if rows:
                break
            time.sleep(0.5)
        self.assertTrue(rows)
        jobs = {row["job"] for row in self.lab.rows("job")}
        for row in rows:
            self.assertIn(row["job"], jobs)
            self.assertEqual(row["hosts"], 8)
            self.assertLess(row["contributions"], 8)
            # On a busy machine it may have waited for somebody before.
            self.assertLess(row["waiting_seconds"], asked - began)
        self.assertIn("MISSING-RANKS", people)
        self.assertEqual(support.wrong(bench.finish()), 0)
        support.until(lambda: not self.lab.rows("stalled"), what="an end of the stall")
        self.lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
