// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/memif_socket.h"

#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <variant>

#include "control/socket_file.h"

namespace tributary::dataplane {
namespace {

// By a datagram socket, which nobody there accepts: DPDK's servers do not survive clients that
// leave at once.
control::SocketFile look_at(const std::string& socket) {
  return control::look_at_socket(socket, SOCK_DGRAM);
}

}  // namespace

bool is_memif_server(const control::DeviceConfig& config) {
  const auto* memif = std::get_if<control::MemifDevice>(&config);
  return memif != nullptr && memif->server;
}

bool is_memif_client(const control::DeviceConfig& config) {
  const auto* memif = std::get_if<control::MemifDevice>(&config);
  return memif != nullptr && !memif->server;
}

bool is_served(const control::DeviceConfig& config) {
  return look_at(std::get<control::MemifDevice>(config).socket) == control::SocketFile::served;
}

void remove_stale_socket(const control::DeviceConfig& config) {
  const auto& socket = std::get<control::MemifDevice>(config).socket;
  if (look_at(socket) == control::SocketFile::stale) {
    unlink(socket.c_str());
  }
}

}  // namespace tributary::dataplane
