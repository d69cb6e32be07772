# SPDX-License-Identifier: BSD-3-Clause
"""Measures short TCP transfers between hosts, by a program that serves them or asks for them.

    transfers.py serve                                        runs until it is killed; prints a line when it listens
    transfers.py ask PEERS SIZE PER_SECOND SECONDS SEED       prints completion times (s) as JSON, if none has failed
"""

import json
import random
import socket
import subprocess
import sys
import threading
import time

_PORT = 18500
_TIMEOUT_S = 120.0  # it bounds a transfer that hangs, and does not judge how busy a machine is


def serve() -> None:
    listener = socket.create_server(("", _PORT), backlog=128)
    print("serving", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection:
        size = int.from_bytes(connection.recv(8), "big")
        connection.sendall(bytes(size))


def ask(peers: list[str], size: int, per_second: float, seconds: float,
        seed: int) -> tuple[list[float], list[str]]:
    """Begins transfers as a Poisson process, whether the earlier ones have ended or not. Returns the times of those
    that succeeded, and why others failed."""
    rng = random.Random(seed)
    times: list[float] = []
    failures: list[str] = []
    threads = []
    at = time.monotonic()
    end = at + seconds
    while (at := at + rng.expovariate(per_second)) < end:
        time.sleep(max(0.0, at - time.monotonic()))
        threads.append(threading.Thread(target=_transfer, args=(rng.choice(peers), size, times, failures)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return times, failures


def _transfer(peer: str, size: int, times: list[float], failures: list[str]) -> None:
    start = time.monotonic()
    try:
        _receive(peer, size)
    except OSError as error:  # also that nothing comes for too long
        failures.append(f"{peer}: {error}")
    else:
        times.append(time.monotonic() - start)


def _receive(peer: str, size: int) -> None:
    with socket.create_connection((peer, _PORT), timeout=_TIMEOUT_S) as connection:
        connection.sendall(size.to_bytes(8, "big"))
        left = size
        while part := connection.recv(1 << 16):
            left -= len(part)
    if left > 0:
        raise OSError(f"{left} of {size} bytes did not come")


class Transfers:
    """Transfers between some hosts of a fabric, each of which asks the others."""

    def __init__(self, net, hosts: list[str], size: int, per_second: float, seconds: float,
                 seed: int):
        self._net, self._hosts, self._seconds = net, hosts, seconds
        self._what = (size, per_second, seconds)
        self._seed = seed

    def run(self) -> list[float]:
        """Returns the times of all transfers; it is an error if one fails."""
        from .fabric import ended
        program = (sys.executable, "-B", __file__)
        servers = [self._net.start(host, *program, "serve", stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL) for host in self._hosts]
        with ended(*servers):
            for server in servers:
                server.stdout.readline()
            clients = [self._net.start(
                host, *program, "ask",
                ",".join(self._net.address(peer) for peer in self._hosts if peer != host),
                *self._what, f"{self._seed}{number}", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for number, host in enumerate(self._hosts)]
            with ended(*clients):
                return [seconds for host, client in zip(self._hosts, clients)
                        for seconds in self._times(host, client)]

    def _times(self, host: str, client: subprocess.Popen) -> list[float]:
        from lablib import LabError
        said, complaint = client.communicate(timeout=self._seconds + 3 * _TIMEOUT_S)
        if client.returncode != 0:
            raise LabError(f"transfers that {host} asked for: {complaint.strip() or client.returncode}")
        return json.loads(said)


def main(words: list[str]) -> None:
    if words[0] == "serve":
        serve()
    peers, size, per_second, seconds, seed = words[1:]
    times, failures = ask(peers.split(","), int(size), float(per_second), float(seconds), int(seed))
    if failures:
        sys.exit(f"{len(failures)} of {len(times) + len(failures)} failed; the first was that from {failures[0]}")
    print(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1:])
