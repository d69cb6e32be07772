# SPDX-License-Identifier: BSD-3-Clause
"""A lab that a benchmark has to itself."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

from lablib import (LabError, control, daemon_config, description, guests, lifecycle,
                    namespaces, state)

LINE_OVERHEAD_BYTES = 24  # preamble, frame check sequence and gap, which counters leave out
# Of the user's variables TRIBUTARY_* these stay; others would change what is measured.
_KEPT = ("TRIBUTARY_BUILD", "TRIBUTARY_LAB_LOGS")


class Fabric:
    def __init__(self, kind: str, name: str, *settings: str, **overrides):
        """`overrides` are further fields of daemon_config.Overrides, as `rate`."""
        self.lab = description.load(description.find(kind), name)
        self.name = name
        self.build = lifecycle.default_build()
        self._overrides = daemon_config.Overrides(settings=settings, **overrides)

    def __enter__(self) -> "Fabric":
        lifecycle.up(self.lab, self.build, self._overrides, os.getpid())
        self._sockets = state.read(self.name)["sockets"]
        return self

    def __exit__(self, *_) -> None:
        lifecycle.down(self.name, self.lab)

    @property
    def hosts(self) -> list[str]:
        return [host.name for host in self.lab.hosts]

    def address(self, host: str) -> str:
        return str(self.lab.host(host).address.ip)

    def program(self, name: str) -> str:
        return str(lifecycle.program(self.build, name))

    def set(self, *settings: str) -> None:
        """Changes settings of all daemons, while they run."""
        lifecycle.reload(self.lab, daemon_config.Overrides(settings=settings))

    def stop_daemons(self) -> None:
        """Ends the daemons, and with them all that they know; interfaces stay."""
        lifecycle.stop_daemons(self.lab, state.running(self.name))

    def start_daemons(self) -> None:
        """Starts daemons that were stopped, with their settings."""
        lifecycle.start_daemons(self.lab, lifecycle.program(self.build, "tributaryd"),
                                state.running(self.name))

    def rows(self, *question: str) -> list[dict]:
        """Returns the rows that tributaryctl lists, of all daemons."""
        return control.rows(self.program("tributaryctl"), self._sockets.values(), *question)

    def start(self, host: str, *argv, **streams) -> subprocess.Popen:
        """Starts a program in a host; it ends with this one, even if this one is killed."""
        command = namespaces.command(self.lab.namespace(host), *(str(arg) for arg in argv))
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command],
                                stdin=subprocess.DEVNULL, text=True, **streams)

    def say_to_guest(self, guest: str, command: str) -> str:
        """Runs a shell command in a guest and returns its output; a failure is an error."""
        status, said = guests.run(state.directory(self.name), guest, command)
        if status != 0:
            raise LabError(f"guest {guest}: '{command}' ended with {status}: {said.strip()}")
        return said

    def require_balance(self) -> None:
        for row in self.rows("counters"):
            if not row["balanced"]:
                raise LabError(f"the counters of {row['switch']} do not account for every packet")


def main(body) -> None:
    """Runs a benchmark: signals end it in order, errors are one line, and the user's settings of the library do not
    count."""
    for variable in list(os.environ):
        if variable.startswith("TRIBUTARY_") and variable not in _KEPT:
            del os.environ[variable]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: sys.exit(128 + got))
    name = pathlib.Path(sys.argv[0]).name
    try:
        sys.exit(body())
    except LabError as error:
        sys.exit(f"{name}: {error}")
    except OSError as error:  # a file or a program that is missing
        sys.exit(f"{name}: {error}")
    except subprocess.TimeoutExpired as error:
        sys.exit(f"{name}: no end after {error.timeout:.0f} s: {error.cmd}")
    except KeyboardInterrupt:
        sys.exit(130)


@contextlib.contextmanager
def ended(*children: subprocess.Popen):
    """Ends these processes, whatever happens."""
    try:
        yield children
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
            child.wait()
            for stream in (child.stdout, child.stderr):
                if stream:
                    stream.close()
