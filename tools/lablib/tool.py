# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command line of tools/lab in a child that has its modules loaded already. Starting Python anew and loading
them takes longer than most of what tools/lab does, and benchmarks and tests call it a thousand times."""

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile

from . import ROOT, cli

_FORK = multiprocessing.get_context("fork")


class Tool:
    """Runs from its construction on; a process with what subprocess.Popen has. What it prints is kept in files."""

    def __init__(self, *arguments, environment: dict[str, str] | None = None):
        words = [str(argument) for argument in arguments]
        self.args = [str(ROOT / "tools" / "lab"), *words]
        self._out = tempfile.TemporaryFile("w+")
        self._err = tempfile.TemporaryFile("w+")
        self._child = _FORK.Process(target=self._run, args=(words, environment))
        self._child.start()

    def _run(self, words: list[str], environment: dict[str, str] | None) -> None:
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(self._out.fileno(), 1)
        os.dup2(self._err.fileno(), 2)
        sys.stdout = open(1, "w", closefd=False)
        sys.stderr = open(2, "w", buffering=1, closefd=False)
        faulthandler.enable(2)
        sys.exit(cli.main(words))

    @property
    def returncode(self) -> int | None:
        return self._child.exitcode

    def poll(self) -> int | None:
        return self._child.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._child.join(timeout)
        if self._child.exitcode is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self._child.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        self._out.seek(0)
        self._err.seek(0)
        return self._out.read(), self._err.read()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self._child.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Ends it if it still runs."""
        self.kill()
        self.wait()
        self._out.close()
        self._err.close()

    def __enter__(self) -> "Tool":
        return self

    def __exit__(self, *_) -> None:
        self.close()
