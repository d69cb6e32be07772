// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "packet/clock.h"
#include "wire/element.h"
#include "wire/ip_address.h"
#include "wire/roce.h"

namespace tributary::netreduce {

// The packets of one connection have this in common.
struct ConnectionKey {
  // A key with this number is that of no connection, but stands for all between two hosts.
  static constexpr std::uint32_t any_qp = 1u << 24;

  wire::IpAddress source;
  wire::IpAddress destination;
  std::uint32_t destination_qp = 0;

  friend bool operator==(const ConnectionKey&, const ConnectionKey&) = default;
};

// Holds what the first packet of a gradient message told of it.
struct Message {
  std::uint32_t first_psn = 0;
  std::uint32_t id = 0;
  std::uint32_t length = 0;   // bytes
  std::uint32_t packets = 0;  // 0: none is known
  std::uint32_t mtu = 0;      // payload bytes of all packets but the last
  wire::ElementType element_type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  bool is_write = true;  // by RDMA WRITE; else by SEND
};

// Holds what is known of the connection by which one rank of a ring sends to the next: an entry of
// the paper's connection lookup table. The paper keeps the latest message only. But go-back-N may
// go back into any message that is not acknowledged, and restarts in the middle of it, without its
// first packet. So every message is known for which there is an aggregator.
class Connection {
 public:
  // Most Reliable Connections are silent for less time while something is not acknowledged, so an
  // ordinary message that begins later is taken for that of somebody else, who has the queue pair
  // by now. Packets from the middle of a gradient message are not: a new owner would have begun a
  // message by here, and a repeat that passed as it is would reach its receiver without the sum.
  static constexpr Duration silence_max = std::chrono::seconds(120);

  explicit Connection(std::uint32_t open_messages) : entries_(open_messages) {}

  bool is_claimed() const { return claimed_; }
  bool is_claimed_in(std::uint64_t run) const { return claimed_ && run_ == run; }
  // Returns the key that the connection has, or had before it was released.
  const ConnectionKey& key() const { return key_; }
  // `message` is the id of the first message that came by it.
  void claim(const ConnectionKey& key, std::uint32_t message, Time now);
  // Forgets all messages as well.
  void release();
  // Releases what it has of another run.
  void enter(std::uint64_t run) {
    if (run_ != run) {
      const bool is_of_past_run = claimed_ || is_of_past_run_;
      release();
      is_of_past_run_ = is_of_past_run;
      run_ = run;
    }
  }
  // Says whether it was in the run before, and has not been since.
  bool was_claimed() const { return is_of_past_run_; }
  // Says whether what comes by the key that it had is of a run that is over.
  bool is_of_past_run(Time now) const { return is_of_past_run_ && !is_silent(now); }

  bool is_silent(Time now) const { return now - last_packet_ > silence_max; }
  void touch(Time now) { last_packet_ = now; }
  Time last_packet() const { return last_packet_; }

  // Takes note of the first packet of a gradient message, which came for the first time or again.
  // What was known to lie at the same sequence numbers is out of date and forgotten. Returns null
  // if a later message has its place: then everybody has received this one.
  const Message* record(const Message& message);
  // Takes note of the first packet of any other message, of so many packets if that can be known.
  // Gradient messages that it may reach into are forgotten, and so are those far from it, before
  // their numbers come round. Returns false if that cannot be, as it lies within a gradient
  // message, or if no message is known any more.
  bool record_ordinary(std::uint32_t psn, std::optional<std::uint32_t> packets);

  struct Place {
    enum class Kind : std::uint8_t {
      gradient,
      ordinary,
      past,    // before all known messages: everybody has received it
      unknown  // of a message whose first packet did not come by here
    };
    Kind kind = Kind::unknown;
    const Message* message = nullptr;
    // Counts packets from the first of its message or, outside of the known ones, of the nearest
    // before it.
    std::uint32_t offset = 0;

    // Returns whether it is neither the first packet of a gradient message nor the last.
    bool is_middle() const {
      return kind == Kind::gradient && offset != 0 && offset + 1 != message->packets;
    }
  };
  // Returns what a packet is that is not the first of its message.
  Place find(std::uint32_t psn) {
    const auto& message = entries_[latest_].message;
    const auto offset = wire::psn_distance(message.first_psn, psn);
    return offset < message.packets ? Place{Place::Kind::gradient, &message, offset}
                                    : find_elsewhere(psn);
  }

 private:
  struct Entry {
    Message message;
    // The ordinary messages behind it begin here, if one has been seen.
    std::optional<std::uint32_t> ordinary_psn{};

    bool is_known() const { return message.packets != 0; }
  };

  // Looks for a packet that is not in the message of the last one.
  Place find_elsewhere(std::uint32_t psn);
  Entry* nearest(std::uint32_t psn);

  // Returns whether there are messages before the known ones which somebody may not have received,
  // because the switch met the connection in the middle of its run.
  bool is_followed_from_middle() const {
    return first_message_ != 0 && last_message_ - first_message_ + 1 < entries_.size();
  }

  bool claimed_ = false;
  bool is_of_past_run_ = false;
  std::uint64_t run_ = 0;
  ConnectionKey key_;
  Time last_packet_{};
  std::uint32_t first_message_ = 0;  // of those that came by here
  std::uint32_t last_message_ = 0;
  std::vector<Entry> entries_;  // by message id modulo their number
  std::size_t latest_ = 0;      // where the last packet was found: the next is there, mostly
};

}  // namespace tributary::netreduce
