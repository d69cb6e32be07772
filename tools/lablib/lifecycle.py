# SPDX-License-Identifier: BSD-3-Clause
"""Brings labs up and takes them down, also after errors in between."""

import contextlib
import dataclasses
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from . import (ROOT, LabError, control, daemon_config, description, guest_needs, guests, levels, namespaces,
               processes, state)
from .description import Lab

_START_TIMEOUT_S = 120.0  # without anything new of the daemon
_LOG_LINES = 15


def require_root() -> None:
    if os.geteuid() != 0:
        raise LabError("labs make network namespaces: run this as root (sudo tools/lab ...)")
    namespaces.require_tools()


def default_build() -> pathlib.Path:
    return pathlib.Path(os.environ.get("TRIBUTARY_BUILD", ROOT / "build")).resolve()


def program(build: pathlib.Path, name: str) -> pathlib.Path:
    path = build / "apps" / name / name
    if not path.is_file():
        path = build / "apps" / name
    if not path.is_file():
        raise LabError(f"{name} is not built in {build}: try 'meson setup {build} && "
                       f"ninja -C {build}', or name another directory with --build-dir")
    return path


def is_up(name: str) -> bool:
    return state.read(name) is not None


def up(lab: Lab, build: pathlib.Path, overrides: daemon_config.Overrides,
       owner: int | None = None) -> None:
    """Makes everything, or nothing. With `owner`, the lab ends when that process does."""
    require_root()
    if owner is not None and not pathlib.Path(f"/proc/{owner}").exists():
        raise LabError(f"--bind-to {owner}: there is no such process")
    tributaryd = program(build, "tributaryd")
    if lab.guests:
        guest_needs.require(lab.guests, build)
    with state.lock_of(lab.name):
        if is_up(lab.name):
            raise LabError(f"lab {lab.name} is up already; 'tools/lab down {lab.name}' ends it")
        for name in lab.namespaces():
            if namespaces.exists(name):
                raise LabError(f"namespace {name} is there, but not from a lab that is up; "
                               f"'tools/lab down {lab.source} --name {lab.name}' removes it")
        try:
            _make(lab, tributaryd, build, overrides, owner)
        except BaseException:
            _end(lab.name, lab)
            raise


def _make(lab: Lab, tributaryd: pathlib.Path, build: pathlib.Path,
          overrides: daemon_config.Overrides, owner: int | None) -> None:
    directory = state.directory(lab.name)
    record = {
        "id": os.urandom(8).hex(),
        "lab": lab.name,
        "description": str(lab.source),
        "build": str(build),
        "namespaces": lab.namespaces(),
        "sockets": {daemon.name: str(directory / f"{daemon.name}.sock") for daemon in lab.daemons},
        "hosts": {host.name: str(host.address.ip) for host in lab.hosts},
        "guests": {guest.name: str(guest.address.ip) for guest in lab.guests},
        "processes": [],
        "overrides": dataclasses.asdict(overrides),
    }
    state.write(lab.name, record)
    if owner is not None:
        _guard(lab.name, owner)
    for name in lab.namespaces():
        namespaces.add(name)
    for host in lab.hosts:
        own = lab.namespace(host.name)
        namespaces.veth((own, host.interface), lab.attachment(host.switch_interface),
                        overrides.mtu or host.mtu)
        namespaces.address(own, host.interface, str(host.address),
                           str(host.gateway) if host.gateway else None)
        for also in host.also:
            namespaces.veth((own, also.interface), lab.attachment(also.switch_interface),
                            overrides.mtu or also.mtu)
            namespaces.address(own, also.interface, str(also.address),
                               str(also.gateway) if also.reaches else None, str(also.reaches))
    for cable in lab.cables:
        namespaces.veth(lab.attachment(cable.a), lab.attachment(cable.b),
                        overrides.mtu or cable.mtu)
    qemus = _start_guests(lab, record, build, overrides)
    for name in lab.switch_hosts():
        namespaces.await_carriers(lab.namespace(name))
    _warn(_write_configurations(lab, record, overrides))
    start_daemons(lab, tributaryd, record)
    for guest in lab.guests:
        guests.await_ready(directory, guest, qemus[guest.name])


def _start_guests(lab: Lab, record: dict, build: pathlib.Path,
                  overrides: daemon_config.Overrides) -> dict[str, dict]:
    """Returns their processes by name."""
    directory = state.directory(lab.name)
    started = {}
    if lab.guests:
        guests.build_image(directory, lab.guests, build)
    for guest in lab.guests:
        namespace, interface = lab.attachment(guest.switch_interface)
        mtu = overrides.mtu or guest.mtu
        guests.tap(namespace, interface, mtu)
        child = guests.start(namespace, guest, directory, mtu)
        started[guest.name] = processes.record(child.pid, guest.name)
        record["processes"].append(started[guest.name])
        state.write(lab.name, record)
    return started


def _write_configurations(lab: Lab, record: dict, overrides: daemon_config.Overrides) -> list[str]:
    """Writes the configurations of the daemons, and returns warnings about them."""
    met: set[str] = set()
    configs = {daemon.name: daemon_config.derive(daemon.config, pathlib.Path(record["sockets"][daemon.name]),
                                                 overrides, met) for daemon in lab.daemons}
    daemon_config.require_tables(met, overrides)
    levels.add_seeds(lab, configs)
    for daemon in lab.daemons:
        (state.directory(lab.name) / f"{daemon.name}.toml").write_text(
            daemon_config.text(daemon.config, configs[daemon.name]))
    return levels.faults(lab, configs)


def _warn(faults: list[str]) -> None:
    for fault in faults:
        print(f"lab: {fault}", file=sys.stderr)


def reload(lab: Lab, overrides: daemon_config.Overrides) -> None:
    """Changes the configuration of all daemons, or of none; settings of `up` that are not given
    stay."""
    require_root()
    with state.lock_of(lab.name):
        record = state.running(lab.name)
        merged = _overrides_of(record).merged(overrides)
        before = record["overrides"]
        asked: list[description.Daemon] = []
        try:
            faults = _write_configurations(lab, record, merged)
            for daemon in lab.daemons:
                asked.append(daemon)
                refusal = _reload_daemon(lab, record, daemon)
                if refusal is not None:
                    raise LabError(f"all keep their old settings, because of {daemon.name}: {refusal}")
            record["overrides"] = dataclasses.asdict(merged)
            state.write(lab.name, record)
        except BaseException:  # also where somebody ends this tool
            with _signals(signal.SIG_IGN):
                _take_back(lab, record | {"overrides": before}, asked)
            raise
        _warn(faults)


def _take_back(lab: Lab, record: dict, asked: list[description.Daemon]) -> None:
    """Gives daemons their old settings, also the last one: where it did not answer in time it may have changed."""
    _write_configurations(lab, record, _overrides_of(record))
    for daemon in asked:
        _reload_daemon(lab, record, daemon)
    state.write(lab.name, record)


def _reload_daemon(lab: Lab, record: dict, daemon: description.Daemon) -> str | None:
    """Has a daemon load its file, and returns its message if it refuses the file."""
    tributaryctl = program(pathlib.Path(record["build"]), "tributaryctl")
    done = control.ask(tributaryctl, record["sockets"][daemon.name], "config", "reload",
                       str(state.directory(lab.name) / f"{daemon.name}.toml"))
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()


def _overrides_of(record: dict) -> daemon_config.Overrides:
    stored = record["overrides"]
    return daemon_config.Overrides(**stored | {"settings": tuple(stored["settings"])})


def start_daemons(lab: Lab, tributaryd: pathlib.Path, record: dict) -> None:
    """Starts daemons that stop_daemons() ended, or that were never started."""
    started = [_start_daemon(lab, daemon, tributaryd, record) for daemon in lab.daemons]
    _await_daemons(lab, record, started)


def _start_daemon(lab: Lab, daemon: description.Daemon, tributaryd: pathlib.Path,
                  record: dict) -> dict:
    directory = state.directory(lab.name)
    with (directory / f"{daemon.name}.log").open("ab") as log:
        child = subprocess.Popen(
            namespaces.command(lab.namespace(lab.daemon_host(daemon)), str(tributaryd),
                               "--config", str(directory / f"{daemon.name}.toml")),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/")
    process = processes.record(child.pid, daemon.name)
    record["processes"].append(process)
    state.write(lab.name, record)
    return process


def kill_daemon(lab: Lab, name: str) -> bool:
    """Ends a daemon as a crash would, by SIGKILL. Its interfaces stay, and stay up. Returns False if it had
    ended before."""
    require_root()
    with state.lock_of(lab.name):
        record = state.running(lab.name)
        ended = _forget(lab.daemon(name), record, grace_s=0.0)
        state.write(lab.name, record)
        return ended


def restart_daemon(lab: Lab, name: str) -> bool:
    """Starts a daemon that was killed. One that still runs is ended in the ordinary way before, and then the result
    is True."""
    require_root()
    with state.lock_of(lab.name):
        record = state.running(lab.name)
        daemon = lab.daemon(name)
        ended = _forget(daemon, record, grace_s=processes.GRACE_S)
        tributaryd = program(pathlib.Path(record["build"]), "tributaryd")
        _await_daemons(lab, record, [_start_daemon(lab, daemon, tributaryd, record)])
        return ended


def _forget(daemon: description.Daemon, record: dict, grace_s: float) -> bool:
    """Ends the processes of a daemon and forgets them; returns True if there were any."""
    own = [process for process in record["processes"] if process["role"] == daemon.name]
    alive = any(processes.alive(process) for process in own)
    processes.end(own, grace_s)
    record["processes"] = [process for process in record["processes"] if process not in own]
    return alive


def set_link(lab: Lab, end: str, up: bool) -> None:
    """Plugs or pulls the cable of a host or of a switch-side interface: this end is set down,
    and the other one loses its carrier."""
    require_root()
    state.running(lab.name)
    interface = next((host.switch_interface for host in lab.hosts if host.name == end), end)
    namespaces.set_link(*lab.attachment(interface), up)


def stop_daemons(lab: Lab, record: dict) -> None:
    daemons = [process for process in record["processes"]
               if process["role"] in record["sockets"]]
    processes.end(daemons)
    record["processes"] = [process for process in record["processes"] if process not in daemons]
    state.write(lab.name, record)


def _await_daemons(lab: Lab, record: dict, started: list[dict]) -> None:
    for process in started:
        path = record["sockets"][process["role"]]
        progress, until = None, 0.0
        while not _answers(path, process):
            if progress != (progress := _progress(lab.name, process)):
                until = time.monotonic() + _START_TIMEOUT_S
            processes._reap([process])
            if not processes.alive(process):
                raise LabError(f"tributaryd ({process['role']}) ended while it started:\n"
                               + last_lines(lab.name, process["role"]))
            if time.monotonic() > until:
                raise LabError(f"tributaryd ({process['role']}) does not answer on {path} after "
                               f"{_START_TIMEOUT_S:.0f} s:\n" + last_lines(lab.name, process["role"]))
            time.sleep(0.05)


def _progress(lab: str, daemon: dict) -> tuple[int, int]:
    """Returns what changes while a daemon starts, however long that takes: how much it has logged and opened."""
    log = state.directory(lab) / f"{daemon['role']}.log"
    try:
        return log.stat().st_size, len(os.listdir(f"/proc/{daemon['pid']}/fd"))
    except OSError:  # it has ended
        return 0, 0


def _answers(path: str, daemon: dict) -> bool:
    """Returns whether this daemon listens there. The kernel keeps the socket of a killed daemon for a
    while, and accepts connections to it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(path)
        except OSError:
            return False
        listener = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("i"))
        return struct.unpack("i", listener)[0] == daemon["pid"]


def last_lines(lab: str, daemon: str) -> str:
    log = state.directory(lab) / f"{daemon}.log"
    try:
        lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    except OSError:
        lines = []
    return "\n".join(f"  {line}" for line in lines) or "  (it logged nothing)"


def down(name: str, lab: Lab | None = None) -> bool:
    """Ends a lab, and returns False if nothing of it was there. `lab` is needed where the state file is gone."""
    require_root()
    with state.lock_of(name):
        return _end(name, lab)


@contextlib.contextmanager
def _signals(what):
    """Has signals that end this process do `what` meanwhile."""
    before = {number: signal.signal(number, what) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(name: str, lab: Lab | None) -> bool:
    with _signals(signal.SIG_IGN):  # a second Ctrl-C must not stop the cleaning
        return _clean(name, lab)


def _clean(name: str, lab: Lab | None) -> bool:
    record = state.read(name) or {"namespaces": [], "processes": []}
    names = list(dict.fromkeys(record["namespaces"] + (lab.namespaces() if lab else [])))
    found = state.directory(name).exists() or any(namespaces.exists(n) for n in names)
    processes.end(record["processes"])
    # Other processes in the lab's own namespaces end with these: workers, captures, shells.
    processes.end([p for n in names for p in processes.in_namespace(namespaces.NETNS / n)
                   if p["pid"] != os.getpid()], grace_s=2.0)
    _keep_logs(name)
    for namespace in names:
        namespaces.remove(namespace)
    state.remove(name)
    namespaces.remove_directory()
    return found


def _keep_logs(name: str) -> None:
    keep = os.environ.get("TRIBUTARY_LAB_LOGS")
    if keep:
        target = pathlib.Path(keep) / name
        target.mkdir(parents=True, exist_ok=True)
        for path in state.directory(name).glob("*.log"):
            shutil.copy(path, target)


def _guard(name: str, owner: int) -> None:
    """Starts a process in a session of its own that outlives `owner` and takes the lab down after it."""
    if os.fork() != 0:
        return
    try:
        os.setsid()
        os.chdir("/")
        # Nobody is to wait for what this process has open, such as a lock.
        os.closerange(0, 1 << 16)
        for descriptor in range(3):
            os.open(os.devnull, os.O_RDWR)
        with _signals(signal.SIG_DFL):
            _await_end(name, owner)
    finally:
        os._exit(0)


def _await_end(name: str, owner: int) -> None:
    mine = state.read(name)
    try:
        fd = os.pidfd_open(owner)
    except ProcessLookupError:
        fd = None
    while fd is not None and not select.select([fd], [], [], 1.0)[0]:
        if state.read(name) is None:
            return  # taken down in the ordinary way
    current = state.read(name)
    if mine and current and current["id"] == mine["id"]:
        down(name)
