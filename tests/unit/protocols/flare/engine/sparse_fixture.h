// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fixture.h"
#include "sparse_elements.h"

namespace tributary::flare {

using test::FlareSparseSpec;

inline TreeConfig with_sparse_window(TreeConfig tree, std::uint32_t window = 2) {
  tree.sparse_window = window;
  return tree;
}

// The contribution of child `n` of a tree, in one shard or as one of several.
inline FlareSparseSpec sparse_from(const TreeConfig& tree, PortIndex n, std::uint64_t block = 0) {
  FlareSparseSpec spec;
  static_cast<FlareSpec&>(spec) = from(tree, n, block);
  spec.window = static_cast<std::uint16_t>(tree.sparse_window);
  return spec;
}
inline FlareSparseSpec as_shard(FlareSparseSpec spec, std::uint8_t shard, std::uint8_t shards = 0) {
  spec.shard = shard;
  spec.shards = shards;
  spec.contributions = shards == 0 ? 0 : spec.contributions;
  return spec;
}
inline FlareSparseSpec in_edition(FlareSparseSpec spec, std::uint64_t edition) {
  spec.edition = edition;
  return spec;
}
inline FlareSparseSpec again(FlareSparseSpec spec) {
  spec.retransmission = true;
  return spec;
}
inline FlareSparseSpec as_answer(FlareSparseSpec spec) {
  spec.answer = true;
  return spec;
}
// A shard of the block's result, from above or from a child.
inline FlareSparseSpec as_result(FlareSparseSpec spec, std::uint8_t shard, std::uint8_t shards,
                                 std::uint64_t edition, PortIndex ingress = parent_port) {
  static_cast<FlareSpec&>(spec) = as_result(static_cast<const FlareSpec&>(spec), ingress);
  spec.shard = shard;
  spec.shards = shards;
  spec.edition = edition;
  return spec;
}
inline FlareSparseSpec about(FlareSparseSpec spec) {
  static_cast<FlareSpec&>(spec) = about(static_cast<const FlareSpec&>(spec), parent_port);
  spec.contributions = 0;
  spec.fingerprint = 0;
  spec.shards = 0;
  return spec;
}

// The parsed headers and pairs of packets that an engine sends.
struct SeenShard {
  explicit SeenShard(const test::Sent& sent)
      : port(sent.port),
        frame(engine::parse_frame(*sent.packet)),
        view(wire::parse_flare_sparse(frame.payload)) {
    EXPECT_EQ(view.error, wire::FlareError::none);
    EXPECT_EQ(wire::ipv4_header_checksum(*frame.ipv4), frame.ipv4->checksum.value());
  }
  const wire::FlareSparseHeader& header() const { return *view.header; }
  std::uint64_t edition() const { return header().edition.value(); }
  std::uint64_t fingerprint() const { return header().fingerprint.value(); }

  PortIndex port;
  engine::Frame frame;
  wire::FlareSparseView view;
};

// One switch with sparse blocks of 512 elements of i32.
class SparseTest : public FlareTest {
 protected:
  using FlareTest::expect_drop;
  using FlareTest::feed;

  std::vector<test::Sent> feed(const FlareSparseSpec& spec, const Pairs& pairs) {
    return feed(test::make_flare_sparse(pool, spec, bytes_of(pairs)));
  }
  std::vector<test::Sent> feed(const FlareSparseSpec& spec) {
    return feed(spec, spec.kind == FlareKind::inquiry ? Pairs{} : Pairs{{5, 1}});
  }
  void expect_drop(const FlareSparseSpec& spec, DropReason reason) {
    const auto pairs = spec.kind == FlareKind::inquiry ? Pairs{} : Pairs{{5, 1}};
    expect_drop(test::make_flare_sparse(pool, spec, bytes_of(pairs)), reason);
  }
  // All children contribute 1 at offset 5; returns the departures.
  std::vector<test::Sent> sparse_round(const TreeConfig& tree, std::uint64_t block) {
    std::vector<test::Sent> sent;
    for (const auto child : tree.children) {
      sent = feed(sparse_from(tree, child, block));
    }
    return sent;
  }
  // Adds up the packets that left by that port, which must all be of that kind.
  static Ints sum_of(const std::vector<test::Sent>& sent, PortIndex port) {
    Ints sums(512);
    for (const auto& one : sent) {
      const SeenShard seen(one);
      if (seen.port == port) {
        add_shard(sums, seen.header().form, seen.header().first.value(), seen.view.payload);
      }
    }
    return sums;
  }
  static Ints elements(const Pairs& pairs) {
    Ints all(512);
    for (const auto& [offset, value] : pairs) {
      all[offset] += value;
    }
    return all;
  }
  static Ports sparse_ports_of(const std::vector<test::Sent>& sent, FlareKind kind) {
    Ports ports;
    for (const auto& one : sent) {
      EXPECT_EQ(SeenShard(one).header().kind, kind);
      ports.push_back(one.port);
    }
    return ports;
  }
};

}  // namespace tributary::flare
