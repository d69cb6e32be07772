# SPDX-License-Identifier: BSD-3-Clause
"""One worker per host, the way torchrun starts them."""

import os
import pathlib
import subprocess
import sys
import threading
import time

from . import namespaces
from .description import Lab

# A worker that fails leaves the others waiting; they get this long to say so themselves.
_GRACE_S = 10.0


def run(lab: Lab, argv: list[str], hosts: list[str], port: int = 29500,
        delays: dict[str, float] | None = None, timeout_s: float | None = None) -> int:
    """Runs `argv` in every host; the exit code of the worst."""
    master = str(lab.host(hosts[0]).address.ip)
    children: list[subprocess.Popen] = []
    readers: list[threading.Thread] = []
    try:
        for rank, host in enumerate(hosts):
            environment = os.environ | {
                "RANK": str(rank), "WORLD_SIZE": str(len(hosts)),
                "LOCAL_RANK": "0", "MASTER_ADDR": master, "MASTER_PORT": str(port)}
            delay = (delays or {}).get(host, 0)
            command = ["sh", "-c", f'sleep {delay}; exec "$@"', "sh", *argv] if delay else argv
            child = subprocess.Popen(
                # Workers end with us, even if we are killed.
                ["setpriv", "--pdeathsig", "KILL",
                 *namespaces.command(lab.namespace(host), *command)],
                env=environment, stdin=subprocess.DEVNULL,
                stdout=None if rank == 0 else subprocess.PIPE, stderr=subprocess.PIPE)
            children.append(child)
            readers += [_prefix(stream, host) for stream in (child.stdout, child.stderr) if stream]
        return _wait(children, hosts, timeout_s)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
        for child in children:
            child.wait()
        for reader in readers:
            reader.join(timeout=1.0)


def _prefix(stream, host: str) -> threading.Thread:
    def copy() -> None:
        for line in stream:
            sys.stderr.write(f"{host}: {line.decode(errors='replace')}")
            sys.stderr.flush()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def _wait(children: list[subprocess.Popen], hosts: list[str], timeout_s: float | None) -> int:
    until = time.monotonic() + timeout_s if timeout_s else float("inf")
    worst = 0
    reason = f"no end after {timeout_s} s"
    waiting = dict(zip(hosts, children))
    while waiting:
        for host, child in list(waiting.items()):
            code = child.poll()
            if code is None:
                continue
            del waiting[host]
            if code != 0:
                worst = max(worst, code if code > 0 else 128 - code)
                if time.monotonic() + _GRACE_S < until:
                    until = time.monotonic() + _GRACE_S
                    reason = f"{host} failed {_GRACE_S:.0f} s ago"
        if waiting and time.monotonic() > until:
            print(f"lab: {reason}; ending {' '.join(waiting)}", file=sys.stderr)
            for child in waiting.values():
                child.terminate()
            return max(worst, 124)
        time.sleep(0.01)
    return worst


def execute(lab: Lab, host: str, argv: list[str]) -> int:
    """Becomes `argv` inside the host."""
    command = namespaces.command(lab.namespace(host), *argv)
    sys.stdout.flush()
    os.execvp(command[0], command)


def bench(build: pathlib.Path, program: str | None) -> list[str]:
    from .lifecycle import program as built
    return [program] if program else [str(built(build, "tributary-bench"))]
