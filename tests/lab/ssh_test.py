#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tributaryctl fabric over ssh: a real sshd in a host of a lab, reached through the switches that are
set up."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import faults
import support

OK, FAILED, USAGE, NO_DAEMON = range(4)
CONTROLLER, TARGET = "l1h1", "l4h2"
TARGET_ADDRESS = "10.4.2.2"
PORT = 2222
SAMPLE = support.ROOT / "conf" / "fabrics" / "fat-tree-8.toml"
SHARED_SOCKET = "/run/tributary/fat-tree-8.sock"
# Where sshd drops its privileges to; a service manager would have made it.
PRIVILEGE_SEPARATION = pathlib.Path("/run/sshd")

SSHD = """
ListenAddress {address}:{port}
HostKey {directory}/host
PidFile {directory}/pid
AuthorizedKeysFile {directory}/user.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
SetEnv PATH={path}
"""
# What the operator's own configuration says plays no part.
SSH = """
Host far
  HostName {address}
  Port {port}
  User root
  IdentityFile {directory}/{key}
  IdentitiesOnly yes
  UserKnownHostsFile {directory}/{known}
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  BatchMode yes
"""


class OverSsh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(*support.SPLIT_FABRIC, "--set", "switch.panama.packet_memory=64",
                              name="ssh").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        faults.await_paths(cls.lab)
        cls.files = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        if not PRIVILEGE_SEPARATION.exists():
            PRIVILEGE_SEPARATION.mkdir(mode=0o755)
            cls.addClassCleanup(PRIVILEGE_SEPARATION.rmdir)
        for key in ("host", "user", "stranger"):
            support.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.files / key)
        for known, key in (("known", "host"), ("known-wrong", "stranger")):
            public = (cls.files / f"{key}.pub").read_text()
            (cls.files / known).write_text(f"[{TARGET_ADDRESS}]:{PORT} {public}")
        text = SAMPLE.read_text()
        for name, socket in cls.lab.state["sockets"].items():
            text = text.replace(f'name = "{name}"\ncontrol = "{SHARED_SOCKET}"',
                                f'name = "{name}"\ncontrol = "{socket}"\nssh = "far"')
        assert text.count('ssh = "far"') == 6
        cls.file = cls.write("fabric.toml", text)

    @classmethod
    def write(cls, name: str, text: str) -> pathlib.Path:
        path = cls.files / name
        path.write_text(text)
        return path

    def start_sshd(self, path: str = f"{support.CTL.parent}:/usr/bin:/bin") -> None:
        config = self.write("sshd_config", SSHD.format(
            address=TARGET_ADDRESS, port=PORT, directory=self.files, path=path))
        log = self.files / "sshd.log"
        done = self.lab.exec(TARGET, "/usr/sbin/sshd", "-f", config, "-E", log)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.addCleanup(self.end_sshd)
        support.until((self.files / "pid").exists, what="sshd")

    def end_sshd(self) -> None:
        os.kill(int((self.files / "pid").read_text()), signal.SIGTERM)
        support.until(lambda: not (self.files / "pid").exists(), what="the end of sshd")

    def fabric(self, command: str, *arguments, key: str = "user",
               known: str = "known") -> subprocess.CompletedProcess:
        config = self.write("ssh_config", SSH.format(
            address=TARGET_ADDRESS, port=PORT, directory=self.files, key=key, known=known))
        return self.lab.exec(CONTROLLER, "env", f"TRIBUTARY_SSH=ssh -F {config}", support.CTL,
                             "--timeout", support.PATIENCE_S, "fabric", command, self.file, *arguments)

    def installed(self) -> set[tuple[str, int]]:
        return {(row["switch"], row["job"]) for row in self.lab.rows("tree")}

    def logins(self) -> int:
        log = self.files / "sshd.log"
        return len(re.findall("Accepted publickey for root", log.read_text()))

    def test_trees_are_put_up_shown_and_taken_away(self):
        self.start_sshd()
        self.assertEqual(self.installed(), set())
        before = self.logins()
        applied = self.fabric("apply")
        self.assertEqual(applied.returncode, OK, applied.stderr)
        self.assertEqual({switch for switch, _ in self.installed()},
                         set(self.lab.state["sockets"]))
        shown = self.fabric("show")
        self.assertEqual(shown.returncode, OK, shown.stdout + shown.stderr)
        removed = self.fabric("remove")
        self.assertEqual(removed.returncode, OK, removed.stderr)
        self.assertEqual(self.installed(), set())
        # All of it went through sshd, by key.
        self.assertEqual(self.logins(), before + 3 * 6)

    def refusal(self, **how) -> str:
        done = self.fabric("apply", **how)
        self.assertEqual(done.returncode, NO_DAEMON, done.stdout + done.stderr)
        self.assertEqual(self.lab.rows("tree", daemon="leaf1"), [])
        return done.stderr

    def test_a_stranger_s_key_is_refused(self):
        self.start_sshd()
        self.assertIn("ssh cannot reach far", self.refusal(key="stranger"))

    def test_a_machine_with_another_key_is_not_believed(self):
        self.start_sshd()
        self.assertIn("ssh cannot reach far", self.refusal(known="known-wrong"))

    def test_a_dead_daemon_is_told_from_a_dead_machine(self):
        self.start_sshd()
        self.lab.tool("kill", "leaf2")  # not on the way between the machines
        self.addCleanup(self.lab.tool, "restart", "leaf2")
        self.assertIn("no daemon serves the socket on far", self.refusal())

    def test_a_machine_without_the_program_is_told(self):
        self.start_sshd(path="/usr/bin:/bin")
        done = self.fabric("plan")
        self.assertEqual(done.returncode, FAILED, done.stdout + done.stderr)
        self.assertIn("there is no tributaryctl on far; install it", done.stderr)


if __name__ == "__main__":
    support.require("ssh", "/usr/sbin/sshd")
    support.main()
