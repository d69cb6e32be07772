// SPDX-License-Identifier: BSD-3-Clause
#include "packet/fate.h"

#include <set>

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(DropReason, every_reason_has_its_own_name) {
  const std::set<std::string_view> names(std::begin(drop_reason_names),
                                         std::end(drop_reason_names));
  EXPECT_EQ(names.size(), drop_reason_count);
  EXPECT_EQ(name(DropReason::truncated), "truncated");
  EXPECT_EQ(name(DropReason::canary_crc), "canary_crc");
}

TEST(Ledger, balances_only_when_every_packet_has_one_fate) {
  Ledger ledger;
  EXPECT_TRUE(ledger.balanced());
  ledger.received = 3;
  ledger.forwarded = 1;
  ledger.absorbed = 1;
  EXPECT_FALSE(ledger.balanced());
  ledger.drop(DropReason::no_route);
  EXPECT_TRUE(ledger.balanced());
  ledger.originated = 2;
  ledger.sent = 1;
  EXPECT_FALSE(ledger.balanced());
  ledger.lose(DropReason::arp_unresolved);
  EXPECT_TRUE(ledger.balanced());
}

TEST(Ledger, addition_is_field_by_field) {
  Ledger one;
  one.received = 5;
  one.forwarded = 2;
  one.absorbed = 2;
  one.drop(DropReason::ttl_exceeded);
  one.originated = 3;
  one.sent = 2;
  one.lose(DropReason::port_down);
  Ledger sum = one;
  sum += one;
  EXPECT_EQ(sum.received, 10U);
  EXPECT_EQ(sum.dropped(), 2U);
  EXPECT_EQ(sum.lost(), 2U);
  EXPECT_EQ(sum.drops[static_cast<std::size_t>(DropReason::ttl_exceeded)], 2U);
  EXPECT_TRUE(sum.balanced());
}

}  // namespace
}  // namespace tributary
