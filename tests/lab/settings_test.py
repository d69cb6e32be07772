# SPDX-License-Identifier: BSD-3-Clause
"""tools/lab --set and reload: what daemons run with can be changed without editing conf/."""

import os
import signal
import subprocess
import unittest

import support


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "20Mbit",
                              "--set", "switch.port.queue=64KiB").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def reload(self, *options: str):
        return support.run(support.LAB, "reload", self.lab.name, *options)

    def ports(self) -> set[tuple[int, int]]:
        return {(row["rate_bits_per_second"], row["queue_capacity_bytes"])
                for row in self.lab.rows("port")}

    def test_settings_of_up_stay_unless_reload_names_them(self):
        self.assertEqual(self.ports(), {(20_000_000, 65536)})
        self.assertEqual(self.reload("--rate", "30Mbit").returncode, 0)
        self.assertEqual(self.ports(), {(30_000_000, 65536)})
        self.assertEqual(self.reload("--rate", "20Mbit", "--set",
                                     'switch.port.queue="32KiB"').returncode, 0)
        self.assertEqual(self.ports(), {(20_000_000, 32768)})
        self.assertEqual(self.reload("--set", "switch.port.queue=64KiB").returncode, 0)
        self.assertEqual(self.ports(), {(20_000_000, 65536)})

    def test_what_the_daemon_refuses_changes_nothing(self):
        before = self.ports()
        done = self.reload("--rate", "1Gbit", "--set", "switch.port.qeue=32KiB")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean `queue`", done.stderr)
        self.assertEqual(self.reload().returncode, 0)
        self.assertEqual(self.ports(), before)

    def test_only_some_tables_and_each_with_its_number(self):
        self.assertEqual(self.reload("--set", "switch.port[interface].impair_in.seed={n}")
                         .returncode, 0)
        derived = (self.lab.directory / "star-4.toml").read_text()
        for number in range(1, 5):
            self.assertEqual(derived.count(f"seed = {number}\n"), 1, derived)
        done = self.reload("--set", "switch.port[tap].mtu=900")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no table is meant by switch.port[tap]", done.stderr)

    def test_settings_that_name_no_key_are_refused(self):
        for setting in ("queue", "daemon.cores.first=1", ".=1"):
            done = self.reload("--set", setting)
            self.assertEqual(done.returncode, 1, setting)
            self.assertIn(f"--set {setting}", done.stderr)


class SeveralDaemons(unittest.TestCase):
    def test_all_change_or_none_does(self):
        with support.Lab(*support.SPLIT_FABRIC) as lab:
            def queues() -> set[int]:
                return {row["queue_capacity_bytes"] for daemon in lab.state["sockets"]
                        if daemon != last for row in lab.rows("port", daemon=daemon)}
            last = list(lab.state["sockets"])[-1]
            before = queues()
            lab.tool("kill", last)
            done = support.run(support.LAB, "reload", lab.name, "--set", "switch.port.queue=32KiB")
            self.assertEqual(done.returncode, 1)
            self.assertIn(last, done.stderr)
            self.assertEqual(queues(), before)
            self.assertNotIn("32KiB", (lab.directory / f"{last}.toml").read_text())
            lab.tool("restart", last)
            lab.tool("reload", "--set", "switch.port.queue=32KiB")
            self.assertEqual(queues(), {32768})

    def test_none_has_changed_after_an_interruption(self):
        with support.Lab(*support.SPLIT_FABRIC) as lab:
            first, *_, last = lab.state["sockets"]
            pid = next(process["pid"] for process in lab.state["processes"] if process["role"] == last)
            def queues(*daemons: str) -> set[int]:
                return {row["queue_capacity_bytes"] for daemon in daemons
                        for row in lab.rows("port", daemon=daemon)}
            before = queues(*lab.state["sockets"])
            os.kill(pid, signal.SIGSTOP)
            try:
                tool = subprocess.Popen([support.LAB, "reload", lab.name, "--set", "switch.port.queue=32KiB"],
                                        stderr=subprocess.DEVNULL)
                support.until(lambda: queues(first) == {32768}, what="the first daemon's change")
                tool.send_signal(signal.SIGINT)
            finally:
                os.kill(pid, signal.SIGCONT)
            self.assertNotEqual(tool.wait(timeout=support.PATIENCE_S), 0)
            self.assertEqual(queues(*lab.state["sockets"]), before)
            for daemon in lab.state["sockets"]:
                self.assertNotIn("32KiB", (lab.directory / f"{daemon}.toml").read_text())


if __name__ == "__main__":
    support.main()
