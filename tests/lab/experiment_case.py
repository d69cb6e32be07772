# SPDX-License-Identifier: BSD-3-Clause
"""A test of experiments: tools that measure something and write what they found."""

import os
import pathlib
import tempfile
import unittest

import support

TOOLS = support.ROOT / "tools"


class ExperimentCase(unittest.TestCase):
    limit_s = 5 * support.PATIENCE_S  # of a tool that hangs

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.output = pathlib.Path(directory.name)

    def start_tool(self, name: str, *arguments):
        return support.run(TOOLS / name, *arguments, timeout=self.limit_s,
                           env=os.environ | {"TRIBUTARY_BUILD": str(support.BUILD)})

    def run_tool(self, name: str, *arguments) -> str:
        done = self.start_tool(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def require_plots(self) -> None:
        if support.run("/usr/bin/python3", "-c", "import matplotlib").returncode != 0:
            self.skipTest("all but the plots passed: they need python3-matplotlib")
