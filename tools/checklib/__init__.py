# SPDX-License-Identifier: BSD-3-Clause
"""What the check-* tools share."""
