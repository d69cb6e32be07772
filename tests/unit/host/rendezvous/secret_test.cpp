// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/secret.h"

#include <gtest/gtest.h>
#include <sodium/core.h>

#include "host/object_bytes.h"

namespace tributary::host {
namespace {

class SecretTest : public testing::Test {
 protected:
  SecretTest() { EXPECT_GE(sodium_init(), 0); }

  wire::Bytes message() const { return std::as_bytes(std::span(text_)); }
  RendezvousProof proof() const {
    return mine_.prove(RendezvousStep::outcome, session_, message());
  }

  std::string text_ = "the message";
  RendezvousSession session_{{1}, {2}};
  Secret mine_{"swordfish"};
};

TEST_F(SecretTest, IsKnownToWhomItWasGiven) {
  EXPECT_TRUE(mine_.given());
  EXPECT_NE(proof(), RendezvousProof{});
  EXPECT_TRUE(Secret("swordfish").believes(proof(), RendezvousStep::outcome, session_, message()));
  EXPECT_FALSE(Secret("Swordfish").believes(proof(), RendezvousStep::outcome, session_, message()));
  EXPECT_FALSE(mine_.believes({}, RendezvousStep::outcome, session_, message()));
}

TEST_F(SecretTest, ProvesAMessageOfOneStepOfOneConnection) {
  EXPECT_FALSE(mine_.believes(proof(), RendezvousStep::agreement, session_, message()));
  auto other = session_;
  other.host = {3};
  EXPECT_FALSE(mine_.believes(proof(), RendezvousStep::outcome, other, message()));
  other = session_;
  other.guest = {3};
  EXPECT_FALSE(mine_.believes(proof(), RendezvousStep::outcome, other, message()));
  std::swap(other.host, other.guest);
  const auto said = proof();
  text_.back() = 'E';
  EXPECT_FALSE(mine_.believes(said, RendezvousStep::outcome, session_, message()));
}

TEST_F(SecretTest, ProvesAMessageInTwoPartsAsTheWhole) {
  const auto first = message().first(4);
  const auto rest = message().subspan(4);
  EXPECT_EQ(mine_.prove(RendezvousStep::outcome, session_, first, rest), proof());
  EXPECT_TRUE(mine_.believes(proof(), RendezvousStep::outcome, session_, first, rest));
  EXPECT_NE(mine_.prove(RendezvousStep::outcome, session_, first), proof());
}

TEST_F(SecretTest, OfNobodyBelievesAll) {
  const Secret none("");
  EXPECT_FALSE(none.given());
  EXPECT_EQ(none.prove(RendezvousStep::outcome, session_, message()), RendezvousProof{});
  EXPECT_TRUE(none.believes(proof(), RendezvousStep::outcome, session_, message()));
  EXPECT_EQ(none.job_key({5}), JobKey{5});
}

TEST_F(SecretTest, MakesAKeyThatIsNotOnTheWire) {
  EXPECT_NE(mine_.job_key({5}), JobKey{5});
  EXPECT_EQ(mine_.job_key({5}), Secret("swordfish").job_key({5}));
  EXPECT_NE(mine_.job_key({5}), Secret("Swordfish").job_key({5}));
  EXPECT_NE(mine_.job_key({5}), mine_.job_key({6}));
}

TEST_F(SecretTest, NoncesDiffer) {
  EXPECT_NE(draw_nonce(), draw_nonce());
}

}  // namespace
}  // namespace tributary::host
