# SPDX-License-Identifier: BSD-3-Clause
"""Measures resident memory of tributaryd, and fits a formula that predicts it."""

import dataclasses

from .. import fit, generator, processes
from ..daemon import tributaryd
from ..record import Case, Chart, Record, Table
from ..setting import Setting
from . import memif

ABOUT = "resident memory by ports, cores, descriptors and buffers; the formula"

MIB = 1 << 20
RING_BYTES = {1500: 2 * MIB, 9000: 16 * MIB}  # of a packet socket, both directions
TOLERANCE = 0.1
CONTRIBUTIONS_PER_DESCRIPTOR = 12  # of 7 that make up a block: most slots are used once

SWITCH = f"""address = "{generator.SWITCH_ADDRESS}"
[switch.canary]
descriptors = {{descriptors}}
[[switch.port]]
name = "a"
address = "10.1.1.1/24"
mac = "{generator.PORT_MAC}"
mtu = {{mtu}}
memif = "{{directory}}/a.sock"
memif_role = "server"
"""

# Veth interfaces of the kernel, in a network namespace that ends with the daemon.
PORT = """[[switch.port]]
name = "v{i}"
interface = "v{i}"
mtu = {mtu}
"""
MAKE_VETHS = ('for i in $(seq "$0"); do ip link add v$i type veth peer name p$i && '
              'ip link set v$i up && ip link set p$i up || exit 1; done; exec "$@"')


@dataclasses.dataclass
class Size:
    ports: int = 0  # besides the port of the generator
    cores: int = 1
    descriptors: int = 4096
    packets: int = 16384
    mtu: int = 1500

    @property
    def name(self) -> str:
        return (f"{self.ports} veth ports, {self.cores} cores, {self.descriptors} descriptors, "
                f"{self.packets} buffers, MTU {self.mtu}")

    def terms(self) -> list[float]:
        """Returns the terms that the formula multiplies with its coefficients; see TERMS."""
        large = self.mtu > 1500
        return [MIB, 0 if large else self.packets, self.packets if large else 0,
                self.ports * RING_BYTES[self.mtu], (self.cores - 1) * MIB,
                self.descriptors * self.cores]


# A buffer for frames of 9,000 bytes has 16 KiB, of which only pages that were used once are resident.
TERMS = ["MiB", "bytes x buffers (MTU 1500)", "bytes x buffers (MTU 9000, unused)",
         "x rings of veth ports (2 MiB each; 16 MiB with MTU 9000)", "MiB x (cores - 1)",
         "bytes x descriptors x cores"]

FITTED = [Size(), Size(ports=4), Size(ports=16), Size(cores=2), Size(descriptors=65536),
          Size(descriptors=262144), Size(packets=4096), Size(packets=65536),
          Size(mtu=9000), Size(ports=4, mtu=9000)]
# Not used to find the coefficients.
PREDICTED = [Size(ports=8, cores=2, descriptors=32768, packets=32768),
             Size(ports=2, cores=2, descriptors=131072, packets=8192, mtu=9000)]


def sample(size: Size, setting: Setting) -> dict[str, float]:
    switch = SWITCH.format(descriptors=size.descriptors, directory=setting.directory, mtu=size.mtu)
    switch += "".join(PORT.format(i=i + 1, mtu=size.mtu) for i in range(size.ports))
    cores = [setting.switch_cpu, setting.other_cpu][:size.cores]
    prefix = ("unshare", "--net", "sh", "-c", MAKE_VETHS, size.ports)
    with tributaryd(setting, switch, cores, idle="adaptive", packets=size.packets,
                    prefix=prefix) as daemon:
        start = processes.resident_bytes(daemon.pid)
        generator.run(setting, "canary", *memif.ports(setting, memif.REDUCED), "--workers", 8,
                      "--blocks", 512, "--elements", 256, "--duration", "60s", "--count",
                      size.descriptors * size.cores * CONTRIBUTIONS_PER_DESCRIPTOR)
        used = processes.resident_bytes(daemon.pid)
    return {"start_bytes": start, "used_bytes": used}


def cases(setting: Setting) -> list[Case]:
    sizes = setting.choose(FITTED) if setting.quick else FITTED + PREDICTED
    return [Case(size.name, "tributaryd", lambda size=size: sample(size, setting))
            for size in sizes]


def tables(record: Record) -> list[Table]:
    measured = {size.name: record.values(size.name, "tributaryd", "used_bytes")
                for size in FITTED + PREDICTED}
    known = [size for size in FITTED if measured[size.name]]
    if len(known) < len(TERMS):
        return [Table("Resident memory (MiB).", ["daemon", "start", "after traffic"],
                      [[size.name, *resident(record, size)] for size in known])]
    factors = fit.least_squares([size.terms() for size in known],
                                [record.median(size.name, "tributaryd", "used_bytes")
                                 for size in known])
    formula = ", ".join(f"{factor:.3g} {term}" for factor, term in zip(factors, TERMS))
    rows = []
    for size in (size for size in FITTED + PREDICTED if measured[size.name]):
        predicted = sum(factor * term for factor, term in zip(factors, size.terms()))
        error = predicted / record.median(size.name, "tributaryd", "used_bytes") - 1
        rows.append([size.name, *resident(record, size), f"{predicted / MIB:.1f}",
                     f"{error * 100:+.1f}" + ("" if abs(error) <= TOLERANCE else " (missed)"),
                     "no" if size in PREDICTED else "yes"])
    return [Table(f"Resident memory (MiB). After traffic, the sum of: {formula}.",
                  ["daemon", "start", "after traffic", "formula", "off by (%)", "fitted"], rows)]


def resident(record: Record, size: Size) -> list[str]:
    return [record.spread(size.name, "tributaryd", figure, MIB)
            for figure in ("start_bytes", "used_bytes")]


def charts(record: Record) -> list[Chart]:
    return [Chart.of(record, "memory", "used_bytes", MIB, "resident (MiB)")]
