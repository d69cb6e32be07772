// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/communicator_options.h"
#include "host/error.h"

namespace tributary::host {

// The environment's variables count here, but for those that are set instead.
class Variables {
 public:
  // Without a value, it is as if the environment did not have the variable.
  void set(std::string name, std::optional<std::string> value) {
    instead_.insert_or_assign(std::move(name), std::move(value));
  }
  // Returns nothing if the variable is empty or not set.
  std::optional<std::string> find(const std::string& name) const;
  bool is_set_here(const std::string& name) const { return instead_.contains(name); }
  // Returns a variable that was set here and that nobody has looked for: its name means nothing.
  std::optional<std::string> unknown() const;
  const std::set<std::string, std::less<>>& looked_for() const { return looked_for_; }

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> instead_;
  mutable std::set<std::string, std::less<>> looked_for_;
};

// Reads the process's number among those of its machine, which is 0 unless a launcher says it.
Result<std::uint32_t> local_rank_in(const Variables& variables);
// Reads all options but the rank, the size of the world, and where ranks meet.
Result<CommunicatorOptions> settings_of(const Variables& variables);
// Reads all options: see CommunicatorOptions::from_environment().
Result<CommunicatorOptions> options_of(const Variables& variables);

}  // namespace tributary::host
