// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "plain.h"

namespace tributary::host::sketch::test {
namespace {

std::vector<std::uint8_t> found(const std::vector<float>& edges,
                                const std::vector<float>& elements) {
  std::vector<std::uint8_t> buckets(elements.size());
  Buckets(edges).find(buckets.data(), elements.data(), elements.size());
  return buckets;
}

// Returns floats at all edges, on both sides of them, and far from them.
std::vector<float> around(const std::vector<float>& edges) {
  std::vector<float> elements = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, greatest, -greatest};
  elements.insert(elements.end(), {infinity, -infinity});
  for (const float edge : edges) {
    elements.insert(elements.end(), {edge, std::nextafter(edge, infinity), edge * 1.01f});
    elements.insert(elements.end(), {std::nextafter(edge, -infinity), edge * 0.99f, -edge});
  }
  return elements;
}

void expect_plain_search(std::vector<float> edges) {
  std::sort(edges.begin(), edges.end());
  const auto elements = around(edges);
  const auto buckets = found(edges, elements);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto above = std::upper_bound(edges.begin() + 1, edges.end(), elements[i]);
    ASSERT_EQ(buckets[i], above - edges.begin() - 1) << edges.size() << " edges, " << elements[i];
  }
}

TEST(Buckets, AreThoseOfAPlainSearch) {
  for (const std::size_t count : {1, 2, 3, 4, 16, 255, 256}) {
    expect_plain_search(gradient(count, count));
    expect_plain_search(gradient(count, count, 0x1p-140f));
  }
}

// One upper half has all edges, or all but the first, below or above zero.
TEST(Buckets, OfNeighboursAmongFloatsAreThoseOfAPlainSearch) {
  for (const std::uint32_t first : {0x3f800000u, 0x3f7ffff0u, 0xbf800000u, 0x00000000u}) {
    for (const std::uint32_t count : {2, 3, 5, 100, 256}) {
      std::vector<float> edges(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        edges[i] = std::bit_cast<float>(first + i);
      }
      expect_plain_search(edges);
    }
  }
}

TEST(Buckets, OfEdgesThatAreAlikeAreTheLast) {
  expect_plain_search(std::vector<float>(256, -2.5f));
  for (const float zero : {0.0f, -0.0f}) {
    auto edges = gradient(256, 3);
    std::sort(edges.begin(), edges.end());
    std::fill(edges.begin() + 20, edges.begin() + 240, zero);
    expect_plain_search(edges);
    std::fill(edges.begin(), edges.begin() + 40, edges[0]);
    std::fill(edges.begin() + 250, edges.end(), edges[255]);
    expect_plain_search(edges);
  }
}

// Zeros are alike, but their upper halves differ: the negative one has those of the edges below.
TEST(Buckets, OfANegativeZeroAreThoseOfAPositiveOne) {
  expect_plain_search({-1.0f, -0x3p-149f, -0x2p-149f, -0x1p-149f, 0.0f});
}

TEST(Buckets, OfWhatIsNoNumberAreAmongAll) {
  const float signalling = std::bit_cast<float>(0xffbfffffu);
  for (const auto bucket : found({1.0f, 2.0f, 3.0f, 4.0f}, {nan, -nan, signalling})) {
    EXPECT_LT(bucket, 4);
  }
}

}  // namespace
}  // namespace tributary::host::sketch::test
