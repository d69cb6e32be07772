# SPDX-License-Identifier: BSD-3-Clause
"""The experiment that sets all engines side by side runs from end to end, in a small way."""

import json

import support
from experiment_case import ExperimentCase


class Engines(ExperimentCase):
    limit_s = 13 * support.PATIENCE_S  # every engine has its turn

    def test_engines(self):
        page = self.output / "engines.md"
        said = self.run_tool("experiment-engines", "--runs", 1, "--seconds", 2, "--size", "256K",
                             "--iterations", 2, "--output", self.output, "--document", page)
        self.assertIn("switch memory", said)
        for engine in ("canary", "panama", "flare", "netreduce", "ring", "canary beside panama",
                       "panama beside canary"):
            self.assertIn(f"| {engine} |", page.read_text())
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertGreater(min(min(sample["goodputs_bps"]) for sample in samples), 0)


if __name__ == "__main__":
    support.main()
