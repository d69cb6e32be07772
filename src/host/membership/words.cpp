// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/words.h"

#include "host/object_bytes.h"

namespace tributary::host {
namespace {

RendezvousStep step_to(WordStream::End end) {
  return end == WordStream::End::keeper ? RendezvousStep::word_to_keeper
                                        : RendezvousStep::word_to_member;
}

WordStream::End other(WordStream::End end) {
  return end == WordStream::End::keeper ? WordStream::End::member : WordStream::End::keeper;
}

std::size_t bytes_max_to(WordStream::End end) {
  return end == WordStream::End::keeper ? word_to_keeper_bytes_max : word_to_member_bytes_max;
}

}  // namespace

MemberGreeting greeting_of(const MemberHello& hello, const RendezvousSession& session,
                           const Secret& secret) {
  MemberGreeting greeting;
  greeting.hello = hello;
  greeting.nonce = session.guest;
  greeting.proof = secret.prove(RendezvousStep::member_greeting, session, bytes_of(greeting.hello));
  return greeting;
}

std::vector<std::byte> WordStream::write(const Word& word) {
  WordHeader header;
  header.kind = static_cast<std::uint16_t>(word.kind);
  header.sequence = sent_++;
  header.bytes = static_cast<std::uint32_t>(word.body.size());
  const auto proof = secret_.prove(step_to(other(mine_)), session_, bytes_of(header), word.body);
  auto bytes = body_of(header, word.body);
  bytes.insert(bytes.end(), bytes_of(proof).begin(), bytes_of(proof).end());
  return bytes;
}

void WordStream::feed(wire::Bytes bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Word>> WordStream::next() {
  wire::Cursor cursor(bytes_);
  const auto* const header = cursor.take<WordHeader>();
  if (header == nullptr) {
    return std::nullopt;
  }
  if (header->magic.value() != membership_magic || header->version.value() != membership_version ||
      header->sequence.value() != heard_ || header->bytes.value() > bytes_max_to(mine_)) {
    return fail(Error::Code::rendezvous, "it sent what is no word about memberships");
  }
  const auto body =
      cursor.rest().first(std::min<std::size_t>(cursor.rest().size(), header->bytes.value()));
  (void)cursor.skip(body.size());
  const auto* const proof = cursor.take<RendezvousProof>();
  if (body.size() < header->bytes.value() || proof == nullptr) {
    return std::nullopt;
  }
  if (!secret_.believes(*proof, step_to(mine_), session_, bytes_of(*header), body)) {
    return fail(Error::Code::rendezvous,
                "it does not know the secret; give all ranks and the keeper the same "
                "TRIBUTARY_SECRET");
  }
  ++heard_;
  Word word{static_cast<WordKind>(header->kind.value()), {body.begin(), body.end()}};
  const auto rest = cursor.rest();
  bytes_.erase(bytes_.begin(), bytes_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return word;
}

}  // namespace tributary::host
