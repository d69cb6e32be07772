// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/peer_socket.h"

#include <filesystem>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <variant>

#include "dataplane/driver_sockets.h"

namespace tributary::dataplane {
namespace {

// It looks by a datagram socket, which nobody there accepts: DPDK's servers do not survive clients
// that leave at once.
control::SocketFile look_at(const std::string& socket) {
  return control::look_at_socket(socket, SOCK_DGRAM);
}

std::string socket_of(const control::DeviceConfig& config) {
  const auto path = [](const auto& device) -> std::string {
    if constexpr (requires { device.socket; }) {
      return device.socket;
    } else {
      return {};
    }
  };
  return std::visit(path, config);
}

}  // namespace

bool makes_socket(const control::DeviceConfig& config) {
  const auto serves = [](const auto& device) {
    if constexpr (requires { device.server; }) {
      return device.server;
    } else {
      return false;
    }
  };
  return std::visit(serves, config);
}

bool is_memif_client(const control::DeviceConfig& config) {
  const auto* memif = std::get_if<control::MemifDevice>(&config);
  return memif != nullptr && !memif->server;
}

control::SocketFile look_at_peer(const std::string& socket) {
  std::error_code error;
  const auto resolved = std::filesystem::canonical(socket, error);
  return error ? control::SocketFile::none : look_at(resolved.string());
}

bool is_served(const control::DeviceConfig& config) {
  return look_at_peer(socket_of(config)) == control::SocketFile::served;
}

void remove_stale_socket(const control::DeviceConfig& config) {
  const auto socket = socket_of(config);
  if (look_at(socket) == control::SocketFile::stale) {
    unlink(socket.c_str());
  }
}

void dismiss_clients(const control::DeviceConfig& config) {
  const auto socket = socket_of(config);
  if (std::error_code error; !socket.empty() && !std::filesystem::exists(socket, error)) {
    end_connections_at(socket);
  }
}

}  // namespace tributary::dataplane
