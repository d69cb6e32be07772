#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tributaryctl fabric, over daemons that run: six of them, and one of them dead."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import panama_job
import support

OK, FAILED, USAGE, NO_DAEMON = range(4)
JOBS_8 = support.ROOT / "conf" / "fabrics" / "fat-tree-8.toml"
PANAMA = ("--set", "switch.panama.packet_memory=64")
RINGS = ("--set", "switch.netreduce.packet_memory=4096")
SHARED_SOCKET = "/run/tributary/fat-tree-8.sock"

# Stands in for ssh: hands over requests, until one is to change something. Then the daemon dies.
DEADLY_SSH = """
import json, os, signal, socket, sys, time
daemon, path = int(sys.argv[1]), sys.argv[5].strip("'")
switch = socket.socket(socket.AF_UNIX)
try:
    switch.connect(path)
except OSError:
    sys.exit(3)
replies = switch.makefile("rb")
def message(stream):
    prefix = stream.read(4)
    return prefix + stream.read(int.from_bytes(prefix, "big"))
while request := message(sys.stdin.buffer):
    content = json.loads(request[4:])
    if content["method"] == "tree.install" and not content["params"]["check"]:
        os.kill(daemon, signal.SIGKILL)
        try:
            for _ in range(1000):  # it takes a while until nobody serves the socket
                socket.socket(socket.AF_UNIX).connect(path)
                time.sleep(0.01)
        except OSError:
            pass
        sys.exit(1)
    switch.sendall(request)
    sys.stdout.buffer.write(message(replies))
    sys.stdout.buffer.flush()
"""


class Fabric(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(*support.SPLIT_FABRIC, *PANAMA, *RINGS).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.files.cleanup)
        # The sample has all switches in one daemon; here each has its own.
        text = JOBS_8.read_text()
        for name, socket in cls.lab.state["sockets"].items():
            text = text.replace(f'name = "{name}"\ncontrol = "{SHARED_SOCKET}"',
                                f'name = "{name}"\ncontrol = "{socket}"')
        assert SHARED_SOCKET not in text
        cls.text = text
        cls.file = cls.write("fabric.toml", text)

    @classmethod
    def write(cls, name: str, text: str) -> pathlib.Path:
        path = pathlib.Path(cls.files.name) / name
        path.write_text(text)
        return path

    def tearDown(self):
        self.doCleanups()  # a watch would bring back what is removed here
        for name in self.lab.state["sockets"]:
            if self.lab.ctl("status", daemon=name).returncode != OK:
                self.lab.tool("restart", name)
        jobs = {str(row["job"]) for row in self.lab.rows("tree")}
        done = self.fabric("remove", "--force", *(word for job in jobs for word in ("--job", job)))
        self.assertEqual(done.returncode, OK, done.stderr)

    def fabric(self, command: str, *arguments, file=None, **more):
        return support.ctl("fabric", command, file or self.file, *arguments, **more)

    def fabric_json(self, command: str, *arguments, file=None, code: int = OK) -> dict:
        done = self.fabric(command, "--json", *arguments, file=file)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def installed(self) -> dict[str, list[tuple[int, int]]]:
        """Job and tree of what each daemon says that it has."""
        found = {name: [] for name in self.lab.state["sockets"]}
        for row in self.lab.rows("tree"):
            found[row["switch"]].append((row["job"], row["tree"]))
        return found

    def states(self) -> set[str]:
        done = self.fabric("show", "--json")
        return {row["state"] for row in json.loads(done.stdout)["rows"]}

    def test_plan_apply_show_remove(self):
        plan = self.fabric_json("plan")
        self.assertEqual([tree["root"] for tree in plan["jobs"][0]["trees"]], ["spine1", "spine2"])
        self.assertEqual(len(plan["changes"]), 6)
        self.assertFalse(any(self.installed().values()))
        applied = self.fabric_json("apply")
        self.assertEqual(applied["jobs"], plan["jobs"])
        everywhere = self.installed()
        self.assertEqual(everywhere["leaf1"], [(7, 0), (7, 1), (8, 0)])
        self.assertEqual(everywhere["spine1"], [(7, 0), (8, 0)])
        self.assertEqual(everywhere["spine2"], [(7, 1)])
        self.assertEqual(self.fabric("show").returncode, OK)
        self.assertEqual(self.fabric_json("apply")["changes"], [])
        self.assertEqual(self.fabric_json("plan")["jobs"], plan["jobs"])
        self.assertEqual(self.fabric("remove").returncode, OK)
        self.assertFalse(any(self.installed().values()))

    def test_both_ends_of_each_link_agree(self):
        self.fabric_json("apply")
        rows = {(row["switch"], row["job"], row["tree"]): row for row in self.lab.rows("tree")}
        for (switch, job, tree), row in rows.items():
            if row["parent"]:
                # Ports between switches are called like the switch at their other end.
                above = rows[row["parent"], job, tree]
                self.assertIn(switch, above["children"])
                self.assertEqual(row["group"], above["group"])

    def test_workers_are_told_what_to_set(self):
        with tempfile.TemporaryDirectory() as directory:
            done = self.fabric("apply", "--env", directory)
            self.assertEqual(done.returncode, OK, done.stderr)
            environment = (pathlib.Path(directory) / "job-7.env").read_text()
            partial = (pathlib.Path(directory) / "job-8.env").read_text()
        groups = {row["tree"]: row["group"] for row in self.lab.rows("tree") if row["job"] == 7}
        self.assertEqual(environment, "TRIBUTARY_ALGORITHM=panama\nTRIBUTARY_JOB=7\n"
                                      f"TRIBUTARY_TREES={groups[0]},{groups[1]}\n")
        self.assertIn("TRIBUTARY_SHARE=0.75\n", partial)
        self.assertIn(f"TRIBUTARY_TREES={groups[0]},{groups[1]}", done.stdout)

    def kill(self, daemon: str) -> None:
        """Until the kernel has taken its socket back, connections are accepted, and closed."""
        self.lab.tool("kill", daemon)
        support.until(lambda: self.lab.ctl("status", daemon=daemon).returncode == NO_DAEMON,
                      what=f"the end of {daemon}")

    def test_a_dead_daemon_stops_all(self):
        self.kill("spine2")
        for command in ("plan", "apply", "remove"):
            done = self.fabric(command)
            self.assertEqual(done.returncode, NO_DAEMON, done.stderr)
            self.assertIn("spine2", done.stderr)
        self.lab.tool("restart", "spine2")
        self.assertFalse(any(self.installed().values()))

    def test_a_dead_daemon_can_be_gone_around(self):
        self.kill("spine2")
        jobs = self.fabric_json("apply", "--skip-unreachable")["jobs"]
        self.assertEqual([tree["root"] for tree in jobs[0]["trees"]], ["spine1"])
        self.lab.tool("restart", "spine2")
        jobs = self.fabric_json("apply")["jobs"]
        self.assertEqual([tree["root"] for tree in jobs[0]["trees"]], ["spine1", "spine2"])

    def test_a_daemon_that_fails_halfway_rolls_all_back(self):
        self.fabric_json("apply")
        before = self.installed()
        # Its state cannot be written any more; the leaves before it have changed by then.
        state = self.lab.directory / "spine1.trees.json.new"
        state.mkdir()
        try:
            changed = self.write("changed.toml", self.text.replace("share = 0.75", "share = 0.5"))
            done = self.fabric("apply", file=changed)
        finally:
            state.rmdir()
        self.assertEqual(done.returncode, FAILED, done.stdout)
        self.assertIn("switch spine1 refused", done.stderr)
        self.assertEqual(self.installed(), before)
        self.assertEqual({row["quorum"] for row in self.lab.rows("tree") if row["job"] == 8}, {3})
        self.assertEqual(self.fabric("show").returncode, OK)

    def test_a_daemon_that_dies_halfway_leaves_the_others_as_they_were(self):
        self.fabric_json("apply")
        before = self.lab.rows("tree")
        pid = next(process["pid"] for process in self.lab.state["processes"]
                   if process["role"] == "spine2")
        ssh = self.write("ssh.py", DEADLY_SSH)
        socket = self.lab.state["sockets"]["spine2"]
        text = self.text.replace(f'control = "{socket}"', f'control = "{socket}"\nssh = "far"')
        changed = self.write("changed.toml", text.replace(', "l4h2"]\ntrees = "all"',
                                                          ']\ntrees = "all"'))
        done = self.fabric("apply", file=changed,
                           env=os.environ | {"TRIBUTARY_SSH": f"{sys.executable} {ssh} {pid}"})
        self.assertEqual(done.returncode, NO_DAEMON, done.stderr)
        self.assertIn("switch spine2 failed", done.stderr)
        self.assertIn("spine2 could not be brought back", done.stderr)
        self.lab.tool("restart", "spine2")
        self.assertEqual(self.lab.rows("tree"), before)

    def test_a_daemon_that_was_killed_has_its_trees_back(self):
        self.fabric_json("apply")
        before = self.installed()
        for name in ("leaf3", "spine1"):
            self.kill(name)
            self.assertEqual(self.states(), {"installed", "unknown"})
            self.lab.tool("restart", name)
            self.assertEqual(self.installed(), before)
        self.assertEqual(self.fabric("show").returncode, OK)

    def test_a_daemon_that_lost_its_state_is_shown_and_mended(self):
        self.fabric_json("apply")
        before = self.installed()
        self.lab.tool("kill", "spine1")
        state = self.lab.directory / "spine1.trees.json"
        state.write_text(state.read_text()[:-20])
        self.lab.tool("restart", "spine1")
        self.assertEqual(self.installed()["spine1"], [])
        self.assertIn("no aggregation trees are taken up again",
                      (self.lab.directory / "spine1.log").read_text())
        done = self.fabric("show")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("missing", done.stdout)
        changes = self.fabric_json("apply")["changes"]
        self.assertEqual([change["switch"] for change in changes], ["spine1"])
        self.assertEqual(self.installed(), before)

    def test_a_reload_keeps_them(self):
        self.fabric_json("apply")
        before = self.installed()
        done = self.lab.ctl("config", "reload", self.lab.directory / "leaf1.toml", daemon="leaf1")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(self.installed(), before)

    def test_jobs_of_other_files_are_left_alone(self):
        head, _, _ = self.text.partition("# Everybody")
        others = self.write("others.toml",
                            head + '[[job]]\nid = 9\nhosts = ["l1h1", "l4h1"]\ntrees = 1\n')
        self.fabric_json("apply", file=others)
        self.fabric_json("apply")
        self.assertEqual(self.states(), {"installed", "of others"})
        self.assertEqual(self.fabric("remove").returncode, OK)
        self.assertEqual(self.installed()["leaf1"], [(9, 0)])
        self.assertEqual(self.fabric("show", file=others).returncode, OK)

    def test_a_port_that_is_down_moves_the_trees(self):
        self.fabric_json("apply")
        self.lab.ctl("port", "down", "leaf1", "spine1", daemon="leaf1")
        try:
            shown = self.fabric("show")
            self.assertEqual(shown.returncode, FAILED)
            self.assertIn("trees go around it: port leaf1:spine1 is down", shown.stderr)
            jobs = self.fabric_json("apply")["jobs"]
            self.assertEqual([tree["root"] for tree in jobs[0]["trees"]], ["spine2"])
        finally:
            self.lab.ctl("port", "up", "leaf1", "spine1", daemon="leaf1")

    def watching(self, file=None) -> subprocess.Popen:
        watch = subprocess.Popen([support.CTL, "--timeout", "60", "fabric", "watch", file or self.file,
                                  "--interval", "0.2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        return watch

    def roots(self, job: int) -> list[str]:
        """Of its trees, as far as daemons answer."""
        return sorted(row["switch"] for row in self.lab.rows("tree")
                      if row["job"] == job and row["parent"] is None)

    def test_watch_moves_trees_under_a_job_that_runs(self):
        watch = self.watching()
        support.until(lambda: self.roots(7) == ["spine1", "spine2"], what="the first placement")
        told = next(job["environment"] for job in self.fabric_json("plan")["jobs"]
                    if job["job"] == 7)
        with mock.patch.dict(os.environ, told):
            support.long_enough(self.move_trees, 200)
        self.assertIn("changed: ", support.end(watch))

    def move_trees(self, iterations: int) -> None:
        bench = self.lab.bench("-b", "64K", "-e", "64K", "-n", iterations, "-w", "0", "-d", "i32",
                               "--fallback", "error")
        summed = panama_job.summed(self.lab)
        support.until(lambda: panama_job.summed(self.lab) > summed + 200, what="a reduction")
        self.lab.ctl("port", "down", "leaf1", "spine1", daemon="leaf1")
        support.until(lambda: self.roots(7) == ["spine2", "spine2"], what="the move")
        self.lab.ctl("port", "up", "leaf1", "spine1", daemon="leaf1")
        support.until(lambda: self.roots(7) == ["spine1", "spine2"], what="the way back")
        over = not bench.running()
        self.assertEqual(support.wrong(bench.finish()), 0)
        if over:
            raise support.TooEarly("it ended before the trees were back")

    def test_watch_goes_around_a_switch_that_is_gone(self):
        self.watching()
        support.until(lambda: self.roots(7) == ["spine1", "spine2"], what="the first placement")
        self.lab.tool("kill", "spine1")
        survivors = [name for name in self.lab.state["sockets"] if name != "spine1"]
        def parents():
            return {row["parent"] for name in survivors
                    for row in self.lab.rows("tree", daemon=name) if row["parent"]}
        support.until(lambda: parents() == {"spine2"}, what="the move")
        self.lab.tool("restart", "spine1")
        support.until(lambda: self.roots(7) == ["spine1", "spine2"], what="the way back")

    def test_watch_follows_the_file(self):
        head, _, _ = self.text.partition("# Everybody")
        job = '[[job]]\nid = 9\nhosts = ["l1h1", "l4h1"]\ntrees = 1\n'
        file = self.write("watched.toml", head + job)
        self.watching(file)
        support.until(lambda: self.installed()["leaf1"] == [(9, 0)], what="job 9")
        self.write("watched.toml", head + job.replace("id = 9", "id = 10"))
        support.until(lambda: self.installed()["leaf1"] == [(10, 0)], what="job 10")

    def test_watch_has_a_ring_follow_its_job_and_the_links(self):
        hosts = "l1h1,l1h2,l4h1,l4h2"
        with_job = self.lab.tool("fabric", "--job", 9, "--algorithm", "netreduce", "--hosts", hosts)
        without, _, _ = with_job.partition("\n[[job]]")
        file = self.write("rings.toml", without)
        self.watching(file)
        self.write("rings.toml", with_job)
        support.until(lambda: self.roots(9), what="the ring")
        root, = self.roots(9)
        other, = {"spine1", "spine2"} - {root}
        self.lab.ctl("port", "down", "leaf1", root, daemon="leaf1")
        try:
            support.until(lambda: self.roots(9) == [other], what="the move")
        finally:
            self.lab.ctl("port", "up", "leaf1", root, daemon="leaf1")
        told = self.fabric_json("plan", file=file)["jobs"][0]["environment"]
        with mock.patch.dict(os.environ, told):
            document = self.lab.reduce("-b", "64K", "-e", "64K", "-n", "2", "--fallback", "error",
                                       hosts=hosts)
        self.assertEqual(support.wrong(document), 0)
        sums = {row["switch"]: row["figures"]["sums_total"] for row in self.lab.rows("engine")
                if row["engine"] == "netreduce"}
        self.assertGreater(sums[other], 0)
        self.assertEqual(sums[root], 0)
        self.write("rings.toml", without)  # it is taken away when nobody has sent for a while
        support.until(lambda: all(row["job"] != 9 for row in self.lab.rows("tree")),
                      what="the end of the ring")

    def test_show_says_why_a_job_has_no_place(self):
        self.fabric_json("apply")
        two = self.write("two.toml", self.text.replace('trees = "all"', "trees = 2"))
        self.lab.ctl("port", "down", "leaf1", "spine1", daemon="leaf1")
        try:
            done = self.fabric("show", file=two)
            shown = self.fabric_json("show", file=two, code=FAILED)
        finally:
            self.lab.ctl("port", "up", "leaf1", "spine1", daemon="leaf1")
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"two.toml:\d+:\d+: job 7: 2 trees, but only 1 disjoint root: "
                                      r"spine2 .*port leaf1:spine1 is down")
        self.assertIn("not every job of the file has a place", done.stdout)
        states = {job: {row["state"] for row in shown["rows"] if row["job"] == job} for job in (7, 8)}
        self.assertEqual(states[7], {"no place"})
        self.assertNotIn("no place", states[8])

    def test_a_job_that_nobody_knows_is_an_error(self):
        self.fabric_json("apply")
        done = self.fabric("remove", "--job", "99")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("there is no job 99 in ", done.stderr)
        self.assertIn("there are 7, 8", done.stderr)

    def test_what_does_not_fit_is_refused(self):
        many = self.write("many.toml", self.text.replace('trees = "all"', "trees = 3"))
        done = self.fabric("apply", file=many)
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"many.toml:\d+:\d+: job 7: 3 trees, but only 2 disjoint "
                                      r"roots: spine1, spine2")
        self.assertFalse(any(self.installed().values()))


class InUse(unittest.TestCase):
    """Trees that workers send through."""

    def test_they_are_taken_by_force_only(self):
        with support.Lab("star-4", *PANAMA) as lab, tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "fabric.toml"
            file.write_text(lab.tool("fabric", "--job", 7))
            applied = support.ctl("fabric", "apply", file, "--env", directory)
            self.assertEqual(applied.returncode, OK, applied.stderr)
            told = dict(line.split("=", 1) for line in
                        (pathlib.Path(directory) / "job-7.env").read_text().splitlines())
            bench = lab.bench("--algorithm", "panama", "-b", "1M", "-e", "1M", "-n", "100000",
                              environment=told)
            support.until(lambda: any(row["state"]["results_total"] for row in lab.rows("tree")),
                          what="a reduction")
            switch = lab.rows("tree")[0]["switch"]
            for refused in (support.ctl("fabric", "remove", file),
                            lab.ctl("tree", "remove", switch, "7")):
                self.assertEqual(refused.returncode, FAILED, refused.stdout)
                self.assertRegex(refused.stderr, r"nothing was removed: job 7 \(tree 0; last packet ")
            self.assertEqual(len(lab.rows("tree")), 1)
            bench.stop()
            removed = support.ctl("fabric", "remove", "--force", file)
            self.assertEqual(removed.returncode, OK, removed.stderr)
            self.assertEqual(lab.rows("tree"), [])


class OneDaemon(unittest.TestCase):
    def test_its_death_is_said_once(self):
        with support.Lab("fat-tree-8", *PANAMA) as lab, tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "fabric.toml"
            file.write_text(lab.tool("fabric"))
            lab.tool("kill", "fat-tree-8")
            # While it dies it may still take a connection.
            support.until(lambda: "no daemon serves" in support.ctl("fabric", "plan", file).stderr,
                          what="the end of the daemon")
            for command in ("plan", "apply", "show", "remove"):
                done = support.ctl("fabric", command, file)
                self.assertIn("leaf1, leaf2, leaf3, leaf4, spine1, spine2", done.stderr)
                self.assertEqual(done.stderr.count("no daemon serves"), 1, done.stderr)

    def test_the_samples_fit_their_labs(self):
        for kind in ("star-4", "fat-tree-8"):
            with self.subTest(lab=kind), support.Lab(kind, *PANAMA) as lab, \
                    tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                sample = (support.ROOT / "conf" / "fabrics" / f"{kind}.toml").read_text()
                file.write(sample.replace(f"/run/tributary/{kind}.sock",
                                          lab.state["sockets"][kind]))
                file.flush()
                for command in ("apply", "show", "remove"):
                    done = support.ctl("fabric", command, file.name)
                    self.assertEqual(done.returncode, OK, done.stderr)


if __name__ == "__main__":
    support.main()
