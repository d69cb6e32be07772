# SPDX-License-Identifier: BSD-3-Clause
"""BFD with a router that others have written: bfdd of FRRouting, where it is installed."""

import contextlib
import pathlib
import shutil
import tempfile
import unittest

import support

FRR = pathlib.Path("/usr/lib/frr")
LAB = pathlib.Path(__file__).resolve().parent / "bfd-peer" / "lab.toml"
BFDD = """bfd
 peer 10.9.1.1 interface eth0
  receive-interval 50
  transmit-interval 200
  detect-multiplier 25
 !
!
"""


class FrrBfd(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(LAB), name="bfd-peer").__enter__()
        self.addCleanup(self.lab.__exit__)
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.directory / "bfdd.conf").write_text(BFDD)
        (self.directory / "zebra.conf").write_text("")
        for path in (self.directory, *self.directory.iterdir()):
            shutil.chown(path, "frr", "frr")

    def frr(self, program: str):
        """A daemon of FRRouting in the peer's namespace, that touches nothing else of the host."""
        own = self.directory / program
        return self.lab.background(
            "peer", FRR / program, "-P", "0", "-f", f"{own}.conf", "-i", f"{own}.pid",
            "-z", self.directory / "zserv.api", "--vty_socket", self.directory)

    def session(self) -> dict:
        return self.lab.rows("bfd")[0]

    def await_state(self, state: str) -> None:
        support.until(lambda: self.session()["state"] == state, what=f"that it is {state}")

    def test_sessions_come_up_follow_its_timers_and_notice_its_death(self):
        with contextlib.ExitStack() as routers:
            routers.enter_context(self.frr("zebra"))
            support.until((self.directory / "zserv.api").exists, what="zebra")
            with self.frr("bfdd"):
                self.await_state("up")
                support.until(lambda: self.session()["detection_time_seconds"] == 5.0,
                              what="that its timers hold: 25 times the slower of 200 ms and ours")
                self.assertEqual(self.session()["remote_state"], "up")
                self.assertEqual(self.session()["transmit_interval_seconds"], 0.1)
                self.assertEqual(self.session()["failures_total"], 0)
            self.await_state("down")  # bfdd was killed
            self.assertFalse(self.session()["alive"])
            with self.frr("bfdd"):
                self.await_state("up")
                self.assertTrue(self.session()["alive"])
            drops = self.lab.drops()
            self.assertEqual([reason for reason in drops if reason.startswith("bfd_malformed")], [])


if __name__ == "__main__":
    support.require(str(FRR / "bfdd"))
    support.main()
