#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests options.py: which texts are valid, and that a refusal says which ones are."""

import argparse
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from benchlib import options  # noqa: E402


class Options(unittest.TestCase):
    def refusal(self, kind, text: str) -> str:
        with self.assertRaises(argparse.ArgumentTypeError) as refused:
            kind(text)
        return str(refused.exception)

    def test_whole_numbers_have_bounds(self):
        self.assertEqual(options.whole(1)("40"), 40)
        self.assertEqual(options.whole(0, 3)("0"), 0)
        for text in ("0", "-1", "1.5", "many", "", "1e3"):
            self.assertEqual(self.refusal(options.whole(1), text),
                             f"{text!r} is not valid: give a whole number, 1 or more")
        self.assertIn("a whole number from 1 to 16", self.refusal(options.tree_count, "17"))

    def test_numbers_are_finite_and_have_bounds(self):
        self.assertEqual(options.number(1)("1"), 1)
        self.assertEqual(options.share("1"), 1)
        for text in ("nan", "inf", "half", "0.99", ""):
            self.assertIn("give a number, 1 or more", self.refusal(options.number(1), text))
        for text in ("0", "3", "-1", "nan"):
            self.assertIn("give a number, above 0, up to 1", self.refusal(options.share, text))
        self.assertIn("give a number, above 0", self.refusal(options.number(0, above=True), "0"))

    def test_sizes_are_those_of_tributary_bench(self):
        for text in ("1", "64K", "4M", "4 MiB", "1kb", "1T"):
            self.assertEqual(options.size(text), text)
        for text in ("0", "-1", "4X", "large", "", "2T", "1.5M"):
            self.assertIn("give a size from 1 byte to 1T, as 64K or 4M", self.refusal(options.size, text))

    def test_rates_and_capacities_are_those_of_the_daemon(self):
        for text in ("10kbit", "20Mbit", "1.5Gbit", "1Tbit"):
            self.assertEqual(options.rate(text), text)
        for text in ("abc", "20", "20MB", "1kbit", "2Tbit", "none", "-1Mbit", "20mbit"):
            self.assertIn("give a rate from 10kbit to 1Tbit, as 20Mbit", self.refusal(options.rate, text))
        self.assertEqual(options.rate_or_none("none"), "none")
        self.assertEqual(options.capacity("72KiB"), "72KiB")
        self.assertIn("from 2KiB to 1GiB", self.refusal(options.capacity, "1KiB"))

    def test_durations_may_be_words(self):
        bfd = options.duration("10ms", "1min", "off")
        for text in ("10ms", "1min", "off"):
            self.assertEqual(bfd(text), text)
        for text in ("9ms", "2min", "on", "10"):
            self.assertIn("give a duration from 10ms to 1min, as 20ms, or off", self.refusal(bfd, text))

    def test_lists_have_values_of_one_kind(self):
        self.assertEqual(options.several(options.whole(0, 8))("0,8"), [0, 8])
        self.assertEqual(options.several(options.one_of(["ring", "canary"]))("ring"), ["ring"])
        self.assertEqual(self.refusal(options.several(options.one_of(["ring", "canary"])), "ring,best"),
                         "there is no 'best' (known: ring canary)")
        self.assertIn("'' is not valid", self.refusal(options.several(options.whole(1)), "1,"))

    def test_settings_have_a_value(self):
        self.assertEqual(options.setting("switch.class=[]"), "switch.class=[]")
        self.assertIn("KEY=VALUE", self.refusal(options.setting, "switch.class"))


if __name__ == "__main__":
    unittest.main()
