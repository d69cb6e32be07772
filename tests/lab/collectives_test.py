# SPDX-License-Identifier: BSD-3-Clause
"""The other collectives through switches; and what is said and done where none aggregates."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import support

COUNTS = "0,1,352,353,1409,10007"
ONCE = ("-n", "1", "-w", "0")


class ThroughSwitches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def check(self, collective: str, *arguments: str, **where) -> dict:
        document = self.lab.reduce(*arguments, collective=collective, **where)
        self.assertEqual(document["collective"], collective)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        return document

    def test_reduce_of_every_type_and_operator(self):
        document = self.check("reduce", "-d", "all", "-o", "all", "--counts", COUNTS, *ONCE,
                              "--algorithm", "canary,ring", "-r", "3")
        self.assertEqual(len(document["rows"]), 82 * len(COUNTS.split(",")) * 2)

    def test_broadcast_of_every_type(self):
        self.check("broadcast", "-d", "all", "--counts", COUNTS, *ONCE, "--algorithm",
                   "canary,ring", "-r", "5")

    def test_every_root(self):
        for root in range(8):
            for collective in ("reduce", "broadcast"):
                with self.subTest(collective=collective, root=root):
                    self.check(collective, "--counts", "1,10007", *ONCE, "-r", str(root))

    def test_large_vectors(self):
        for collective in ("reduce", "broadcast"):
            self.check(collective, "-b", "2M", "-e", "2M", "-d", "i32", "-n", "2", "-r", "1")

    def test_sparse_allreduce_of_every_type_by_the_hosts(self):
        for density in ("0", "0.01", "0.5", "1"):
            with self.subTest(density=density):
                document = self.lab.reduce("-d", "all", "--counts", COUNTS, *ONCE, "--density",
                                           density, "--algorithm", "ring",
                                           collective="sparse_allreduce")
                self.assertEqual(support.wrong(document), 0)
                self.assertEqual({row["algorithm"] for row in document["rows"]}, {"ring"})
                self.assertGreater(document["statistics"]["collectives_by_ring"], 0)

    def test_barrier_lets_nobody_pass_before_the_last_came(self):
        document = self.check("barrier", "-n", "20", "--algorithm", "canary,ring")
        self.assertEqual([row["algorithm"] for row in document["rows"]], ["canary", "ring"])

    def test_the_communicator_says_by_what_it_runs(self):
        bench = self.lab.bench("--counts", "100", *ONCE, "--algorithm", "auto", "--job", "77",
                               "--fallback", "error")
        self.assertEqual([row["algorithm"] for row in bench.finish()["rows"]], ["canary"])
        lines = re.findall("tributary: .*", bench.said)
        self.assertEqual(len(lines), 1, bench.said)
        self.assertIn("job 77, 8 ranks: canary, switches reduce on the way", lines[0])

    def contributions(self) -> int:
        return sum(row["contributions_total"] for row in self.lab.rows("job"))

    def test_a_worker_that_dies_ends_the_collective_and_is_named(self):
        before = self.contributions()
        bench = self.lab.bench("-b", "4M", "-e", "4M", "-n", "1000", "-c", "0", deadline_s=15)
        support.until(lambda: self.contributions() > before + 20000, what="a reduction")
        os.kill(self.lab.processes("l2h1", "tributary-bench")[0], 9)
        self.assertNotIn(bench.end(), (0, 124), "the others end by the deadline")
        self.assertRegex(bench.said, r"tributary-bench: .*rank 2\b")


class SlowNetwork(unittest.TestCase):
    """Vectors that take twice as long as the ranks have patience for: five megabytes of 20 Mbit/s a
    second. A machine with other work can hold a rank up for seconds; what fails then is tried with
    more patience, and a longer vector."""
    PATIENCE_S = (4, 12, 36)

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "20Mbit").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def bench(self, patience_s: int, *options, **limits):
        size = f"{5 * patience_s}M"
        return self.lab.bench("-b", size, "-e", size, *ONCE, *options, **limits)

    def check_progress(self, *options):
        for patience_s in self.PATIENCE_S:
            bench = self.bench(patience_s, *options, deadline_s=None, stall_timeout_s=patience_s)
            if bench.end() == 0:
                break
        document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        for row in document["rows"]:
            for measured in (row["out_of_place"], row["in_place"]):
                self.assertGreater(measured["time_us"], 2e6 * patience_s)

    def test_a_collective_goes_on_as_long_as_it_makes_progress(self):
        for options in (("--algorithm", "canary"), ("--algorithm", "ring"),
                        ("--algorithm", "netreduce", "--ring", "4")):
            with self.subTest(options=options):
                self.check_progress(*options)

    def test_a_fixed_deadline_ends_it_all_the_same(self):
        for deadline_s in self.PATIENCE_S:
            bench = self.bench(deadline_s, "--algorithm", "canary", deadline_s=deadline_s)
            self.assertEqual(bench.end(), 1, bench.said)
            if "allreduce did not finish" in bench.said:
                break
        self.assertIn(f"allreduce did not finish within its deadline of {deadline_s} s: ", bench.said)


class CommandLine(unittest.TestCase):
    def test_it_counts_more_than_the_environment(self):
        environment = os.environ | {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
                                    "MASTER_PORT": "29999", "TRIBUTARY_ALGORITHM": "roce-ring"}
        for options, algorithm in ((["--algorithm", "ring"], "ring"), ([], "roce-ring")):
            done = support.run(support.BENCH, "allreduce", "-b", 64, "-e", 64, "--json", *options,
                               env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row["algorithm"] for row in json.loads(done.stdout)["rows"]],
                             [algorithm])

    def test_what_is_wrong_has_its_name(self):
        environment = os.environ | {"RANK": "0", "WORLD_SIZE": "0", "MASTER_ADDR": "127.0.0.1",
                                    "MASTER_PORT": "29999"}
        for command, words in (("allreduce", "world size 0"), ("reduce", "world size 0"),
                               ("allreduc", "no command `allreduc`; did you mean `allreduce`?")):
            done = support.run(support.BENCH, command, env=environment)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

    def test_what_measures_nothing_is_refused(self):
        alone = ("--rank", 0, "--rendezvous", "127.0.0.1:29999")
        for options, words in (((*alone, "--world", 1, "-o", "xor"), "integers"),
                               ((*alone, "--world", 0), "--world")):
            done = support.run(support.BENCH, "allreduce", "-b", 64, "-e", 64, *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertIn(words, done.stderr)

    def test_the_model_wants_a_cluster(self):
        cluster = {"--ranks": 8, "--per-machine": 2, "--latency-us": 1, "--intra": "10Gbit",
                   "--inter": "1Gbit", "--sizes": "1M"}

        def model(**changes) -> subprocess.CompletedProcess:
            said = cluster | {f"--{name.replace('_', '-')}": value
                              for name, value in changes.items()}
            return support.run(support.BENCH, "model", "--json",
                               *(word for pair in said.items() for word in pair))

        self.assertEqual(json.loads(model().stdout)[0]["bytes"], 1 << 20)
        for changes in ({"ranks": 7}, {"ranks": 2}, {"latency_us": "nan"}, {"sizes": "0"},
                        {"sizes": "99999999999G"}, {"intra": "fast"}):
            done = model(**changes)
            self.assertEqual((done.returncode, done.stdout), (2, ""), changes)
            self.assertIn("--help", done.stderr)


class WithoutSwitches(unittest.TestCase):
    """A lab whose switch does not aggregate."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        here = pathlib.Path(directory.name)
        (here / "labs").mkdir()
        conf = support.ROOT / "conf"
        plain = re.sub(r"\[switch\.canary\]\n([^\[\n].*\n|\n)*", "", (conf / "star-4.toml").read_text())
        (here / "star-4.toml").write_text(plain)
        file = here / "labs" / "plain.toml"
        file.write_text((conf / "labs" / "star-4.toml").read_text())
        lab = support.Lab(str(file))
        lab.name = f"t{os.getpid()}-plain"
        cls.lab = lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def test_the_hosts_reduce_and_say_so(self):
        bench = self.lab.bench("--counts", "1,10007", *ONCE, "--algorithm", "auto")
        document = bench.finish()
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {"ring"})
        self.assertEqual(support.wrong(document), 0)
        lines = re.findall("tributary: .*", bench.said)
        self.assertEqual(len(lines), 1, bench.said)
        self.assertIn("ring, the hosts reduce alone: no switch", lines[0])
        self.assertGreater(document["statistics"]["collectives_by_ring"], 0)

    def test_canary_without_switches_is_exact_too(self):
        for collective in ("allreduce", "reduce", "broadcast"):
            bench = self.lab.bench("--counts", "1,10007", *ONCE, collective=collective)
            self.assertEqual(support.wrong(bench.finish()), 0)
            self.assertIn("canary without switches", bench.said)

    def test_or_it_is_an_error_that_says_what_to_do(self):
        bench = self.lab.bench("--counts", "1", *ONCE, "--fallback", "error")
        self.assertEqual(bench.end(), 1)
        for part in ("no switch between the ranks aggregates", "[switch.canary]",
                     "TRIBUTARY_FALLBACK=allow"):
            self.assertIn(part, bench.said)


if __name__ == "__main__":
    support.main()
