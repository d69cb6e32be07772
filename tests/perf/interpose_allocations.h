// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::perf {

// Called before every allocation of a program that interpose_allocations.cpp is part of, which
// defines this. May not allocate.
void note_allocation() noexcept;

}  // namespace tributary::perf
