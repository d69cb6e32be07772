# SPDX-License-Identifier: BSD-3-Clause
"""Code that the check-* tools share."""
