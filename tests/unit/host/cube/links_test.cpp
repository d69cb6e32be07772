// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/links.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/object_bytes.h"

namespace tributary::host::test {
namespace {

class CubeLinks : public testing::Test {
 protected:
  CubeLinks() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    link_.fd = FileDescriptor(ends[0]);
    neighbour_ = FileDescriptor(ends[1]);
  }
  void send(wire::Bytes bytes) const {
    EXPECT_EQ(::send(neighbour_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string heard() {
    const auto words = told_failure(link_);
    return words ? words->message : "";
  }

  CubeLink link_;
  FileDescriptor neighbour_;
  const std::vector<std::byte> words_ = failure_frame({Error::Code::timeout, "no carrier"});
};

TEST_F(CubeLinks, LastWordsAreHeardWhenAllOfThemHaveCome) {
  EXPECT_EQ(heard(), "");
  const wire::Bytes words(words_);
  send(words.first(words.size() - 1));
  EXPECT_EQ(heard(), "");
  send(words.last(1));
  EXPECT_EQ(heard(), "no carrier");
  EXPECT_EQ(told_failure(link_)->code, Error::Code::timeout);
  EXPECT_FALSE(link_.has_ended);
}

// A collective may have read their beginning as that of the next frame.
TEST_F(CubeLinks, LastWordsAreHeardWhoseHeaderWasRead) {
  const wire::Bytes words(words_);
  std::ranges::copy(words.first(5), writable_bytes_of(link_.header.frame).begin());
  link_.header.known = 5;
  send(words.subspan(5));
  EXPECT_EQ(heard(), "no carrier");
}

TEST_F(CubeLinks, WhatBelongsToTheNextCollectiveStaysThere) {
  CubeFrame header;
  header.kind = CubeFrame::Kind::announcement;
  header.bytes = 24;
  send(bytes_of(header));
  send(words_);
  EXPECT_EQ(heard(), "");
  std::vector<std::byte> left(sizeof header + words_.size());
  EXPECT_EQ(recv(link_.fd.get(), left.data(), left.size(), MSG_DONTWAIT),
            static_cast<ssize_t>(left.size()));
}

TEST_F(CubeLinks, WordsThatAreTooLongAreNone) {
  CubeFrame header;
  header.kind = CubeFrame::Kind::failure;
  header.bytes = CubeFrame::failure_text_max + 1;
  send(bytes_of(header));
  send(std::vector<std::byte>(CubeFrame::failure_text_max + 1));
  EXPECT_EQ(heard(), "");
}

TEST_F(CubeLinks, AnEndIsSeen) {
  neighbour_ = FileDescriptor();
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(link_.has_ended);
}

// One that was late for an attempt has connected to nobody, and connects once more.
TEST(CubeAttempts, AConnectionOfTheLastOneIsNotTakenForThis) {
  const auto until = Clock::now() + std::chrono::seconds(30);
  std::array<Job, 2> jobs;
  std::vector<std::vector<CubeInterface>> interfaces;
  std::vector<std::vector<Endpoint>> all;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    jobs[rank].rank = rank;
    jobs[rank].peers.resize(2);
    auto opened =
        open_interfaces({"127.1.0." + std::to_string(rank + 1)}, wire::Ipv4Address(127, 1, 0, 1));
    ASSERT_TRUE(opened) << opened.error().message;
    all.push_back({opened->front().listener.local});
    interfaces.push_back(std::move(*opened));
  }
  const auto connect = [&](std::uint32_t rank, std::uint32_t attempt) {
    const auto layout = CubeLayout::of(CubeLayout::Kind::mesh, rank, 2, 1);
    return connect_links({jobs[rank], *layout, interfaces[rank], all, attempt}, until);
  };
  {
    const auto late = connect(0, 1);
    ASSERT_TRUE(late) << late.error().message;
  }
  Result<std::vector<CubeLink>> low;
  {
    const std::jthread other([&] { low = connect(0, 2); });
    const auto high = connect(1, 2);
    ASSERT_TRUE(high) << high.error().message;
    char byte = 0;
    EXPECT_EQ(recv(high->front().fd.get(), &byte, 1, MSG_DONTWAIT), -1) << "it has not ended";
  }
  EXPECT_TRUE(low);
}

}  // namespace
}  // namespace tributary::host::test
