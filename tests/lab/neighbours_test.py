# SPDX-License-Identifier: BSD-3-Clause
"""Several daemons and generators in one network namespace."""

import atexit
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support
from lablib import namespaces

CONFIG = """
version = 1
[daemon]
hugepages = "never"
control = "{directory}/{name}.sock"
log_level = "warning"
packets = 4096
[[switch]]
name = "{name}"
id = 1
"""
PORT = """[[switch.port]]
name = "{interface}"
interface = "{interface}"
queues = {queues}
"""
# Takes every number that a packet socket of a process with a small number may be given by DPDK.
TAKE_NUMBERS = """
import socket, sys
SOL_PACKET, PACKET_FANOUT, ETH_P_ALL = 263, 18, 3
taken = []
for number in range(256):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    one.bind(("lo", ETH_P_ALL))
    one.setsockopt(SOL_PACKET, PACKET_FANOUT, number)
    taken.append(one)
print("taken", flush=True)
sys.stdin.read()
"""


class Neighbours(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="neighbours-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.namespace = f"trib-neighbours-{os.getpid()}"
        delete = ["ip", "netns", "delete", self.namespace]
        subprocess.run(["ip", "netns", "add", self.namespace], check=True)
        atexit.register(subprocess.run, delete, stderr=subprocess.DEVNULL)  # where the test is told to end
        self.addCleanup(subprocess.run, delete)
        namespaces.shell(self.namespace, "ip link set lo up")
        for number in range(4):
            namespaces.shell(self.namespace, f"""
                ip link add s{number} type veth peer name h{number}
                for end in s{number} h{number}; do
                    sysctl -qw net.ipv6.conf.$end.disable_ipv6=1
                    ethtool -K $end tx off
                    ip link set $end up
                done""")

    def inside(self, *argv) -> list[str]:
        return namespaces.command(self.namespace, *(str(word) for word in argv))

    def begin(self, *argv, **more) -> subprocess.Popen:
        child = subprocess.Popen([*support.OWNED, *self.inside(*argv)], text=True, **more)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def configured(self, name: str, *interfaces: str, queues: int = 1) -> pathlib.Path:
        file = self.directory / f"{name}.toml"
        ports = (PORT.format(interface=interface, queues=queues) for interface in interfaces)
        file.write_text(CONFIG.format(directory=self.directory, name=name) + "".join(ports))
        return file

    def ctl(self, name: str, *arguments) -> subprocess.CompletedProcess:
        return support.ctl("--socket", self.directory / f"{name}.sock", *arguments)

    @contextlib.contextmanager
    def daemon(self, name: str, *interfaces: str, queues: int = 1, before: tuple[str, ...] = ()):
        file = self.configured(name, *interfaces, queues=queues)
        log = self.directory / f"{name}.log"
        with open(log, "w") as output:
            child = self.begin(*before, support.DAEMON, "--config", file,
                               stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        support.until(lambda: child.poll() is not None or self.ctl(name, "status").returncode == 0,
                      what=f"the start of {name} ({log.read_text()})")
        self.assertIsNone(child.poll(), log.read_text())
        try:
            yield child
        finally:
            self.ctl(name, "shutdown")
            child.wait(timeout=support.PATIENCE_S)

    def test_numbers_that_others_have_do_not_matter(self):
        """DPDK derives what it asks the kernel for from a process's number, here that of the first
        in a namespace of processes. Each frame still goes to one queue of a port, and no other."""
        first = ("unshare", "--pid", "--fork", "--kill-child")
        taking = self.begin(sys.executable, "-c", TAKE_NUMBERS, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
        self.addCleanup(taking.stdin.close)
        self.addCleanup(taking.stdout.close)
        self.assertEqual(taking.stdout.readline(), "taken\n")
        with self.daemon("one", "s0", "s1", queues=2, before=first), \
                self.daemon("other", "s2", "s3", queues=2, before=first):
            for ports in (("h0", "h1"), ("h2", "h3")):
                said = support.run(*self.inside(
                    *first, support.PKTGEN, "plain", "--rate", "1kpps", "--duration", "1s",
                    "--flows", "16", "--drain", "30s", "--settle", "2s", "--json", "-",
                    *(word for port in ports for word in ("--port", f"interface={port}"))))
                self.assertEqual(said.returncode, 0, said.stderr)
                trial = json.loads(said.stdout)["trials"][0]
                self.assertEqual(trial["lost"], 0, trial)
                self.assertEqual(trial["figures"]["duplicates"], 0, trial)

    def refusal(self, *argv) -> str:
        done = support.run(*self.inside(*argv))
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_an_interface_has_one_user_whose_name_others_are_told(self):
        namespaces.shell(self.namespace, "ip link property add dev s0 altname alt-of-s0")
        with self.daemon("one", "s0", "s1") as first:
            owner = f"is taken by process {first.pid} ({support.DAEMON} --config " \
                    f"{self.directory}/one.toml)"
            other = self.configured("other", "s2", "alt-of-s0")
            self.assertIn(f'port "alt-of-s0": af_packet alt-of-s0 {owner}',
                          self.refusal(support.DAEMON, "--config", other))
            self.assertIn(owner, self.refusal(support.PKTGEN, "plain", "--port", "interface=s0",
                                              "--send-only", "--duration", "1s"))
            with self.daemon("other", "s2", "s3"):
                pass
            first.kill()
            first.wait()
            with self.daemon("other", "s0", "s1"):
                pass

    def test_the_same_interface_in_another_namespace_is_another_one(self):
        with self.daemon("one", "lo"):
            other = subprocess.Popen([*support.OWNED, "unshare", "--net", "sh", "-ec", 'ip link set lo up; exec "$@"',
                                      "sh", str(support.DAEMON), "--config",
                                      str(self.configured("other", "lo"))])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
            support.until(lambda: other.poll() is not None
                          or self.ctl("other", "status").returncode == 0, what="that it answers")
            other.terminate()
            self.assertEqual(other.wait(support.PATIENCE_S), 0)

    def test_a_port_that_is_there_twice_is_named(self):
        namespaces.shell(self.namespace, "ip link property add dev s0 altname alt-of-s0")
        file = self.configured("one", "s0", "alt-of-s0")
        self.assertIn("is that of another port, too", self.refusal(support.DAEMON, "--config", file))

    def test_a_tap_has_one_user(self):
        file = self.configured("other", "tapnb")
        file.write_text(file.read_text().replace("interface =", "tap =").replace("queues = 1", ""))
        log = self.directory / "tap.log"
        with open(log, "w") as output:
            first = self.begin(support.DAEMON, "--config", file, stdin=subprocess.DEVNULL,
                               stdout=output, stderr=output)
        support.until(lambda: self.ctl("other", "status").returncode == 0, what=log.read_text())
        file.write_text(file.read_text().replace("other.sock", "second.sock"))
        self.assertIn(f"tap tapnb is taken by process {first.pid} ",
                      self.refusal(support.DAEMON, "--config", file))
        # Its other end is free.
        with self.daemon("one", "tapnb"):
            pass


if __name__ == "__main__":
    support.main()
