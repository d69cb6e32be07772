// SPDX-License-Identifier: BSD-3-Clause
#include "control/protocol.h"

#include <algorithm>
#include <iterator>

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr std::string_view error_names[] = {"malformed",      "version",       "unknown_method",
                                            "invalid_params", "configuration", "refused",
                                            "late",           "busy",          "internal"};

// Nobody waits longer, and so much can be counted in all units of time.
constexpr std::uint64_t timeout_ms_max = 24 * 60 * 60 * 1000;

tl::unexpected<Failure> malformed(std::string message) {
  return tl::unexpected(Failure{ErrorCode::malformed, std::move(message), nullptr});
}

// Counts the nesting of a JSON text before it is parsed. This is exact for valid JSON.
bool nested_deeper_than(std::string_view text, std::size_t max) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max) {
        return true;
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::string dumped(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool is_current_version(const json* version) {
  return version != nullptr && version->is_number_integer() &&
         version->get<std::int64_t>() == protocol_version;
}

}  // namespace

std::string_view name(ErrorCode code) {
  return error_names[static_cast<std::size_t>(code)];
}

ErrorCode error_code(std::string_view name) {
  for (std::size_t i = 0; i < std::size(error_names); ++i) {
    if (error_names[i] == name) {
      return static_cast<ErrorCode>(i);
    }
  }
  return ErrorCode::internal;
}

tl::expected<json, std::string> parse_json(std::string_view text) {
  if (nested_deeper_than(text, json_depth_max)) {
    return tl::unexpected("JSON is nested deeper than " + std::to_string(json_depth_max));
  }
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    return tl::unexpected(std::string("not valid JSON"));
  }
  return value;
}

tl::expected<Request, Failure> parse_request(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) {
    return malformed(parsed.error());
  }
  if (!parsed->is_object()) {
    return malformed("a request is a JSON object");
  }
  if (!is_current_version(member(*parsed, "version"))) {
    return tl::unexpected(Failure{
        ErrorCode::version,
        "this daemon speaks protocol version " + std::to_string(protocol_version), nullptr});
  }
  Request request;
  for (auto& [key, value] : parsed->items()) {
    if (key == "id" && value.is_number_unsigned()) {
      request.id = value.get<std::uint64_t>();
    } else if (key == "method" && value.is_string()) {
      request.method = value.get<std::string>();
    } else if (key == "params" && value.is_object()) {
      request.params = std::move(value);
    } else if (key == "timeout_ms" && value.is_number_unsigned()) {
      request.timeout =
          std::chrono::milliseconds(std::min(value.get<std::uint64_t>(), timeout_ms_max));
    } else if (key != "version") {
      return malformed("unknown or wrong member `" + key.substr(0, 64) + "` in the request");
    }
  }
  if (request.method.empty()) {
    return malformed("`method` is missing");
  }
  return request;
}

std::string request_text(const Request& request) {
  json message = {{"version", protocol_version},
                  {"id", request.id},
                  {"method", request.method},
                  {"params", request.params}};
  if (request.timeout.count() > 0) {
    message["timeout_ms"] = request.timeout.count();
  }
  return dumped(message);
}

std::string reply_text(std::uint64_t id, const json& result) {
  return dumped({{"version", protocol_version}, {"id", id}, {"result", result}});
}

std::string reply_text(std::uint64_t id, const Failure& failure) {
  json error = {{"code", name(failure.code)}, {"message", failure.message}};
  if (!failure.details.is_null()) {
    error["details"] = failure.details;
  }
  return dumped({{"version", protocol_version}, {"id", id}, {"error", std::move(error)}});
}

tl::expected<json, Failure> parse_reply(std::string_view text, std::uint64_t id) {
  auto parsed = parse_json(text);
  if (!parsed) {
    return malformed("reply: " + parsed.error());
  }
  if (!parsed->is_object() || !is_current_version(member(*parsed, "version"))) {
    return malformed("the reply is of another protocol version");
  }
  if (const json* error = member(*parsed, "error"); error != nullptr && error->is_object()) {
    Failure failure;
    const json* const code = member(*error, "code");
    const json* const message = member(*error, "message");
    if (code != nullptr && code->is_string()) {
      failure.code = error_code(code->get_ref<const std::string&>());
    }
    if (message != nullptr && message->is_string()) {
      failure.message = message->get<std::string>();
    }
    if (const json* details = member(*error, "details")) {
      failure.details = *details;
    }
    return tl::unexpected(std::move(failure));
  }
  const json* const reply_id = member(*parsed, "id");
  const auto result = parsed->find("result");
  if (result == parsed->end() || reply_id == nullptr || *reply_id != id) {
    return malformed("the reply has no result, or answers another request");
  }
  return std::move(*result);
}

std::string framed(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string frame;
  frame.reserve(frame_prefix_bytes + message.size());
  for (const unsigned shift : {24u, 16u, 8u, 0u}) {
    frame.push_back(static_cast<char>((size >> shift) & 0xffu));
  }
  return frame.append(message);
}

std::optional<std::string_view> FrameDecoder::next() {
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  if (broken_ || buffer_.size() < frame_prefix_bytes) {
    return std::nullopt;
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < frame_prefix_bytes; ++i) {
    length = (length << 8) | static_cast<unsigned char>(buffer_[i]);
  }
  if (length == 0 || length > max_) {
    broken_ = true;
    return std::nullopt;
  }
  if (buffer_.size() < frame_prefix_bytes + length) {
    return std::nullopt;
  }
  consumed_ = frame_prefix_bytes + length;
  return std::string_view(buffer_).substr(frame_prefix_bytes, length);
}

}  // namespace tributary::control
