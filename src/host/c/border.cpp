// SPDX-License-Identifier: BSD-3-Clause
#include "host/c/border.h"

#include "wire/element.h"

namespace tributary::host::c {
namespace {

thread_local std::string last_error;

constexpr const char* names[] = {"TRIBUTARY_SUCCESS",          "TRIBUTARY_IN_PROGRESS",
                                 "TRIBUTARY_INVALID_ARGUMENT", "TRIBUTARY_RENDEZVOUS",
                                 "TRIBUTARY_TIMEOUT",          "TRIBUTARY_NETWORK",
                                 "TRIBUTARY_MISMATCH",         "TRIBUTARY_INTERNAL",
                                 "TRIBUTARY_ABORTED",          "TRIBUTARY_MEMBERSHIP_ENDED"};
static_assert(std::size(names) == TRIBUTARY_MEMBERSHIP_ENDED + 1);

tributary_result result_of(Error::Code code) {
  switch (code) {
    case Error::Code::invalid_argument:
      return TRIBUTARY_INVALID_ARGUMENT;
    case Error::Code::rendezvous:
      return TRIBUTARY_RENDEZVOUS;
    case Error::Code::timeout:
      return TRIBUTARY_TIMEOUT;
    case Error::Code::network:
      return TRIBUTARY_NETWORK;
    case Error::Code::mismatch:
      return TRIBUTARY_MISMATCH;
    case Error::Code::aborted:
      return TRIBUTARY_ABORTED;
    case Error::Code::membership_ended:
      return TRIBUTARY_MEMBERSHIP_ENDED;
    case Error::Code::internal:
      break;
  }
  return TRIBUTARY_INTERNAL;
}

}  // namespace

tributary_result say(const Error& error) {
  last_error = error.message;
  return result_of(error.code);
}

}  // namespace tributary::host::c

using namespace tributary;  // the functions are C's

int tributary_version() {
  return TRIBUTARY_MAJOR * 1000 + TRIBUTARY_MINOR;
}

const char* tributary_result_name(tributary_result result) {
  const auto number = static_cast<std::size_t>(result);
  return number < std::size(host::c::names) ? host::c::names[number] : "no result of libtributary";
}

const char* tributary_last_error() {
  return host::c::last_error.c_str();
}

size_t tributary_type_size(tributary_type type) {
  const auto number = static_cast<std::size_t>(type);
  return number < wire::element_type_count
             ? wire::element_bytes(static_cast<wire::ElementType>(number))
             : 0;
}

int tributary_has_operator(tributary_type type, tributary_operator op) {
  constexpr unsigned numbers = 256;  // of what one byte says on the wire
  return static_cast<unsigned>(type) < numbers && static_cast<unsigned>(op) < numbers &&
         wire::is_valid(static_cast<wire::ElementType>(type), static_cast<wire::Operator>(op));
}
