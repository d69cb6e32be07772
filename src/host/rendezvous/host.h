// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <set>
#include <string>
#include <vector>

#include "host/rendezvous/rendezvous.h"
#include "host/rendezvous/secret.h"
#include "host/rendezvous/table.h"
#include "host/transport/tcp.h"

namespace tributary::host {

// This is rank 0's side. Connections that do not speak this protocol, or that do not know the
// secret, are closed and forgotten.
class RendezvousHost : public Rendezvous {
 public:
  RendezvousHost(Listener listener, const RendezvousHello& mine, const Secret& secret)
      : listener_(std::move(listener)), mine_(mine), secret_(secret), table_(mine) {}

  // Waits until all have come, and tells them of each other.
  Result<void> gather(const Deadline& until);

  Result<bool> wait(int fd, short events, Time until) override;
  Result<void> conclude(const Result<void>& mine, const Deadline& until) override;

 private:
  enum class State : std::uint8_t {
    stranger,
    present,  // in the table
    joining,  // knows the others
    ready,
    gone,
  };
  struct PendingConnection {
    FileDescriptor fd;
    RendezvousSession session;
    Time since;
    State state = State::stranger;
    std::uint32_t rank = 0;
    std::vector<std::byte> heard;
  };
  // Says why the meeting fails for all, if it does.
  using Complaint = std::optional<std::string>;

  Result<bool> look(int fd, short events, Time until);
  bool accept_connections();
  void welcome(FileDescriptor fd);
  bool drop_oldest_unproved();
  void reap_idle();
  std::size_t wanted_bytes(const PendingConnection& connection) const;
  Complaint listen_to(PendingConnection& connection);
  Complaint leave(PendingConnection& connection);
  Complaint greeted_by(PendingConnection& connection);
  Complaint complaint_about(const RendezvousGreeting& greeting, bool believed);
  Complaint told_by(PendingConnection& connection);
  void tell(const PendingConnection& connection, RendezvousStep step, wire::Bytes message,
            Time until) const;
  void agree(Time until);
  Result<void> refuse(const std::string& reason, Time until);
  Result<void> fail_all(const std::string& reason);
  std::string missing_text() const;
  std::string unready_text() const;

  Listener listener_;
  RendezvousHello mine_;
  Secret secret_;
  RendezvousTable table_;
  std::vector<PendingConnection> connections_;
  std::vector<pollfd> polled_;
  std::string refusal_;               // why they do not meet, once that is certain
  std::string turned_away_;           // what the last one that was not believed was told
  std::set<std::uint32_t> answered_;  // ranks that were told of the refusal
  bool concluded_ = false;
};

}  // namespace tributary::host
