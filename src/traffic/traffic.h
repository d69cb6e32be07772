// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "packet/clock.h"
#include "packet/list.h"
#include "traffic/histogram.h"
#include "traffic/pacer.h"
#include "wire/ethernet.h"

namespace tributary::traffic {

// An Outbox has the packets that are to leave, by port.
using Outbox = std::vector<PacketList>;

// Every kind of traffic counts this since its epoch began. Its unit is what can be lost as a whole:
// a plain frame, a block of an aggregation.
struct Counters {
  std::uint64_t packets = 0;     // sent of its own accord, which is what the rate counts
  std::uint64_t line_bytes = 0;  // of those
  std::uint64_t begun = 0;       // units
  std::uint64_t done = 0;
  std::uint64_t late = 0;       // came when nobody waited for it any more
  std::uint64_t foreign = 0;    // received packets of others
  std::uint64_t no_buffer = 0;  // packets that were not sent for want of a buffer
};

// A Figure is what one kind of traffic counts and others do not.
struct Figure {
  std::string_view name;  // a text that lives for ever
  std::uint64_t value = 0;
};

inline std::uint32_t line_bytes_of(const Packet& packet) {
  return packet.length + wire::ethernet_line_overhead_bytes;
}

// A Traffic is one kind of traffic: what is sent, and what is made of what comes back. It is driven
// with packets and the time; it allocates and waits for nothing once it is made.
class Traffic {
 public:
  virtual ~Traffic() = default;

  // Sends of its own accord as long as the pacer is ready, up to `most` packets. The pacer was
  // refreshed in this round.
  virtual void send(std::size_t most, Time now, Pacer& pacer, Outbox& out) = 0;
  // Takes a burst that came in by `port`; what answers it goes into `out`.
  virtual void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) = 0;
  // Gives up what has waited for too long; usually nothing waits.
  virtual void expire(Time /*now*/, Outbox& /*out*/) {}
  virtual Time deadline() const { return never; }

  // Returns how many units have begun and may still be done.
  virtual std::uint64_t under_way() const = 0;

  // Packets are so many bytes longer on the line than they are when they are charged.
  void set_growth(std::uint32_t bytes) { growth_ = bytes; }
  // From now on counters and latency are those of units that begin from now on.
  void begin_epoch() {
    closed_ = false;
    counters_ = {};
    latency_.clear();
    epoch_begins();
  }
  // Until the next epoch no unit begins any more; send() completes those that have begun.
  void close() { closed_ = true; }
  const Counters& counters() const { return counters_; }
  const Histogram& latency() const { return latency_; }
  // Counts results that were not what they had to be, since the traffic was made.
  std::uint64_t wrong() const { return wrong_; }
  virtual std::vector<Figure> figures() const = 0;

 protected:
  // Forgets what else is counted by epochs.
  virtual void epoch_begins() = 0;
  bool is_closed() const { return closed_; }
  // Counts a packet that leaves and that the rate is about.
  void charge(const Packet& packet, Pacer& pacer) {
    const auto line_bytes = line_bytes_of(packet) + growth_;
    pacer.charge(line_bytes);
    if (!closed_) {  // after close() it is not sent in the time that is measured
      ++counters_.packets;
      counters_.line_bytes += line_bytes;
    }
  }

  Counters counters_;
  Histogram latency_;
  std::uint64_t wrong_ = 0;

 private:
  bool closed_ = false;
  std::uint32_t growth_ = 0;
};

}  // namespace tributary::traffic
