# SPDX-License-Identifier: BSD-3-Clause
"""Elastic worlds through switches: ranks are killed, replaced and added, and sums stay exact."""

import fcntl
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import support
from panama_job import job

WORKER = support.BUILD / "tests" / "lab" / "elastic_worker"
KEEPER = support.BUILD / "apps" / "tributary-keeper" / "tributary-keeper"
ELEMENTS = 20011
SECRET = "a secret of these ranks alone"
# Of what is noticed by itself; time limits are longer.
AT_ONCE_S = 40.0


class Process:
    """A program in a host of a lab, what it has said, and its pid there."""

    def __init__(self, lab: support.Lab, directory: pathlib.Path, host: str, *argv, **variables):
        self.lab, self.host, self.program = lab, host, pathlib.Path(argv[0]).name
        self.said_in = directory / f"{host}-{self.program}-{len(list(directory.iterdir()))}"
        before = set(lab.processes(host, self.program))
        with self.said_in.open("w") as file:
            self.child = subprocess.Popen(lab.command(host, *argv), stdin=subprocess.DEVNULL,
                                          stdout=file, stderr=subprocess.STDOUT,
                                          env=os.environ | variables)
        support.until(lambda: self.child.poll() is not None or
                      set(lab.processes(host, self.program)) - before, what=f"{argv[0]} on {host}")
        self.pids = set(lab.processes(host, self.program)) - before

    @property
    def said(self) -> str:
        return self.said_in.read_text()

    def send(self, what: signal.Signals) -> None:
        for pid in self.pids:
            os.kill(pid, what)

    def await_line(self, pattern: str) -> re.Match:
        """The last one of that form, once there is one."""
        def found():
            return list(re.finditer(pattern, self.said, re.MULTILINE))
        support.until(lambda: found() or self.child.poll() is not None,
                      what=f"'{pattern}' of {self.program} on {self.host}")
        if not found():
            raise AssertionError(f"no '{pattern}' of {self.program} on {self.host}:\n{self.said}")
        return found()[-1]

    def end(self) -> int:
        """Its exit status, once it has ended by itself."""
        return self.child.wait(timeout=support.PATIENCE_S)

    def kill(self) -> None:
        if self.child.poll() is None:
            for pid in self.pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.child.wait(timeout=support.PATIENCE_S)


class Worlds(unittest.TestCase):
    """Of a keeper in the first host, and workers in some."""
    LAB = ("star-4", "--rate", "none", "--set", "switch.flare.working_memory=8192")

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(*cls.LAB).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.hosts = sorted(cls.lab.state["hosts"])

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)
        self.workers: dict[str, Process] = {}
        self.place = self.address_of(self.hosts[0])
        self.keeper = self.start(self.hosts[0], KEEPER, "--listen", f"{self.place}:29500")
        self.keeper.await_line("listens at")

    def address_of(self, host: str) -> str:
        return self.lab.state["hosts"][host]

    def start(self, host: str, *argv, **variables) -> Process:
        process = Process(self.lab, self.directory, host, *argv,
                          **({"TRIBUTARY_SECRET": SECRET} | variables))
        self.addCleanup(process.kill)
        return process

    def worker(self, host: str, world: int = 0, **variables) -> Process:
        variables = {"MASTER_ADDR": self.place, "MASTER_PORT": "29500",
                     "TRIBUTARY_STALL_TIMEOUT": "60s", "TRIBUTARY_ALGORITHM": "canary"} | variables
        self.workers[host] = self.start(host, WORKER, ELEMENTS, world, **variables)
        return self.workers[host]

    def found(self, size: int, world: int = 0, **variables) -> list[Process]:
        return [self.worker(host, world, RANK=str(rank), WORLD_SIZE=str(size),
                            TRIBUTARY_MEMBERSHIP="elastic", **variables)
                for rank, host in enumerate(self.hosts[:size])]

    def join(self, host: str, **variables) -> Process:
        return self.worker(host, TRIBUTARY_MEMBERSHIP="join", **variables)

    def await_sums(self, members: list[Process], membership: int, by: str = "canary") -> None:
        """Exact ones in that membership, of all of them; over Canary a switch has its part in them."""
        for member in members:
            line = member.await_line(rf"^membership {membership}: \d+ exact sums over {len(members)} ranks, "
                                     r"(\d+) by switches$")
            self.assertRegex(member.said, rf"membership {membership}: rank \d of {len(members)}, .* by {by}")
            if by == "canary":
                self.assertGreater(int(line[1]), 0)

    def await_sums_somewhere(self, members: list[Process]) -> None:
        """In whatever membership they come together."""
        newest = members[-1].await_line(r"^membership (\d+): rank \d of %d" % len(members))
        self.await_sums(members, int(newest[1]))

    def stop(self, members: list[Process]) -> None:
        members[0].send(signal.SIGTERM)
        for member in members:
            self.assertEqual(member.end(), 0, member.said)
            self.assertNotIn("wrong sum", member.said)

    def assert_ended_in_time(self, member: Process, why: str) -> None:
        line = member.await_line(rf"^ended after ([0-9.]+) s \(membership_ended\): .*{why}.*call regroup\(\)")
        self.assertLess(float(line[1]), AT_ONCE_S)


class Unread(unittest.TestCase):
    def test_a_log_that_nobody_reads_does_not_stop_the_keeper(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            place = unused.getsockname()
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        os.write(theirs, bytes(4096))  # it is full
        keeper = subprocess.Popen([KEEPER, "--listen", f"127.0.0.1:{place[1]}"], stderr=theirs,
                                  env=os.environ | {"TRIBUTARY_SECRET": SECRET})
        os.close(theirs)
        self.addCleanup(keeper.wait)
        self.addCleanup(keeper.kill)
        greeting = b"TRIM" + bytes(196)  # whose proof is none: the log has a line for each
        for _ in range(3):
            with self.connected(place) as stranger:
                stranger.settimeout(support.PATIENCE_S)
                stranger.sendall(greeting)
                try:
                    while stranger.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
        keeper.send_signal(signal.SIGTERM)
        self.assertEqual(keeper.wait(support.PATIENCE_S), 0)

    def connected(self, place: tuple[str, int]) -> socket.socket:
        for _ in range(int(10 * support.PATIENCE_S)):
            try:
                return socket.create_connection(place)
            except ConnectionRefusedError:
                time.sleep(0.1)
        raise AssertionError("the keeper does not listen")


class Elastic(Worlds):
    def test_a_rank_that_is_killed_is_replaced(self):
        members = self.found(3, world=3)
        self.await_sums(members, 1)
        members[1].send(signal.SIGKILL)
        for member in (members[0], members[2]):
            self.assert_ended_in_time(member, "rank 1 at .* is gone")
        members[1] = self.join(self.hosts[3])
        self.await_sums(members, 2)
        self.assertIn("membership 2: rank 1 of 3, 1 new", members[1].said)
        # So is rank 0.
        members[0].send(signal.SIGKILL)
        for member in members[1:]:
            self.assert_ended_in_time(member, "rank 0 at .* is gone")
        members[0] = self.join(self.hosts[0])
        self.await_sums(members, 3)
        self.assertIn("membership 3: rank 0 of 3", members[1].said)
        self.stop(members)

    def test_a_world_shrinks_and_grows(self):
        members = self.found(4)
        self.await_sums(members, 1)
        gone = members.pop()
        gone.send(signal.SIGKILL)
        self.await_sums(members, 2)
        gone = members.pop(0)
        gone.send(signal.SIGKILL)
        self.await_sums(members, 3)
        members.append(self.join(self.hosts[0]))
        self.await_sums(members, 4)
        members.append(self.join(self.hosts[3]))
        self.await_sums(members, 5)
        self.stop(members)

    def test_two_join_at_once(self):
        members = self.found(2)
        self.await_sums(members, 1)
        for member in members:
            member.send(signal.SIGSTOP)
        members += [self.join(host) for host in self.hosts[2:]]
        support.until(lambda: self.keeper.said.count("somebody waits to join") == 2, what="both")
        for member in members[:2]:
            member.send(signal.SIGCONT)
        self.await_sums(members, 2)
        self.stop(members)

    def test_who_was_away_is_told_that_it_is_no_member(self):
        # It is for how long the others wait, and also bounds how long founding may take.
        members = self.found(3, TRIBUTARY_STALL_TIMEOUT="45s")
        self.await_sums(members, 1)
        away = members.pop(1)
        away.send(signal.SIGSTOP)
        self.await_sums(members, 2)
        away.send(signal.SIGCONT)
        self.assertEqual(away.end(), 4, away.said)
        self.assertRegex(away.said, r"\(membership_ended\): membership 1 has ended: membership 2 was agreed on "
                                    r"without rank 1 .*TRIBUTARY_MEMBERSHIP=join")
        self.assertRegex(away.said, "regroup failed: membership 2 was agreed on without rank 1")
        # Nor does its rank make it one again, when it is started anew as it was.
        again = self.worker(self.hosts[1], RANK="1", WORLD_SIZE="3", TRIBUTARY_MEMBERSHIP="elastic")
        self.assertEqual(again.end(), 3)
        self.assertRegex(again.said, "creation failed: .*set TRIBUTARY_MEMBERSHIP=join")
        members.insert(1, self.join(self.hosts[1]))
        self.await_sums(members, 3)
        self.stop(members)

    def test_strangers_and_others_are_turned_away_and_disturb_nobody(self):
        members = self.found(2)
        self.await_sums(members, 1)
        for variables, why in (({"TRIBUTARY_SECRET": ""}, "TRIBUTARY_SECRET"),
                               ({"TRIBUTARY_SECRET": "guessed"}, "TRIBUTARY_SECRET"),
                               ({"TRIBUTARY_ALGORITHM": "ring"}, "differ in the algorithm"),
                               ({"TRIBUTARY_JOB": "9"}, "started with job 9, rank 0 with 0"),
                               ({"TRIBUTARY_MEMBERSHIP": "fixed", "RANK": "1", "WORLD_SIZE": "2"},
                                "is a keeper of memberships")):
            with self.subTest(why=why):
                stranger = self.worker(self.hosts[2], **({"TRIBUTARY_MEMBERSHIP": "join"} | variables))
                self.assertEqual(stranger.end(), 3)
                self.assertRegex(stranger.said, f"creation failed: .*{why}")
        self.await_sums(members, 1)
        for member in members:
            self.assertNotIn("ended after", member.said)
        self.stop(members)

    def test_packets_of_an_old_membership_are_in_no_sum(self):
        # One job number through all memberships: switches know the old one's blocks by the same name.
        members = self.found(4, TRIBUTARY_JOB="77")
        self.await_sums(members, 1)
        for membership in range(2, 5):
            members[-1].send(signal.SIGKILL)
            members[-1] = self.join(self.hosts[3], TRIBUTARY_JOB="77")
            self.await_sums_somewhere(members)
        self.stop(members)

    def check_trees_are_used_by_whom_they_are_for(self, by: str, **variables):
        variables |= {"TRIBUTARY_ALGORITHM": by}
        members = self.found(4, **variables)
        self.await_sums(members, 1, by)
        members.pop().send(signal.SIGKILL)
        self.await_sums(members, 2, "ring")
        self.assertRegex(members[0].said, "notice: .*ring, the hosts reduce alone: ")
        members.append(self.join(self.hosts[3], **variables))
        self.await_sums(members, 3, by)
        self.stop(members)

    def test_trees_of_panama(self):
        with job(self.lab, "--trees", 1) as options:
            self.check_trees_are_used_by_whom_they_are_for("panama", **options)

    def test_the_tree_of_flare(self):
        with job(self.lab, "--algorithm", "flare") as options:
            self.check_trees_are_used_by_whom_they_are_for("flare", **options)

    def test_the_ring_of_netreduce(self):
        self.check_trees_are_used_by_whom_they_are_for("netreduce", TRIBUTARY_NETREDUCE_RING="4")


class ElasticOverAFabric(Worlds):
    LAB = ("fat-tree-8", "--rate", "none")

    def test_ranks_of_several_leaves_are_replaced_elsewhere(self):
        members = self.found(6, world=6)
        self.await_sums(members, 1)
        members[2].send(signal.SIGKILL)
        members[5].send(signal.SIGKILL)
        for place, host in ((2, self.hosts[7]), (5, self.hosts[6])):
            members[place] = self.join(host)
        self.await_sums_somewhere(members)
        self.stop(members)
        self.lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
