# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tools/bench: a switch on one core, measured beside testpmd. Standard library only."""
