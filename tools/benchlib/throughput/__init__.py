# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tools/bench, which measures a switch beside testpmd. Standard library only."""
