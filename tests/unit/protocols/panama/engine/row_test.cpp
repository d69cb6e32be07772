// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/row.h"

#include <array>

#include "fixture.h"

namespace tributary::panama {
namespace {

wire::PanamaHeader contribution(std::uint16_t workers, std::uint64_t fingerprint,
                                std::uint16_t cap) {
  wire::PanamaHeader header;
  header.contributions = workers;
  header.fingerprint = fingerprint;
  header.wnd_cap = cap;
  return header;
}

TEST(PanamaRow, BeginsWithWhatAllHaveInCommon) {
  auto first = contribution(3, 77, 9);
  first.vid = std::uint32_t{5};
  first.rank = std::uint16_t{2};
  first.flags = wire::PanamaHeader::fin_bit | wire::PanamaHeader::retransmission_bit |
                wire::PanamaHeader::current_version;
  Row row;
  row.arrived = 0b11;
  row.remade = row.was_done = row.congested = true;
  row.begin(40, first, Time{1s});
  EXPECT_EQ(row.state, Row::State::gathering);
  EXPECT_EQ(row.position, 40u);
  EXPECT_EQ(row.arrived, 0u);
  EXPECT_FALSE(row.remade || row.was_done || row.congested);
  EXPECT_EQ(row.header.vid.value(), 5u);
  EXPECT_TRUE(row.header.fin());
  EXPECT_FALSE(row.header.retransmission()) << "that the first one came again says nothing";
  EXPECT_EQ(row.header.contributions.value(), 0u);
  EXPECT_EQ(row.header.rank.value(), wire::PanamaHeader::no_rank);
}

TEST(PanamaRow, AddsUpWhatContributionsSayAndTakesItOutAgain) {
  Row row;
  row.begin(0, contribution(1, 1, 1), Time{});
  row.count_in(contribution(2, 100, 30), false);
  row.count_in(contribution(3, ~std::uint64_t{0}, 20), true);
  EXPECT_EQ(row.header.contributions.value(), 5u);
  EXPECT_EQ(row.header.fingerprint.value(), 99u) << "modulo 2^64";
  EXPECT_EQ(row.header.wnd_cap.value(), 20u) << "the least memory on the way";
  EXPECT_TRUE(row.congested);
  row.count_out(contribution(2, 100, 30));
  EXPECT_EQ(row.header.contributions.value(), 3u);
  EXPECT_EQ(row.header.fingerprint.value(), ~std::uint64_t{0});
}

TEST(PanamaRow, RowsThatAreRemadeGoInAnyOrder) {
  std::array<Row, 4> rows;
  RemadeRows remade(rows.size());
  for (auto& row : rows) {
    remade.add(row, &row == &rows[1]);
  }
  EXPECT_TRUE(rows[0].remade);
  EXPECT_TRUE(rows[1].was_done);
  EXPECT_FALSE(rows[2].was_done);
  for (const auto gone : {0u, 3u, 1u}) {
    remade.remove(rows[gone]);
  }
  EXPECT_EQ(&remade.last(), &rows[2]) << "the last one takes the place of one that goes";
  remade.remove(rows[2]);
  EXPECT_TRUE(remade.empty());
}

}  // namespace
}  // namespace tributary::panama
