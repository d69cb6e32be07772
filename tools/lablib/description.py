# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks LAB.toml, the description of a lab."""

import dataclasses
import ipaddress
import pathlib
import re
import tomllib

from . import ROOT, LabError

LABS = ROOT / "conf" / "labs"

# A namespace is called trib-<lab>-<host>; this is unambiguous, because host names have no hyphen.
_LAB_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_HOST_NAME = re.compile(r"[a-z0-9]{1,15}")
_INTERFACE = re.compile(r"[A-Za-z0-9_.-]{1,15}")
SWITCH = "switch"  # the namespace of the daemon, if there is only one


@dataclasses.dataclass(frozen=True)
class Also:
    """Another interface of a host."""

    interface: str
    switch_interface: str
    address: ipaddress.IPv4Interface
    gateway: ipaddress.IPv4Address | None = None
    reaches: ipaddress.IPv4Network | None = None  # networks behind the gateway
    mtu: int = 1500


@dataclasses.dataclass(frozen=True)
class Host:
    name: str
    interface: str  # in the host's namespace
    switch_interface: str  # its other end, in the namespace of the switches
    address: ipaddress.IPv4Interface
    gateway: ipaddress.IPv4Address | None = None
    mtu: int = 1500
    also: tuple[Also, ...] = ()

    def switch_interfaces(self) -> list[str]:
        return [self.switch_interface, *(also.switch_interface for also in self.also)]


@dataclasses.dataclass(frozen=True)
class Guest:
    """A host with a kernel of its own, on a TAP of the switch's namespace (guests.py)."""

    name: str
    switch_interface: str
    address: ipaddress.IPv4Interface
    gateway: ipaddress.IPv4Address | None = None
    mtu: int = 1500
    programs: tuple[str, ...] = ()  # programs that it gets besides busybox
    files: tuple[str, ...] = ()  # files that the programs load by themselves, at the same paths
    modules: tuple[str, ...] = ()  # modules of its kernel, besides those for its network
    setup: str = ""  # shell command that runs when it has booted
    memory_mb: int = 160  # 96 are too few

    def switch_interfaces(self) -> list[str]:
        return [self.switch_interface]


@dataclasses.dataclass(frozen=True)
class Cable:
    """A veth pair between switches of different daemons."""

    a: str
    b: str
    mtu: int = 1500


@dataclasses.dataclass(frozen=True)
class Daemon:
    name: str
    config: pathlib.Path
    interfaces: frozenset[str]  # that its configuration names


@dataclasses.dataclass(frozen=True)
class Lab:
    name: str
    source: pathlib.Path
    daemons: tuple[Daemon, ...]
    hosts: tuple[Host, ...]
    cables: tuple[Cable, ...]
    guests: tuple[Guest, ...] = ()

    def daemon_host(self, daemon: Daemon) -> str:
        """Returns the namespace of a daemon: several daemons have one each, as if each were a machine."""
        return SWITCH if len(self.daemons) == 1 else daemon.name

    def switch_hosts(self) -> list[str]:
        return [self.daemon_host(daemon) for daemon in self.daemons]

    def attachment(self, interface: str) -> tuple[str, str]:
        """Returns namespace and name of a switch-side interface."""
        for daemon in self.daemons:
            if interface in daemon.interfaces:
                return self.namespace(self.daemon_host(daemon)), interface
        raise LabError(f"{self.source}: no daemon's configuration has a port on '{interface}'")

    def host(self, name: str) -> Host | Guest:
        for host in (*self.hosts, *self.guests):
            if host.name == name:
                return host
        known = " ".join(host.name for host in (*self.hosts, *self.guests))
        raise LabError(f"lab {self.name} has no host '{name}' (it has: {known})")

    def daemon(self, name: str) -> Daemon:
        for daemon in self.daemons:
            if daemon.name == name:
                return daemon
        known = " ".join(daemon.name for daemon in self.daemons)
        raise LabError(f"lab {self.name} has no daemon '{name}' (it has: {known})")

    def namespace(self, host: str) -> str:
        return f"trib-{self.name}-{host}"

    def namespaces(self) -> list[str]:
        return [self.namespace(name) for name in self.switch_hosts() + [h.name for h in self.hosts]]


def find(lab: str) -> pathlib.Path:
    """Returns the path of LAB, which is a file, or the name of one in conf/labs."""
    for path in (pathlib.Path(lab), LABS / f"{lab}.toml"):
        if path.is_file():
            return path.resolve()
    known = " ".join(sorted(path.stem for path in LABS.glob("*.toml")))
    raise LabError(f"no lab '{lab}': give a file, or one of: {known}")


def load(path: pathlib.Path, name: str | None = None) -> Lab:
    """Returns the lab that `path` describes, under its own name or another one."""
    if name is not None and not _LAB_NAME.fullmatch(name):
        raise LabError(f"--name {name}: a lab's name has up to 40 small letters, digits and '-', and "
                       "no '-' at its beginning")
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except (OSError, ValueError) as error:  # of TOML, or of UTF-8
        raise LabError(f"{path}: {error}") from error
    return _Reader(path).lab(table if name is None else table | {"name": name})


def tables(value) -> list[dict]:
    """Returns the [[tables]] that `value` consists of. A daemon says itself what is wrong with its file."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


class _Reader:
    def __init__(self, path: pathlib.Path):
        self._path = path

    def _fail(self, what: str):
        raise LabError(f"{self._path}: {what}")

    def _take(self, table: dict, where: str, required: set[str], optional: set[str]) -> dict:
        for key in sorted(required - table.keys()):
            self._fail(f"{where}: '{key}' is missing")
        for key in sorted(table.keys() - required - optional):
            known = ", ".join(sorted(required | optional))
            self._fail(f"{where}: unknown key '{key}' (known: {known})")
        return table

    def _name(self, text, pattern: re.Pattern, what: str) -> str:
        if not isinstance(text, str) or not pattern.fullmatch(text):
            self._fail(f"'{text}' is not a name for {what} ({pattern.pattern})")
        return text

    def _mtu(self, table: dict) -> int:
        mtu = table.get("mtu", 1500)
        if not isinstance(mtu, int) or not 576 <= mtu <= 9216:
            self._fail(f"mtu {mtu} is not between 576 and 9216")
        return mtu

    def lab(self, table: dict) -> Lab:
        self._take(table, "lab", {"name", "daemon", "host"}, {"cable", "guest", "every_guest"})
        for key in ("daemon", "host", "cable", "guest"):
            self._expect_tables(table, key)
        if not isinstance(table.get("every_guest", {}), dict):
            self._fail("'every_guest' is to be a table, [every_guest]")
        lab = Lab(
            name=self._name(table["name"], _LAB_NAME, "a lab"),
            source=self._path,
            daemons=tuple(self._daemon(entry) for entry in table["daemon"]),
            hosts=tuple(self._host(entry) for entry in table["host"]),
            cables=tuple(self._cable(entry) for entry in table.get("cable", [])),
            guests=tuple(self._guest(table.get("every_guest", {}) | entry)
                         for entry in table.get("guest", [])),
        )
        hosts = (*lab.hosts, *lab.guests)
        self._unique("host, guest or daemon", [host.name for host in hosts] + lab.switch_hosts())
        ends = [end for host in hosts for end in host.switch_interfaces()]
        ends += [end for cable in lab.cables for end in (cable.a, cable.b)]
        self._unique("switch-side interface", ends)
        return lab

    def _expect_tables(self, table: dict, key: str) -> None:
        value = table.get(key, [])
        if not isinstance(value, list) or len(tables(value)) < len(value):
            self._fail(f"'{key}' is to be a list of tables, [[{key}]]")

    def _unique(self, what: str, names: list[str]) -> None:
        for name in names:
            if names.count(name) > 1:
                self._fail(f"{what} '{name}' is named twice")

    def _daemon(self, table: dict) -> Daemon:
        self._take(table, "[[daemon]]", {"config"}, {"name"})
        if not isinstance(table["config"], str):
            self._fail(f"[[daemon]]: config = {table['config']} is no path")
        config = (self._path.parent / table["config"]).resolve()
        if not config.is_file():
            self._fail(f"[[daemon]]: there is no {config}")
        return Daemon(self._name(table.get("name", config.stem), _LAB_NAME, "a daemon"), config,
                      self._interfaces(config))

    def _interfaces(self, config: pathlib.Path) -> frozenset[str]:
        try:
            table = tomllib.loads(config.read_text())
        except (OSError, ValueError) as error:
            raise LabError(f"{config}: {error}") from error
        return frozenset(port["interface"] for switch in tables(table.get("switch"))
                         for port in tables(switch.get("port")) if isinstance(port.get("interface"), str))

    def _host(self, table: dict) -> Host:
        self._take(table, "[[host]]", {"name", "switch_interface", "address"},
                   {"interface", "gateway", "mtu", "also"})
        self._expect_tables(table, "also")
        host = Host(
            interface=self._name(table.get("interface", "eth0"), _INTERFACE, "an interface"),
            also=tuple(self._also(entry, table["name"], number)
                       for number, entry in enumerate(table.get("also", []), 1)),
            **self._place(table, "[[host]]"))
        self._unique(f"interface of {host.name}", [host.interface, *(also.interface for also in host.also)])
        return host

    def _also(self, table: dict, host: str, number: int) -> Also:
        where = "[[host.also]]"
        self._take(table, where, {"switch_interface", "address"}, {"interface", "gateway", "reaches", "mtu"})
        try:
            reaches = ipaddress.IPv4Network(table["reaches"]) if "reaches" in table else None
        except ValueError as error:
            self._fail(f"{where} of {host}: {error}")
        if reaches and "gateway" not in table:
            self._fail(f"{where} of {host}: 'reaches' needs a 'gateway'")
        place = self._place(table | {"name": host}, where)
        del place["name"]
        return Also(interface=self._name(table.get("interface", f"eth{number}"), _INTERFACE, "an interface"),
                    reaches=reaches, **place)

    def _guest(self, table: dict) -> Guest:
        self._take(table, "[[guest]]", {"name", "switch_interface", "address"},
                   {"gateway", "mtu", "programs", "files", "modules", "setup", "memory_mb"})
        lists = {key: self._words(table, key) for key in ("programs", "files", "modules")}
        memory_mb = table.get("memory_mb", Guest.memory_mb)
        if not isinstance(memory_mb, int) or not 128 <= memory_mb <= 4096:
            self._fail(f"[[guest]] {table['name']}: memory_mb is not between 128 and 4096")
        return Guest(setup=table.get("setup", ""), memory_mb=memory_mb, **lists,
                     **self._place(table, "[[guest]]"))

    def _words(self, table: dict, key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self._fail(f"[[guest]] {table['name']}: {key} is to be a list of texts")
        return tuple(value)

    def _place(self, table: dict, where: str) -> dict:
        """Reads the keys that hosts and guests have in common."""
        try:
            address = ipaddress.IPv4Interface(table["address"])
            gateway = ipaddress.IPv4Address(table["gateway"]) if "gateway" in table else None
        except ValueError as error:
            self._fail(f"{where} {table['name']}: {error}")
        if gateway and gateway not in address.network:
            self._fail(f"{where} {table['name']}: gateway {gateway} is outside {address.network}")
        return {
            "name": self._name(table["name"], _HOST_NAME, "a host"),
            "switch_interface": self._name(table["switch_interface"], _INTERFACE, "an interface"),
            "address": address, "gateway": gateway, "mtu": self._mtu(table)}

    def _cable(self, table: dict) -> Cable:
        self._take(table, "[[cable]]", {"a", "b"}, {"mtu"})
        return Cable(self._name(table["a"], _INTERFACE, "an interface"),
                     self._name(table["b"], _INTERFACE, "an interface"), self._mtu(table))
