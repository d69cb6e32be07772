// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "host/carrier.h"
#include "host/transport/driver.h"

namespace tributary::host {

// A carrier whose machine is driven over a socket. What that counts, figures_of() names.
template <typename MachineOfProtocol>
class MachineCarrier : public Carrier {
 public:
  Runner& runner() override { return driver_; }
  Result<void> attend() override { return driver_.start(); }
  ProtocolStatistics statistics() override {
    return figures_of(with_machine([](const auto& machine) { return machine.statistics(); }));
  }

 protected:
  MachineCarrier(std::unique_ptr<MachineOfProtocol> machine, UringTransport transport)
      : machine_(std::move(machine)), driver_(*machine_, std::move(transport)) {}

  const MachineOfProtocol& machine() const { return *machine_; }
  // Calls `use` with the machine while nobody else moves it.
  template <typename Use>
  auto with_machine(Use use) {
    return driver_.with_machine([&] { return use(*machine_); });
  }

 private:
  std::unique_ptr<MachineOfProtocol> machine_;
  Driver driver_;
};

}  // namespace tributary::host
