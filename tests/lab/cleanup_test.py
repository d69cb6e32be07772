# SPDX-License-Identifier: BSD-3-Clause
"""Labs leave nothing behind, whatever is killed; and what a killed daemon means to workers."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import support

LONG = ("-b", "4M", "-e", "4M", "-n", "200", "-w", "0")


def daemons_below(pid: int) -> list[int]:
    children = subprocess.run(["pgrep", "--parent", str(pid), "--exact", "tributaryd"],
                              stdout=subprocess.PIPE, text=True).stdout
    return [int(child) for child in children.split()]


class CleanUp(unittest.TestCase):
    def setUp(self):
        self.hugepages = support.hugepages()

    def assert_gone(self, name: str) -> None:
        support.until(lambda: not support.leftovers(name),
                      what=f"clean-up ({support.leftovers(name)})")
        self.assertEqual(support.hugepages(), self.hugepages)

    def test_down_is_complete_and_can_be_repeated(self):
        with support.Lab("star-4") as lab:
            self.assertTrue(support.leftovers(lab.name))
            self.assertEqual(support.run(support.LAB, "down", lab.name).returncode, 0)
            self.assertEqual(support.leftovers(lab.name), [])
        self.assertEqual(support.run(support.LAB, "down", "star-4").returncode, 0)

    def test_two_labs_of_a_kind_coexist(self):
        with support.Lab("star-4") as one:
            other = support.run(support.LAB, "up", "star-4", "--name", one.name + "-b",
                                "--build-dir", support.BUILD, "--bind-to", os.getpid())
            self.assertEqual(other.returncode, 0, other.stderr)
            self.assertEqual(support.run(support.LAB, "down", one.name + "-b").returncode, 0)
            self.assertEqual(one.exec("h1", "ping", "-c", "1", "10.0.0.2").returncode, 0)
        self.assert_gone(one.name)

    def test_a_lab_is_meant_by_its_kind_and_name(self):
        with support.Lab("star-4") as lab:
            def tool(command, kind, *more):
                return support.run(support.LAB, command, kind, "--name", lab.name, *more)
            self.assertEqual(tool("fabric", "star-4").stdout, lab.tool("fabric"))
            self.assertEqual(tool("status", "star-4").stdout, lab.tool("status"))
            stranger = tool("fabric", "star-4", "--hosts", "h1,h9")
            self.assertEqual(stranger.returncode, 1)
            self.assertIn("has no host 'h9'", stranger.stderr)
            self.assertEqual(tool("exec", "star-4", "h1", "--", "true").returncode, 0)
            for state in ("down", "up"):
                done = tool("link", "star-4", "h1", state)
                self.assertEqual(done.returncode, 0, done.stderr)
            other = tool("fabric", "fat-tree-8")
            self.assertEqual(other.returncode, 1)
            self.assertIn(f"lab {lab.name} is up, but it is ", other.stderr)
            nobody = support.run(support.LAB, "status", "--name", "nobody")
            self.assertEqual((nobody.returncode, nobody.stdout), (1, "lab nobody is not up\n"), nobody.stderr)
            without = support.run(support.LAB, "fabric", "star-4-of-nobody")
            self.assertIn("no lab 'star-4-of-nobody'", without.stderr)
            unnamed = support.run(support.LAB, "fabric", "fat-tree-8", "--name", lab.name + "-b")
            self.assertEqual(unnamed.returncode, 1)
            self.assertRegex(unnamed.stderr, rf"is not up \(up: .*{lab.name}")
            self.assertEqual(tool("down", "star-4").stdout, f"lab {lab.name} is down\n")
        self.assert_gone(lab.name)

    def star_of(self, directory: str, name: str) -> pathlib.Path:
        """A file of the user's own."""
        labs = support.ROOT / "conf/labs"
        file = pathlib.Path(directory) / "mine.toml"
        file.write_text((labs / "star-4.toml").read_text().replace('"star-4"', f'"{name}"', 1)
                        .replace('config = "', f'config = "{labs}/'))
        return file

    def test_a_file_does_not_mean_another_lab_of_its_name(self):
        with support.Lab("star-4") as lab, tempfile.TemporaryDirectory() as directory:
            file = self.star_of(directory, lab.name)
            for command in (["run", file, "--", "allreduce"], ["reload", file], ["down", file],
                            ["exec", file, "h1", "--", "true"]):
                done = support.run(support.LAB, *command)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("is up, but it is", done.stderr)
            self.assertEqual(lab.exec("h1", "ping", "-c", "1", "10.0.0.2").returncode, 0)

    def test_a_lab_of_the_user_s_own_is_meant_by_its_file(self):
        name = f"t{os.getpid()}-mine"
        with tempfile.TemporaryDirectory() as directory:
            file = self.star_of(directory, name)
            for command in (["up", file, "--build-dir", support.BUILD, "--bind-to", os.getpid()],
                            ["status", file], ["exec", file, "h1", "--", "true"], ["down", file]):
                done = support.run(support.LAB, *command)
                self.assertEqual(done.returncode, 0, (command, done.stderr))
        self.assert_gone(name)

    def test_broken_files_are_explained(self):
        head = 'name = "broken"\nhost = []\n'
        daemon = head + '[[daemon]]\nconfig = "daemon.toml"\n'
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            for lab, config in (('name = "broken"\nhost = "x"\ndaemon = []\n', b""),
                                (head + "[[daemon]]\nconfig = 3\n", b""),
                                (head + "daemon = [1]\n", b""),
                                (daemon + "[every_guest]\nprograms = 5\n[[guest]]\nname = 'g'\n"
                                 "switch_interface = 's'\naddress = '10.0.0.1/24'\n", b""),
                                (daemon, b"[switch]\nname = 's'\n"),
                                (daemon, b"[[switch]]\n[switch.port]\ninterface = 'x'\n"),
                                (daemon, b"daemon = 3\n"),
                                (daemon, b"\xff\xfe")):
                with self.subTest(lab=lab, config=config):
                    (place / "broken.toml").write_text(lab)
                    (place / "daemon.toml").write_bytes(config)
                    done = support.run(support.LAB, "up", place / "broken.toml", "--rate", "1Gbit",
                                       "--build-dir", support.BUILD)
                    self.assertEqual(done.returncode, 1, done)
                    self.assertRegex(done.stderr, "(?m)^lab: ")
                    self.assertNotIn("Traceback", done.stderr)
            self.assertEqual(support.leftovers("broken"), [])

    def test_workers_that_cannot_be_are_refused(self):
        for options, said in ((("--hosts", "h1", "--workers", "1"), "give one of them"),
                              (("--hosts", "h1,h2", "--delay", "h4=5"), "no worker runs there"),
                              (("--time-limit", "0"), "above 0")):
            done = support.run(support.LAB, "run", "star-4", *options, "--", "allreduce")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_names_that_are_none_are_refused(self):
        done = support.run(support.LAB, "up", "star-4", "--name", "UP", "--build-dir", support.BUILD)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("lab: --name UP: "), done.stderr)

    def test_a_lab_is_not_bound_to_a_process_that_has_ended(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        name = f"t{os.getpid()}-unbound"
        done = support.run(support.LAB, "up", "star-4", "--name", name, "--bind-to", ended.pid,
                           "--build-dir", support.BUILD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no such process", done.stderr)
        self.assertEqual(support.leftovers(name), [])

    def test_a_second_up_is_refused(self):
        with support.Lab("star-4") as lab:
            again = support.run(support.LAB, "up", "star-4", "--name", lab.name,
                                "--build-dir", support.BUILD)
            self.assertEqual(again.returncode, 1)
            self.assertIn("is up already", again.stderr)
            self.assertEqual(lab.exec("h1", "ping", "-c", "1", "10.0.0.2").returncode, 0)

    def test_a_daemon_that_does_not_start_is_explained(self):
        name = f"t{os.getpid()}-broken"
        done = support.run(support.LAB, "up", "star-4", "--name", name, "--rate", "fast",
                           "--build-dir", support.BUILD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("rate", done.stderr)
        self.assertEqual(support.leftovers(name), [])

    def test_after_kill_of_a_daemon(self):
        with support.Lab("fat-tree-8") as lab:
            bench = lab.bench(*LONG, deadline_s=10)
            support.until(lambda: sum(row["originated_packets_total"]
                                      for row in lab.rows("counters")) > 1000, what="a reduction")
            os.kill(lab.state["processes"][0]["pid"], signal.SIGKILL)
            self.assertEqual(bench.end(), 1, bench.said)  # an error, by the deadline
            self.assertIn("tributary-bench:", bench.said)
            status = support.run(support.LAB, "status", lab.name)
            self.assertEqual(status.returncode, 1)
            self.assertIn("DEAD", status.stdout)
        self.assert_gone(lab.name)

    def killed_run(self, how: signal.Signals):
        name = f"t{os.getpid()}-killed"
        child = subprocess.Popen(
            [str(arg) for arg in (support.LAB, "run", "star-4", "--name", name, "--build-dir",
                                  support.BUILD, "--", "allreduce", *LONG)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        child.stdout.readline()  # the bench has begun
        child.send_signal(how)
        child.wait(timeout=support.PATIENCE_S)
        self.assert_gone(name)

    def test_after_the_end_of_a_test_without_a_lab(self):
        here = pathlib.Path(__file__).resolve().parent
        for name, how in (("neighbours", signal.SIGTERM), ("losses", signal.SIGKILL), ("losses", signal.SIGTERM)):
            with self.subTest(name=name, how=how.name):
                test = subprocess.Popen([sys.executable, here / f"{name}_test.py"], stderr=subprocess.DEVNULL)
                daemons: list[int] = []
                while not daemons and test.poll() is None:
                    daemons = daemons_below(test.pid)
                self.assertTrue(daemons, "the test ended before its daemon was seen")
                test.send_signal(how)
                test.wait(timeout=support.PATIENCE_S)
                support.until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in daemons),
                              what="the end of the daemon")
                self.assertFalse(pathlib.Path(f"/run/netns/trib-{name}-{test.pid}").exists())

    def test_after_kill_of_the_tool(self):
        self.killed_run(signal.SIGKILL)

    def test_after_ctrl_c(self):
        self.killed_run(signal.SIGINT)

    def test_after_sigterm(self):
        self.killed_run(signal.SIGTERM)


if __name__ == "__main__":
    support.main()
