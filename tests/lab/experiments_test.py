# SPDX-License-Identifier: BSD-3-Clause
"""The experiments run from end to end, in a small way, and write what they promise."""

import json
import os
import re
from unittest import mock

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
        self.assertEqual(len(set(iterations["bsp"])), 1, iterations)

    def test_colayers(self):
        said = self.run_tool("experiment-colayers", "--models", "4x1000x1,1x1x0", "--passes", 2, "--iterations", 12,
                             "--output", self.output)
        self.assertIn("of the better", said)
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertEqual([sample["model"] for sample in samples], ["4x1000x1", "1x1x0"])
        for way in "layers", "end", "colayers":
            self.assertEqual(len(samples[0][way]["iteration_ms"]), 2)
            self.assertGreaterEqual(min(samples[0][way]["iteration_ms"]), 4)
        self.assertEqual(samples[0]["layers"]["colayers"], [4, 4])

    def test_classes_divide_a_link_between_aggregation_and_bbr(self):
        support.require("iperf3")
        said = support.long_enough(self.share_a_link, 2)
        self.assertRegex(said, r"(?m)^host-bbr +aggregation ")

    def share_a_link(self, seconds: float) -> str:
        said = self.run_tool("experiment-fairness", "--transports", "host-bbr", "--runs", 1, "--seconds", seconds,
                             "--classes", 3, "--output", self.output)
        percent = {mode: int(found) for mode, found in
                   re.findall(r"(?m)^run 0, (.*): host-bbr \d+ %, aggregation (\d+) %$", said)}
        self.assertEqual(list(percent), ["with congestion control", "without", "in classes"])
        if abs(percent["in classes"] - 75) > 7:
            raise support.TooEarly(f"aggregation had {percent['in classes']} % instead of 75")
        return said

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

    def test_latency(self):
        columns = ["canary", "panama", "flare", "netreduce", "doubling", "ring", "auto"]
        columns += ["tuned"] if mpi.component_path(support.BUILD) else []
        said = self.run_tool("bench-latency", "--runs", 1, "--iterations", 1, "--columns", ",".join(columns))
        self.assertEqual(len(re.findall(r"^\d+(?: +\d+ \(\d+ to \d+\)){%d}$" % len(columns), said, re.MULTILINE)),
                         4, said)
        self.assertRegex(said, r"(?m)^auto: \w+ (up to|for all sizes)")

    def test_sparse(self):
        said = self.run_tool("experiment-sparse", "--runs", 1, "--iterations", 1, "--size", "256K",
                             "--densities", "0.01,0.5", "--output", self.output)
        self.assertRegex(said, r"(?m)^1\.0000% +[0-9]")
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertEqual(len(samples), 6)
        # A hundredth of the elements, so that what the vector itself would weigh is far away.
        carried = {(sample["scheme"], sample["density"]): sample["bytes"] for sample in samples}
        self.assertLess(carried["flare-sparse", 0.01], carried["flare-dense", None])

    def test_sparse_in_virtual_time(self):
        if not (support.BUILD / "tests" / "unit" / "fabric" / "sparse_table").exists():
            self.skipTest("ninja tests/unit/fabric/sparse_table")
        said = self.run_tool("experiment-sparse-fabric", "--scale", 256, "--buckets", "512,2", "--output", self.output)
        self.assertRegex(said, r"(?m)^0\.195% +independent +[0-9]")
        found = json.loads((self.output / "sparse.json").read_text())
        self.assertEqual([len(found["samples"]), len(found["storage"])], [18, 4])
        carried = {(one["scheme"], one["bucket"], one["draw"]): one["bytes"] for one in found["samples"]}
        for other in (("ring-sparse", 512, "shared"), ("split-dense", 512, "shared"), ("flare-dense", None, None)):
            self.assertLess(carried["flare-sparse", 512, "shared"], carried[other] / 3)
        self.require_plots()
        self.assertLess((self.output / "sparse.svg").stat().st_size, 60_000)

    def test_hierarchies_beside_the_model(self):
        said = self.run_tool("experiment-hierarchy", "--runs", 1, "--sizes", "64K", "--output",
                             self.output)
        for title in ("flat ring", "Tencent all-reduce", "parallel NetReduce"):
            self.assertRegex(said, rf"(?m)^{title} +65536 +[0-9]")
        found = json.loads((self.output / "hierarchy.json").read_text())["samples"]
        self.assertGreater(min(sample["model_s"] for sample in found), 0)

    def test_several_interfaces_beside_the_model(self):
        said = self.run_tool("experiment-bcube", "--runs", 1, "--alpha", "2", "--size", "64K", "--output",
                             self.output)
        for algorithm in ("ring", "canary", "bcube", "mesh", "bcube-switches", "bcube-pieces", "mesh-switches"):
            self.assertRegex(said, rf"(?m)^\(2, 2\) +{algorithm} +65536 +[0-9]")
        self.assertEqual(len(json.loads((self.output / "bcube.json").read_text())), 7)

    def test_one_table_of_all_algorithms(self):
        # What the environment says of one of them does not count for the others.
        with mock.patch.dict(os.environ, {"TRIBUTARY_ALGORITHM": "panama", "TRIBUTARY_JOB": "7",
                                          "TRIBUTARY_TREES": "239.192.9.9"}):
            said = self.run_tool("bench-allreduce", "--algorithm", "panama,flare,canary,ring",
                                 "--runs", 1, "--iterations", 1, "--size", "64K")
        for algorithm in ("panama", "flare", "canary", "ring"):
            self.assertRegex(said, f"(?m)^{algorithm} +[0-9]")

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
                                 ("experiment-fairness", "--transports", "host-bbr+host-cubic"),
                                 ("experiment-fairness", "--classes", "0"),
                                 ("experiment-short-flows", "--loads", "heavy"),
                                 ("experiment-short-flows", "--seconds", "0"),
                                 ("experiment-engines", "--seconds", "0"),
                                 ("experiment-trees", "--schemes", "best"),
                                 ("experiment-trees", "--classes", "heavy"),
                                 ("experiment-engines", "--engines", "steam"),
                                 ("experiment-sparse", "--densities", "2"),
                                 ("experiment-sparse", "--runs", "0"),
                                 ("bench-mpi", "--sizes", "7"),
                                 ("bench-mpi", "--sizes", "large"),
                                 ("experiment-hierarchy", "--per-machine", "1"),
                                 ("experiment-bcube", "--alpha", "7"),
                                 ("experiment-bcube", "--algorithm", "best"),
                                 ("bench-allreduce", "--algorithm", "best"),
                                 ("experiment-trees", "--flows", "many"),
                                 ("experiment-trees", "--long-flows", "quic"),
                                 ("experiment-trees", "--ecn-threshold", "-1"),
                                 ("experiment-congestion", "--load", "3"),
                                 ("experiment-congestion", "--queue", "1KiB"),
                                 ("experiment-congestion", "--set", "switch"),
                                 ("experiment-loose", "--slowness", "0"),
                                 ("experiment-loose", "--seconds", "nan"),
                                 ("experiment-colayers", "--rate", "abc"),
                                 ("experiment-colayers", "--models", "4x0x1"),
                                 ("experiment-engines", "--size", "-1"),
                                 ("experiment-engines", "--packet-memory", "1"),
                                 ("experiment-fairness", "--delay", "5"),
                                 ("experiment-hierarchy", "--between", "panama"),
                                 ("experiment-short-flows", "--rate", "fast"),
                                 ("experiment-sparse", "--sparse-window", "4097"),
                                 ("experiment-sparse-fabric", "--buckets", "0"),
                                 ("experiment-bcube", "--size", "0"),
                                 ("bench-allreduce", "--trees", "17"),
                                 ("bench-jobs", "--window", "0"),
                                 ("bench-l2", "--seconds", "0.5"),
                                 ("bench-mpi", "--hosts", "9"),
                                 ("bench-training", "--target", "1.5")):
            done = support.run(TOOLS / name, *arguments)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(arguments[0], done.stderr)


if __name__ == "__main__":
    support.main()
