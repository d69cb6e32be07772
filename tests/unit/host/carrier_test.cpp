// SPDX-License-Identifier: BSD-3-Clause
#include "host/carrier.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

// Says nothing about calls.
class PlainCarrier final : public Carrier {
 public:
  Runner& runner() override { throw std::logic_error("it has none"); }
  Result<void> attend() override { return {}; }
  Result<Choice> find_out(Ring&, const Deadline&) override { return Choice{}; }
  FullPacket full_packet() const override { return {}; }
  ProtocolStatistics statistics() override { return {}; }
};

TEST(Carrier, TakesSharesOnlyIfItSaysSo) {
  const PlainCarrier carrier;
  for (const auto collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast, Collective::barrier}) {
    EXPECT_TRUE(carrier.takes({collective, {}, 0})) << name(collective);
  }
  EXPECT_FALSE(carrier.takes({Collective::reduce_scatter, {}, 0}));
  EXPECT_FALSE(carrier.takes({Collective::allgather, {}, 0}));
}

}  // namespace
}  // namespace tributary::host::test
