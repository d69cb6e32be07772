# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench runs, gives numbers and leaves nothing behind; how large they are is not judged."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import support

BENCH = support.ROOT / "tools" / "bench"


class Bench(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tb-")
        self.addCleanup(directory.cleanup)
        self.output = pathlib.Path(directory.name) / "results"
        self.scratch = pathlib.Path(directory.name) / "scratch"  # sockets' paths have to be short
        self.scratch.mkdir()
        self.environment = os.environ | {"TRIBUTARY_BUILD": str(support.BUILD),
                                         "TMPDIR": str(self.scratch)}

    def bench(self, *arguments, code: int = 0) -> subprocess.CompletedProcess:
        done = support.run(BENCH, *arguments, "--output", self.output,
                           timeout=5 * support.PATIENCE_S, env=self.environment)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def assert_nothing_left(self):
        self.assertEqual(list(self.scratch.iterdir()), [])
        self.assertEqual(self.processes(), [])

    def processes(self) -> list[str]:
        """That were told of a file in the scratch directory."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = path.read_bytes().decode(errors="replace")
            except OSError:
                continue  # ended meanwhile
            if str(self.scratch) in command:
                found.append(command.replace("\0", " "))
        return found

    def samples(self, suite: str) -> list[dict]:
        return json.loads((self.output / f"{suite}.json").read_text())["samples"]

    def test_feed_and_memif(self):
        self.bench("feed", "--quick")
        feed = {sample["subject"]: sample["figures"] for sample in self.samples("feed")}
        self.bench("memif", "--quick")
        self.assert_nothing_left()
        arithmetic = support.BUILD / "tests" / "perf" / "arithmetic_bench"  # needs Google Benchmark
        self.assertEqual(set(feed), {"tributaryd", "testpmd rxonly", "no copy",
                                     *(f"{engine}{fed}" for engine in ("PANAMA", "NetReduce", "Flare")
                                       for fed in ("", ", no copy"))} |
                         ({"CRCs and additions"} if arithmetic.exists() else set()))
        self.assertGreater(feed["testpmd rxonly"]["packets_per_second"], 0)
        # Seven of eight workers contribute, and the leader answers; one of seven begins the block.
        for subject in ("tributaryd", "no copy"):
            ours = feed[subject]
            self.assertAlmostEqual(ours["contributions_per_second"] / ours["packets_per_second"],
                                   7 / 8, delta=0.02)
            self.assertAlmostEqual(ours["share_joined"], 6 / 7, delta=0.02)
            self.assertGreater(ours["cycles_per_packet"], 1)
        for fed in ("", ", no copy"):
            # One result for all of eight workers.
            for engine in ("PANAMA", "Flare"):
                ours = feed[f"{engine}{fed}"]
                self.assertAlmostEqual(ours["results_per_contribution"], 1 / 8, delta=0.02)
                self.assertGreater(ours["cycles_per_contribution"], 1)
            netreduce = feed[f"NetReduce{fed}"]
            self.assertAlmostEqual(netreduce["results_per_contribution"], 1, delta=0.02)
        memif = self.samples("memif")
        self.assertEqual(len(memif), 4 * 3)
        for sample in memif:
            self.assertGreater(sample["figures"]["handled_per_second"], 0, sample)
        self.assertIn("| 8 workers, 256 floats |", self.bench("--markdown").stdout)
        said = self.bench("--plot").stdout
        if "no plots" not in said:
            self.assertGreater((self.output / "memif.svg").stat().st_size, 1000)

    def test_sigint_ends_it_and_all_that_it_started(self):
        child = subprocess.Popen(
            [BENCH, "feed", "--seconds", "60", "--patience", "1", "--output", self.output],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=self.environment)
        self.addCleanup(child.kill)
        # It gets to know the CPUs and writes its files first.
        support.until(self.processes, timeout_s=5 * support.PATIENCE_S,
                      what="the start of what it measures")
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=support.PATIENCE_S)
        self.assertEqual(child.returncode, 130, said)
        self.assert_nothing_left()

    def test_bad_input_is_refused(self):
        for arguments, words in [(("speed",), "there is no suite speed"),
                                 (("--runs", 0), "argument --runs: '0' is not valid"),
                                 (("--seconds", 0), "argument --seconds: '0' is not valid"),
                                 (("--seconds", "inf"), "argument --seconds: 'inf' is not valid"),
                                 (("--patience", -1), "argument --patience: '-1' is not valid")]:
            self.assertIn(words, self.bench(*arguments, code=2).stderr)
        self.assertIn("no results in", self.bench("--markdown", code=1).stderr)
        nowhere = self.scratch / "build"
        self.assertIn("is not built", self.bench("--build-dir", nowhere, code=1).stderr)
        self.assertFalse(self.output.exists())
        self.output.write_text("a file")
        said = self.bench("kernels", "--quick", code=1).stderr
        self.assertIn(str(self.output), said)
        self.assertNotIn("Traceback", said)


if __name__ == "__main__":
    support.require("dpdk-testpmd")
    support.main()
