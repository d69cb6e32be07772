#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Settings on top of settings."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lablib.daemon_config import Overrides  # noqa: E402


class Merged(unittest.TestCase):
    def merged(self, first: Overrides, *others: Overrides) -> Overrides:
        for other in others:
            first = first.merged(other)
        return first

    def test_what_is_said_last_has_effect_last(self):
        found = self.merged(Overrides(settings=("switch.port.queue=64KiB", "switch.port[interface].queue=128KiB")),
                            Overrides(settings=("switch.port.queue=32KiB",)))
        self.assertEqual(found.settings, ("switch.port[interface].queue=128KiB", "switch.port.queue=32KiB"))

    def test_a_rate_takes_the_place_of_settings_that_were_made_before(self):
        before = Overrides(settings=("switch.port.rate=20Mbit", "switch.port[address].rate=5Mbit", "daemon.idle=poll"))
        found = self.merged(before, Overrides(rate="1Gbit"))
        self.assertEqual((found.rate, found.settings), ("1Gbit", ("daemon.idle=poll",)))
        self.assertEqual(self.merged(before, Overrides(mtu=9000)).settings, before.settings)
        both = Overrides(rate="1Gbit", settings=("switch.port[address].rate=5Mbit",))
        self.assertEqual(self.merged(before, both).settings, ("daemon.idle=poll", "switch.port[address].rate=5Mbit"))

    def test_one_rate_of_all_is_one_of_all(self):
        self.assertEqual(self.merged(Overrides(rate="1Gbit"), Overrides()).rate, "1Gbit")


if __name__ == "__main__":
    unittest.main()
