// SPDX-License-Identifier: BSD-3-Clause
// Whatever a client writes, every message it contains gets one well-formed reply.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <spdlog/spdlog.h>

#include "control/dispatcher.h"
#include "control/protocol.h"
#include "fake_backend.h"
#include "support/unload_handlers.h"
#include "tree_parts.h"

namespace {

using namespace tributary::control;

void check_reply(std::string_view request, FakeBackend& backend) {
  const auto reply = parse_json(dispatch(request, backend));
  if (!reply || !reply->is_object() || reply->value("version", 0) != protocol_version ||
      reply->contains("result") == reply->contains("error")) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const tributary::test::UnloadHandlers unload_handlers;
  FakeBackend backend;
  add_panama(backend.running);
  check_reply(bytes, backend);  // as one message ...
  FrameDecoder decoder(request_bytes_max);
  const std::size_t half = size / 2;
  decoder.append(bytes.substr(0, half));  // ... and as a stream that comes in two pieces
  while (const auto message = decoder.next()) {
    check_reply(*message, backend);
  }
  decoder.append(bytes.substr(half));
  while (const auto message = decoder.next()) {
    check_reply(*message, backend);
  }
  return 0;
}
