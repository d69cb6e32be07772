// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/membership/messages.h"
#include "host/rendezvous/secret.h"
#include "wire/cursor.h"

namespace tributary::host {

struct Word {
  WordKind kind{};
  std::vector<std::byte> body;
};

// Returns what begins with `head`, and goes on with `rest`.
template <typename Head>
std::vector<std::byte> body_of(const Head& head, wire::Bytes rest = {}) {
  std::vector<std::byte> body(sizeof head + rest.size());
  std::memcpy(body.data(), &head, sizeof head);
  if (!rest.empty()) {
    std::memcpy(body.data() + sizeof head, rest.data(), rest.size());
  }
  return body;
}
inline wire::Bytes bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string text_of(wire::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the greeting by which a process begins its session with a keeper.
MemberGreeting greeting_of(const MemberHello& hello, const RendezvousSession& session,
                           const Secret& secret);

// The words on one connection of a keeper, both ways, at one of its ends, without I/O.
class WordStream {
 public:
  enum class End : std::uint8_t { keeper, member };

  WordStream(const Secret& secret, const RendezvousSession& session, End mine)
      : secret_(secret), session_(session), mine_(mine) {}

  // Returns the bytes of the next word to be sent.
  std::vector<std::byte> write(const Word& word);
  void feed(wire::Bytes bytes);
  // Returns the next word that has come; nothing if there is none yet. After an error nothing more
  // of the connection makes sense.
  Result<std::optional<Word>> next();

 private:
  Secret secret_;
  RendezvousSession session_;
  End mine_;
  std::uint32_t sent_ = 0;
  std::uint32_t heard_ = 0;
  std::vector<std::byte> bytes_;  // that are no whole word yet
};

}  // namespace tributary::host
