// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/rendezvous/rendezvous.h"
#include "host/rendezvous/secret.h"
#include "host/transport/tcp.h"

namespace tributary::host {

// This is the side of all ranks but rank 0.
class RendezvousGuest : public Rendezvous {
 public:
  // Makes one visit; null: rank 0 was not ready, so try again.
  static Result<std::unique_ptr<RendezvousGuest>> visit(const Endpoint& place,
                                                        const RendezvousHello& mine,
                                                        const Secret& secret,
                                                        const Deadline& until);

  Result<bool> wait(int fd, short events, Time until) override;
  Result<void> conclude(const Result<void>& mine, const Deadline& until) override;

 private:
  RendezvousGuest(const Endpoint& place, const Secret& secret, FileDescriptor fd)
      : place_(place), secret_(secret), fd_(std::move(fd)) {}

  Result<void> greet(const RendezvousHello& mine, const Deadline& until);
  Result<std::vector<std::byte>> hear(RendezvousStep step, const Deadline& until);
  Result<void> hear_conclusion(const Deadline& until);

  Endpoint place_;
  Secret secret_;
  FileDescriptor fd_;
  RendezvousSession session_;
  bool concluded_ = false;
};

}  // namespace tributary::host
