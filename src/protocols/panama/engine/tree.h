// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/tree_place.h"
#include "engine/tree_table.h"
#include "packet/clock.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/early_packets.h"
#include "protocols/panama/engine/epochs.h"
#include "protocols/panama/engine/figures.h"
#include "protocols/panama/engine/headers.h"
#include "protocols/panama/engine/inquiries.h"
#include "protocols/panama/engine/packet_memory.h"
#include "protocols/panama/engine/row.h"
#include "protocols/panama/engine/row_masks.h"

namespace tributary::panama {

// Tells what a child sent again.
struct Repeat {
  std::uint64_t position = ~std::uint64_t{0};
  Time at{};
};

// Holds the state of one tree (section 5) on one core: who waits for whom. What is sent is decided
// elsewhere.
class Tree : public engine::TreePorts {
 public:
  // One packet has so many rows cleared at most, of those that nobody needs any more.
  static constexpr std::uint64_t rows_at_once = 8;

  Tree(const TreeConfig& config, const engine::SwitchIdentity& self, std::uint32_t packet_memory);

  const TreeConfig& config() const { return config_; }
  std::uint64_t key() const { return wire::panama_key(config_.job, config_.tree); }
  const Headers& headers() const { return headers_; }
  // Returns the headers in front of the elements of a row, or of what is to be said of it.
  Headers headers_for(const Row& row, const wire::PanamaHeader& header) const;
  // Returns how much is behind the header of a sum of this tree, or of what adds to one.
  std::size_t payload_bytes(const wire::PanamaHeader& header) const {
    return header.elements_bytes() + present.bytes_each();
  }
  bool is_root() const { return !config_.parent; }
  bool is_partial() const { return config_.is_partial(); }
  // What a sum was made of stays until its result comes: with more of it, another one follows.
  bool may_send_more() const { return is_partial() && !is_root(); }
  // Results go down, and sums go up.
  std::span<const PortIndex> down() const { return config_.children; }
  std::span<const PortIndex> up() const { return {&*config_.parent, 1}; }
  // Returns whom the port leads to, of those next to the switch in the tree.
  Neighbours neighbour_at(PortIndex port) const {
    const auto child = child_of(port);
    if (child != no_child) {
      return {.children = std::uint64_t{1} << child};
    }
    return {.parent = is_parent(port)};
  }

  std::uint64_t rows() const { return mask_ + 1; }
  Row& row(std::uint64_t position) { return rows_[position & mask_]; }
  const Row& row(std::uint64_t position) const { return rows_[position & mask_]; }
  std::size_t slot_of(const Row& row) const {
    return static_cast<std::size_t>(&row - rows_.data());
  }
  bool is_known(std::uint64_t position) const {
    const auto& there = row(position);
    return there.state != Row::State::free && there.position == position &&
           !(there.state == Row::State::gathering && is_left(there));
  }
  // Returns whether something waits here of an epoch that the tree has left.
  bool is_left(const Row& row) const { return row.holds && row.position < epochs.first(); }
  // Returns whether the sum of the row may be sent once more, with more in it.
  bool goes_on(const Row& row) const {
    return row.state == Row::State::summed && row.holds && !is_left(row);
  }
  // Returns whether nothing is missing for the row's sum.
  bool is_complete(const Row& row) const {
    if (row.state != Row::State::gathering) {
      return false;
    }
    const bool all = row.arrived == all_children();
    if (!is_partial() || row.remade) {
      return all;
    }
    // Each child may have left out as many as may be missing in the whole job.
    return row.header.contributions.value() >= needed_ && (all || row.position < may_miss_before());
  }

  // Returns whether the whole epoch went by here.
  bool is_finished() const { return fin && expected > *fin; }
  // Returns the position of a VID that is known here.
  std::optional<std::uint64_t> find_position(const Round& round, std::uint32_t vid) const {
    return epochs.find(round, vid, [this](std::uint64_t position) { return is_known(position); });
  }
  // Returns the position of a packet that is known here or of this epoch; no value if it is of this
  // epoch's past.
  std::optional<std::uint64_t> place(const wire::PanamaHeader& header) const;
  // Returns whether a result may be kept at `position`, where nothing is known: nobody has sent
  // what is further on than all windows.
  bool may_begin_with_result(std::uint64_t position) const {
    const auto& there = row(position);
    const bool has_room = there.state == Row::State::free ||
                          (there.state != Row::State::gathering && there.position < position);
    return has_room && position < expected + rows();
  }

  // Returns whether the result of a VID of a past epoch was here, or something that is so much
  // further on that its sender has the result.
  bool had_result(const Round& round, std::uint32_t vid) const {
    return epochs
        .find(round, vid,
              [this](std::uint64_t position) {
                const auto& there = row(position);
                return there.position > position ||
                       (there.position == position && there.state == Row::State::done);
              })
        .has_value();
  }

  // Returns whether the tree has gone on from that epoch of this run.
  bool is_over(const Round& round) const {
    return epochs.is_of_this_run(round) && !epochs.is_current(round) && !epochs.is_newer(round);
  }
  // Returns whether children with as many workers as a sum needs have sent packets of `round`. None
  // may be missing for an epoch of the past, nor for another run as long as this one goes on.
  bool may_begin(const Round& round) const;
  // Lets the job go on with (or start over at) this epoch, of which the first packets are there.
  // What gathered is left behind.
  void begin(const Round& round, Time now);
  // Returns where the tree, which stands still, may begin anew for the sake of what the child
  // repeats at `position`. No value: that is further off than all windows, and not all children
  // are.
  std::optional<std::uint64_t> find_new_beginning(std::uint8_t child, std::uint64_t position);
  // Lets the tree, which stands still, begin anew at `position`. Nothing may gather.
  void begin_anew(std::uint64_t position, Time now);
  // Notes that a row is complete at `position`; returns true if the epoch is with it.
  bool complete(std::uint64_t position, bool fin, Time now);
  // Returns whether nothing is left here of a row that was complete.
  bool is_gone(const Row& row) const {
    return row.state != Row::State::gathering && !row.kept && !row.holds;
  }
  // Returns whether nothing is left here of such a row, and somebody may lack its result.
  bool lacks(const Row& row) const { return is_gone(row) && row.position >= received_; }
  // Returns the position before which everybody has the results, as `position` is complete, and
  // nobody sends further than a window beyond what he has not.
  std::uint64_t received_by_all(std::uint64_t position, std::uint64_t window) const;
  // Returns how far beyond `expected` something may wait. Where not all that is sent may, the first
  // ones do, or each child's would wait for other ones.
  std::uint64_t span() const { return is_cut ? grant.packets : rows(); }
  // Returns the position before which all is added up, and everybody has sent it, or what is
  // further on.
  std::uint64_t sent_by_all() const;
  // held_max() returns the packets that wait in rows at the fullest port, waiting_max() with the
  // early ones.
  std::uint32_t held_max() const;
  std::uint32_t waiting_max() const;
  // Returns the position before which sums may do without whoever is missing (section 7).
  std::uint64_t may_miss_before() const;
  // Returns the next positions that have come to lie before that one: from the first to before the
  // second.
  std::pair<std::uint64_t, std::uint64_t> let_go_on();
  void prefetch(const Round& round, std::uint32_t vid) const;

  Grant grant;
  Epochs epochs;
  std::uint64_t expected = 0;  // Expected_VID, as a position
  std::uint64_t top = 0;       // behind the last position seen
  std::optional<std::uint64_t> fin;
  std::uint32_t gathering = 0;  // rows
  std::uint32_t gathering_high_water = 0;
  RemadeRows remade;            // of this epoch
  std::uint32_t kept = 0;       // rows with shared elements
  std::uint64_t kept_from = 0;  // no row before it has any
  EarlyPackets early;
  std::vector<std::uint32_t> held;     // packets that wait in rows, by child
  std::vector<std::uint64_t> highest;  // behind the last position that the child sent
  std::vector<Repeat> repeated;        // by child: the lowest that it repeats and that is here
  RowMasks present;                    // who is in the sum of each row, by slot
  std::uint64_t swept = 0;             // nothing waits before it of an epoch that was left
  Time last_taken{};                   // when something was taken, or asked for again
  Time last_added{};                   // when something new was taken
  Time last_complete{};                // when a row was complete, or the epoch begun
  // What waited in this epoch was let go, or this switch may have begun in its middle: senders may
  // have a wider window than the grant.
  bool is_cut = false;
  bool has_results = false;  // of this epoch
  bool over_ipv6 = false;    // its last packet came so, and all are sent so
  ToldCap told;
  Inquiries inquiries;
  TreeCounters counters;

 private:
  // Returns how far beyond what he lacks somebody may have sent.
  std::uint64_t window_max() const {
    return is_cut ? rows() : std::max(grant.packets, initial_window);
  }

  TreeConfig config_;
  Headers headers_;
  std::uint16_t needed_;  // workers that a sum has to have before anybody may be left out
  std::uint64_t mask_;
  std::vector<Row> rows_;
  std::vector<PacketPtr> waiting_;     // by row and child
  std::vector<std::uint64_t> beyond_;  // what the child repeated last beyond all windows, or 0
  std::uint64_t let_go_on_ = 0;        // sums before it did not have to wait for anybody
  std::uint64_t skipped_ = 0;          // behind the last position that was complete
  std::uint64_t received_ = 0;         // everybody has the results before it
};

using TreeTable = engine::TreeTable<Tree>;

}  // namespace tributary::panama
