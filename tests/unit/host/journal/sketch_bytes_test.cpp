// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/sketch_bytes.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(SketchBytes, SayWhatWasSaved) {
  EXPECT_EQ(text_of(SketchBytes{12'300'000, 49'200'000}),
            "sketches sent 12.3 MB in place of 49.2 MB (75.0 % saved)");
  EXPECT_EQ(text_of(SketchBytes{507, 2012}),
            "sketches sent 507 B in place of 2.0 kB (74.8 % saved)");
}

// By quantiles each rank sends room for all of them.
TEST(SketchBytes, SayWhatWasSentInExcess) {
  EXPECT_EQ(text_of(SketchBytes{3'000'000'000, 2'000'000'000}),
            "sketches sent 3.0 GB in place of 2.0 GB (50.0 % more)");
}

TEST(SketchBytes, SayNothingWhereThereWereNone) {
  EXPECT_EQ(text_of(SketchBytes{}), "");
}

}  // namespace
}  // namespace tributary::host::test
