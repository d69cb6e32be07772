# SPDX-License-Identifier: BSD-3-Clause
"""tributaryctl and tributaryd --check, against a daemon that runs."""

import os
import pathlib
import signal
import tempfile
import unittest

import support
from late_core import late_core

OK, FAILED, USAGE, NO_DAEMON, DENIED, TIMEOUT = range(6)


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.config = cls.lab.directory / "fat-tree-8.toml"
        cls.socket = cls.lab.state["sockets"]["fat-tree-8"]

    def test_every_question_is_answered_in_both_forms(self):
        for question in ("status", "switch", "port", "route", "bfd", "fdb", "arp", "engine", "job",
                         "descriptor", "stalled", "drops", "counters"):
            with self.subTest(question=question):
                self.assertEqual(self.lab.ctl(question).returncode, OK)
                self.lab.ctl_json(question)

    def test_what_is_there(self):
        self.assertEqual(len(self.lab.rows("switch")), 6)
        self.assertEqual(len(self.lab.rows("port")), 4 * 4 + 2 * 4)
        self.assertTrue(all(row["up"] for row in self.lab.rows("port")))
        self.assertTrue(all(row["rate_bits_per_second"] == 200_000_000
                            for row in self.lab.rows("port")))
        ways = [row for row in self.lab.rows("route")
                if row["switch"] == "leaf1" and row["prefix"] == "10.4.0.0/16"]
        self.assertEqual(len(ways[0]["next_hops"]), 2)

    def test_exit_code_of_bad_usage(self):
        for arguments in (["nonsense"], ["port", "up"], ["status", "--nonsense"], []):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.lab.ctl(*arguments).returncode, USAGE)

    def test_exit_code_without_a_daemon(self):
        done = support.ctl("--socket", "/run/none.sock", "status")
        self.assertEqual(done.returncode, NO_DAEMON)
        self.assertIn("/run/none.sock", done.stderr)

    def test_exit_code_of_a_refusal(self):
        self.assertEqual(self.lab.ctl("port", "down", "leaf1", "nonsense").returncode, FAILED)

    def test_exit_code_when_denied(self):
        # setpriv, because the socket is root's and 0660.
        done = support.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                           support.CTL, "--socket", self.socket, "status")
        self.assertEqual(done.returncode, DENIED, done.stderr)

    def test_exit_code_of_a_timeout(self):
        pid = self.lab.state["processes"][0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            done = self.lab.ctl("--timeout", "0.3", "status")
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertEqual(done.returncode, TIMEOUT)
        self.assertEqual(self.lab.ctl("status").returncode, OK)

    def test_a_port_can_be_taken_down(self):
        self.assertEqual(self.lab.ctl("port", "down", "leaf1", "h1").returncode, OK)
        try:
            self.assertNotEqual(self.lab.ping("l1h1", "10.1.1.1", "-W", "1").returncode, 0)
        finally:
            self.assertEqual(self.lab.ctl("port", "up", "leaf1", "h1").returncode, OK)
        self.assertEqual(self.lab.ping("l1h1", "10.1.1.1").returncode, 0)

    def reload(self, before: str, after: str):
        """Reloads the configuration with a word replaced."""
        text = self.config.read_text()
        self.assertIn(before, text)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text.replace(before, after))
            file.flush()
            return self.lab.ctl("config", "reload", file.name)

    def test_no_list_is_short_of_a_core(self):
        with late_core(self.lab):
            for question in ("status", "port", "engine", "job", "drops", "counters"):
                done = self.lab.ctl("--timeout", "40", question)
                self.assertEqual(done.returncode, TIMEOUT, question)
                self.assertEqual(done.stdout, "", question)
                self.assertIn("the packet core on CPU", done.stderr)
        self.assertEqual(self.lab.ctl("engine").returncode, OK)

    def prefixes(self) -> set[str]:
        """As the packet core has them."""
        return {row["prefix"] for row in self.lab.rows("route") if row["switch"] == "leaf1"}

    def test_a_late_core_takes_a_reload_up_when_it_comes_round(self):
        try:
            with late_core(self.lab):
                for prefix in ("10.5.0.0/16", "10.6.0.0/16"):
                    done = self.reload('"10.4.0.0/16"', f'"{prefix}"')
                    self.assertEqual(done.returncode, OK, done.stderr)
                    self.assertIn("is late: it takes this up before its next burst", done.stdout)
            self.assertIn("10.6.0.0/16", self.prefixes())
            self.assertTrue(self.prefixes().isdisjoint({"10.4.0.0/16", "10.5.0.0/16"}))
        finally:
            self.assertEqual(self.lab.ctl("config", "reload", self.config).returncode, OK)
        self.assertIn("10.4.0.0/16", self.prefixes())

    def test_a_wrong_configuration_changes_nothing(self):
        before = self.lab.rows("port")
        done = self.reload('rate = "200Mbit"', 'rate = "fast"')
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr + done.stdout, r":\d+:\d+: ")
        after = self.lab.rows("port")
        self.assertEqual([row["rate_bits_per_second"] for row in before],
                         [row["rate_bits_per_second"] for row in after])

    def test_rates_can_be_reloaded_and_back(self):
        self.assertEqual(self.reload('rate = "200Mbit"', 'rate = "100Mbit"').returncode, OK)
        self.assertEqual({row["rate_bits_per_second"] for row in self.lab.rows("port")},
                         {100_000_000})
        self.assertEqual(self.lab.ctl("config", "reload", self.config).returncode, OK)
        self.assertEqual({row["rate_bits_per_second"] for row in self.lab.rows("port")},
                         {200_000_000})


class Check(unittest.TestCase):
    GOOD = """version = 1
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
interface = "veth-a"
address = "10.0.0.1/24"
[[switch.port]]
name = "b"
interface = "veth-b"
address = "10.0.1.1/24"
"""

    def refused(self, before: str, after: str, line: int, words: str):
        self.assertIn(before, self.GOOD)
        code, said, name = support.check_config(self.GOOD.replace(before, after, 1))
        self.assertEqual(code, FAILED)
        self.assertRegex(said, rf"{name}:{line}:\d+: .*{words}")

    def test_the_good_one(self):
        self.assertEqual(support.check_config(self.GOOD)[0], OK)

    def test_every_sample(self):
        for path in sorted((support.ROOT / "conf").rglob("*.toml")):
            if path.parent.name not in ("labs", "fabrics"):
                done = support.run(support.DAEMON, "--check", "--config", path)
                self.assertEqual(done.returncode, OK, done.stderr)

    def test_unknown_key(self):
        self.refused("id = 1", "id = 1\nidd = 2", 5, "idd")

    def test_bad_range(self):
        self.refused("id = 1", "id = 70000", 4, "id")

    def test_overlapping_addresses(self):
        self.refused("10.0.1.1/24", "10.0.0.2/24", 12, "10.0.0")

    def test_missing_port_of_a_static_entry(self):
        entry = '\n[[switch.fdb]]\nmac = "02:00:00:00:00:01"\nport = "c"\n[[switch.port]]'
        self.refused("\n[[switch.port]]", entry, 7, "c")

    def test_bad_toml(self):
        self.refused("id = 1", "id = ", 4, "")

    def test_no_file(self):
        done = support.run(support.DAEMON, "--check", "--config", "/nonexistent.toml")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("/nonexistent.toml", done.stderr)


if __name__ == "__main__":
    support.main()
