// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "host/carrier.h"
#include "host/communicator_options.h"
#include "host/transport/driver.h"

namespace tributary::host {

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

  const CommunicatorOptions& options() const { return options_; }
  const MachineOfProtocol& machine() const { return *machine_; }
  // Calls `use` with the machine while nobody else moves it.
  template <typename Use>
  auto with_machine(Use use) {
    return driver_.with_machine([&] { return use(*machine_); });
  }

 private:
  const CommunicatorOptions& options_;
  std::uint32_t headers_bytes_;
  std::unique_ptr<MachineOfProtocol> machine_;
  Driver driver_;
};

}  // namespace tributary::host
