// SPDX-License-Identifier: BSD-3-Clause
#include "control/protocol.h"

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

using nlohmann::json;

TEST(ProtocolTest, framed_puts_a_big_endian_length_in_front) {
  EXPECT_EQ(framed("ab"), std::string("\0\0\0\2ab", 6));
  EXPECT_EQ(framed(std::string(0x1234, 'x')).substr(0, 4), std::string("\0\0\x12\x34", 4));
}

TEST(ProtocolTest, decoder_cuts_any_splitting_into_the_same_messages) {
  const std::string stream = framed("one") + framed("three") + framed("2");
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    FrameDecoder decoder(100);
    std::vector<std::string> messages;
    for (const std::string& piece : {stream.substr(0, split), stream.substr(split)}) {
      decoder.append(piece);
      while (const auto message = decoder.next()) {
        messages.emplace_back(*message);
      }
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"one", "three", "2"})) << split;
    EXPECT_FALSE(decoder.partial());
  }
}

TEST(ProtocolTest, decoder_breaks_on_lengths_beyond_the_limit_and_on_zero) {
  for (const std::string& frame : {framed(std::string(11, 'x')), framed("")}) {
    FrameDecoder decoder(10);
    decoder.append(frame);
    EXPECT_FALSE(decoder.next());
    EXPECT_TRUE(decoder.broken());
  }
  FrameDecoder decoder(10);
  decoder.append(framed(std::string(10, 'x')));
  EXPECT_TRUE(decoder.next());
}

TEST(ProtocolTest, parse_json_bounds_the_depth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(json_depth_max)));
  EXPECT_FALSE(parse_json(nested(json_depth_max + 1)));
  EXPECT_FALSE(parse_json(nested(500000)));
  EXPECT_TRUE(parse_json("\"" + std::string(100, '[') + "\\\"[\""));  // brackets in a string
}

TEST(ProtocolTest, parse_request_takes_what_request_text_makes) {
  const auto request =
      parse_request(request_text({7, "port.list", {{"limit", 5}}, std::chrono::seconds(20)}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id, 7u);
  EXPECT_EQ(request->method, "port.list");
  EXPECT_EQ(request->params["limit"], 5);
  EXPECT_EQ(request->timeout, std::chrono::seconds(20));
}

TEST(ProtocolTest, parse_request_bounds_the_timeout) {
  const auto request =
      parse_request(R"({"version":1,"method":"a","timeout_ms":18446744073709551615})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->timeout, std::chrono::hours(24));
  EXPECT_EQ(parse_request(R"({"version":1,"method":"a"})")->timeout.count(), 0);
}

TEST(ProtocolTest, parse_request_refuses_other_versions_and_shapes) {
  const auto code = [](std::string_view text) { return parse_request(text).error().code; };
  EXPECT_EQ(code(R"({"version":2,"method":"a"})"), ErrorCode::version);
  EXPECT_EQ(code(R"({"method":"a"})"), ErrorCode::version);
  EXPECT_EQ(code(R"({"version":1.0,"method":"a"})"), ErrorCode::version);
  EXPECT_EQ(code(R"({"version":1})"), ErrorCode::malformed);
  EXPECT_EQ(code(R"({"version":1,"method":5})"), ErrorCode::malformed);
  EXPECT_EQ(code(R"({"version":1,"method":"a","params":[]})"), ErrorCode::malformed);
  EXPECT_EQ(code(R"({"version":1,"method":"a","id":-1})"), ErrorCode::malformed);
  EXPECT_EQ(code(R"({"version":1,"method":"a","extra":1})"), ErrorCode::malformed);
  EXPECT_EQ(code(R"({"version":1,"method":"a","timeout_ms":-1})"), ErrorCode::malformed);
  EXPECT_EQ(code("[]"), ErrorCode::malformed);
  EXPECT_EQ(code(""), ErrorCode::malformed);
  EXPECT_EQ(code("{\"version\":1,\"method\":\"\xff\"}"), ErrorCode::malformed);
}

TEST(ProtocolTest, parse_reply_gives_the_result_or_the_failure) {
  EXPECT_EQ((*parse_reply(reply_text(3, json{{"a", 1}}), 3))["a"], 1);
  EXPECT_FALSE(parse_reply(reply_text(3, json{{"a", 1}}), 4));
  const auto failed =
      parse_reply(reply_text(3, Failure{ErrorCode::refused, "no", json::array({1})}), 3);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::refused);
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(failed.error().details, json::array({1}));
}

TEST(ProtocolTest, error_codes_have_names_that_read_back) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    EXPECT_EQ(error_code(name(static_cast<ErrorCode>(i))), static_cast<ErrorCode>(i));
  }
}

}  // namespace
}  // namespace tributary::control
