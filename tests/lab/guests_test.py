# SPDX-License-Identifier: BSD-3-Clause
"""Guests: hosts with Debian's kernel under QEMU, on the same switch as the namespaces."""

import os
import subprocess
import unittest

import support


class Guests(unittest.TestCase):
    def test_a_guest_speaks_dctcp_through_the_switch(self):
        with support.Lab("dumbbell", name="guests") as lab:
            self.assertEqual(lab.exec("w1", "ping", "-c", "2", "10.0.0.12").returncode, 0)
            self.assertEqual(lab.exec("g1", "ping", "-c", "2", "10.0.0.3").returncode, 0)
            self.assertEqual(lab.exec("g2", "iperf3", "-s", "-D").returncode, 0)
            flow = lab.exec("g1", "iperf3", "-c", "10.0.0.12", "-C", "dctcp", "-t", "3")
            self.assertEqual(flow.returncode, 0, flow.stdout)
            marks = sum(row["counters"]["queue_ecn_marked_packets_total"]
                        for row in lab.rows("port"))
            self.assertGreater(marks, 0)
            lab.assert_balanced(self)
            failed = lab.exec("g1", "sh", "-c", "echo no; exit 3")
            self.assertEqual((failed.returncode, failed.stdout), (3, "no\n"))
            self.speak_from_behind(lab)
            self.end_a_command(lab)
        self.assertEqual(support.leftovers(lab.name), [])

    def speak_from_behind(self, lab: support.Lab) -> None:
        """What a command leaves behind is not heard in the answers to others."""
        lab.exec("g1", "sh", "-c", "(while sleep 0.01; do echo more; done) & echo $! > /tmp/speaker")
        for _ in range(20):
            self.assertEqual(lab.exec("g1", "echo", "only").stdout, "only\n")
        self.assertEqual(lab.exec("g1", "sh", "-c", "kill $(cat /tmp/speaker)").returncode, 0)

    def end_a_command(self, lab: support.Lab) -> None:
        """Who asked for it is gone: it ends when the guest is asked for something else."""
        asked = subprocess.Popen([support.LAB, "exec", lab.name, "g1", "--", "sleep", "1000"],
                                 stdin=subprocess.DEVNULL)
        support.until(lambda: support.run("pgrep", "-f", f"exec {lab.name} g1").stdout,
                      what="the command")
        asked.kill()
        asked.wait()
        left = lab.exec("g1", "pidof", "sleep", timeout=20)
        self.assertEqual((left.returncode, left.stdout), (1, ""))

    def test_guests_end_with_their_owner(self):
        name = f"t{os.getpid()}-owned"
        owner = subprocess.Popen(["sleep", "60"])
        try:
            up = support.run(support.LAB, "up", "dumbbell", "--name", name, "--build-dir",
                             support.BUILD, "--bind-to", owner.pid)
            self.assertEqual(up.returncode, 0, up.stderr)
        finally:
            owner.kill()
            owner.wait()
        support.until(lambda: not support.leftovers(name), 20.0, "the lab's end")


if __name__ == "__main__":
    support.main()
