// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_check.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/socket.h>
#include <unistd.h>
#include <variant>

#include "control/socket_file.h"
#include "dataplane/peer_socket.h"

namespace tributary::dataplane {
namespace {

using Outcome = tl::expected<void, std::string>;

Outcome check_access(const std::string& path, int mode, const char* what) {
  if (access(path.c_str(), mode) != 0) {
    return tl::unexpected(std::string(what) + " " + path + ": " + std::strerror(errno));
  }
  return {};
}

std::string directory_of(const std::string& file) {
  const auto parent = std::filesystem::path(file).parent_path().string();
  return parent.empty() ? "." : parent;
}

Outcome check_socket(const std::string& path, bool made) {
  if (made && control::look_at_socket(path, SOCK_DGRAM) == control::SocketFile::other) {
    return tl::unexpected(path + " exists and is no socket; remove it, or choose another");
  }
  return check_access(directory_of(path), made ? W_OK | X_OK : X_OK, "cannot use directory");
}

// A client needs a socket at `path`.
Outcome check_is_socket(const std::string& path, const char* advice) {
  const auto peer = look_at_peer(path);
  if (peer == control::SocketFile::other) {
    return tl::unexpected(path + " is no socket; " + advice);
  }
  if (peer == control::SocketFile::unknown && errno == EACCES) {
    return tl::unexpected("the daemon may not connect to " + path +
                          "; let its user write to that socket (without the capability "
                          "CAP_DAC_OVERRIDE root needs that, too)");
  }
  return {};
}

Outcome check_end(const std::string& path, bool server) {
  return check_socket(path, server).and_then([&]() -> Outcome {
    return server ? Outcome() : check_is_socket(path, "name the one that the server makes");
  });
}

Outcome check_served(const std::string& path) {
  switch (look_at_peer(path)) {
    case control::SocketFile::served:
      return {};
    case control::SocketFile::unknown:
      return tl::unexpected("cannot connect to " + path + ": " + std::strerror(errno));
    case control::SocketFile::other:
    case control::SocketFile::none:
    case control::SocketFile::stale:
      break;
  }
  return tl::unexpected("nobody serves " + path +
                        "; start the vhost-user backend first, a switch with vhost = for example");
}

struct Check {
  Outcome operator()(const control::MemifDevice& memif) const {
    return check_end(memif.socket, memif.server);
  }
  Outcome operator()(const control::VhostDevice& vhost) const {
    return check_end(vhost.socket, vhost.server);
  }
  // virtio_user connects when it is made, and never again.
  Outcome operator()(const control::VirtioUserDevice& virtio) const {
    return check_socket(virtio.socket, false)
        .and_then([&] {
          return check_is_socket(virtio.socket, "for an interface of the kernel write tap =");
        })
        .and_then([&] { return check_served(virtio.socket); });
  }
  Outcome operator()(const control::PcapDevice& pcap) const {
    for (const auto& file : pcap.rx) {
      if (auto readable = check_access(file, R_OK, "cannot read"); !readable) {
        return readable;
      }
    }
    if (pcap.tx.empty()) {
      return {};
    }
    const bool exists = access(pcap.tx.c_str(), F_OK) == 0;
    return exists ? check_access(pcap.tx, W_OK, "cannot write")
                  : check_access(directory_of(pcap.tx), W_OK | X_OK, "cannot use directory");
  }
  template <typename Other>
  Outcome operator()(const Other& /*device*/) const {
    return {};
  }
};

}  // namespace

Outcome check_device(const control::DeviceConfig& device) {
  return std::visit(Check{}, device);
}

tl::expected<std::uint16_t, std::string> choose_queues(const control::DeviceConfig& config,
                                                       std::uint16_t cores, std::uint16_t most) {
  if (most == 0) {
    return tl::unexpected(std::string("the device has no receive queue; a port needs one"));
  }
  const auto wanted = control::queues_of(config);
  if (wanted == control::queues_automatic) {
    return std::clamp<std::uint16_t>(cores, 1, std::min(most, control::queues_max));
  }
  if (wanted > most) {
    return tl::unexpected("the device has at most " + std::to_string(most) +
                          " receive queues, not " + std::to_string(wanted) +
                          "; make queues smaller, or leave it out");
  }
  return wanted;
}

bool hears_everything(int result, const std::string& bus) {
  return result == 0 || (result == -ENOTSUP && bus != "pci");
}

}  // namespace tributary::dataplane
