#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `meson install` installs is enough for a program outside the tree: install_test.py BUILD."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "tutorial"
HANDLERS = ROOT / "examples" / "handlers"
BUILD = pathlib.Path(sys.argv.pop())
PATIENCE_S = 120


def run(*argv, **more) -> str:
    done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True,
                          timeout=PATIENCE_S, **more)
    if done.returncode != 0:
        raise AssertionError(f"{argv} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.scratch)
        cls.description = next(cls.scratch.rglob("tributary.pc"))
        cls.libraries = next(cls.scratch.rglob("libtributary.so")).parent
        cls.environment = os.environ | {"PKG_CONFIG_PATH": str(cls.description.parent),
                                        "PKG_CONFIG_SYSROOT_DIR": str(cls.scratch),
                                        "LD_LIBRARY_PATH": str(cls.libraries)}

    def build(self, name: str, *flags: str, example: str = "allreduce.cpp") -> pathlib.Path:
        program = self.scratch / name
        told = run("pkg-config", "--cflags", "--libs", *flags, "tributary", env=self.environment)
        run("g++", "-Wall", "-Wextra", "-Werror", EXAMPLES / example, "-o", program, *told.split())
        return program

    def check_two_ranks(self, program: pathlib.Path, port: int, sums: str = "3"):
        told = self.environment | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                   "MASTER_PORT": str(port), "TRIBUTARY_ALGORITHM": "ring"}
        ranks = [subprocess.Popen([program], env=told | {"RANK": str(rank)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for rank in range(2)]
        for rank, child in enumerate(ranks):
            said, complaints = child.communicate(timeout=PATIENCE_S)
            self.assertEqual((child.returncode, said), (0, f"rank {rank} of 2: {sums}\n"), complaints)

    def test_a_program_links_the_shared_library(self):
        program = self.build("shared")
        self.assertIn("libtributary.so.1", run("ldd", program, env=self.environment))
        self.check_two_ranks(program, 29711)

    def test_a_program_links_the_static_library(self):
        (self.libraries / "libtributary.so").rename(self.libraries / "put-away")
        try:
            program = self.build("static", "--static")
        finally:
            (self.libraries / "put-away").rename(self.libraries / "libtributary.so")
        self.assertNotIn("libtributary", run("ldd", program, env=self.environment))
        self.check_two_ranks(program, 29712)

    def test_a_program_in_c_links_it_as_well(self):
        told = run("pkg-config", "--cflags", "--libs", "tributary-c", env=self.environment).split()
        program = self.scratch / "c"
        run("gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", EXAMPLES / "allreduce.c", "-o",
            program, *told)
        self.check_two_ranks(program, 29714, sums="3 2")

    def test_a_program_has_a_queue_of_named_collectives(self):
        self.check_two_ranks(self.build("named", example="named.cpp"), 29713, sums="3 2")

    def test_pythons_package_is_where_debians_python_looks(self):
        """For the prefixes of which Python knows; and all of it is there."""
        package = next(self.scratch.rglob("tributary/__init__.py"), None)
        if package is None:
            self.skipTest("the build left the Python package out")
        folder = package.parents[1]
        known = run("/usr/bin/python3", "-c", "import sys; print(*sys.path)").split()
        if pathlib.Path("/", folder.relative_to(self.scratch)).parts[:2] == ("/", "usr"):
            self.assertIn("/" + str(folder.relative_to(self.scratch)), known)
        told = self.environment | {
            "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "RANK": "0", "WORLD_SIZE": "1",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29714"}
        said = run("/usr/bin/python3", EXAMPLES / "allreduce.py", env=told)
        self.assertEqual(said, "rank 0 of 1: 1.0\n")

    def test_a_handler_compiles_against_its_header_alone(self):
        told = run("pkg-config", "--cflags-only-I", "tributary", env=self.environment).split()
        for source in sorted(HANDLERS.glob("*.c")):
            handler = self.scratch / source.with_suffix(".so").name
            run("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *told, source,
                "-o", handler)
            symbols = run("nm", "--dynamic", "--defined-only", handler)
            self.assertRegex(symbols, r"(?m) [RDB] tributary_handler$")

    def test_nothing_but_the_public_interface_is_visible(self):
        symbols = run("nm", "--dynamic", "--defined-only", "--demangle",
                      self.libraries / "libtributary.so")
        names = [line.split(" ", 2)[2] for line in symbols.splitlines() if line.count(" ") >= 2]
        self.assertTrue(any(name.startswith("tributary::Communicator::create") for name in names))
        strange = [name for name in names if not re.match(
            r"TRIBUTARY_(1|C_[1-9])|tributary_[a-z_]+@@TRIBUTARY_C_[1-9]$|"
            r"tributary::(Parallel)?Communicator(Options)?::|tributary::ParallelOptions::|"
            r"tributary::(CollectiveQueue|GradientExchange)::|"
            r"tributary::(name|fallback_of|hierarchy_of|load_handler)[\[(]", name)]
        self.assertEqual(strange, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
