# SPDX-License-Identifier: BSD-3-Clause
"""Runs guests: hosts with a kernel of their own (Debian's, under QEMU's emulation), for features that the kernel
of this machine lacks. A guest has a TAP where another host would have a veth pair, and
runs commands that come over its second serial line."""

import contextlib
import pathlib
import socket
import subprocess
import time

from . import LabError, guest_image, guest_needs, namespaces, processes
from .description import Guest

# A guest needs ten seconds of a processor, which it may have to share with thirty busy processes.
_BOOT_TIMEOUT_S = 500.0
_IMAGE = "guest.initrd"
_KERNEL = "guest.kernel"


def tap(namespace: str, interface: str, mtu: int) -> None:
    """Makes a TAP without an address, and sets it up, for the daemon at one end and QEMU at the other."""
    namespaces.shell(namespace, f"ip tuntap add dev {interface} mode tap; "
                              f"ip link set dev {interface} mtu {mtu} up")


def build_image(directory: pathlib.Path, guests: tuple[Guest, ...], build: pathlib.Path) -> None:
    """Builds the kernel and the image of all guests of a lab. Programs are those of `build`, or found on the PATH."""
    programs = [guest_needs.program(name, build) for name in guest_needs.of_all(guests, "programs")]
    guest_image.unpack_kernel(directory / _KERNEL)
    guest_image.build(directory / _IMAGE, programs, guest_needs.of_all(guests, "files"),
                      guest_needs.of_all(guests, "modules"))


def start(namespace: str, guest: Guest, directory: pathlib.Path, mtu: int) -> subprocess.Popen:
    words = {"address": guest.address, "gateway": guest.gateway or "", "mtu": mtu,
             "modules": guest_image.module_names(guest.modules)}
    mac = "02:" + ":".join(f"{byte:02x}" for byte in (0x54, *guest.address.ip.packed))
    command_line = "console=ttyS0 quiet panic=-1 no_timer_check " + " ".join(
        f"tributary.{key}={value}" for key, value in words.items())
    # csum=off, because nothing behind a user-space switch finishes a checksum that a guest leaves
    # unfinished. Emulation of one processor has no memory barriers towards QEMU's other threads:
    # where the two tell each other when to look (event_idx), or a thread looks when the guest has
    # gone on (ioeventfd), a queue misses its last notification once in some ten thousand packets,
    # and stops for good.
    argv = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max",
            "-m", str(guest.memory_mb), "-smp", "1", "-nodefaults", "-nographic", "-no-reboot",
            "-kernel", str(directory / _KERNEL), "-initrd", str(directory / _IMAGE),
            "-append", command_line,
            "-serial", f"file:{directory / guest.name}.console",
            "-serial", f"unix:{_socket(directory, guest.name)},server=on,wait=off",
            "-netdev", f"tap,id=n0,ifname={guest.switch_interface},script=no,downscript=no",
            "-device", f"virtio-net-pci,netdev=n0,mac={mac},romfile=,csum=off,host_mtu={mtu},"
                       "event_idx=off,ioeventfd=off"]
    with (directory / f"{guest.name}.log").open("ab") as log:
        return subprocess.Popen(namespaces.command(namespace, *argv), stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True, cwd="/")


def _socket(directory: pathlib.Path, name: str) -> pathlib.Path:
    return directory / f"{name}.serial"


def run(directory: pathlib.Path, name: str, command: str,
        timeout_s: float | None = 300.0) -> tuple[int, str]:
    """Runs a shell command in a guest, and returns its exit status and its output on both streams."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout_s)
        try:
            line.connect(str(_socket(directory, name)))
            answers = line.makefile("rb")
            # QEMU accepts one connection at a time: whoever started a command that still runs is gone. An
            # empty command ends it.
            _ask(line, answers, "")
            return _ask(line, answers, command)
        except (OSError, ValueError) as error:
            raise LabError(f"guest {name} does not answer '{command}': {error}") from error


def _ask(line: socket.socket, answers, command: str) -> tuple[int, str]:
    line.sendall(command.replace("\n", ";").encode() + b"\n")
    status, size = answers.readline().split()
    return int(status), answers.read(int(size)).decode(errors="replace")


def await_ready(directory: pathlib.Path, guest: Guest, qemu: dict) -> None:
    """Waits until the guest, whose process is `qemu`, has booted and is set up."""
    _await_boot(directory, guest.name, qemu)
    if guest.setup:
        status, said = run(directory, guest.name, guest.setup)
        if status != 0:
            raise LabError(f"guest {guest.name}: '{guest.setup}' ended with {status}: {said}")


def _await_boot(directory: pathlib.Path, name: str, qemu: dict) -> None:
    # A command that is sent before the guest listens would be answered later.
    console = directory / f"{name}.console"
    until = time.monotonic() + _BOOT_TIMEOUT_S
    lives = True
    while lives and time.monotonic() < until:
        lives = processes.alive(qemu)
        if b"guest ready" in _read(console):
            return
        time.sleep(0.05)
    failure = f"has not booted after {_BOOT_TIMEOUT_S:.0f} s" if lives else "ended while it booted"
    said = (_read(console) + _read(directory / f"{name}.log")).decode(errors="replace").split("\n")
    raise LabError(f"guest {name} {failure}; its console and QEMU said last: " + " / ".join(said[-10:]))


def _read(path: pathlib.Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""
