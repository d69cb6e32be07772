# SPDX-License-Identifier: BSD-3-Clause
"""Builds the file system in memory that a guest boots: Debian's kernel modules, busybox and some programs."""

from collections.abc import Iterable
import lzma
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

from . import LabError

_MODULES = ("virtio_pci", "virtio_net", "tcp_dctcp", "tcp_bbr", "sch_fq")

# Files that a program loads at run time have to be named; ldd sees the rest.
_INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /run
ulimit -l unlimited
for word in $(cat /proc/cmdline); do
  case $word in tributary.*) export "${word#tributary.}";; esac
done
for module in $(echo "$modules" | tr , " "); do modprobe $module; done
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 > /proc/sys/net/ipv4/tcp_ecn
ip link set lo up
ip link set eth0 mtu $mtu
ip addr add $address dev eth0
ip link set eth0 up
[ -z "$gateway" ] || ip route add default via $gateway
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
echo guest ready
# A line that comes before the answer ends the command. What it leaves behind may go on speaking: into
# a file that nobody reads any more, or behind what counts.
# This shell becomes the parent of whatever has none; where a child of a shell ends, its `read` forgets
# what it has of a line. So a shell without children reads.
while line=$(read -r line <&3 && printf '%s\\n' "$line"); do
  rm -f /run/said
  setsid sh -c "$line" < /dev/null > /run/said 2>&1 &
  command=$!
  { read -r line <&3; kill -TERM -- -$command; } 2> /dev/null &
  watch=$!
  wait $command
  status=$?
  kill $watch 2> /dev/null
  wait $watch 2> /dev/null
  size=$(wc -c < /run/said)
  echo $status $size >&3
  head -c $size /run/said >&3
done
"""


def kernel() -> tuple[pathlib.Path, str]:
    """Returns the newest kernel that Debian installed, and its version."""
    images = sorted(pathlib.Path("/boot").glob("vmlinuz-*"), key=_version)
    return images[-1], images[-1].name.removeprefix("vmlinuz-")


def unpack_kernel(target: pathlib.Path) -> None:
    """Writes the kernel as it lies in memory: emulated, unpacking it takes as long as the rest of a boot. Debian
    packs by xz; where it lies in the file is said by Linux's boot protocol, from 2.08 on."""
    packed = kernel()[0].read_bytes()
    offset, length = struct.unpack_from("<II", packed, 0x248)
    begin = (packed[0x1f1] + 1) * 512 + offset
    try:
        target.write_bytes(lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(packed[begin:begin + length]))
    except lzma.LZMAError:
        target.write_bytes(packed)


def _version(path: pathlib.Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def build(target: pathlib.Path, programs: Iterable[pathlib.Path], files: Iterable[str],
          modules: Iterable[str]) -> None:
    """Writes the image; `files` keep their paths."""
    with tempfile.TemporaryDirectory(prefix="tributary-guest-") as directory:
        root = pathlib.Path(directory)
        for name in ("bin", "usr/bin", "proc", "sys", "dev", "etc"):
            (root / name).mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
        (root / "init").write_text(_INIT)
        (root / "init").chmod(0o755)
        for program in programs:
            _add_with_libraries(root, program, root / "usr" / "bin" / program.name)
        for file in files:
            _add_with_libraries(root, pathlib.Path(file), root / file.lstrip("/"))
        _add_modules(root, (*_MODULES, *modules))
        _pack(root, target)


def module_names(modules: Iterable[str]) -> str:
    return ",".join((*_MODULES, *modules))


def _add_with_libraries(root: pathlib.Path, file: pathlib.Path, copy: pathlib.Path) -> None:
    _copy(file, copy)
    said = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
    for library in re.findall(r"(/\S+) \(0x", said):
        _copy(pathlib.Path(library), root / library.lstrip("/"))


def _copy(file: pathlib.Path, copy: pathlib.Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, copy)


def _add_modules(root: pathlib.Path, modules: tuple[str, ...]) -> None:
    version = kernel()[1]
    for module in modules:
        said = subprocess.run(["modprobe", "--show-depends", "--set-version", version, module],
                              capture_output=True, text=True)
        if said.returncode != 0:
            raise LabError(f"no module '{module}' for the guests: {said.stderr.strip()}")
        for path in re.findall(r"^insmod (\S+)", said.stdout, re.MULTILINE):
            _copy(pathlib.Path(path), root / path.lstrip("/"))
    source = pathlib.Path("/lib/modules") / version
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(source / name, root / "lib" / "modules" / version)
    subprocess.run(["depmod", "--basedir", str(root), version], check=True, capture_output=True)


def _pack(root: pathlib.Path, target: pathlib.Path) -> None:
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with target.open("wb") as file:
        cpio = subprocess.Popen(["cpio", "--quiet", "-o", "-H", "newc"], cwd=root,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        gzip = subprocess.Popen(["gzip", "-1"], stdin=cpio.stdout, stdout=file)
        cpio.stdin.write(names.encode())
        cpio.stdin.close()
        cpio.stdout.close()
        if cpio.wait() != 0 or gzip.wait() != 0:
            raise LabError(f"could not write {target}")
