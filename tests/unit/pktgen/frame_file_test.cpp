// SPDX-License-Identifier: BSD-3-Clause
#include "frame_file.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::pktgen {
namespace {

using Words = std::vector<std::uint32_t>;

void append(std::string& bytes, const Words& words) {
  bytes.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0]));
}

// Returns a file of frames with these lengths, the first of bytes 1, the second of bytes 2; `link`
// is its link type.
std::string pcap(const Words& lengths, std::uint32_t link = 1) {
  std::string bytes;
  append(bytes, {0xa1b2c3d4, 4u << 16 | 2u, 0, 0, 65535, link});
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    append(bytes, {0, 0, lengths[i], lengths[i]});
    bytes.append(lengths[i], static_cast<char>(i + 1));
  }
  return bytes;
}

class ReadFrames : public testing::Test {
 protected:
  std::string file(const std::string& bytes) const {
    auto name = directory_ / "x.pcap";
    std::ofstream(name, std::ios::binary) << bytes;
    return name;
  }
  std::string refusal(const std::string& bytes) const {
    const auto frames = read_frames(file(bytes), 1518);
    return frames ? "" : frames.error();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ReadFrames, EveryFrameIsReadWhole) {
  const auto read = read_frames(file(pcap({60, 1518, 61})), 1518);
  ASSERT_TRUE(read) << read.error();
  const auto& frames = read->frames();
  ASSERT_EQ(frames.size(), 3u);
  const std::uint32_t lengths[] = {60, 1518, 61};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].length, lengths[i]);
    const std::vector<char> expected(lengths[i], static_cast<char>(i + 1));
    EXPECT_EQ(std::memcmp(read->data(frames[i]), expected.data(), expected.size()), 0);
  }
}

TEST_F(ReadFrames, AFrameThatFitsNoBufferIsRefused) {
  EXPECT_NE(refusal(pcap({60, 1519})).find("a frame of 1519 bytes"), std::string::npos);
}

TEST_F(ReadFrames, WhatIsNoFileOfFramesIsRefused) {
  EXPECT_NE(refusal(pcap({})).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(pcap({60}, 113)).find("no Ethernet frames"), std::string::npos);
  EXPECT_NE(refusal("frames").find("cannot read"), std::string::npos);
  EXPECT_NE(refusal(pcap({60}).substr(0, 80)).find("cannot read"), std::string::npos);
  EXPECT_FALSE(read_frames(directory_ / "missing.pcap", 1518));
}

}  // namespace
}  // namespace tributary::pktgen
