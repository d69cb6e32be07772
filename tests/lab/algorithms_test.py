# SPDX-License-Identifier: BSD-3-Clause
"""The experiments that set algorithms side by side run from end to end, in a small way."""

import json
import os
import re
from unittest import mock

import support
from experiment_case import ExperimentCase
from lablib import mpi


class Algorithms(ExperimentCase):
    def test_latency(self):
        columns = ["canary", "panama", "flare", "netreduce", "doubling", "ring", "auto"]
        columns += ["tuned"] if mpi.component_path(support.BUILD) else []
        said = self.run_tool("bench-latency", "--runs", 1, "--iterations", 1, "--columns", ",".join(columns))
        self.assertEqual(len(re.findall(r"^\d+(?: +\d+ \(\d+ to \d+\)){%d}$" % len(columns), said, re.MULTILINE)),
                         4, said)
        self.assertRegex(said, r"(?m)^auto: \w+ (up to|for all sizes)")

    def test_engines(self):
        page = self.output / "engines.md"
        said = self.run_tool("experiment-engines", "--runs", 1, "--seconds", 2, "--size", "256K",
                             "--iterations", 2, "--output", self.output, "--document", page)
        self.assertIn("switch memory", said)
        for engine in ("canary", "panama", "flare", "ring", "canary beside panama",
                       "panama beside canary"):
            self.assertIn(f"| {engine} |", page.read_text())
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertGreater(min(min(sample["goodputs_bps"]) for sample in samples), 0)

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
        for algorithm in ("ring", "canary", "bcube", "mesh", "bcube-switches", "mesh-switches"):
            self.assertRegex(said, rf"(?m)^\(2, 2\) +{algorithm} +65536 +[0-9]")
        self.assertEqual(len(json.loads((self.output / "bcube.json").read_text())), 6)

    def test_one_table_of_all_algorithms(self):
        # What the environment says of one of them does not count for the others.
        with mock.patch.dict(os.environ, {"TRIBUTARY_ALGORITHM": "panama", "TRIBUTARY_JOB": "7",
                                          "TRIBUTARY_TREES": "239.192.9.9"}):
            said = self.run_tool("bench-allreduce", "--algorithm", "panama,flare,canary,ring",
                                 "--runs", 1, "--iterations", 1, "--size", "64K")
        for algorithm in ("panama", "flare", "canary", "ring"):
            self.assertRegex(said, f"(?m)^{algorithm} +[0-9]")


if __name__ == "__main__":
    support.main()
