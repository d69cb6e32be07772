# SPDX-License-Identifier: BSD-3-Clause
"""Links and switches that fail, and what workers notice of it: nothing, or an error that says why."""

import os
import re
import signal
import time
import tomllib
import unittest

import faults
import support


class Paths(unittest.TestCase):
    """What leaf1 of the split fat tree thinks of its way over spine1."""

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(*support.SPLIT_FABRIC).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        faults.await_sessions(cls.lab)

    def tearDown(self):
        faults.await_paths(self.lab)

    def uses_spine1(self) -> bool:
        return faults.next_hops(self.lab, "leaf1")["10.101.1.2"]

    def ping_across(self) -> None:
        self.lab.await_path("l1h1", "10.3.1.2")  # the other side may notice later
        self.lab.assert_no_ping_is_lost(self, "l1h1", "10.3.1.2", 10)

    def link_is_up(self) -> bool:
        return {row["port"]: row["up"] for row in self.lab.rows("port", daemon="leaf1")}["spine1"]

    def session(self) -> dict:
        """That of leaf1 with spine1."""
        return next(row for row in self.lab.rows("bfd", daemon="leaf1") if row["port"] == "spine1")

    def pulled(self, end: str) -> None:
        """The port is down before anybody asks the session, which takes 5 s to fail."""
        self.lab.tool("link", end, "down")
        support.until(lambda: not self.link_is_up(), what="that it was noticed")
        self.assertFalse(self.uses_spine1())
        self.ping_across()
        self.lab.tool("link", end, "up")
        support.until(self.uses_spine1, what="that the next hop is used again")

    def test_a_port_that_is_set_down_by_hand(self):
        self.lab.ctl("port", "down", "leaf1", "spine1", daemon="leaf1")
        try:
            self.assertFalse(self.uses_spine1())
            self.ping_across()
        finally:
            self.lab.ctl("port", "up", "leaf1", "spine1", daemon="leaf1")
        support.until(self.uses_spine1, what="that the next hop is used again")

    def test_a_cable_that_is_pulled_at_this_end(self):
        self.pulled("leaf1-spine1")

    def test_a_cable_that_is_pulled_at_the_other_end(self):
        self.pulled("spine1-leaf1")

    def test_a_switch_that_is_killed_leaves_its_links_up(self):
        failures = self.session()["failures_total"]
        self.lab.tool("kill", "spine1")
        try:
            support.until(lambda: not self.uses_spine1(), what="that it was noticed")
            self.ping_across()
            self.assertTrue(self.link_is_up(), "it is the session that failed, not the link")
            self.assertEqual(self.session()["failures_total"], failures + 1)
        finally:
            self.lab.tool("restart", "spine1")

    def test_a_killed_daemon_is_listed_as_dead(self):
        self.assertIn("spine1 is killed", self.lab.tool("kill", "spine1"))
        self.assertIn("spine1 was dead before", self.lab.tool("kill", "spine1"))
        status = support.run(support.LAB, "status", self.lab.name)
        self.assertEqual(status.returncode, 1)
        self.assertRegex(status.stdout, r"(?m)^ +spine1 +DEAD ")
        self.assertEqual(status.stdout.count("DEAD"), 1)
        self.assertIn("spine1 was dead and is started", self.lab.tool("restart", "spine1"))
        self.assertIn("spine1 is started anew", self.lab.tool("restart", "spine1"))
        self.assertNotIn("DEAD", self.lab.tool("status"))

    def test_link_says_what_it_did(self):
        self.assertEqual(self.lab.tool("link", "leaf1-spine1", "down"),
                         "the cable of leaf1-spine1 is pulled\n")
        self.assertEqual(self.lab.tool("link", "leaf1-spine1", "up"),
                         "the cable of leaf1-spine1 is plugged in\n")

    def test_a_neighbour_that_stops_watching_is_not_taken_for_dead(self):
        config = self.lab.directory / "spine1.toml"
        quiet = self.lab.directory / "quiet.toml"
        quiet.write_text(re.sub(r"\n\[switch\.bfd\]\n([^\[\n].*\n)*", "\n", config.read_text()))
        self.assertIn("bfd", tomllib.loads(config.read_text())["switch"][0])
        self.assertNotIn("bfd", tomllib.loads(quiet.read_text())["switch"][0])
        failures = self.session()["failures_total"]
        self.assertEqual(self.lab.ctl("config", "reload", quiet, daemon="spine1").returncode, 0)
        support.until(lambda: self.session()["remote_state"] == "admin-down",
                      what="the last word")
        time.sleep(1.0)
        self.assertEqual(self.session()["state"], "down")
        self.assertEqual(self.session()["failures_total"], failures)
        self.assertTrue(self.uses_spine1())
        self.assertEqual(self.lab.ctl("config", "reload", config, daemon="spine1").returncode, 0)


class VanishedInterface(unittest.TestCase):
    def test_costs_its_port_and_nothing_else(self):
        with support.Lab("star-4") as lab:
            lab.exec("switch", "ip", "link", "del", "h4")
            support.until(lambda: not {row["port"]: row["up"] for row in lab.rows("port")}["h4"],
                          what="that the port is down")
            lab.assert_no_ping_is_lost(self, "h1", "10.0.0.2", 5)
            lab.assert_balanced(self)

    def test_one_that_is_made_again_is_another_one(self):
        with support.Lab("star-4") as lab:
            def make() -> None:
                lab.exec("switch", "ip", "link", "add", "h4", "mtu", "1500", "type", "veth", "peer", "name", "x4")
                lab.exec("switch", "ip", "link", "set", "h4", "up")

            lab.exec("switch", "ip", "link", "del", "h4")
            make()
            log = lab.directory / "star-4.log"
            support.until(lambda: "h4 was removed and made again" in log.read_text(), what="a warning")
            self.assertEqual(log.read_text().count("made again"), 1)
            lab.assert_no_ping_is_lost(self, "h1", "10.0.0.2", 5)


class Reductions(unittest.TestCase):
    """Every element of every reduction, whatever happens to the packets."""

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8-split").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        faults.await_sessions(cls.lab)

    def tearDown(self):
        self.lab.assert_balanced(self)

    def assert_exact(self, documents: list[dict]) -> None:
        self.assertEqual([support.wrong(document) for document in documents], [0] * len(documents))

    def test_bad_cables(self):
        for name, impairment in faults.IMPAIRMENTS.items():
            with self.subTest(name):
                self.assert_exact(faults.over_bad_cables(self.lab, impairment))

    def test_a_cable_between_switches_that_stays_pulled(self):
        self.assert_exact(faults.over_a_pulled_cable(self.lab))

    def test_a_flapping_link(self):
        self.assert_exact(faults.over_a_flapping_link(self.lab))

    def test_switches_that_are_killed_and_start_again(self):
        for daemon in ("spine1", "leaf3"):
            with self.subTest(daemon):
                self.assert_exact(faults.through_a_crash(self.lab, daemon))

    def test_a_worker_that_dies_is_named(self):
        before = faults.contributions(self.lab, "leaf1")
        bench = self.lab.bench("-b", "256K", "-e", "256K", "-n", "100000", deadline_s=10)
        support.until(lambda: faults.contributions(self.lab, "leaf1") > before + 200,
                      what="a reduction")
        for pid in self.lab.processes("l3h1", "tributary-bench"):
            os.kill(pid, signal.SIGKILL)
        self.assertNotIn(bench.end(), (0, 124), "the others end by the deadline")
        self.assertRegex(bench.said, r"\brank(s)? 4\b", "l3h1 is rank 4")


if __name__ == "__main__":
    support.main()
