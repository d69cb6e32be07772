# SPDX-License-Identifier: BSD-3-Clause
"""Programs that Slurm starts: srun tells them who they are and where they meet."""

import concurrent.futures
import json
import re
import shutil
import unittest

import slurm_cluster
import support

HOSTS = {f"h{number}": f"10.0.0.{number}" for number in range(1, 5)}
PACKAGE = support.BUILD / "src" / "bindings" / "python"
TRAINING = support.ROOT / "tests" / "bindings" / "plain_training.py"
SECRET = "a long random text that all ranks of this job have"


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.slurm = slurm_cluster.Cluster(cls.lab, HOSTS).__enter__()
        cls.addClassCleanup(cls.slurm.__exit__)

    def bench(self, *options, tasks: tuple = ("-n", 4, "-N", 4), secret: str = SECRET) -> dict:
        """What tributary-bench measured, all of whose sums are right."""
        done = self.slurm.srun(*tasks, support.BENCH, "allreduce", "-b", "4K", "-e", "256K", "-f", 8,
                               "-n", 2, "-d", "i32", "--json", *options, TRIBUTARY_SECRET=secret)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.slurm.logs())
        document = json.loads(done.stdout)
        self.assertEqual(support.wrong(document), 0)
        return document | {"said": done.stderr}

    def test_a_rank_on_each_node(self):
        before = sum(row["results_total"] for row in self.lab.rows("job"))
        document = self.bench("--algorithm", "canary")
        self.assertIn("4 ranks: canary, switches reduce on the way", document["said"])
        self.assertGreater(sum(row["results_total"] for row in self.lab.rows("job")), before)
        self.lab.assert_balanced(self)

    def test_several_ranks_on_a_node(self):
        """Each knows its number there, by which those of a machine divide the work."""
        document = self.bench("--algorithm", "ring", "--hierarchy", "parallel,tencent", "--between",
                              "canary", tasks=("-n", 4, "-N", 2))
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {"ring", "parallel", "tencent"})

    def test_nodes_with_different_numbers_of_ranks(self):
        self.assertIn("3 ranks: canary", self.bench("--algorithm", "canary",
                                                    tasks=("-n", 3, "-N", 2))["said"])

    @unittest.skipUnless(list(PACKAGE.glob("tributary/_torch*.so")), "needs PyTorch: tools/install-packages pytorch")
    def test_a_training_that_knows_neither_slurm_nor_tributary(self):
        """It says gloo; the nodes of srun are told to PyTorch, and meet at the first one."""
        done = self.slurm.srun("-n", 4, "-N", 4, "/usr/bin/python3", "-m", "tributary.torch", "--instead-of", "gloo",
                               TRAINING, PYTHONPATH=str(PACKAGE), OMP_NUM_THREADS="1", TRIBUTARY_ALGORITHM="canary")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.slurm.logs())
        self.assertIn("4 ranks: canary, switches reduce on the way", done.stderr)
        told = re.findall(r"gloo: rank (\d) of .*, 0 here, parameters (\w+)", done.stdout)
        self.assertEqual((sorted(rank for rank, _ in told), len({digest for _, digest in told})),
                         (["0", "1", "2", "3"], 1), done.stdout)

    def test_two_jobs_beside_each_other(self):
        """They meet at ports of their own."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            jobs = [pool.submit(self.bench, "--algorithm", "canary") for _ in range(2)]
            for job in jobs:
                self.assertIn("4 ranks: canary", job.result()["said"])


if __name__ == "__main__":
    missing = [program for program in slurm_cluster.NEEDED if shutil.which(program) is None]
    if missing:
        support.skip(f"needs Slurm ({', '.join(missing)}): tools/install-packages slurm")
    support.main()
