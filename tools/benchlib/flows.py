# SPDX-License-Identifier: BSD-3-Clause
"""Long TCP flows between hosts or guests of a fabric, by iperf3. A measurement beside them asks whether they still
run."""

import contextlib
import itertools
import shutil
import subprocess
import time

from lablib import LabError
from lablib.description import Guest

from .fabric import Fabric, ended

_LONGEST_S = 86400  # the most that iperf3 takes; flows are ended long before
_LISTEN_S = 180.0
_PORT = ":5201"
_AWAIT_IN_GUEST = (f"for i in $(seq {10 * _LISTEN_S:.0f}); do netstat -ltn | grep -q {_PORT} && exit 0; sleep 0.1; "
                   "done; echo iperf3 does not listen; exit 1")

_numbers = itertools.count()


def require_iperf3() -> None:
    if shutil.which("iperf3") is None:
        raise LabError("iperf3 is missing; try: tools/install-packages test")


class LongFlow:
    """A TCP flow while the context runs. All flows of a guest end with the first of them that ends."""

    def __init__(self, net: Fabric, sender: str, receiver: str, congestion_control: str, type_of_service: int = 0):
        between = _between_guests if isinstance(net.lab.host(sender), Guest) else _between_hosts
        client = (f"iperf3 -c {net.address(receiver)} -C {congestion_control} -S {type_of_service} -i 0 "
                  f"-t {_LONGEST_S}")
        self._sender = sender
        self._flow = between(net, sender, receiver, client)

    def __enter__(self) -> "LongFlow":
        self._last_words = self._flow.__enter__()
        return self

    def __exit__(self, *what) -> None:
        self._flow.__exit__(*what)

    def require_running(self) -> None:
        said = self._last_words()
        if said:
            raise LabError(f"the TCP flow of {self._sender} ended: {' '.join(said.split())}")


@contextlib.contextmanager
def server(net: Fabric, host: str, *before: str):
    """Runs iperf3's server for one client, by the command `before` it. It listens when the context begins."""
    child = net.start(host, *before, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE)
    with ended(child):
        until = time.monotonic() + _LISTEN_S
        while not _listens(net, host):
            if child.poll() is not None:
                raise LabError(f"iperf3's server of {host} ended: {child.stderr.read().strip()}")
            if time.monotonic() > until:
                raise LabError(f"iperf3's server of {host} does not listen after {_LISTEN_S:.0f} s")
            time.sleep(0.05)
        yield


def _listens(net: Fabric, host: str) -> bool:
    asked = net.start(host, "ss", "-l", "-t", "-n", stdout=subprocess.PIPE)
    with ended(asked):
        return _PORT in asked.communicate(timeout=_LISTEN_S)[0]


@contextlib.contextmanager
def _between_hosts(net: Fabric, sender: str, receiver: str, client: str):
    """Yields a function that returns what the client said last, or nothing while it runs."""
    with server(net, receiver):
        child = net.start(sender, *client.split(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with ended(child):
            yield lambda: "" if child.poll() is None else \
                f"{child.stderr.read()} iperf3 ended with {child.returncode}"


@contextlib.contextmanager
def _between_guests(net: Fabric, sender: str, receiver: str, client: str):
    """Does the same in guests. A guest may be the receiver of another flow, so that its processes tell nothing."""
    said = f"/tmp/flow{next(_numbers)}"
    net.say_to_guest(receiver, f"iperf3 -s -D; {_AWAIT_IN_GUEST}")
    try:
        net.say_to_guest(sender, f"{{ {client} > /dev/null; echo iperf3 ended with $?; }} > {said} 2>&1 &")
        yield lambda: net.say_to_guest(sender, f"grep -q 'ended with' {said} && cat {said}; true")
    finally:
        for guest in (sender, receiver):
            net.say_to_guest(guest, "killall -q -9 iperf3; while pidof iperf3; do sleep 0.1; done")
