# SPDX-License-Identifier: BSD-3-Clause
"""A protocol that is a folder and a row (tests/echo): the daemon, its CLI, the generator and the bench have it,
and no line of theirs knows it."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

import support

PROGRAMS = support.BUILD / "tests" / "echo"
CONFIG = """
version = 1
[daemon]
hugepages = "never"
packets = 8192
control = "{directory}/control.sock"
log_level = "warning"
[[switch]]
name = "s"
id = 1
[switch.echo]
added = {added}
[[switch.port]]
name = "generator"
address = "10.0.0.1/24"
memif = "{directory}/generator.sock"
memif_role = "server"
"""


class Echo(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="echo-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def configuration(self, added: int) -> pathlib.Path:
        file = self.directory / f"adds-{added}.toml"
        file.write_text(CONFIG.format(directory=self.directory, added=added))
        return file

    @contextlib.contextmanager
    def daemon(self, config: pathlib.Path):
        log = self.directory / "log"
        with open(log, "w") as output:
            child = subprocess.Popen([*support.OWNED, PROGRAMS / "tributaryd_echo", "--config", config],
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            support.until(lambda: child.poll() is not None or self.ctl("status").returncode == 0,
                          what=f"the daemon's start ({log})")
            self.assertIsNone(child.poll(), log.read_text())
            yield
        finally:
            child.terminate()
            child.wait()

    def ctl(self, *arguments) -> subprocess.CompletedProcess:
        return support.run(PROGRAMS / "tributaryctl_echo", "--timeout", support.PATIENCE_S, "--socket",
                           self.directory / "control.sock", *arguments)

    def generated(self, added: int, code: int = 0) -> dict:
        done = support.run(PROGRAMS / "tributary-pktgen_echo", "echo", "--added", added, "--port",
                           f"memif={self.directory}/generator.sock,role=client,address=10.0.0.2,"
                           "gateway=10.0.0.1", "--rate", "1kpps", "--duration", "500ms", "--drain",
                           "30s", "--settle", "5s", "--json", "-")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_programs_have_it_by_its_row(self):
        with self.daemon(self.configuration(2)):
            trial = self.generated(2)["trials"][0]
            self.assertGreater(trial["done"], 0)
            (engine,) = json.loads(self.ctl("engine", "--json").stdout)
            self.assertEqual(engine["engine"], "echo")
            self.assertGreaterEqual(engine["figures"]["echoes_total"], trial["done"])
            for shown in (self.ctl("engine").stdout, self.ctl("switch").stdout):
                self.assertIn("echo", shown)
            other = self.configuration(3)
            self.assertIn("~ switch s echo added: 2 -> 3", self.ctl("config", "diff", other).stdout)
            self.assertEqual(self.ctl("config", "reload", other).returncode, 0)
            self.generated(3)
            self.assertGreater(self.generated(2, code=1)["wrong"], 0)

    def test_ranks_reduce_over_it(self):
        def command(rank: int) -> list[str]:
            return [str(PROGRAMS / "tributary-bench_echo"), "allreduce", "--rank", str(rank), "--world", "2",
                    "--rendezvous", f"127.0.0.1:{port}", "--algorithm", "echo", "--counts", "1,100", "--mtu",
                    "1500", "--fallback", "error", "--json"]

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        other = subprocess.Popen(command(1), env=os.environ | {"TRIBUTARY_LOCAL_ADDRESS": "127.0.0.2"},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            done = support.run(*command(0), env=os.environ | {"TRIBUTARY_LOCAL_ADDRESS": "127.0.0.1"})
            self.assertEqual((done.returncode, other.wait(support.PATIENCE_S)), (0, 0), done.stderr)
        finally:
            other.kill()
            other.wait()
        document = json.loads(done.stdout)
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {"echo"})

    def test_what_the_section_cannot_be_is_said(self):
        done = support.run(PROGRAMS / "tributaryd_echo", "--check", "--config", self.configuration(0))
        self.assertEqual(done.returncode, 1)
        self.assertIn("from 1 to 1000", done.stdout + done.stderr)

    def test_who_lacks_the_row_says_what_there_is(self):
        done = support.run(support.DAEMON, "--check", "--config", self.configuration(2))
        self.assertEqual(done.returncode, 1)
        self.assertIn("echo", done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
