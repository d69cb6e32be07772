// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/connection_table.h"
#include "protocols/netreduce/engine/figures.h"
#include "protocols/netreduce/engine/gradient.h"
#include "protocols/netreduce/engine/ring.h"
#include "protocols/netreduce/wire.h"

namespace tributary::netreduce {

using engine::Burst;

// Does the switch's part of NetReduce (sections 3.1 to 3.3) on one core: takes the payloads of
// gradient packets, and lets every packet go on with the sum, so that neither end of a connection
// can tell. All memory is taken when a ring is set up.
class NetReduceEngine final : public engine::Engine {
 public:
  // Tells whether the middle packets of known messages are recognised before they are parsed. This
  // changes nothing but the time that it takes.
  enum class Lane : bool { off, on };

  explicit NetReduceEngine(const NetReduceConfig& config, Lane lane = Lane::on);

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;

  static std::vector<engine::FigureKind> figure_kinds();
  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;
  std::vector<engine::TreeStatus> trees() const override;

  // Sets rings up and takes them down; those that stay as they were keep what they hold. It always
  // succeeds.
  bool reconfigure(const NetReduceConfig& config);

 private:
  // This is a packet with its headers; whoever keeps it moves it away.
  struct Incoming {
    PacketPtr& packet;
    const engine::Frame& frame;
    const RocePacket& roce;
  };
  // Tells where a packet belongs: to which rank's gradient message, and where in it.
  struct Gradient {
    Ring& ring;
    std::uint16_t rank;
    const Message& message;
    std::uint32_t offset;
    std::uint32_t headers_icrc;
  };

  bool continue_message(engine::Arrival& arrival, const Burst& burst);
  void handle(engine::Arrival& arrival, const Burst& burst);
  void pass(PacketPtr packet, const engine::Frame& frame, const Burst& burst);

  // begin() takes the first packet of a gradient message, begin_ordinary() that of any other
  // message.
  void begin(Incoming in, const wire::InaHeader& header, Ring& ring, const Burst& burst);
  void begin_ordinary(Incoming in, const Burst& burst);
  // Takes any packet that is not the first of its message.
  void follow(Incoming in, const Burst& burst);
  // Does the same with one of a connection that is nobody's in a run that goes on.
  void follow_nobody(Incoming in, const Burst& burst);

  // Drops a packet whose message's first one did not come by here: it is in no sum, and must not
  // arrive. Where it can, it provokes a NAK with it.
  void refuse(Incoming in, const Ring& ring, const Connection::Place& place, const Burst& burst);

  // Lets the rank send by this connection. Returns why it may not; no value if it may.
  std::optional<DropReason> claim(Ring& ring, const wire::InaHeader& header,
                                  const ConnectionKey& key, Time now);
  // Returns whose connection that is in the run that is served.
  ConnectionTable::Sender sender_of(const RocePacket& roce) const;
  // Returns who had the connection in a run that is over, if nobody has it since.
  ConnectionTable::Sender past_sender_of(const RocePacket& roce, Time now) const;
  // Calls `see` with the ring and the newcomer of each rank that sends from the one host to the
  // other and was not met yet. Hosts may have several, each of another ring.
  template <typename See>
  void for_each_newcomer(const RocePacket& roce, See see) const;
  // Returns whether a packet of an unknown connection, which is not the first of its message, may
  // be one of theirs.
  bool is_suspect(const RocePacket& roce, Time now) const;

  void aggregate(Incoming in, const Gradient& gradient, const Burst& burst);
  void answer(Incoming in, const Gradient& gradient, std::size_t index, const Burst& burst);
  void keep(Incoming in, const Gradient& gradient, std::size_t index, const Burst& burst);
  void remake(Ring& ring, std::size_t index, const Burst& burst);
  void add(Ring& ring, std::size_t index);
  void complete(Ring& ring, std::size_t index, const Burst& burst);
  void take_total(Incoming in, Ring& ring, std::size_t index, const Burst& burst);
  void release(Ring& ring, std::size_t index, Path path, const Burst& burst);

  Ring* find_ring(std::uint32_t id);

  Lane lane_;
  std::vector<std::unique_ptr<Ring>> rings_;  // in the order of the configuration
  ConnectionTable senders_;
  Counters counters_;
};

}  // namespace tributary::netreduce
