# SPDX-License-Identifier: BSD-3-Clause
"""Flare from end to end: a reduction tree placed by tributaryctl, workers that reduce over it."""

import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

import faults
import support
from panama_job import job, summed

DIFFERING_RANK = pathlib.Path(__file__).resolve().parent / "differing_rank.py"
STRANGER = DIFFERING_RANK.with_name("flare_stranger.py")
FLOAT_SUMS = support.BUILD / "tests" / "lab" / "float_sums"
SIZES = ("-b", "4K", "-e", "64K", "-f", "16", "-n", "2")
MEMORY = ("--set", "switch.flare.working_memory=8192")
LOSS = ("--set", "switch.port.impair_in.loss=0.01", "--set", "switch.port.impair_in.seed={n}")
REPRODUCIBLE = "settings = { reproducible = 1 }\n"
SPARSE = "settings = { window = 16, sparse_window = 8 }\n"


def flare_job(lab: support.Lab, *options, **more):
    return job(lab, "--algorithm", "flare", *options, **more)


class Flare(unittest.TestCase):
    def reduce(self, lab: support.Lab, *options, sizes=SIZES, **where) -> dict:
        """Exact, and the switches have added."""
        before = summed(lab, "flare")
        document = lab.reduce(*sizes, "--algorithm", "flare", "--fallback", "error", *options, **where)
        self.assertEqual(support.wrong(document), 0)
        self.assertGreater(summed(lab, "flare"), before)
        return document

    def test_one_switch(self):
        with support.Lab("star-4", *MEMORY) as lab:
            for hosts in ("h1,h2", "h3,h1,h2", "h1,h2,h3,h4"):
                with flare_job(lab, "--hosts", hosts, more="settings = { window = 16 }\n") as told:
                    self.assertEqual(told["TRIBUTARY_FLARE_WINDOW"], "16")
                    self.reduce(lab, "-d", "f32", "bf16", "i64", "-o", "sum", "max", hosts=hosts)
                    for collective in ("reduce", "broadcast"):
                        self.reduce(lab, "-r", "1", hosts=hosts, collective=collective)
            lab.assert_balanced(self)

    def test_two_levels(self):
        with support.Lab("fat-tree-8", *MEMORY) as lab, flare_job(lab) as told:
            self.assertTrue(told["TRIBUTARY_FLARE_TREE"].startswith("239."))
            self.reduce(lab, "-d", "f32", "f16", "i8", "-o", "sum", "max")
            lab.assert_balanced(self)

    def test_one_percent_of_loss(self):
        with support.Lab("fat-tree-8", *MEMORY, *LOSS) as lab, flare_job(lab):
            document = self.reduce(lab)
            self.assertGreater(document["flare"]["trees"][0]["retransmissions_sent"], 0)
            lab.assert_balanced(self)

    def test_three_levels(self):
        with support.Lab("fat-tree-3-level", *MEMORY) as lab, flare_job(lab):
            document = self.reduce(lab, "-d", "f32", "i32")
            self.assertEqual(document["ranks"], 16)
            lab.assert_balanced(self)

    def test_two_cores_and_one_percent_of_loss(self):
        with support.Lab("fat-tree-8", "--cores", "0,1", *MEMORY, *LOSS) as lab, flare_job(lab):
            document = self.reduce(lab, "-d", "f32", "f16")
            self.assertGreater(document["flare"]["trees"][0]["retransmissions_sent"], 0)
            self.assertGreater(self.figure(lab, "passed_on_total"), 0, "blocks of another core's")
            lab.assert_balanced(self)

    def figure(self, lab: support.Lab, name: str) -> int:
        return sum(row["figures"][name] for row in lab.rows("engine") if row["engine"] == "flare")

    def test_a_faulty_rank_does_not_stop_the_others(self):
        with support.Lab("star-4", *MEMORY) as lab, flare_job(lab) as told:
            support.long_enough(
                lambda iterations: self.beside_a_stranger(lab, told["TRIBUTARY_FLARE_TREE"], iterations), 400)
            drops = lab.drops()
            for reason in ("truncated", "oversized", "version", "malformed", "crc", "no_tree", "wrong_port",
                           "mismatch", "window", "unasked"):
                self.assertGreater(drops.get(f"flare_{reason}", 0), 0, (reason, drops))

    def beside_a_stranger(self, lab: support.Lab, group: str, iterations: int) -> None:
        """It sends from a rank's host, whatever the rank sends."""
        bench = lab.bench("-b", "64K", "-e", "64K", "-n", str(iterations), "-w", "0", "-d", "i32",
                          "--algorithm", "flare", "--fallback", "error", deadline_s=60)
        try:
            done = lab.exec("h1", sys.executable, STRANGER, group, "5000")
            self.assertEqual(done.returncode, 0, done.stderr)
            over = not bench.running()
        finally:
            document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        lab.assert_balanced(self)
        if over:
            raise support.TooEarly("the reductions ended before the attack")

    def float_sums(self, lab: support.Lab) -> str:
        return lab.tool("run", "--build-dir", support.BUILD, "--program", FLOAT_SUMS, "--", 12)

    def test_the_same_bits_in_whatever_order_they_come(self):
        with support.Lab("star-4", *MEMORY, *LOSS) as lab, flare_job(lab, more=REPRODUCIBLE), \
                mock.patch.dict(os.environ, {"TRIBUTARY_FALLBACK": "error"}):
            first = self.float_sums(lab)
            self.assertTrue(first.startswith("flare "), first)
            self.assertEqual(self.float_sums(lab), first)

    def test_switches_that_are_killed_and_start_again(self):
        with support.Lab(*support.SPLIT_FABRIC, *MEMORY) as lab, flare_job(lab):
            faults.await_sessions(lab)
            root = next(daemon for daemon in ("spine1", "spine2") if lab.rows("tree", daemon=daemon))
            for daemon in (root, "leaf3"):
                with self.subTest(daemon):
                    support.long_enough(
                        lambda iterations: self.through_a_crash(lab, daemon, iterations), 400)

    def through_a_crash(self, lab: support.Lab, daemon: str, iterations: int) -> None:
        """In the middle of reductions, of which a window is the whole vector."""
        before = summed(lab, "flare")
        bench = lab.bench("-b", "64K", "-e", "64K", "-n", str(iterations), "-w", "0", "-d", "i32",
                          "--fallback", "error")
        try:
            support.until(lambda: summed(lab, "flare") > before + 200, what="a reduction")
            lab.tool("kill", daemon)
            time.sleep(0.5)
            lab.tool("restart", daemon)
            if not bench.running():
                raise support.TooEarly("it ended too early to prove anything")
            self.assertEqual(support.wrong(bench.finish()), 0)
        finally:
            bench.stop()

    def test_beside_canary_and_panama(self):
        with support.Lab("star-4", *MEMORY) as lab:
            plain = dict(os.environ)
            benches = [lab.bench(*SIZES, "--algorithm", "canary", "--fallback", "error", port=29500)]
            with flare_job(lab, number=1) as flare, job(lab, number=2) as panama:
                for told, port in ((flare, 29600), (panama, 29700)):
                    with mock.patch.dict(os.environ, plain | told, clear=True):
                        benches.append(lab.bench(*SIZES, "--fallback", "error", port=port))
                for bench in benches:
                    self.assertEqual(support.wrong(bench.finish()), 0)
            lab.assert_balanced(self)

    def test_ranks_that_call_different_collectives_are_told_so(self):
        """At once on one switch; over two levels when they ask again."""
        for name, hosts in (("star-4", "h1,h2"), ("fat-tree-8", "l1h1,l2h1")):
            with self.subTest(lab=name), support.Lab(name, *MEMORY) as lab, \
                    flare_job(lab, "--hosts", hosts):
                bench = lab.bench("--counts", "1000", "-n", "1", "-w", "0", "--algorithm", "flare",
                                  "--fallback", "error", hosts=hosts, deadline_s=10,
                                  program=DIFFERING_RANK, environment={
                                      "TRIBUTARY_BENCH": str(support.BENCH),
                                      "OPTIONS_OF_RANK_1": "-d i64", "OPTIONS_OF_OTHERS": "-d f32"})
                self.assertEqual(bench.end(), 1, bench.said)
                self.assertRegex(bench.said, "allreduce: the ranks do not call the same: block .* by sum at "
                                             "others, .* by sum here")
                self.assertGreater(lab.drops().get("flare_mismatch", 0), 0)
                lab.assert_balanced(self)

    def test_a_tree_for_which_there_is_no_memory(self):
        # A tree with the window of 64 needs 512.
        with support.Lab("star-4", "--set", "switch.flare.working_memory=511") as lab, \
                tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "fabric.toml"
            file.write_text(lab.tool("fabric", "--algorithm", "flare"))
            done = support.ctl("fabric", "apply", file)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("working_memory", done.stdout + done.stderr)
            self.assertEqual(lab.rows("tree"), [])
            with flare_job(lab, more="settings = { window = 32 }\n"):
                self.reduce(lab)

    def test_a_tree_that_is_not_there(self):
        with support.Lab("star-4", *MEMORY) as lab, \
                mock.patch.dict(os.environ, {"TRIBUTARY_JOB": "5",
                                             "TRIBUTARY_FLARE_TREE": "239.192.9.9"}):
            document = lab.reduce("-b", "4K", "-e", "4K", "-n", "1", "--algorithm", "flare")
            self.assertEqual(support.wrong(document), 0)
            self.assertEqual(summed(lab, "flare"), 0)
            self.assertGreater(lab.drops().get("flare_no_tree", 0), 0)


class FlareSparse(unittest.TestCase):
    """Sparse vectors, from few elements in a packet to all of them in runs."""

    def reduce(self, lab: support.Lab, *options, sizes=("-b", "16K", "-e", "256K", "-f", "16", "-n", "2"),
               densities=(0.001, 0.02, 0.5), **where) -> list[dict]:
        documents = []
        for density in densities:
            with self.subTest(density=density):
                document = lab.reduce(*sizes, "--density", str(density), "--algorithm", "flare", *options,
                                      collective="sparse_allreduce", **where)
                self.assertEqual(support.wrong(document), 0)
                documents.append(document)
        return documents

    def assert_by_switches(self, documents: list[dict]) -> None:
        for document in documents:
            self.assertEqual({row["algorithm"] for row in document["rows"]}, {"flare"})
            self.assertGreater(document["statistics"]["collectives_by_flare"], 0)
            self.assertEqual(document["statistics"]["collectives_by_ring"], 0)
            self.assertGreater(document["flare"]["trees"][0]["sparse_results_received"], 0)

    def test_one_switch(self):
        with support.Lab("star-4", *MEMORY) as lab, flare_job(lab, more=SPARSE) as told:
            self.assertEqual(told["TRIBUTARY_FLARE_SPARSE_WINDOW"], "8")
            self.assert_by_switches(self.reduce(lab, "-d", "f32", "i64", "i8", "--fallback", "error"))
            lab.assert_balanced(self)

    def test_two_levels(self):
        with support.Lab("fat-tree-8", *MEMORY) as lab, flare_job(lab, more=SPARSE):
            self.assert_by_switches(self.reduce(lab, "-d", "f32", "bf16", "--fallback", "error"))
            lab.assert_balanced(self)

    def test_one_percent_of_loss(self):
        with support.Lab("fat-tree-8", *MEMORY, *LOSS) as lab, flare_job(lab, more=SPARSE):
            documents = self.reduce(lab, "-d", "i32", "--fallback", "error")
            self.assert_by_switches(documents)
            for document in documents:
                self.assertGreater(document["flare"]["trees"][0]["retransmissions_sent"], 0)
            lab.assert_balanced(self)

    def test_switches_that_are_killed_and_start_again(self):
        with support.Lab(*support.SPLIT_FABRIC, *MEMORY) as lab, flare_job(lab, more=SPARSE):
            faults.await_sessions(lab)
            root = next(daemon for daemon in ("spine1", "spine2") if lab.rows("tree", daemon=daemon))
            for daemon in (root, "leaf3"):
                with self.subTest(daemon):
                    support.long_enough(
                        lambda iterations: self.through_a_crash(lab, daemon, iterations), 400)

    def through_a_crash(self, lab: support.Lab, daemon: str, iterations: int) -> None:
        """In the middle of sparse blocks: what the switch had sent up belongs to no sum any more."""
        before = summed(lab, "flare")
        bench = lab.bench("-b", "256K", "-e", "256K", "-n", str(iterations), "-w", "0", "-d", "i32",
                          "--density", "0.05", "--fallback", "error", collective="sparse_allreduce")
        try:
            support.until(lambda: summed(lab, "flare") > before + 200, what="a reduction")
            lab.tool("kill", daemon)
            time.sleep(0.5)
            lab.tool("restart", daemon)
            if not bench.running():
                raise support.TooEarly("it ended too early to prove anything")
            document = bench.finish()
            self.assertEqual(support.wrong(document), 0)
            self.assert_by_switches([document])
        finally:
            bench.stop()

    def assert_by_the_ring(self, documents: list[dict]) -> None:
        for document in documents:
            self.assertEqual({row["algorithm"] for row in document["rows"]}, {"flare(ring)"})
            self.assertEqual(document["statistics"]["collectives_by_flare"], 0)

    def test_the_ring_where_it_is_not_asked_for(self):
        with support.Lab("star-4", *MEMORY) as lab, flare_job(lab) as told:
            self.assertEqual(told.get("TRIBUTARY_FLARE_SPARSE_WINDOW", "0"), "0")
            self.assert_by_the_ring(self.reduce(lab, "-d", "i32", "--fallback", "error"))

    def test_the_ring_where_the_tree_has_none(self):
        with support.Lab("star-4", *MEMORY) as lab, flare_job(lab), \
                mock.patch.dict(os.environ, {"TRIBUTARY_FLARE_SPARSE_WINDOW": "8"}):
            self.assert_by_the_ring(self.reduce(lab, "-d", "i32", densities=(0.02,)))
            self.assertGreater(lab.drops().get("flare_not_sparse", 0), 0)


if __name__ == "__main__":
    support.main()
