// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/sparse_wire.h"

#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

using Change = std::function<void(FlareSparseHeader&)>;

// A whole packet behind UDP: three pairs of i32, the only shard of a contribution.
struct SparsePacket {
  static constexpr std::size_t payload_bytes = 18;
  static constexpr std::size_t packet_bytes = sizeof(FlareSparseHeader) + payload_bytes;

  SparsePacket() {
    FlareSparseHeader header;
    header.job = 7;
    header.run = 0x12345678;
    header.block = 5;
    header.flags = FlareSparseHeader::sparse_bit | FlareSparseHeader::current_version;
    header.element_type = ElementType::i32;
    header.elements = 3;
    header.contributions = 1;
    header.workers = 4;
    header.window = 16;
    header.span = 100;
    header.full = 64;
    header.shards = 1;
    std::memcpy(bytes.data(), &header, sizeof header);
    put_offset(0, 0);
    put_offset(1, 17);
    put_offset(2, 99);
    seal(this->header(), payload());
  }
  FlareSparseHeader& header() { return *reinterpret_cast<FlareSparseHeader*>(bytes.data()); }
  Bytes payload() const { return Bytes(bytes).subspan(sizeof(FlareSparseHeader), payload_bytes); }
  void put_offset(std::size_t pair, std::uint16_t offset) {
    std::memcpy(bytes.data() + sizeof(FlareSparseHeader) + pair * 6, &offset, sizeof offset);
  }
  FlareError error(std::size_t length = packet_bytes) {
    return parse_flare_sparse(MutableBytes(bytes).first(length)).error;
  }
  // The payload is as long as the header says, if its type has a length.
  FlareError error_after(const Change& change) {
    change(header());
    const bool is_known = static_cast<std::size_t>(header().element_type) < element_type_count;
    const auto size =
        is_known ? std::min(flare_payload_bytes(header()), std::size_t{128}) : payload_bytes;
    seal(header(), Bytes(bytes).subspan(sizeof(FlareSparseHeader), size));
    return error(sizeof(FlareSparseHeader) + size);
  }

  std::array<std::byte, sizeof(FlareSparseHeader) + 128> bytes{};
};

void ask(FlareSparseHeader& header) {
  header.kind = FlareKind::inquiry;
  header.elements = std::uint16_t{0};
  header.contributions = std::uint16_t{0};
  header.shards = 0;
}

void make_result(FlareSparseHeader& header) {
  header.kind = FlareKind::result;
  header.contributions = std::uint16_t{4};
}

void make_run(FlareSparseHeader& header) {
  header.form = FlareForm::run;
  header.elements = std::uint16_t{4};
  header.first = std::uint16_t{96};
}

void make_longest(FlareSparseHeader& header) {
  header.contributions = std::uint16_t{0};
  header.shards = 0;
  header.shard = flare_shards_max - 2;
}

TEST(FlareSparse, AWholePacketIsFound) {
  SparsePacket packet;
  const auto view =
      parse_flare_sparse(MutableBytes(packet.bytes).first(SparsePacket::packet_bytes));
  EXPECT_EQ(view.error, FlareError::none);
  EXPECT_EQ(view.payload.size(), SparsePacket::payload_bytes);
  EXPECT_EQ(flare_offset_at(view.payload.data() + 6), 17u);
  EXPECT_EQ(view.header->block.value(), 5u);
}

TEST(FlareSparse, TheBlockHasTheKeyThatADenseOneHas) {
  SparsePacket packet;
  EXPECT_EQ(peek_flare_key(packet.bytes), flare_key(7, 5));
}

TEST(FlareSparse, IsToldFromWhatIsDense) {
  SparsePacket packet;
  EXPECT_TRUE(is_flare_sparse(packet.bytes));
  EXPECT_FALSE(is_flare_sparse(Bytes(packet.bytes).first(16)));
  EXPECT_EQ(parse_flare(packet.bytes).error, FlareError::malformed);
  packet.header().flags = FlareHeader::current_version;
  EXPECT_FALSE(is_flare_sparse(packet.bytes));
  EXPECT_EQ(packet.error(), FlareError::malformed);
}

TEST(FlareSparse, LengthsHaveToFit) {
  SparsePacket packet;
  EXPECT_EQ(packet.error(0), FlareError::truncated);
  EXPECT_EQ(packet.error(sizeof(FlareSparseHeader) - 1), FlareError::truncated);
  EXPECT_EQ(packet.error(SparsePacket::packet_bytes - 1), FlareError::truncated);
  EXPECT_EQ(packet.error(SparsePacket::packet_bytes + 1), FlareError::oversized);
}

TEST(FlareSparse, PossibleFieldsAreTaken) {
  const std::pair<const char*, Change> cases[] = {
      {"an empty block", [](auto& h) { h.elements = std::uint16_t{0}; }},
      {"a full shard", [](auto& h) { h.elements = std::uint16_t{10}; }},
      {"a shard that is not the last", make_longest},
      {"the last of as many as can be",
       [](auto& h) {
         h.shard = flare_shards_max - 1;
         h.shards = flare_shards_max;
       }},
      {"a run up to the end", make_run},
      {"a result", make_result},
      {"a shard of a result",
       [](auto& h) {
         make_result(h);
         h.shards = flare_runs_max;
       }},
      {"an inquiry", ask},
      {"a retransmission", [](auto& h) { h.flags |= FlareHeader::retransmission_bit; }},
      {"the longest span", [](auto& h) { h.span = std::uint16_t{512}; }},
      {"an edition", [](auto& h) { h.edition = std::uint64_t{1} << 60; }},
  };
  for (const auto& [what, change] : cases) {
    EXPECT_EQ(SparsePacket().error_after(change), FlareError::none) << what;
  }
}

TEST(FlareSparse, ImpossibleFieldsAreRefused) {
  const std::pair<const char*, Change> cases[] = {
      {"kind", [](auto& h) { h.kind = static_cast<FlareKind>(0); }},
      {"kind beyond", [](auto& h) { h.kind = static_cast<FlareKind>(4); }},
      {"type", [](auto& h) { h.element_type = ElementType::i4; }},
      {"unknown type", [](auto& h) { h.element_type = static_cast<ElementType>(0xff); }},
      {"operator", [](auto& h) { h.op = Operator::max; }},
      {"workers", [](auto& h) { h.workers = std::uint16_t{0}; }},
      {"too many contributions", [](auto& h) { h.contributions = std::uint16_t{5}; }},
      {"no contributions in the last", [](auto& h) { h.contributions = std::uint16_t{0}; }},
      {"contributions before the last", [](auto& h) { h.shards = 0; }},
      {"number of shards before the last", [](auto& h) { h.shards = 2; }},
      {"shard beyond the last", [](auto& h) { h.shard = 1; }},
      {"shards", [](auto& h) { h.shard = h.shards = flare_shards_max + 1; }},
      {"no room for a last one",
       [](auto& h) {
         make_longest(h);
         ++h.shard;
       }},
      {"window", [](auto& h) { h.window = std::uint16_t{0}; }},
      {"wide window", [](auto& h) { h.window = std::uint16_t{flare_window_max + 1}; }},
      {"no span", [](auto& h) { h.span = std::uint16_t{0}; }},
      {"a span of too many runs", [](auto& h) { h.span = std::uint16_t{513}; }},
      {"full", [](auto& h) { h.full = std::uint16_t{48}; }},
      {"full that cuts elements", [](auto& h) { h.full = std::uint16_t{72}; }},
      {"more than full", [](auto& h) { h.elements = std::uint16_t{11}; }},
      {"pairs that begin somewhere", [](auto& h) { h.first = std::uint16_t{1}; }},
      {"form", [](auto& h) { h.form = static_cast<FlareForm>(2); }},
      {"reserved", [](auto& h) { h.reserved[2] = 1; }},
      {"a run beyond the span",
       [](auto& h) {
         make_run(h);
         h.first = std::uint16_t{97};
       }},
      {"a run of nothing",
       [](auto& h) {
         make_run(h);
         h.elements = std::uint16_t{0};
       }},
      {"a result without all",
       [](auto& h) {
         make_result(h);
         h.contributions = std::uint16_t{3};
       }},
      {"a result of no shards",
       [](auto& h) {
         make_result(h);
         h.shards = 0;
       }},
      {"a result of too many shards",
       [](auto& h) {
         make_result(h);
         h.shards = flare_runs_max + 1;
       }},
      {"an inquiry with elements",
       [](auto& h) {
         ask(h);
         h.elements = std::uint16_t{1};
       }},
      {"an inquiry with an edition",
       [](auto& h) {
         ask(h);
         h.edition = std::uint64_t{1};
       }},
  };
  for (const auto& [what, change] : cases) {
    EXPECT_EQ(SparsePacket().error_after(change), FlareError::malformed) << what;
  }
  EXPECT_EQ(SparsePacket().error_after([](auto& h) { ++h.flags; }), FlareError::version);
}

TEST(FlareSparse, OffsetsAreWithinTheSpan) {
  for (std::size_t pair = 0; pair < 3; ++pair) {
    SparsePacket packet;
    packet.put_offset(pair, 100);
    seal(packet.header(), packet.payload());
    EXPECT_EQ(packet.error(), FlareError::malformed) << pair;
  }
}

TEST(FlareSparse, EveryByteIsCovered) {
  for (std::size_t at = 0; at < SparsePacket::packet_bytes; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      SparsePacket packet;
      packet.bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_NE(packet.error(), FlareError::none) << at;
    }
  }
}

TEST(FlareSparse, OnlyTheLastShardAsks) {
  FlareSparseHeader header;
  header.flags = FlareHeader::retransmission_bit;
  EXPECT_FALSE(header.asks());
  header.shard = 1;
  header.shards = 2;
  EXPECT_TRUE(header.asks());
  header.flags |= FlareHeader::answer_bit;
  EXPECT_FALSE(header.asks());
}

TEST(FlareSparse, ABlockFillsAPacketOnAverage) {
  constexpr FlareSparseShape f32{4, 1376};
  EXPECT_EQ(f32.pairs_per_shard(), 229u);
  EXPECT_EQ(f32.span(100'000, 1'000'000), 2000u);  // 200 pairs of 10 %
  EXPECT_EQ(f32.span(1'000'000, 1'000'000), f32.elements_per_run());
  EXPECT_EQ(f32.span(1, 1'000'000), f32.span_max());
  EXPECT_EQ(f32.span(0, 1'000'000), f32.span_max());
  EXPECT_EQ(f32.runs(f32.span_max()), flare_runs_max);
}

TEST(FlareSparse, PairsAreSentWhereTheyAreSmaller) {
  constexpr FlareSparseShape f32{4, 1376};
  EXPECT_TRUE(f32.prefers_pairs(0, 300));
  EXPECT_TRUE(f32.prefers_pairs(199, 300));
  EXPECT_FALSE(f32.prefers_pairs(200, 300));
}

TEST(FlareSparse, PairsTakeNoMoreShardsThanRuns) {
  constexpr FlareSparseShape f64{8, 64};
  EXPECT_EQ(f64.shards_of_pairs(192), flare_runs_max);
  EXPECT_TRUE(f64.prefers_pairs(192, 256));
  EXPECT_FALSE(f64.prefers_pairs(193, 256));
  EXPECT_EQ(f64.shards_of_pairs(0), 1u);
}

TEST(FlareSparse, SpansAreWhatOffsetsCanName) {
  constexpr FlareSparseShape jumbo{2, 8864};
  EXPECT_EQ(jumbo.span_max(), flare_span_max);
  constexpr FlareSparseShape largest{1, 65520};
  EXPECT_EQ(largest.span(1, 1), 65520u);
  EXPECT_LE(largest.span(1, 2), flare_span_max);
}

}  // namespace
}  // namespace tributary::wire
