# SPDX-License-Identifier: BSD-3-Clause
"""Keeps on disk what a running lab has made, written before it is made, so that `down` needs nothing else."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil

from . import LabError

RUN = pathlib.Path("/run/tributary-lab")
# This file exists if the first lab made the directory of named namespaces; the last lab removes that directory.
_MADE_NETNS = RUN / ".made-netns"


def directory(lab: str) -> pathlib.Path:
    return RUN / lab


def labs() -> list[str]:
    return sorted(path.parent.name for path in RUN.glob("*/state.json"))


def read(lab: str) -> dict | None:
    try:
        return json.loads((directory(lab) / "state.json").read_text())
    except (OSError, ValueError):
        return None


def running(lab: str) -> dict:
    """Returns the state of a lab, which has to be up."""
    record = read(lab)
    if record is None:
        up = ", ".join(labs())
        raise LabError(f"lab {lab} is not up" + (f" (up: {up})" if up else
                                                 "; 'tools/lab up LAB' makes one"))
    return record


def write(lab: str, state: dict) -> None:
    directory(lab).mkdir(parents=True, exist_ok=True)
    new = directory(lab) / "state.json.new"
    new.write_text(json.dumps(state, indent=1) + "\n")
    new.rename(directory(lab) / "state.json")


def remove(lab: str) -> None:
    shutil.rmtree(directory(lab), ignore_errors=True)


@contextlib.contextmanager
def lock_of(lab: str):
    """Has one command at a time change that lab. Other labs may be made and ended meanwhile."""
    file = RUN / f".{lab}.lock"
    with _locked(file, os.O_RDWR | os.O_CREAT):
        try:
            yield
        finally:
            file.unlink()


def lock():
    """Has one command at a time change what labs share. The lock is the directory; the last one to leave
    removes it."""
    return _locked(RUN, os.O_RDONLY | os.O_DIRECTORY)


@contextlib.contextmanager
def _locked(path: pathlib.Path, flags: int):
    while True:
        with contextlib.suppress(FileExistsError, FileNotFoundError):  # somebody removes the directory meanwhile
            RUN.mkdir(mode=0o755, exist_ok=True)
            fd = os.open(path, flags)
            fcntl.flock(fd, fcntl.LOCK_EX)
            with contextlib.suppress(OSError):
                if os.stat(path).st_ino == os.fstat(fd).st_ino:
                    break
            os.close(fd)  # it was removed while we waited
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            RUN.rmdir()
        os.close(fd)


def remember_netns_made() -> None:
    _MADE_NETNS.touch()


def forget_netns_made() -> bool:
    """Returns True if the directory of namespaces was ours and no lab is left."""
    if labs() or not _MADE_NETNS.exists():
        return False
    _MADE_NETNS.unlink()
    return True
