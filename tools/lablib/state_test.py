# SPDX-License-Identifier: BSD-3-Clause
"""Locks of labs."""

import multiprocessing
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lablib import state  # noqa: E402

_LONG_S = 60
_TURNS = 200


def _hold(entered, leave) -> None:
    with state.lock_of("one"):
        entered.set()
        leave.wait(_LONG_S)


def _count(file: pathlib.Path) -> None:
    for _ in range(_TURNS):
        with state.lock_of("one"):
            file.write_text(str(int(file.read_text()) + 1))


class Locks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(state, "RUN", self.directory / "run"))

    def test_other_labs_are_not_waited_for(self):
        entered, leave = multiprocessing.Event(), multiprocessing.Event()
        holder = multiprocessing.Process(target=_hold, args=(entered, leave))
        holder.start()
        self.assertTrue(entered.wait(_LONG_S))
        with state.lock_of("another"), state.lock():
            leave.set()
        holder.join()
        self.assertFalse(state.RUN.exists())

    def test_one_at_a_time_has_a_lab(self):
        file = self.directory / "count"
        file.write_text("0")
        counters = [multiprocessing.Process(target=_count, args=(file,)) for _ in range(4)]
        for counter in counters:
            counter.start()
        for counter in counters:
            counter.join()
        self.assertEqual(file.read_text(), str(4 * _TURNS))
        self.assertFalse(state.RUN.exists())


if __name__ == "__main__":
    unittest.main()
