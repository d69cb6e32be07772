# SPDX-License-Identifier: BSD-3-Clause
"""Lists what guests need of this machine, and the Debian packages that have it."""

import pathlib
import shutil

from . import LabError
from .description import Guest

_TOOLS = ("qemu-system-x86_64", "busybox", "cpio", "modprobe", "depmod")
_PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "modprobe": "kmod",
    "depmod": "kmod",
    "rdma": "iproute2",
    "ibv_devinfo": "ibverbs-utils",
    "ib_write_bw": "perftest",
    "ib_send_bw": "perftest",
    "ib_read_bw": "perftest",
    "rping": "rdmacm-utils",
    "/etc/libibverbs.d/rxe.driver": "ibverbs-providers",
    "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so": "ibverbs-providers",
    "/lib/x86_64-linux-gnu/libgcc_s.so.1": "libgcc-s1",
}  # other packages have the name of the program
_KERNELS = pathlib.Path("/boot")


def of_all(guests: tuple[Guest, ...], what: str) -> list[str]:
    return sorted({name for guest in guests for name in getattr(guest, what)})


def program(name: str, build: pathlib.Path) -> pathlib.Path | None:
    """Returns the program of the build directory, or this machine's."""
    own = build / "apps" / name / name
    found = own if own.is_file() else shutil.which(name)
    return pathlib.Path(found) if found else None


def require(guests: tuple[Guest, ...], build: pathlib.Path) -> None:
    """Raises an error that names everything that is missing."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    missing += [name for name in of_all(guests, "programs") if program(name, build) is None]
    missing += [file for file in of_all(guests, "files") if not pathlib.Path(file).is_file()]
    packages = {_PACKAGES.get(name, name) for name in missing}
    if not any(_KERNELS.glob("vmlinuz-*")):
        missing.append("a kernel in /boot")
        packages.add("linux-image-amd64")
    if missing:
        raise LabError(f"guests need {', '.join(missing)}; install {' '.join(sorted(packages))}, or "
                       "all that guests and tests need: tools/install-packages test")
