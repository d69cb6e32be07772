// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "host/carrier.h"
#include "host/communicator_options.h"
#include "host/path_search.h"
#include "host/payload.h"
#include "host/probe.h"
#include "host/protocol.h"
#include "host/transport/driver.h"

namespace tributary::host {

// RFC 8899, 5.1.2 recommends this base.
inline constexpr std::uint32_t path_mtu_base = 1200;

// A carrier whose machine is driven over a socket. figures_of() names what the machine counts. A
// packet has `headers_bytes` in front of its payload, from a header of IPv4 on.
template <typename MachineOfProtocol>
class MachineCarrier : public Carrier {
 public:
  Runner& runner() override { return driver_; }
  Result<void> attend() override { return driver_.start(); }
  ProtocolStatistics statistics() override {
    return figures_of(with_machine([](const auto& machine) { return machine.statistics(); }));
  }
  FullPacket full_packet() const override {
    const auto& job = machine().job();
    return {job.payload_bytes, job.payload_bytes + headers_bytes_ + job.self().more_header_bytes()};
  }

 protected:
  MachineCarrier(std::unique_ptr<MachineOfProtocol> machine, UringTransport transport,
                 const CommunicatorOptions& options, std::uint32_t headers_bytes)
      : options_(options),
        headers_bytes_(headers_bytes),
        machine_(std::move(machine)),
        driver_(*machine_, std::move(transport)) {}

  // Has the ranks `look`, for so long, what comes of full packets, and searches for the largest
  // that pass where these do not: all collectives go on with them. Returns what came of these, or
  // of full ones where none pass.
  template <typename Look>
  Result<Observation> look_along_path(Look look) {
    const auto full = machine().job().payload_bytes;
    Result<Observation> best = look(probe_patience);
    if (!best || best->failed == 0) {
      return best;
    }
    PathSearch path(payload_bytes_behind(headers_bytes_, path_mtu_base), full, payload_granule);
    while (const auto payload_bytes = path.next()) {
      set_payload(*payload_bytes);
      Result<Observation> observed = look(path_step_patience);
      if (!observed) {
        return observed;
      }
      const bool passes = observed->failed == 0;
      path.note(passes);
      if (passes) {
        best = std::move(observed);
      }
    }
    is_smaller_ = path.found() != 0;
    set_payload(is_smaller_ ? path.found() : full);
    return best;
  }
  // Returns the choice, which says in packets of which size, if they are not the largest.
  Choice with_size_found(Choice choice) const {
    if (is_smaller_ && choice.algorithm != ring_algorithm) {
      choice.notice += in_smaller_packets(full_packet().total);
    }
    return choice;
  }

  const CommunicatorOptions& options() const { return options_; }
  const MachineOfProtocol& machine() const { return *machine_; }
  // Calls `use` with the machine while nobody else moves it.
  template <typename Use>
  auto with_machine(Use use) {
    return driver_.with_machine([&] { return use(*machine_); });
  }

  // Has the machine begin anew by `begin`.
  template <typename Begin>
  Result<void> restart(Begin begin) {
    return driver_.restart([&] { begin(*machine_); });
  }

 private:
  void set_payload(std::uint32_t bytes) {
    with_machine([=](auto& machine) { machine.set_payload(bytes); });
  }

  const CommunicatorOptions& options_;
  std::uint32_t headers_bytes_;
  bool is_smaller_ = false;  // the payload, than as the ranks agreed
  std::unique_ptr<MachineOfProtocol> machine_;
  Driver driver_;
};

}  // namespace tributary::host
