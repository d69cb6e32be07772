# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks in labs share: a fabric, reductions and traffic in it, and figures."""
