// SPDX-License-Identifier: BSD-3-Clause
#include "packet/fate.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

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
  EXPECT_EQ(sum.dropped(DropReason::ttl_exceeded), 2U);
  EXPECT_TRUE(sum.balanced());
}

}  // namespace
}  // namespace tributary
