#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Started in every host of a lab: tributary-bench, whose rank 1 has other options than the rest."""

import os
import sys

own = os.environ["OPTIONS_OF_RANK_1" if os.environ["RANK"] == "1" else "OPTIONS_OF_OTHERS"].split()
os.execv(os.environ["TRIBUTARY_BENCH"], ["tributary-bench", *sys.argv[1:], *own])
