// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace tributary {

// Says why a call of the host library failed. The message is for people and says what to do.
struct Error {
  enum class Code : std::uint8_t {
    invalid_argument,  // the caller's fault: nothing was sent
    rendezvous,        // the ranks did not find each other, or do not agree
    timeout,           // no progress for too long, or the deadline passed; the message names what
                       // is missing
    network,           // a socket failed
    mismatch,          // ranks called different collectives, or a sum cannot be right
    internal,
    aborted,           // by Communicator::abort()
    membership_ended,  // that of an elastic world is over: the message says what to do
  };
  Code code = Code::internal;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error::Code code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}

}  // namespace tributary
