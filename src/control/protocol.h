// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace tributary::control {

// A message on the control socket is a big-endian 32-bit length, then so many bytes of JSON
// (docs/reference/control-protocol.md). What a peer sends is never trusted: its size and nesting
// are bounded before anything is parsed.
inline constexpr int protocol_version = 1;
inline constexpr std::size_t frame_prefix_bytes = 4;
inline constexpr std::size_t request_bytes_max = 1024 * 1024;
inline constexpr std::size_t reply_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t json_depth_max = 32;

// Says why a request was not answered with a result. The names are on the wire.
enum class ErrorCode : std::uint8_t {
  malformed,  // it is no request: JSON, depth, members, types
  version,    // it is of another protocol version
  unknown_method,
  invalid_params,
  configuration,  // the configuration sent along is wrong; `details` lists why
  refused,        // it is understood, but cannot be done
  late,           // a packet core did not answer in time; nothing is known
  busy,           // too many clients
  internal,
};
std::string_view name(ErrorCode code);
// Returns the code of this name; `internal` for names of the future.
ErrorCode error_code(std::string_view name);

struct Failure {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  nlohmann::json details;  // null where there is nothing to add
};

struct Request {
  std::uint64_t id = 0;
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  std::chrono::milliseconds timeout{};  // for which the client waits; 0: it does not say
};

// Turns JSON text into a value, or says why not. It never throws, whatever the bytes.
tl::expected<nlohmann::json, std::string> parse_json(std::string_view text);

tl::expected<Request, Failure> parse_request(std::string_view text);
std::string request_text(const Request& request);
std::string reply_text(std::uint64_t id, const nlohmann::json& result);
std::string reply_text(std::uint64_t id, const Failure& failure);
// Returns the result in a reply to request `id`, or the failure it carries.
tl::expected<nlohmann::json, Failure> parse_reply(std::string_view text, std::uint64_t id);

// Returns `message` behind its length.
std::string framed(std::string_view message);

// Cuts a stream of bytes into messages.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t message_bytes_max) : max_(message_bytes_max) {}

  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Returns the next whole message; it stays valid until the next call of any member.
  std::optional<std::string_view> next();
  // The announced length is beyond the limit, or zero: nothing after it makes sense.
  bool broken() const { return broken_; }
  bool partial() const { return buffer_.size() > consumed_; }

 private:
  std::size_t max_;
  std::string buffer_;
  std::size_t consumed_ = 0;  // bytes at the front that were handed out
  bool broken_ = false;
};

}  // namespace tributary::control
