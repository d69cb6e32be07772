// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/claim.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/socket.h>
#include <unistd.h>
#include <variant>

#include "dataplane/device_arguments.h"
#include "dataplane/interface.h"
#include "system/abstract_address.h"

namespace tributary::dataplane {
namespace {

constexpr std::size_t command_shown = 200;  // bytes

// An interface is known by its index, as it may have several names. A TAP is known by its name: it
// is made when it has been claimed, and its other end is an interface that others may use.
std::string claimed_name(const control::DeviceConfig& device) {
  if (const auto* interface = std::get_if<control::InterfaceDevice>(&device)) {
    return "tributary/interface/" + std::to_string(interface_index(interface->interface));
  }
  if (const auto* tap = std::get_if<control::TapDevice>(&device)) {
    return "tributary/tap/" + tap->interface;
  }
  return {};
}

// Returns the process that has the claim, or 0 where that cannot be told.
pid_t owner_of(const AbstractAddress& claimed) {
  const FileDescriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred owner = {};
  socklen_t size = sizeof owner;
  if (connect(probe.get(), claimed.get(), claimed.size()) != 0 ||
      getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0) {
    owner.pid = 0;
  }
  return owner.pid;
}

std::string command_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  std::string command(std::istreambuf_iterator<char>(file), {});
  while (!command.empty() && command.back() == '\0') {
    command.pop_back();
  }
  command.resize(std::min(command.size(), command_shown));
  std::replace_if(
      command.begin(), command.end(),
      [](char letter) { return std::isprint(static_cast<unsigned char>(letter)) == 0; }, ' ');
  return command;
}

std::string taken_by(pid_t owner) {
  if (owner == getpid()) {
    return "is that of another port, too; give each port a device of its own";
  }
  const std::string advice = "; stop that one, or give this port another device";
  if (owner == 0) {
    return "is taken by another process of this network namespace" + advice;
  }
  const auto command = command_of(owner);
  return "is taken by process " + std::to_string(owner) +
         (command.empty() ? "" : " (" + command + ")") + advice;
}

}  // namespace

tl::expected<Claim, std::string> Claim::take(const control::DeviceConfig& device) {
  const auto name = claimed_name(device);
  if (name.empty()) {
    return Claim(FileDescriptor());
  }
  const AbstractAddress address(name);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(socket.get(), address.get(), address.size()) == 0 &&
      listen(socket.get(), SOMAXCONN) == 0) {
    return Claim(std::move(socket));
  }
  if (errno == EADDRINUSE) {
    return tl::unexpected(describe(device) + " " + taken_by(owner_of(address)));
  }
  return tl::unexpected("cannot claim " + describe(device) + ": " + std::strerror(errno));
}

}  // namespace tributary::dataplane
