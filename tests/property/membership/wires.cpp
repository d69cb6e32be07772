// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/wires.h"

#include <algorithm>
#include <utility>

#include "host/object_bytes.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

// The time limits of keepers and TCP.
constexpr auto until_silence_is_noticed = 10s;
constexpr auto greeting_patience = 2s;
constexpr auto nobody_looks = host::Time::min();

}  // namespace

void Wires::connect(Process& process, Desk& desk) {
  const auto id = process.birth().id;
  lines_[id] = {&process, &desk, &desk, now(), now()};
  addresses_[process.birth().address.address.value()] = &process;
  agenda_.in(delay(), [this, id] {
    auto& line = lines_[id];
    if (line.desk != nullptr && !line.hung_up) {
      line.desk->welcome(id, now());
      attend(*line.desk);
    } else {
      line.is_closed = true;
    }
  });
}

// Connects a stranger that sends no valid greeting, has another secret, or sends nothing.
void Wires::connect_stranger(ProcessId id, Desk& desk, const std::string& secret) {
  lines_[id] = {nullptr, &desk, &desk, now(), now()};
  desk.welcome(id, now());
  if (below(3) == 0) {
    host::MemberGreeting greeting;
    greeting.hello.joins = static_cast<std::uint16_t>(below(2));
    greeting.hello.options.world_size = static_cast<std::uint32_t>(below(4));
    greeting.proof[0] = 1;
    greeting.nonce[0] = static_cast<std::uint8_t>(secret.size());
    desk.introduce(id, greeting.nonce);
    const auto bytes = host::bytes_of(greeting);
    Meant meant;
    meant.kind = Meant::Kind::refused;
    desk.expect(id, bytes.size(), meant);
    send_up(id, {bytes.begin(), bytes.end()});
  }
  desk.distrust(id);
  lines_[id].is_changed = true;
  send_up(id, any_bytes(600));
  agenda_.in(greeting_patience, [this, id] { end_line(id); });
  attend(desk);
}

std::vector<std::byte> Wires::any_bytes(std::size_t most) {
  std::vector<std::byte> bytes(below(most + 1));
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(below(4) == 0 ? random_() : 0);
  }
  return bytes;
}

void Wires::tamper(ProcessId id) {
  lines_.at(id).is_tampered = true;
}

void Wires::silence(ProcessId id) {
  lines_.at(id).is_silent = true;
  agenda_.in(until_silence_is_noticed, [this, id] {
    end_line(id);
    cut_process_off(id);
  });
}

void Wires::close(const Desk& desk) {
  planned_[&desk] = nobody_looks;
  for (auto& [id, line] : lines_) {
    if (line.desk == &desk) {
      line.desk = nullptr;
      line.is_closed = true;
      agenda_.at(std::max(line.last_down, now()), [this, one = id] { cut_process_off(one); });
    }
  }
}

// An end that waits for the rest of a message whose length was changed may wait for long.
void Wires::calm_down() {
  calm_ = true;
  for (auto& [id, line] : lines_) {
    if (line.is_spoilt && line.process != nullptr && !line.is_closed) {
      end_line(id);
      agenda_.at(line.last_down, [this, one = id] { cut_process_off(one); });
    }
  }
}

void Wires::wake(ProcessId id, host::Time when) {
  agenda_.at(when, [this, id, when] { lines_.at(id).process->step_at(when); });
}

void Wires::introduce(ProcessId id, const host::RendezvousNonce& nonce) {
  if (auto* const desk = lines_.at(id).desk) {
    desk->introduce(id, nonce);
  }
}

void Wires::say(ProcessId id, std::vector<std::byte> bytes, const Meant& meant) {
  auto& line = lines_.at(id);
  if (line.desk == nullptr || line.hung_up) {
    return;
  }
  if (line.is_tampered && !line.is_changed && !calm_ && below(2) == 0) {
    return change(id, std::move(bytes), meant);
  }
  line.desk->expect(id, bytes.size(), meant);
  send_up(id, std::move(bytes));
}

// Changes one byte of the message, repeats it, drops it, or puts something before it.
void Wires::change(ProcessId id, std::vector<std::byte> bytes, const Meant& meant) {
  auto& line = lines_.at(id);
  line.is_changed = true;
  line.is_spoilt = true;
  const auto how = below(shape_.secret != 0 ? 4 : 3);
  if (how == 0) {
    line.desk->expect(id, bytes.size(), meant);
    send_up(id, bytes);
  } else if (how == 1) {
    bytes.clear();
  } else if (how == 2) {
    auto other = any_bytes(40);
    other.push_back(std::byte{1});
    bytes.insert(bytes.begin(), other.begin(), other.end());
  } else {
    auto& byte = bytes[below(bytes.size())];
    byte ^= static_cast<std::byte>(1 + below(255));
  }
  line.desk->distrust(id);
  send_up(id, std::move(bytes));
}

void Wires::send_up(ProcessId id, std::vector<std::byte> bytes) {
  auto& line = lines_.at(id);
  do {
    const auto length =
        shape_.pieces != 0 ? std::min<std::size_t>(bytes.size(), 1 + below(64)) : bytes.size();
    const std::vector<std::byte> piece(bytes.begin(), bytes.begin() + length);
    bytes.erase(bytes.begin(), bytes.begin() + length);
    line.last_up = std::max(line.last_up, now() + delay());
    agenda_.at(line.last_up, [this, id, piece] { arrive_up(id, piece); });
  } while (!bytes.empty());
}

void Wires::arrive_up(ProcessId id, const std::vector<std::byte>& bytes) {
  const auto& line = lines_.at(id);
  if (line.desk == nullptr || line.is_silent || line.is_cut || line.is_closed) {
    return;
  }
  note(id);
  line.desk->hear(id, bytes, now());
  attend(*line.desk);
}

void Wires::tell(ProcessId id, const std::vector<std::byte>& bytes) {
  auto& line = lines_.at(id);
  if (line.process == nullptr || line.desk == nullptr || line.is_silent) {
    return;
  }
  auto heard = bytes;
  const bool is_greeted = bytes.size() != sizeof(host::RendezvousWelcome);
  if (line.is_tampered && !line.is_changed && !calm_ && is_greeted && shape_.secret != 0 &&
      below(4) == 0) {
    heard[below(heard.size())] ^= static_cast<std::byte>(1 + below(255));
    line.is_spoilt = true;
  }
  line.last_down = std::max(line.last_down, now() + delay());
  agenda_.at(line.last_down, [this, id, heard] { arrive_down(id, heard); });
}

void Wires::arrive_down(ProcessId id, const std::vector<std::byte>& bytes) {
  const auto& line = lines_.at(id);
  if (!line.is_silent && !line.hung_up) {
    note(id + 1000 * bytes.size());
    line.process->take_words(bytes);
    line.process->step();
  }
}

// Plans the desk's deadline, and closes connections of dismissed processes.
void Wires::attend(Desk& desk) {
  auto& planned = planned_.try_emplace(&desk, host::never).first->second;
  if (desk.deadline() < planned) {
    planned = desk.deadline();
    agenda_.at(planned, [this, it = &desk] {
      if (planned_[it] != nobody_looks) {
        planned_[it] = host::never;
        it->expire(now());
        attend(*it);
      }
    });
  }
  for (auto& [id, line] : lines_) {
    if (line.desk == &desk && !line.is_closed && desk.is_dismissed(id)) {
      line.is_closed = true;
      agenda_.in(below(2) == 0 ? host::Duration{} : delay(), [this, one = id] { end_line(one); });
      if (line.process != nullptr) {
        agenda_.at(line.last_down, [this, one = id] { cut_process_off(one); });
      }
    }
  }
}

void Wires::hang_up(ProcessId id) {
  auto& line = lines_.at(id);
  if (std::exchange(line.hung_up, true)) {
    return;
  }
  auto& address = addresses_[line.process->birth().address.address.value()];
  address = address == line.process ? nullptr : address;
  if (line.is_silent) {
    return;
  }
  // A reset overtakes the last message.
  line.is_cut = below(3) == 0;
  const auto arrives = line.is_cut ? now() + delay() : std::max(line.last_up, now() + delay());
  agenda_.at(arrives, [this, id] { end_line(id); });
}

void Wires::end_line(ProcessId id) {
  auto& line = lines_.at(id);
  line.is_closed = true;
  if (line.desk != nullptr) {
    line.desk->leave(id, now());
    attend(*line.desk);
  }
}

void Wires::cut_process_off(ProcessId id) {
  const auto& line = lines_.at(id);
  if (line.process != nullptr && !line.hung_up) {
    line.process->lose_keeper();
    line.process->step();
  }
}

void Wires::send(const host::Endpoint& to, std::vector<std::byte> bytes) {
  const auto happens = [&](std::uint64_t thousandths) {
    return !calm_ && below(1000) < thousandths;
  };
  if (happens(shape_.loss)) {
    return;
  }
  if (happens(shape_.stray)) {
    agenda_.in(std::chrono::microseconds(below(shape_.stray_ms * 1000 + 1)),
               [this, to, bytes] { arrive(to, bytes); });
  }
  for (int copies = happens(shape_.duplicate) ? 2 : 1; copies > 0; --copies) {
    agenda_.in(std::chrono::microseconds(5 + below(100)), [this, to, bytes] { arrive(to, bytes); });
  }
}

void Wires::arrive(const host::Endpoint& to, const std::vector<std::byte>& bytes) {
  if (auto* const process = at(to)) {
    note(to.address.value());
    process->take_datagram(bytes);
    process->step();
  }
}

Process* Wires::at(const host::Endpoint& address) const {
  const auto found = addresses_.find(address.address.value());
  return found == addresses_.end() ? nullptr : found->second;
}

const std::vector<ProcessId>& Wires::members(ProcessId id, std::uint64_t epoch) const {
  static const std::vector<ProcessId> nobody;
  const auto& line = lines_.at(id);
  const auto& memberships = line.kept_by->memberships();
  const auto found = memberships.find(epoch);
  return found == memberships.end() ? nobody : found->second;
}

void Wires::note(std::uint64_t what) {
  const auto when = static_cast<std::uint64_t>(now().time_since_epoch().count());
  digest_ = (digest_ ^ what ^ (when << 8)) * 0x9E3779B97F4A7C15u + 1;
}

}  // namespace tributary::test
