# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs that know nothing of Tributary, over a switch that adds up what they reduce."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from lablib import mpi

PROGRAM = support.BUILD / "tests" / "lab" / "mpi_collectives"
PRELOADED = support.BUILD / "src" / "bindings" / "pmpi"
RANKS = 4
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
# Debian's Python, for which its mpi4py is.
PYTHON = "/usr/bin/python3"
# The directory test of mpi4py's source, of which Debian's package has nothing.
TESTS_OF_MPI4PY = pathlib.Path(os.environ.get("TRIBUTARY_TESTS_OF_MPI4PY", ""))
# What bounds a collective that fails bounds how late a rank may be in one before, too.
MEETING = "20s"
# Ranks that are late are given up, too.
IMPATIENT = {"TRIBUTARY_STALL_TIMEOUT": MEETING, "TRIBUTARY_LATE_TIMEOUT": MEETING}
# A rank that is gone is missed after less time than others are late.
MISSED = "5s"
# Open MPI's own operators for AVX saturate where sums of 8 and 16 bits have to wrap.
RIGHT_SUMS = {"OMPI_MCA_op": "^avx"}


class InALab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def mpirun(self, *argv, options=(), limit_s=int(support.PATIENCE_S),
               **variables) -> subprocess.CompletedProcess:
        return support.run(support.LAB, "mpirun", self.lab.name, "--build-dir", support.BUILD,
                           "--time-limit", limit_s, *options, "--", *argv, timeout=limit_s + 60,
                           env=os.environ | RIGHT_SUMS | {"TRIBUTARY_STALL_TIMEOUT": "120s"} |
                           variables)

    def check(self, done: subprocess.CompletedProcess) -> str:
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr

    def jobs_of(self, said: str, communicator: str) -> list[int]:
        """Jobs as which a communicator runs, by the line that its rank 0 says."""
        return [int(job) for job in re.findall(
            rf"^tributary: {communicator}: job (\d+), \d ranks: canary, switches reduce", said,
            re.MULTILINE)]

    def assert_the_switch_added(self, job: int) -> None:
        row = next(row for row in self.lab.rows("job") if row["job"] == job)
        self.assertGreater(row["results_total"], 0, row)
        self.assertGreater(row["contributions_total"], 2 * row["results_total"], row)


class OfOurOwn(InALab):
    """The program checks what it gets by itself."""

    def test_every_type_and_operator_and_communicator(self):
        done = self.mpirun(PROGRAM, "check")
        said = self.check(done)
        self.assertEqual(len(re.findall(r"^rank \d: \d+ checks, 0 failed$", done.stdout,
                                        re.MULTILINE)), RANKS, done.stdout)
        self.assertEqual(len(self.jobs_of(said, "MPI_COMM_WORLD")), 1, said)
        self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])
        # Each communicator has a job of its own: two parts, a duplicate of each, five of the world, and
        # both sides of one between groups, within which Open MPI reduces by a duplicate of theirs.
        self.assertEqual(len(self.jobs_of(said, "MPI COMMUNICATOR .*")), 11, said)
        self.lab.assert_balanced(self)

    def test_duplicates_without_blocking(self):
        said = self.check(self.mpirun(PROGRAM, "idup", OMPI_MCA_coll_tributary_threshold="1"))
        self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])

    def test_parts_of_different_sizes_are_carried(self):
        self.assert_the_switch_added(
            self.jobs_of(self.check(self.mpirun(PROGRAM, "uneven")), "MPI_COMM_WORLD")[0])

    def test_switched_off_nothing_is_carried(self):
        for variables in ({"OMPI_MCA_coll_tributary_enable": "0"},
                          {"OMPI_MCA_coll_tributary_threshold": "1000000000"},
                          {"OMPI_MCA_coll_tributary_priority": "1"}):
            with self.subTest(variables=variables):
                self.assertNotIn("tributary",
                                 self.check(self.mpirun(PROGRAM, "uneven", **variables)))

    def test_what_cannot_be_created_is_said_once_and_carried_by_mpi(self):
        done = self.mpirun(PROGRAM, "uneven", TRIBUTARY_WINDOW="none")
        lines = [line for line in self.check(done).splitlines()
                 if line.startswith("tributary: MPI_COMM_WORLD")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("not carried, the MPI library does it by itself: TRIBUTARY_WINDOW", lines[0])

    def test_a_collective_that_fails_is_an_error_of_mpi(self):
        for scene, call in (("late", "allreduce"), ("late-wait", "iallreduce")):
            done = self.mpirun(PROGRAM, scene, **IMPATIENT)
            self.check(done)
            for rank in range(RANKS):
                self.assertIn(f"rank {rank}: MPI_ERR_OTHER", done.stdout)
                self.assertIn(f"tributary: MPI_COMM_WORLD, rank {rank}: {call} failed: ", done.stderr)

    def test_it_says_what_carried_the_calls_if_that_is_asked_for(self):
        said = self.check(self.mpirun(PROGRAM, "idup", TRIBUTARY_LOG="info", TRIBUTARY_REPORT="1"))
        for line in (r"job \d+, rank 0 of 4: ended after .*: \d+ collectives by canary",
                     r"\d+ calls by the MPI library itself \(\d+: of fewer bytes than the threshold",
                     r"allreduce +32 KiB canary", r"rank \d came last"):
            self.assertRegex(said, rf"(?m)^tributary: MPI_COMM_WORLD: {line}")

    def test_a_rank_that_is_late_is_waited_for(self):
        self.assert_the_switch_added(self.jobs_of(
            self.check(self.mpirun(PROGRAM, "away", TRIBUTARY_STALL_TIMEOUT=MISSED)), "MPI_COMM_WORLD")[0])

    def test_mpi_ends_with_a_collective_in_flight(self):
        said = self.check(self.mpirun(PROGRAM, "in-flight"))
        self.assertIn("iallreduce failed: the communicator was aborted", said)


class SeveralOnAHost(InALab):
    """Ranks of one host go to the switch together."""

    def run_on(self, hosts: str, per_host: str, *argv, **variables) -> subprocess.CompletedProcess:
        return self.mpirun(*argv, options=("--hosts", hosts, "--per-host", per_host), **variables)

    def contributions(self, said: str) -> float:
        """To each sum of the switch, of the world's job. Who leads a block has its own at hand."""
        job = self.jobs_of(said, "MPI_COMM_WORLD")[0]
        row = next(row for row in self.lab.rows("job") if row["job"] == job)
        self.assertGreater(row["results_total"], 0, row)
        return row["contributions_total"] / row["results_total"]

    def assert_right(self, done: subprocess.CompletedProcess, ranks: int, hosts: int) -> None:
        said = self.check(done)
        self.assertEqual(done.stdout.count("checks, 0 failed"), ranks, done.stdout)
        self.assertIn(f"[{ranks} ranks on {hosts} machines]", said)
        # What was sent again counts once more, and is rare.
        self.assertAlmostEqual(self.contributions(said), hosts - 1, delta=0.5)
        self.lab.assert_balanced(self)

    def test_two_on_each_of_two(self):
        self.assert_right(self.run_on("h1,h2", "2", PROGRAM, "check"), ranks=4, hosts=2)

    def test_one_two_and_three(self):
        self.assert_right(self.run_on("h1,h2,h3", "1,2,3", PROGRAM, "check"), ranks=6, hosts=3)
        self.assert_right(self.run_on("h1,h2,h3", "3,1,2", PROGRAM, "uneven"), ranks=6, hosts=3)

    def test_each_by_itself_if_that_is_asked_for(self):
        for variables in ({"OMPI_MCA_coll_tributary_share_machine": "0"},
                          {"TRIBUTARY_REPRODUCIBLE": "1"}):
            with self.subTest(variables=variables):
                said = self.check(self.run_on("h1,h2", "2", PROGRAM, "uneven", **variables))
                self.assertNotIn("machines]", said)
                # The other host's two: who is beside the leader reaches it without the switch.
                self.assertAlmostEqual(self.contributions(said), 2, delta=0.5)

    def test_preloaded(self):
        program = ("env", f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-openmpi.so", PROGRAM)
        off = {"OMPI_MCA_coll_tributary_enable": "0"}
        self.assert_right(self.run_on("h1,h2", "2", *program, "check", **off), ranks=4, hosts=2)
        said = self.check(self.run_on("h1,h2", "2", *program, "uneven",
                                      TRIBUTARY_MPI_SHARE_MACHINE="0", **off))
        self.assertNotIn("machines]", said)

    def test_an_error_of_one_is_an_error_of_all(self):
        done = self.run_on("h1,h2", "2", PROGRAM, "late", **IMPATIENT)
        said = self.check(done)
        for rank in range(RANKS):
            self.assertIn(f"rank {rank}: MPI_ERR_OTHER", done.stdout)
            self.assertIn(f"tributary: MPI_COMM_WORLD, rank {rank}: allreduce failed: ", said)
        self.assertRegex(said, r"rank 2: allreduce failed: .*rank 3, of this machine")
        self.assertRegex(said, r"rank 0: allreduce failed: .*rank 1 stands for ranks 2, 3")

    def test_a_rank_that_is_late_is_waited_for(self):
        said = self.check(self.run_on("h1,h2", "2", PROGRAM, "away", TRIBUTARY_STALL_TIMEOUT=MISSED))
        self.assertIn("[4 ranks on 2 machines]", said)

    def test_a_rank_that_ends_is_an_error_of_all(self):
        done = self.run_on("h1,h2", "2", "env", f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-openmpi.so",
                           PROGRAM, "leaves", OMPI_MCA_coll_tributary_enable="0",
                           TRIBUTARY_STALL_TIMEOUT=MEETING)
        for rank in range(RANKS - 1):
            self.assertIn(f"rank {rank}: MPI_ERR_OTHER", done.stdout)
        self.assertRegex(done.stderr, r"rank 2: allreduce failed: rank 3, of this machine")


# Sums of three sizes in place, a maximum with its place, and objects, by mpi4py.
SCRIPT = """
import array
from mpi4py import MPI
world = MPI.COMM_WORLD
for count in (3, 5000, 200000):
    mine = array.array("d", [world.rank + i for i in range(count)])
    world.Allreduce(MPI.IN_PLACE, mine)
    assert list(mine) == [6 + 4 * i for i in range(count)]
    request = world.Iallreduce(MPI.IN_PLACE, mine, MPI.MAX)
    request.Wait()
    assert list(mine) == [6 + 4 * i for i in range(count)]
    world.Bcast(mine, root=2)
part = world.Split(world.rank % 2)
theirs = array.array("i", [world.rank] * 10000)
part.Reduce(MPI.IN_PLACE if part.rank == 0 else theirs, theirs, MPI.SUM, 0)
assert part.rank != 0 or list(theirs) == [2 + 2 * (world.rank % 2)] * 10000
assert world.allreduce({world.rank}, lambda a, b: a | b) == {0, 1, 2, 3}
print("right")
"""


# A fluid, of which all ranks count pairs by their distance: 40 KB for each sum.
MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
compute pairs all rdf 5000
fix 2 all ave/time 25 1 25 c_pairs[1] c_pairs[2] c_pairs[3] file OUTPUT mode vector
run 50
"""


class OfOthers(InALab):
    def test_lammps(self):
        """Sums of counts are exact, so its output is the same with Tributary and without."""
        if shutil.which("lmp") is None:
            self.skipTest("needs lammps: tools/install-packages mpi")
        outputs = []
        with tempfile.TemporaryDirectory() as scratch:
            for enable in ("1", "0"):
                script = pathlib.Path(scratch) / f"{enable}.in"
                output = pathlib.Path(scratch) / f"{enable}.rdf"
                script.write_text(MELT.replace("OUTPUT", str(output)))
                done = self.mpirun("lmp", "-in", script, "-log", "none",
                                   OMPI_MCA_coll_tributary_enable=enable)
                self.assertEqual(len(self.jobs_of(self.check(done), "MPI_COMM_WORLD")), int(enable))
                if enable == "1":
                    self.assert_the_switch_added(self.jobs_of(done.stderr, "MPI_COMM_WORLD")[0])
                outputs.append(output.read_text())
        self.assertGreater(len(outputs[0].splitlines()), 15000)
        self.assertEqual(outputs[0], outputs[1])

    def test_hpc_challenge(self):
        """It checks its results. Its vectors are small, so they are carried from 8 bytes on."""
        if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
            self.skipTest("needs hpcc: tools/install-packages mpi")
        with tempfile.TemporaryDirectory() as scratch:
            text = HPCC_INPUT.read_text()
            for old, new in (("1000         Ns", "200          Ns"),
                             ("80           NBs", "40           NBs")):
                self.assertIn(old, text)
                text = text.replace(old, new)
            (pathlib.Path(scratch) / "hpccinf.txt").write_text(text)
            done = self.mpirun("sh", "-c", f"cd {scratch} && exec hpcc",
                               limit_s=5 * int(support.PATIENCE_S),
                               OMPI_MCA_coll_tributary_threshold="8")
            said = self.check(done)
            report = (pathlib.Path(scratch) / "hpccoutf.txt").read_text()
        self.assertIn("Success=1", report)
        self.assertIn("End of HPC Challenge tests", report)
        self.assertNotIn("FAILED", report)
        self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])

    def test_mpi4py(self):
        if support.run(PYTHON, "-c", "import mpi4py").returncode != 0:
            self.skipTest("needs python3-mpi4py: tools/install-packages mpi")
        done = self.mpirun(PYTHON, "-c", SCRIPT)
        said = self.check(done)
        self.assertEqual(done.stdout.count("right"), RANKS, done.stdout)
        self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])

    def test_the_tests_of_mpi4py(self):
        """They use small vectors, so these are carried from 1 byte on."""
        tests = sorted(TESTS_OF_MPI4PY.glob("test_cco_*.py"))
        if "TRIBUTARY_TESTS_OF_MPI4PY" not in os.environ:
            self.skipTest("needs TRIBUTARY_TESTS_OF_MPI4PY, the directory test of mpi4py's source")
        self.assertTrue(tests, f"{TESTS_OF_MPI4PY} has no test_cco_*.py")
        for test in tests:
            with self.subTest(test=test.name):
                done = self.mpirun(PYTHON, test, "-v", limit_s=5 * int(support.PATIENCE_S),
                                   OMPI_MCA_coll_tributary_threshold="1")
                said = self.check(done)
                self.assertEqual(len(re.findall(r"^OK( \(|$)", said, re.MULTILINE)), RANKS, said)


# One rank has another environment than the others.
UNLIKE = 'test "$OMPI_COMM_WORLD_RANK" != 2 || export "$1"; shift; exec "$@"'


class Unlike(InALab):
    """The settings of rank 0 count on all ranks."""

    def run_unlike(self, setting: str, *argv, **variables) -> str:
        return self.check(self.mpirun("sh", "-c", UNLIKE, "sh", setting, *argv, PROGRAM, "uneven", **variables))

    def test_open_mpis_component(self):
        for setting in ("threshold=1000000000", "enable=0", "share_machine=0"):
            with self.subTest(setting=setting):
                said = self.run_unlike(f"OMPI_MCA_coll_tributary_{setting}")
                self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])
        said = self.run_unlike("OMPI_MCA_coll_tributary_enable=1", OMPI_MCA_coll_tributary_enable="0")
        self.assertNotIn("tributary", said)

    def test_the_preloaded_library(self):
        preload = ("env", f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-openmpi.so")
        for setting in ("THRESHOLD=1000000000", "THRESHOLD=none", "ENABLE=0"):
            with self.subTest(setting=setting):
                said = self.run_unlike(f"TRIBUTARY_MPI_{setting}", *preload,
                                       OMPI_MCA_coll_tributary_enable="0")
                self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])


# In a host, under its name. UCX looks interfaces up in /sys, which shows those of who mounted it.
IN_A_HOST = """
namespace=$1 host=$2; shift 2
exec nsenter --net="$namespace" -- unshare --uts --mount -- sh -c '
  hostname "$1"; shift; mount -t sysfs sysfs /sys; exec "$@"' sh "$host" "$@"
"""


FORTRAN_MODULES = ("mpi", "mpi_f08")
HIGH_THRESHOLD = "TRIBUTARY_MPI_THRESHOLD=1000000000"


class Preloaded(InALab):
    """The libraries for LD_PRELOAD."""

    def assert_right(self, done: subprocess.CompletedProcess) -> None:
        said = self.check(done)
        self.assertEqual(done.stdout.count("checks, 0 failed"), RANKS, done.stdout)
        self.assert_the_switch_added(self.jobs_of(said, "MPI_COMM_WORLD")[0])
        # Without those within a communicator between groups, which are the library's own.
        self.assertEqual(len(self.jobs_of(said, "a communicator of .*")), 9, said)

    def test_open_mpi(self):
        self.assert_right(self.mpirun("env", f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-openmpi.so",
                                      PROGRAM, "check", OMPI_MCA_coll_tributary_enable="0"))

    def mpich(self, scene: str, **variables) -> subprocess.CompletedProcess:
        return self.run_by_mpich(self.built("mpi_collectives_mpich"), scene, **variables)

    def built(self, name: str) -> pathlib.Path:
        program = support.BUILD / "tests" / "lab" / name
        if not program.exists():
            self.skipTest(f"there is no {name}: tools/install-packages mpi, then configure the build again")
        return program

    def run_by_mpich(self, *argv, unlike: tuple[str, ...] = (), **variables) -> subprocess.CompletedProcess:
        """Rank 2 alone has the variables `unlike`, as in a call of env."""
        if shutil.which("mpiexec.mpich") is None:
            self.skipTest("needs MPICH: tools/install-packages mpi")
        ranks: list = []
        for number in range(1, RANKS + 1):
            host = f"h{number}"
            ranks += [":"] if ranks else []
            ranks += ["-n", 1, "sh", "-c", IN_A_HOST, "sh", f"/run/netns/trib-{self.lab.name}-{host}", host,
                      "env", f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-mpich.so",
                      *(unlike if number == 3 else ()), *argv]
        return support.run(
            "timeout", int(support.PATIENCE_S), "mpiexec.mpich", *ranks, timeout=support.PATIENCE_S + 60,
            env=os.environ | {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self",
                              "TRIBUTARY_STALL_TIMEOUT": "120s"} | variables)

    def test_mpich(self):
        self.assert_right(self.mpich("check"))

    def test_fortran_by_open_mpi(self):
        preload = f"LD_PRELOAD={PRELOADED}/libtributary-pmpi-openmpi.so"
        for module in FORTRAN_MODULES:
            with self.subTest(module=module):
                self.assert_all_are_carried(self.mpirun(
                    "sh", "-c", UNLIKE, "sh", HIGH_THRESHOLD, "env", preload, self.built(f"fortran_{module}_openmpi"),
                    OMPI_MCA_coll_tributary_enable="0", TRIBUTARY_LOG="info"))

    def test_fortran_by_mpich(self):
        for module in FORTRAN_MODULES:
            with self.subTest(module=module):
                self.assert_all_are_carried(self.run_by_mpich(
                    self.built(f"fortran_{module}_mpich"), unlike=(HIGH_THRESHOLD,), TRIBUTARY_LOG="info"))

    def assert_all_are_carried(self, done: subprocess.CompletedProcess) -> None:
        """All calls of mpi_fortran.F90, though rank 2 has a threshold of its own, which does not count."""
        said = self.check(done)
        self.assertEqual(done.stdout.count(": 7 calls are right"), RANKS, done.stdout)
        carried = re.findall(r"(\d+) collectives? by (?:canary|the ring)", said)
        self.assertEqual(sum(map(int, carried)), 7, said)

    def test_what_mpi_refuses_is_an_error(self):
        done = self.mpich("wrong")
        self.check(done)
        self.assertEqual(done.stdout.count("7 checks, 0 failed"), RANKS, done.stdout)

    def test_a_rank_that_ends_is_an_error_on_the_others(self):
        done = self.mpich("leaves", TRIBUTARY_STALL_TIMEOUT=MEETING)
        for rank in range(RANKS - 1):
            self.assertIn(f"rank {rank}: MPI_ERR_OTHER", done.stdout)
            self.assertRegex(done.stderr,
                             rf"tributary: .*, rank {rank}: allreduce failed: .*rank {RANKS - 1}")

    def test_mpi_ends_with_a_collective_of_another_thread_in_flight(self):
        done = self.mpich("thread")
        for rank in range(RANKS - 1):
            self.assertIn(f"rank {rank}: MPI_ERR_OTHER", done.stdout)
            self.assertRegex(done.stderr, rf"rank {rank}: MPI_Finalize with a collective in flight")


if __name__ == "__main__":
    if mpi.component_path(support.BUILD) is None or not PROGRAM.exists():
        support.skip("needs the component for Open MPI: tools/install-packages mpi, then configure "
                     "the build again")
    support.main()
