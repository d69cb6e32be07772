# SPDX-License-Identifier: BSD-3-Clause
"""Makes network namespaces and veth pairs by iproute2, ethtool and nsenter."""

import contextlib
import pathlib
import shutil
import subprocess
import time

from . import LabError, state

NETNS = pathlib.Path("/run/netns")
_TOOLS = {"ip": "iproute2", "ethtool": "ethtool", "nsenter": "util-linux", "umount": "mount",
          "setpriv": "util-linux"}


def require_tools() -> None:
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        packages = " ".join(sorted({_TOOLS[tool] for tool in missing}))
        raise LabError(f"missing: {' '.join(missing)}; try: apt-get install {packages}")


def command(namespace: str, *argv: str) -> list[str]:
    # This uses nsenter, because `ip netns exec` also remounts, which a chroot does not allow.
    return ["nsenter", f"--net={NETNS / namespace}", "--", *argv]


def _run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise LabError(f"'{' '.join(argv)}' failed: {said}")


def shell(namespace: str, script: str) -> None:
    _run(*command(namespace, "sh", "-ec", script))


def exists(namespace: str) -> bool:
    return (NETNS / namespace).exists()


def add(namespace: str) -> None:
    with state.lock():
        if not NETNS.exists():
            state.remember_netns_made()
        _run("ip", "netns", "add", namespace)
    script = ("for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 > $f; done 2>/dev/null; "
              "echo 1 > /proc/sys/net/ipv4/tcp_ecn; ip link set dev lo up")
    _run(*command(namespace, "sh", "-c", script))


def remove(namespace: str) -> None:
    if exists(namespace):
        with contextlib.suppress(LabError):
            _run("ip", "netns", "delete", namespace)
    # An interrupted `ip netns add` leaves a plain file.
    with contextlib.suppress(OSError):
        (NETNS / namespace).unlink()


def remove_directory() -> None:
    """Removes the mount point of named namespaces, if the labs made it and nobody else uses it."""
    with state.lock():
        if state.forget_netns_made() and not any(NETNS.iterdir()):
            subprocess.run(["umount", str(NETNS)], stdin=subprocess.DEVNULL, capture_output=True)
            with contextlib.suppress(OSError):
                NETNS.rmdir()


def veth(a: tuple[str, str], b: tuple[str, str], mtu: int) -> None:
    """Makes a pair of (namespace, interface) and sets it up; it leaves no checksum unfinished."""
    _run("ip", "link", "add", "name", a[1], "netns", a[0], "mtu", str(mtu), "type", "veth",
         "peer", "name", b[1], "netns", b[0], "mtu", str(mtu))
    for namespace, interface in (a, b):
        shell(namespace, f"ethtool -K {interface} tx off; ip link set dev {interface} up")


def address(namespace: str, interface: str, address: str, gateway: str | None,
            reaches: str = "default") -> None:
    script = f"ip addr add {address} dev {interface}"
    if gateway:
        script += f"; ip route add {reaches} via {gateway}"
    shell(namespace, script)


def set_link(namespace: str, interface: str, up: bool) -> None:
    _run(*command(namespace, "ip", "link", "set", "dev", interface, "up" if up else "down"))


def await_carriers(namespace: str, timeout_s: float = 60.0) -> None:
    """Waits for carriers. The kernel reports a veth's up to a second late, and a daemon would see it down."""
    until = time.monotonic() + timeout_s
    while True:
        done = subprocess.run(command(namespace, "ip", "-o", "link"), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        waiting = [line.split()[1].split("@")[0] for line in done.stdout.splitlines()
                   if "NO-CARRIER" in line or "state DOWN" in line]
        if done.returncode == 0 and not waiting:
            return
        if time.monotonic() > until:
            raise LabError(f"no carrier on {' '.join(waiting)} in {namespace}: {done.stderr}")
        time.sleep(0.02)
