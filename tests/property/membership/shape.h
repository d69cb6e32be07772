// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tributary::test {

// All parameters of one trial of elastic worlds, as plain numbers, like the shapes of fabrics
// (property/shape.h). The second column is the harmless value.
#define TRIBUTARY_MEMBERSHIP_SHAPE(X)                                                  \
  X(seed, 1)                                                                           \
  X(keepers, 1) /* each with a world of its own */                                     \
  X(secret, 0)  /* 1: there is one, the same for all worlds */                         \
  X(founders, 2)                                                                       \
  X(span_ms, 2000)     /* of all that follows */                                       \
  X(joins, 0)          /* processes that join, some with a wish of the members */      \
  X(deaths, 0)         /* that a keeper notices as fast as words travel */             \
  X(silences, 0)       /* that it notices after ten seconds */                         \
  X(freezes, 0)        /* processes that stand still, and go on */                     \
  X(freeze_ms, 1000)   /* at most */                                                   \
  X(hangs, 0)          /* processes that never call regroup() */                       \
  X(leaves, 0)         /* by their own will */                                         \
  X(regroups, 0)       /* that nothing asked for */                                    \
  X(wish, 0)           /* ranks more than there are that are waited for at most */     \
  X(patience_ms, 5000) /* at most */                                                   \
  X(foundings, 0)      /* processes that found a world, whether there is one or not */ \
  X(restarts, 0)       /* of keepers */                                                \
  X(strangers, 0)                                                                      \
  X(tampered, 0)  /* connections on which somebody changes what is said */             \
  X(word_us, 100) /* that a word is on its way at most */                              \
  X(pieces, 0)    /* 1: words come in pieces */                                        \
  X(calls_ms, 5)  /* between two collectives at most */                                \
  X(elements, 8)  /* at most */                                                        \
  X(loss, 0)      /* of datagrams, in thousandths */                                   \
  X(duplicate, 0)                                                                      \
  X(stray, 0)       /* that come a second time */                                      \
  X(stray_ms, 1000) /* by so much later at most */

struct MembershipShape {
#define TRIBUTARY_FIELD(name, harmless) std::uint64_t name = harmless;
  TRIBUTARY_MEMBERSHIP_SHAPE(TRIBUTARY_FIELD)
#undef TRIBUTARY_FIELD
};

MembershipShape random_membership_shape(std::uint64_t seed);

// Returns the fields that are not harmless, as in "seed=7 joins=2".
std::string to_text(const MembershipShape& shape);
// Returns no value if the text is no shape.
std::optional<MembershipShape> membership_shape_of(std::string_view text);

// Returns a simpler shape that fails as well.
MembershipShape shrink(const MembershipShape& shape,
                       const std::function<bool(const MembershipShape&)>& fails);

}  // namespace tributary::test
