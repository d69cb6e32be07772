#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that know nothing of Tributary, and launchers that PyTorch does not know."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import ranks

try:
    import torch  # noqa: F401
except ImportError:
    ranks.skip("needs PyTorch: tools/install-packages pytorch")
if not list(ranks.PACKAGE.glob("tributary/_torch*.so")):
    ranks.skip("the backend was not built: tools/install-packages pytorch, and meson setup --reconfigure")
sys.path.insert(0, str(ranks.PACKAGE))
from tributary import launchers  # noqa: E402

PLAIN = ranks.pathlib.Path(__file__).resolve().with_name("plain_training.py")
INSTEAD = sys.executable, "-m", "tributary.torch", "--instead-of", "gloo"
MPIRUN = shutil.which("mpirun")
DIFFERENT = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
try:
    dist.all_reduce(torch.ones(2 + dist.get_rank()))
except RuntimeError as error:
    print(error)
"""


class UntouchedScripts(unittest.TestCase):
    def run_ranks(self, *command, size: int = 3, **variables: str) -> tuple[list[str], str]:
        """What they say, and all their complaints; all have to succeed."""
        ended = ranks.run(list(command), size, **variables)
        for one in ended:
            self.assertEqual(one.code, 0, one.said + one.complaints)
        return [one.said for one in ended], "".join(one.complaints for one in ended)

    def assert_trained(self, said: str, size: int, local_ranks: list[str]) -> None:
        told = sorted(re.findall(r"gloo: rank (\d) of (\[.*?\]), (\w+) here, parameters ([0-9a-f]{16})", said))
        self.assertEqual([one[:3] for one in told], [(str(rank), str(list(range(size))), local_ranks[rank])
                                                     for rank in range(size)], said)
        self.assertEqual(len({one[3] for one in told}), 1, said)

    def test_one_that_says_gloo_runs_over_tributary(self):
        said, complaints = self.run_ranks(*INSTEAD, PLAIN)
        self.assert_trained("".join(said), 3, ["None"] * 3)
        self.assertRegex(complaints, "(?m)^tributary: job .*, 3 ranks: ring")
        self.assertRegex(complaints, "(?m)^tributary: job .*, 2 ranks: ring")  # its group

    def test_without_the_option_gloo_carries_it(self):
        said, complaints = self.run_ranks(sys.executable, "-m", "tributary.torch", PLAIN)
        self.assert_trained("".join(said), 3, ["None"] * 3)
        self.assertNotIn("tributary:", complaints)

    def test_pytorch_checks_its_calls(self):
        said, complaints = self.run_ranks(*INSTEAD, PLAIN, size=2, TORCH_DISTRIBUTED_DEBUG="DETAIL")
        self.assert_trained("".join(said), 2, ["None"] * 2)
        self.assertIn("2 ranks: ring", complaints)
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(DIFFERENT)
            script.flush()
            for one in self.run_ranks(*INSTEAD, script.name, size=2, TORCH_DISTRIBUTED_DEBUG="DETAIL")[0]:
                self.assertIn("Detected mismatch between collectives", one)

    def test_no_other_backend_is_replaced(self):
        done = subprocess.run([*INSTEAD[:-1], "nccl", PLAIN], text=True, capture_output=True,
                              timeout=ranks.PATIENCE_S, env=ranks.environment(0, 1, ranks.free_port()))
        self.assertEqual(done.returncode, 2)
        self.assertIn("invalid choice: 'nccl' (choose from 'gloo')", done.stderr)

    @unittest.skipUnless(MPIRUN, "needs Open MPI: tools/install-packages mpi")
    def test_mpirun_starts_one_on_this_machine(self):
        told = ranks.environment(0, 1, 0) | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for variable in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            del told[variable]
        done = subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", *INSTEAD, PLAIN], text=True, env=told,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=ranks.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_trained(done.stdout, 2, ["0", "1"])
        self.assertIn("2 ranks: ring", done.stderr)


SLURM = {"SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "1001", "SLURM_STEP_ID": "2",
         "SLURM_STEP_NODELIST": "node[07-09,12]-a,login"}
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "1173684225"}


class Launchers(unittest.TestCase):
    def assert_told(self, told: dict[str, str], **variables: str) -> None:
        self.assertEqual(launchers.torchruns_variables(told), variables)

    def test_nobody_has_told_anything(self):
        self.assert_told({})

    def test_slurm(self):
        # As libtributary has it: 20000 + (1001 * 16 + 2) % 125 * 80.
        self.assert_told(SLURM, RANK="5", WORLD_SIZE="8", LOCAL_RANK="1", MASTER_ADDR="node07-a", MASTER_PORT="21440")

    def test_lists_of_nodes(self):
        for nodes, first in (("h1", "h1"), ("h1,h2", "h1"), ("h[1-4]", "h1"), ("h[3,5]", "h3"),
                             ("r[1-2]n[05-07],x", "r1n05")):
            told = launchers.torchruns_variables(SLURM | {"SLURM_STEP_NODELIST": nodes})
            self.assertEqual(told["MASTER_ADDR"], first)

    def test_a_place_that_is_set_counts(self):
        for variable in "MASTER_ADDR", "MASTER_PORT":
            self.assert_told(SLURM | {variable: "77"}, RANK="5", WORLD_SIZE="8", LOCAL_RANK="1")

    def test_open_mpi_on_several_machines(self):
        self.assert_told(OPEN_MPI | SLURM, RANK="3", WORLD_SIZE="4", LOCAL_RANK="1")

    def test_open_mpi_on_one_machine(self):
        told = launchers.torchruns_variables(OPEN_MPI | {"OMPI_COMM_WORLD_LOCAL_SIZE": "4"})
        self.assertEqual(told["MASTER_ADDR"], "127.0.0.1")
        self.assertIn(int(told["MASTER_PORT"]), range(20000, 30000))

    def test_mpich(self):
        self.assert_told({"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"},
                         RANK="0", WORLD_SIZE="2", LOCAL_RANK="0")

    def test_torchrun_comes_first(self):
        by_torchrun = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "a", "MASTER_PORT": "1"}
        told = launchers.torchruns_variables(OPEN_MPI | SLURM | by_torchrun)
        self.assertEqual(by_torchrun | told, by_torchrun)


if __name__ == "__main__":
    unittest.main(verbosity=2)
