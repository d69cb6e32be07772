#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The network plugin for NCCL, called as NCCL calls it, between processes on the loopback."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import ranks

RANK = ranks.BUILD / "tests" / "bindings" / "nccl_rank"
PLUGIN = ranks.BUILD / "src" / "bindings" / "nccl" / "libnccl-net-tributary.so"
SIZE = 3


class Plugin(ranks.Cases):
    def run_case(self, name: str, version: int = 8, **variables: str) -> list[ranks.Ended]:
        with tempfile.TemporaryDirectory() as directory:
            return ranks.run([RANK, PLUGIN, version, name, directory], SIZE,
                             **{"TRIBUTARY_LOCAL_ADDRESS": "127.0.0.1"} | variables)

    def check(self, name: str, version: int = 8, **variables: str) -> list[ranks.Ended]:
        ended = self.run_case(name, version, **variables)
        for rank, one in enumerate(ended):
            self.assertEqual(one.code, 0, f"rank {rank} of {name}:\n{one.complaints}")
        return ended

    def test_every_type_and_operator_with_each_table(self):
        for version in (8, 9, 10, 11):
            with self.subTest(version=version):
                ended = self.check("collectives", version)
                self.assertIn("ring", ended[0].complaints)

    def test_messages_from_rank_to_rank(self):
        self.check("messages")

    def test_strangers_are_not_let_in(self):
        self.check("strangers")

    def test_a_rank_that_is_missing_is_an_error_on_the_others(self):
        ended = self.check("missing", TRIBUTARY_NCCL_CONNECT_TIMEOUT="3")
        self.assertIn("1 of 3 ranks did not come to rank 0 in time", ended[0].complaints)
        for one in ended[:-1]:
            self.assertIn("NCCL does it by itself", one.complaints)

    def test_options_that_make_no_sense_are_an_error_on_all_ranks(self):
        for one in self.run_case("sums", TRIBUTARY_WINDOW="none"):
            self.assertIn("TRIBUTARY_WINDOW", one.complaints)

    def test_a_rank_that_dies_ends_what_is_in_flight(self):
        ended = self.check("dies", TRIBUTARY_STALL_TIMEOUT="20s")
        for one in ended[:-1]:
            self.assertIn("a collective failed: ", one.complaints)

    def test_memory_that_is_taken_away_is_left_alone(self):
        self.check("aborts", TRIBUTARY_STALL_TIMEOUT="20s")

    def test_nothing_but_the_tables_is_visible(self):
        symbols = subprocess.run(["nm", "--dynamic", "--defined-only", PLUGIN], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout
        names = [line.split()[-1] for line in symbols.splitlines()]
        self.assertTrue(names)
        self.assertEqual([name for name in names
                          if not re.fullmatch(r"nccl(CollNet|Net)Plugin_v\d+", name)], [])


if __name__ == "__main__":
    if not pathlib.Path(PLUGIN).exists():
        ranks.skip("the plugin for NCCL was not built")
    unittest.main(verbosity=2)
