# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tools/bench: a switch that is measured beside testpmd. Standard library only."""
