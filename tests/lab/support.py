# SPDX-License-Identifier: BSD-3-Clause
"""What the lab tests share: labs, workers in them, and the programs under test."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from lablib import bench_run, control, namespaces  # noqa: E402
from lablib.tool import Tool  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TRIBUTARY_BUILD", ROOT / "build")).resolve()
LAB = ROOT / "tools" / "lab"
CTL = BUILD / "apps" / "tributaryctl" / "tributaryctl"
PKTGEN = BUILD / "apps" / "tributary-pktgen" / "tributary-pktgen"
BENCH = BUILD / "apps" / "tributary-bench" / "tributary-bench"
DAEMON = BUILD / "apps" / "tributaryd" / "tributaryd"

_MESON_SKIP = 77

# Tests start hundreds of tools, and pyenv's python3 is a shell script that takes longer than they do.
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# For tools that do not end: see run().
os.environ["PYTHONFAULTHANDLER"] = "1"
# What goes by the switches is not to depend on how fast the machine is.
os.environ["TRIBUTARY_TUNE"] = "off"

# How long may take what does happen in the end, on a machine that does much else. It bounds what is
# waited for, and judges nothing.
PATIENCE_S = 180.0
# So long may `tools/lab` take, which waits itself for daemons and guests that start or end.
LAB_PATIENCE_S = 600.0
# What a test ends itself.
FOR_EVER = "80000s"
# Before a command: it ends with the test, however that ends. Labs look after what runs in them.
OWNED = ("setpriv", "--pdeathsig", "KILL")
# Its daemons are taken for dead after 5 s of silence: they are held up for longer than the usual 0.3 s.
SPLIT_FABRIC = ("fat-tree-8-split", "--set", "switch.bfd.multiplier=50")


def skip(why: str) -> None:
    """Ends a test that cannot run here; meson shows it as skipped."""
    print(why)
    sys.exit(_MESON_SKIP)


def require(*programs: str) -> None:
    """Skips what needs programs of others that are not here. tools/test installs them all, so that
    where nobody reads what was skipped it is a failure."""
    for program in programs:
        if shutil.which(program) is None:
            print(f"needs {program}: tools/install-packages test", file=sys.stderr)
            sys.exit(1 if os.environ.get("CI") else _MESON_SKIP)


def main() -> None:
    if os.geteuid() != 0:
        skip("lab tests make network namespaces: run them as root")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what is registered at exit is done
    unittest.main(verbosity=2)


def run(*argv, timeout: float = PATIENCE_S, **more) -> subprocess.CompletedProcess:
    """One that does not end is a failure, with what it has said; a tool of ours says where it stands."""
    if argv[0] == LAB:
        child = Tool(*argv[1:], environment=more.get("env"))
    else:
        child = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    with child:
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGABRT)
            out, err = child.communicate(timeout=10.0)
            raise AssertionError(f"no end after {timeout:.0f} s: {child.args}\n{out}{err}") from None
        finally:
            child.kill()
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


def ctl(*arguments, **more) -> subprocess.CompletedProcess:
    patience = () if "--timeout" in arguments else ("--timeout", PATIENCE_S)
    return run(CTL, *patience, *arguments, **more)


def check_config(text: str) -> tuple[int, str, str]:
    """What `tributaryd --check` ends with and says of a file with that text, and the file's name."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        done = run(DAEMON, "--check", "--config", file.name)
        return done.returncode, done.stderr + done.stdout, file.name


class Lab:
    """A lab that is up under a name of its own, so that it meets no other of its kind."""

    def __init__(self, kind: str, *options: str, name: str | None = None):
        self.kind = kind  # a file, or the name of one in conf/labs
        self.name = f"t{os.getpid()}-{name or kind}"
        self.options = options
        self._benches: list[Bench] = []

    def __enter__(self) -> "Lab":
        done = run(LAB, "up", self.kind, "--name", self.name, "--build-dir", BUILD,
                   "--bind-to", os.getpid(), *self.options, timeout=LAB_PATIENCE_S)
        if done.returncode != 0:
            raise AssertionError(f"lab up {self.kind} failed: {done.stderr}")
        return self

    def __exit__(self, *_) -> None:
        for bench in self._benches:
            bench.stop()
        run(LAB, "down", self.name, timeout=LAB_PATIENCE_S)

    @property
    def directory(self) -> pathlib.Path:
        return pathlib.Path("/run/tributary-lab") / self.name

    @property
    def state(self) -> dict:
        return json.loads((self.directory / "state.json").read_text())

    def tool(self, command: str, *arguments) -> str:
        """What `tools/lab COMMAND` says on this lab, which must succeed."""
        done = run(LAB, command, self.name, *arguments, timeout=LAB_PATIENCE_S)
        if done.returncode != 0:
            raise AssertionError(f"lab {command} {arguments}: {done.stderr}")
        return done.stdout

    def processes(self, host: str, program: str) -> list[int]:
        """The pids of a program in a host."""
        done = run("ip", "netns", "pids", f"trib-{self.name}-{host}")
        found = []
        for pid in map(int, done.stdout.split()):
            try:
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == program[:15]:
                    found.append(pid)
            except OSError:
                pass  # ended meanwhile
        return found

    def command(self, host: str, *argv) -> list[str]:
        """What runs `argv` in a host, as `tools/lab exec` does, whose own start takes most of its time."""
        words = map(str, argv)
        if host in self.state["hosts"]:
            return namespaces.command(f"trib-{self.name}-{host}", *words)
        return [str(LAB), "exec", self.name, host, "--", *words]

    def exec(self, host: str, *argv, timeout: float = PATIENCE_S) -> subprocess.CompletedProcess:
        return run(*self.command(host, *argv), timeout=timeout)

    def ping(self, host: str, address: str, *options) -> subprocess.CompletedProcess:
        return self.exec(host, "ping", "-c", "1", "-W", "10", *options, address)

    def assert_no_ping_is_lost(self, case, host: str, address: str, count: int) -> None:
        """Of those in a row that are sent first. After the last one ping itself waits for no more
        than two round trips, which a busy machine exceeds: so it sends on until it has enough."""
        done = self.ping(host, address, "-c", count, "-i", "0.05", "-w", int(PATIENCE_S))
        answered = {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", done.stdout)}
        case.assertLessEqual(set(range(1, count + 1)), answered, done.stdout)

    def await_path(self, host: str, address: str) -> None:
        """Switches drop what waits for an address that nobody tells them in time."""
        until(lambda: self.ping(host, address).returncode == 0, what=f"{host} reaching {address}")

    def belittle_paths(self, stranger: str, host: str, address: str, others, mtu: int) -> None:
        """Has a stranger tell a host that its paths to others take no more than `mtu`. Its kernel believes it
        before this returns."""
        program = pathlib.Path(__file__).with_name("forged_path_mtu.py")
        done = self.exec(stranger, sys.executable, program, mtu, address, *others)
        if done.returncode != 0:
            raise AssertionError(f"{program}: {done.stderr}")
        for other in others:
            until(lambda: f"mtu {mtu}" in self.exec(host, "ip", "route", "get", other).stdout,
                  what=f"{host} believing that the path to {other} takes {mtu}")

    @contextlib.contextmanager
    def background(self, host: str, *argv):
        """Runs `argv` in a host meanwhile."""
        child = subprocess.Popen(self.command(host, *argv), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield child
        finally:
            child.kill()
            child.wait()

    def bench(self, *arguments, **where) -> "Bench":
        self._benches.append(Bench(self, arguments, **where))
        return self._benches[-1]

    def reduce(self, *arguments, **where) -> dict:
        """The JSON document of a run that must succeed."""
        return self.bench(*arguments, **where).finish()

    def ctl(self, *arguments, daemon: str | None = None) -> subprocess.CompletedProcess:
        sockets = self.state["sockets"]
        path = sockets[daemon] if daemon else next(iter(sockets.values()))
        return ctl("--socket", path, *arguments)

    def ctl_json(self, *arguments, daemon: str | None = None):
        done = self.ctl(*arguments, "--json", daemon=daemon)
        if done.returncode != 0:
            raise AssertionError(f"tributaryctl {arguments}: {done.returncode} {done.stderr}")
        return json.loads(done.stdout)

    def rows(self, *arguments, daemon: str | None = None) -> list[dict]:
        """The rows of what tributaryctl lists; of all daemons, unless one is named."""
        sockets = self.state["sockets"]
        return control.rows(CTL, [sockets[daemon]] if daemon else sockets.values(), *arguments)

    def assert_balanced(self, case) -> None:
        """received = forwarded + absorbed + dropped, and originated = sent + lost."""
        for row in self.rows("counters"):
            def count(what: str) -> int:
                return row[f"{what}_packets_total"]
            case.assertEqual(count("received"),
                             count("forwarded") + count("absorbed") + count("dropped"), row)
            case.assertEqual(count("originated"), count("sent") + count("lost"), row)
            case.assertTrue(row["balanced"], row)

    def drops(self) -> dict[str, int]:
        """Reasons for which switches dropped received packets, with their number."""
        found: dict[str, int] = {}
        for row in self.rows("drops"):
            if row["scope"] == "received" and row["packets_total"] > 0:
                found[row["reason"]] = found.get(row["reason"], 0) + row["packets_total"]
        return found


class Bench(bench_run.BenchRun):
    """A run of tributary-bench in a lab, started at once."""

    def __init__(self, lab: Lab, arguments, deadline_s: float | None = PATIENCE_S,
                 **where):
        super().__init__(lab.name, BUILD, *arguments, deadline_s=deadline_s,
                         **{"time_limit_s": 10 * PATIENCE_S} | where)

    def finish(self) -> dict:
        code = self.end()
        if code != 0:
            raise AssertionError(f"{self}\nended with {code}:\n{self.said}")
        return self.document()


def leftovers(name: str) -> list[str]:
    """What there is of a lab: namespaces, run directory, daemons."""
    found = [str(path) for path in pathlib.Path("/run/netns").glob(f"trib-{name}-*")]
    found += [str(path) for path in pathlib.Path("/run/tributary-lab").glob(f"{name}*")]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"/tributary-lab/{name}/" in path.read_bytes().decode(errors="replace"):
                found.append(str(path))
        except OSError:
            pass  # ended meanwhile
    return found


def hugepages() -> list[str]:
    return sorted(str(path) for path in pathlib.Path("/dev/hugepages").glob("*"))


def wrong(document: dict) -> int:
    return sum(row[place]["wrong"] for row in document["rows"]
               for place in ("out_of_place", "in_place") if place in row)


def assert_switches_reduce(case: unittest.TestCase, document: dict) -> None:
    """Where contributions come too late for each other, on a machine that is busy otherwise, no
    switch can add them, and their leader does; most of them are added on the way."""
    statistics = document["statistics"]
    case.assertGreater(statistics["switch_sums_seen"], 0)
    case.assertGreater(statistics["blocks_in_network"], statistics["blocks_by_hosts"])


class TooEarly(AssertionError):
    """What was to be disturbed had ended before."""


def long_enough(attempt, iterations: int, factor: int = 8, tries: int = 3):
    """attempt(iterations), again with more of them where it raises TooEarly: how fast a machine is proves nothing."""
    for _ in range(tries - 1):
        try:
            return attempt(iterations)
        except TooEarly:
            iterations *= factor
    return attempt(iterations)


def until(condition, timeout_s: float = PATIENCE_S, what: str = "it") -> None:
    end = time.monotonic() + timeout_s
    pause = 0.02  # looking takes processor time from what is waited for
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {timeout_s} s")
        time.sleep(pause)
        pause = min(1.5 * pause, 0.5)


def end(child: subprocess.Popen, how: signal.Signals = signal.SIGINT) -> str:
    """Asks it to end; what it printed meanwhile."""
    child.send_signal(how)
    return child.communicate(timeout=PATIENCE_S)[0]
