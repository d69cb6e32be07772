# SPDX-License-Identifier: BSD-3-Clause
"""Background traffic on some hosts of a fabric (tributary-bench background)."""

import json
import subprocess
import time

from lablib import LabError

from .fabric import ended

_LONGEST_S = 900  # it is ended long before
_SETTLE_S = 0.5   # until queues no longer change
_END_S = 120.0    # then it does not end at all


class TooLittle(LabError):
    """A host sent less than it was to send: what was measured beside it does not count."""


class Background:
    """Background traffic while the context runs; it is an error if it was too little."""

    def __init__(self, fabric, hosts: list[str], rate: str, *options, least: float):
        """`least` is the share of what hosts are to send that is enough."""
        self._fabric, self._hosts, self._rate, self._options = fabric, hosts, rate, options
        self._least = least

    def __enter__(self) -> "Background":
        peers = ",".join(self._fabric.address(host) for host in self._hosts)
        self._children = [
            self._fabric.start(host, self._fabric.program("tributary-bench"), "background",
                               "--peers", peers, "--rate", self._rate, "--duration", _LONGEST_S,
                               "--json", *self._options,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for host in self._hosts]
        time.sleep(_SETTLE_S)
        self.require_running()
        return self

    def require_running(self) -> None:
        for host, child in zip(self._hosts, self._children):
            if child.poll() is not None:
                raise LabError(f"background traffic of {host} ended: {child.stderr.read().strip()}")

    def __exit__(self, kind, *_) -> None:
        with ended(*self._children):
            for child in self._children:
                child.terminate()
            if kind is None:
                for host, child in zip(self._hosts, self._children):
                    self._require_enough(host, *child.communicate(timeout=_END_S))

    def _require_enough(self, host: str, said: str, complaint: str) -> None:
        try:
            counts = json.loads(said)
        except ValueError as error:
            raise LabError(f"background traffic of {host} gave no counts: {complaint.strip()}") from error
        sent = counts["sent_line_bps"] / counts["asked_line_bps"]
        if sent < self._least:
            raise TooLittle(f"background traffic of {host}: only {sent * 100:.0f} % of what it was to send; this "
                            "machine is too busy")
