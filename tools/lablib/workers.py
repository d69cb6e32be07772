# SPDX-License-Identifier: BSD-3-Clause
"""Starts workers in hosts or guests, one or several in each, as torchrun starts them."""

import math
import os
import pathlib
import subprocess
import sys
import threading
import time

from . import ROOT, namespaces
from .description import Guest, Lab

# When a worker fails the others wait for it; they get this long to report that themselves.
_GRACE_S = 120.0
# Then they are killed.
_END_S = 5.0


def run(lab: Lab, argv: list[str], hosts: list[str], port: int = 29500,
        delays: dict[str, float] | None = None, timeout_s: float | None = None,
        per_host: int = 1) -> int:
    """Runs `argv` in every one of `hosts`, `per_host` times, and returns the worst exit code."""
    master = str(lab.host(hosts[0]).address.ip)
    secret = os.environ.get("TRIBUTARY_SECRET") or os.urandom(32).hex()
    children: dict[str, subprocess.Popen] = {}
    readers: list[threading.Thread] = []
    try:
        for rank, host in enumerate(host for host in hosts for _ in range(per_host)):
            environment = {
                "RANK": str(rank), "WORLD_SIZE": str(len(hosts) * per_host),
                "LOCAL_RANK": str(rank % per_host), "LOCAL_WORLD_SIZE": str(per_host),
                "MASTER_ADDR": master, "MASTER_PORT": str(port), "TRIBUTARY_SECRET": secret}
            delay = (delays or {}).get(host, 0)
            command = ["sh", "-c", f'sleep {delay}; exec "$@"', "sh", *argv] if delay else argv
            if isinstance(lab.host(host), Guest):
                command = _in_guest(lab, host, environment, command, timeout_s)
            else:
                command = namespaces.command(lab.namespace(host), *command)
            child = subprocess.Popen(
                # Workers end with this process, even if it is killed.
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=os.environ | environment, stdin=subprocess.DEVNULL,
                stdout=None if rank == 0 else subprocess.PIPE, stderr=subprocess.PIPE)
            name = host if per_host == 1 else f"{host}.{rank % per_host}"
            children[name] = child
            readers += [_prefix(stream, name) for stream in (child.stdout, child.stderr) if stream]
        return _wait(children, timeout_s)
    finally:
        for child in children.values():
            if child.poll() is None:
                child.kill()
        for child in children.values():
            child.wait()
        until = time.monotonic() + _GRACE_S
        for reader in readers:
            reader.join(timeout=max(0.0, until - time.monotonic()))


def _in_guest(lab: Lab, guest: str, environment: dict[str, str], argv: list[str],
              timeout_s: float | None) -> list[str]:
    """Runs a command in a guest. A guest has its own processes: it does not see our environment, and does not notice
    our end before the next command comes."""
    ours = environment | {name: value for name, value in os.environ.items()
                          if name.startswith("TRIBUTARY_")}
    limit = ["timeout", str(math.ceil(timeout_s))] if timeout_s else []
    return [str(ROOT / "tools" / "lab"), "exec", lab.name, guest, "--", *limit, "env",
            *(f"{name}={value}" for name, value in ours.items()), *argv]


def _prefix(stream, host: str) -> threading.Thread:
    def copy() -> None:
        for line in stream:
            sys.stderr.write(f"{host}: {line.decode(errors='replace')}")
            sys.stderr.flush()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def _wait(children: dict[str, subprocess.Popen], timeout_s: float | None) -> int:
    until = time.monotonic() + timeout_s if timeout_s else float("inf")
    worst = 0
    reason = f"no end after {timeout_s} s"
    waiting = dict(children)
    while waiting:
        for name, child in list(waiting.items()):
            code = child.poll()
            if code is None:
                continue
            del waiting[name]
            if code != 0:
                worst = max(worst, code if code > 0 else 128 - code)
                if time.monotonic() + _GRACE_S < until:
                    until = time.monotonic() + _GRACE_S
                    reason = f"{name} failed {_GRACE_S:.0f} s ago"
        if waiting and time.monotonic() > until:
            print(f"lab: {reason}; ending {' '.join(waiting)}", file=sys.stderr)
            for child in waiting.values():
                child.terminate()
            _await_end(list(waiting.values()))
            return max(worst, 124)
        time.sleep(0.01)
    return worst


def _await_end(children: list[subprocess.Popen]) -> None:
    """Waits a while, as a program that is told to end may have something to put away."""
    until = time.monotonic() + _END_S
    while any(child.poll() is None for child in children) and time.monotonic() < until:
        time.sleep(0.01)


def execute(lab: Lab, host: str, argv: list[str]) -> int:
    """Replaces this process by `argv` inside the host."""
    command = namespaces.command(lab.namespace(host), *argv)
    sys.stdout.flush()
    os.execvp(command[0], command)


def bench(build: pathlib.Path, program: str | None, in_guests: bool) -> list[str]:
    from .lifecycle import program as built
    if program:
        return [program]
    return ["tributary-bench" if in_guests else str(built(build, "tributary-bench"))]
