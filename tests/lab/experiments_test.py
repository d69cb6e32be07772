# SPDX-License-Identifier: BSD-3-Clause
"""The experiments run from end to end, in a small way, and write what they promise."""

import json
import re

import support
from experiment_case import TOOLS, ExperimentCase
from lablib import mpi


class Experiments(ExperimentCase):
    def test_congestion(self):
        said = self.run_tool("experiment-congestion", "--seeds", 1, "--size", "128K", "--policies",
                             "adaptive,static-1,ring", "--shares", "0.25", "--load", 0.2, "--load-least", 0,
                             "--output", self.output)
        self.assertIn("adaptive / static-1", said)
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertEqual(len(samples), 6)
        for sample in samples:
            self.assertEqual(sample["failure"], "")
            self.assertGreater(min(sample["goodputs"]), 0)
        self.assertEqual(len((self.output / "results.csv").read_text().splitlines()), 7)
        self.require_plots()
        for suffix in ("svg", "png"):
            self.assertGreater((self.output / f"figure-7-share-25.{suffix}").stat().st_size, 1000)

    def test_loose(self):
        support.long_enough(self.train_loosely, 1.5)

    def train_loosely(self, seconds: float) -> None:
        said = self.run_tool("experiment-loose", "--runs", 1, "--seconds", seconds, "--slowness", 4,
                             "--output", self.output)
        self.assertIn("longest wait ms", said)
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertEqual([sample["scheme"] for sample in samples],
                         ["bsp", "ssp", "drop", "asp", "allreduce", "panama"])
        iterations = {sample["scheme"]: sample["iterations"] for sample in samples}
        if min(min(by_rank) for by_rank in iterations.values()) == 0:
            raise support.TooEarly("a rank had not finished an iteration")
        # All wait for the slowest; how far others get ahead of it without that, the machine decides.
        self.assertLessEqual(max(iterations["bsp"]) - min(iterations["bsp"]), 1)

    def test_the_plot_of_many_short_flows_is_small(self):
        self.require_plots()
        loads = [f"load {i}" for i in range(6)]
        times = [1e-3 * 1.001 ** i for i in range(4000)]
        results = self.output / "results.json"
        results.write_text(json.dumps({"loads": loads, "samples": [
            {"load": load, "times_s": times} for load in loads]}))
        self.run_tool("plot-sharing", "short-flows", results)
        self.assertLess((self.output / "short-flows.svg").stat().st_size, 60_000)

    def test_loss(self):
        self.run_tool("bench-loss", "--runs", 1, "--iterations", 1, "--size", "64K", "--losses",
                      "0.001", "--json", self.output / "loss.json")
        samples = json.loads((self.output / "loss.json").read_text())
        self.assertEqual([sample["loss"] for sample in samples], [0, 0.001])
        self.assertEqual([len(sample["goodputs_bps"]) for sample in samples], [2, 2])

    def jobs(self, iterations: int) -> str:
        done = self.start_tool("bench-jobs", "--jobs", 2, "--runs", 1, "--iterations", iterations, "--size", "512K",
                               "--flood-least", 0, "--json", self.output / "jobs.json")
        if "give more --iterations" in done.stderr:
            raise support.TooEarly("one job had ended when the other began")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_jobs(self):
        said = support.long_enough(self.jobs, 3)
        self.assertIn("Mbit/s arrived, of 20", said)
        runs = json.loads((self.output / "jobs.json").read_text())
        for kind in ("alone", "flooded"):
            self.assertEqual(len(runs[kind][0]["shares"]), 2)

    def test_mpi(self):
        if mpi.component_path(support.BUILD) is None:
            self.skipTest("needs the component for Open MPI: tools/install-packages mpi")
        said = self.run_tool("bench-mpi", "--runs", 1, "--iterations", 1)
        self.assertEqual(len(re.findall(r"^\d+ +\d.*\) +\d+\.\d+$", said, re.MULTILINE)), 11, said)

    def test_bad_input_is_refused(self):
        for name, *arguments in (("experiment-congestion", "--policies", "best"),
                                 ("experiment-congestion", "--shares", "half"),
                                 ("experiment-congestion", "--shares", "0.05"),
                                 ("experiment-congestion", "--shares", "2"),
                                 ("experiment-congestion", "--shares", "nan"),
                                 ("experiment-congestion", "--seeds", "0"),
                                 ("bench-loss", "--losses", "much"),
                                 ("bench-loss", "--losses", "7"),
                                 ("bench-loss", "--losses", "nan"),
                                 ("bench-loss", "--runs", "0"),
                                 ("bench-latency", "--columns", "best"),
                                 ("bench-latency", "--trees", "0"),
                                 ("bench-jobs", "--runs", "0"),
                                 ("bench-jobs", "--jobs", "9"),
                                 ("experiment-fairness", "--transports", "carrier-pigeon"),
                                 ("experiment-fairness", "--runs", "0"),
                                 ("experiment-short-flows", "--loads", "heavy"),
                                 ("experiment-trees", "--schemes", "best"),
                                 ("experiment-engines", "--engines", "steam"),
                                 ("experiment-sparse", "--densities", "2"),
                                 ("experiment-sparse", "--runs", "0"),
                                 ("experiment-hierarchy", "--per-machine", "1"),
                                 ("experiment-bcube", "--alpha", "7"),
                                 ("experiment-bcube", "--algorithm", "best"),
                                 ("bench-allreduce", "--algorithm", "best"),
                                 ("experiment-trees", "--flows", "many"),
                                 ("experiment-trees", "--long-flows", "quic")):
            done = support.run(TOOLS / name, *arguments)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(arguments[0], done.stderr)


if __name__ == "__main__":
    support.main()
