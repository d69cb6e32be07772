# SPDX-License-Identifier: BSD-3-Clause
"""Two workers on each of four hosts: the network carries one vector per host."""

import json
import pathlib
import tempfile
import unittest

import support

# The rings of conf/star-4.toml for the first and the second worker of each host.
RING = "10"
# Each worker has an endpoint of its own at RoCE's only port, so it needs an address of its own.
WORKER = f"""#!/bin/sh
export TRIBUTARY_LOCAL_ADDRESS=$(ip -4 -oneline address show scope global |
    awk -v wanted=$((LOCAL_RANK + 1)) 'NR == wanted {{ sub("/.*", "", $4); print $4 }}')
exec {support.BENCH} "$@"
"""
BYTES = 1 << 20


class Parallel(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(support.Lab("star-4", "--rate", "none"))
        for number in range(1, 5):
            interface = self.lab.exec(f"h{number}", "ip", "-oneline", "-4", "address", "show", "scope",
                                      "global").stdout.split()[1]
            self.lab.exec(f"h{number}", "ip", "address", "add", f"10.0.0.{100 + number}/24", "dev",
                          interface)
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.worker = pathlib.Path(directory) / "worker"
        self.worker.write_text(WORKER)
        self.worker.chmod(0o755)

    def reduce(self, *options) -> dict:
        done = support.run(support.LAB, "run", self.lab.name, "--per-host", 2, "--program",
                           self.worker, "--", "allreduce", "-b", BYTES, "-e", BYTES, "-n", 2,
                           "--algorithm", "ring", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def sums(self) -> int:
        return next(row["figures"]["sums_total"] for row in self.lab.rows("engine")
                    if row["engine"] == "netreduce")

    def test_parallel_rings_and_one_rank_per_machine(self):
        for hierarchy in ("parallel", "tencent"):
            before = self.sums()
            document = self.reduce("--hierarchy", hierarchy, "--between", "netreduce", "--ring", RING)
            self.assertEqual([row["algorithm"] for row in document["rows"]], ["ring", hierarchy])
            self.assertEqual(support.wrong(document), 0)
            # Out of place and in place, with one iteration before each: one vector per host.
            self.assertGreaterEqual(self.sums() - before, 2 * 3 * BYTES // 1016)
        self.lab.assert_balanced(self)

    def test_any_algorithm_between_the_machines(self):
        document = self.reduce("--hierarchy", "parallel,tencent", "--between", "canary")
        self.assertEqual([row["algorithm"] for row in document["rows"]],
                         ["ring", "parallel", "tencent"])
        self.assertEqual(support.wrong(document), 0)

    def test_what_cannot_be_is_refused(self):
        for options, said in ((("--hierarchy", "flat"), "parallel or tencent"),
                              (("--hierarchy", "parallel", "--between", "magic"), "no algorithm"),
                              (("--hierarchy", "parallel", "--local-world", "3"),
                               "divides WORLD_SIZE")):
            done = support.run(support.LAB, "run", self.lab.name, "--per-host", 2, "--program",
                               self.worker, "--", "allreduce", "--algorithm", "ring", *options)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
        none = support.run(support.LAB, "run", self.lab.name, "--per-host", 0, "--", "allreduce")
        self.assertIn("give at least 1", none.stderr)


if __name__ == "__main__":
    support.main()
