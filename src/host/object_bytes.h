// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "wire/cursor.h"

namespace tributary::host {

// Return the bytes of a message as they stand in memory, to be sent or received.
template <typename T>
wire::Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
wire::MutableBytes writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace tributary::host
