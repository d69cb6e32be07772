# SPDX-License-Identifier: BSD-3-Clause
"""Guests: hosts with Debian's kernel under QEMU, on the same switch as the namespaces."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import support


class Guests(unittest.TestCase):
    def test_all_that_is_missing_is_said_at_once(self):
        with tempfile.TemporaryDirectory() as programs:
            for name in ("env", "python3", "ip", "ethtool", "nsenter", "setpriv", "umount"):
                os.symlink(shutil.which(name), f"{programs}/{name}")
            up = support.run(support.LAB, "up", "soft-roce-2", "--name", f"t{os.getpid()}-missing",
                             "--build-dir", support.BUILD, env=os.environ | {"PATH": programs})
        self.assertEqual(up.returncode, 1, up.stderr)
        self.assertIn("tools/install-packages test", up.stderr)
        for package in ("qemu-system-x86", "busybox-static", "cpio", "kmod", "iproute2",
                        "ibverbs-utils", "perftest", "rdmacm-utils", "tcpdump"):
            self.assertIn(f" {package}", up.stderr)

    def test_a_guest_speaks_dctcp_through_the_switch(self):
        with support.Lab("dumbbell", name="guests") as lab:
            lab.await_path("w1", "10.0.0.12")
            lab.await_path("g1", "10.0.0.3")
            self.assertEqual(lab.exec("g2", "iperf3", "-s", "-D").returncode, 0)
            support.until(lambda: self.flow(lab) and self.marks(lab) > 0,
                          what="that a flow fills the slow link")
            lab.assert_balanced(self)
            self.find_queues_that_do_not_sleep(lab)
            failed = lab.exec("g1", "sh", "-c", "echo no; exit 3")
            self.assertEqual((failed.returncode, failed.stdout), (3, "no\n"))
            self.speak_from_behind(lab)
            self.hear_whole_lines(lab)
            self.end_a_command(lab)
        self.assertEqual(support.leftovers(lab.name), [])

    def find_queues_that_do_not_sleep(self, lab: support.Lab) -> None:
        """VIRTIO_F_EVENT_IDX (bit 29), by which a queue of an emulated guest sleeps through its last
        notification."""
        features = lab.exec("g1", "cat", "/sys/bus/virtio/devices/virtio0/features").stdout
        self.assertEqual(features[29], "0", features)

    def flow(self, lab: support.Lab) -> bool:
        done = lab.exec("g1", "iperf3", "-c", "10.0.0.12", "-C", "dctcp", "-t", "3")
        self.assertEqual(done.returncode, 0, done.stdout)
        return True

    @staticmethod
    def marks(lab: support.Lab) -> int:
        return sum(row["counters"]["queue_ecn_marked_packets_total"] for row in lab.rows("port"))

    def speak_from_behind(self, lab: support.Lab) -> None:
        """What a command leaves behind is not heard in the answers to others."""
        lab.exec("g1", "sh", "-c", "(while sleep 0.01; do echo more; done) & echo $! > /tmp/speaker")
        for _ in range(20):
            self.assertEqual(lab.exec("g1", "echo", "only").stdout, "only\n")
        self.assertEqual(lab.exec("g1", "sh", "-c", "kill $(cat /tmp/speaker)").returncode, 0)

    def hear_whole_lines(self, lab: support.Lab) -> None:
        """Also if a process without a parent ends in the middle of one."""
        lab.exec("g1", "sh", "-c", "sleep 1 &")
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(support.PATIENCE_S)
            line.connect(str(lab.directory / "g1.serial"))
            line.sendall(b"echo the whole")
            time.sleep(2)
            line.sendall(b" line\n")
            answers = line.makefile("rb")
            self.assertEqual([answers.readline(), answers.readline()], [b"0 15\n", b"the whole line\n"])

    def end_a_command(self, lab: support.Lab) -> None:
        """Who asked for it is gone: it ends when the guest is asked for something else."""
        asked = subprocess.Popen([support.LAB, "exec", lab.name, "g1", "--", "sleep", "1000"],
                                 stdin=subprocess.DEVNULL)
        support.until(lambda: support.run("pgrep", "-f", f"exec {lab.name} g1").stdout,
                      what="the command")
        asked.kill()
        asked.wait()
        left = lab.exec("g1", "pidof", "sleep")
        self.assertEqual((left.returncode, left.stdout), (1, ""))

    def test_guests_end_with_their_owner(self):
        name = f"t{os.getpid()}-owned"
        owner = subprocess.Popen(["sleep", "infinity"])
        try:
            up = support.run(support.LAB, "up", "dumbbell", "--name", name, "--build-dir",
                             support.BUILD, "--bind-to", owner.pid)
            self.assertEqual(up.returncode, 0, up.stderr)
        finally:
            owner.kill()
            owner.wait()
        support.until(lambda: not support.leftovers(name), what="the lab's end")


if __name__ == "__main__":
    support.main()
