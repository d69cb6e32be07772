// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/bootstrap.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "host/journal/parameters.h"
#include "host/protocol.h"
#include "host/rendezvous/messages.h"
#include "host/setup.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

// What a rank tells the others: whether it is ready, and rank 0 where it listens. Versions of the
// library agree on its size, the first two fields, and nothing more.
struct Word {
  static constexpr std::uint32_t right_magic = 0x74726962;
  std::uint32_t magic = right_magic;
  std::uint32_t version = rendezvous_version;
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  std::uint8_t failed = 0;
  std::uint8_t unused = 0;
  std::array<char, 32> secret{};
  std::array<char, 208> reason{};  // why it failed, with a null behind it
};
static_assert(std::is_trivially_copyable_v<Word> && sizeof(Word) == 256);

void put_secret(Word& word) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz012345";  // five bits each
  std::array<std::uint8_t, sizeof word.secret> drawn;
  randombytes_buf(drawn.data(), drawn.size());
  std::ranges::transform(drawn, word.secret.begin(),
                         [&](std::uint8_t one) { return letters[one % letters.size()]; });
}

Result<Listener> open_meeting(const CommunicatorOptions& options) {
  return parse_address(options.local_address).and_then([](wire::Ipv4Address address) {
    return listen_on(Endpoint{address, 0});
  });
}

// That it is one of this machine's, where there is one.
Result<void> check_address(const CommunicatorOptions& options) {
  if (options.local_address.empty()) {
    return {};
  }
  return parse_address(options.local_address)
      .and_then([](wire::Ipv4Address address) { return interface_of(address); })
      .map([](const Interface&) {});
}

// What has to be right before the others hear of this rank; where rank 0 listens.
Result<std::optional<Listener>> prepare(CommunicatorOptions& options) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  if (options.local_address.empty() && options.rank == 0) {
    const auto address = address_of_interface({});
    if (!address) {
      return tl::make_unexpected(address.error());
    }
    options.local_address = to_string(*address);
  }
  if (auto checked = check(options).and_then([&] { return check_address(options); }); !checked) {
    return tl::make_unexpected(checked.error());
  }
  if (options.rank != 0) {
    return std::nullopt;
  }
  return open_meeting(options).map(
      [](Listener listener) { return std::optional(std::move(listener)); });
}

Word word_of(const Result<std::optional<Listener>>& prepared) {
  Word word;
  if (!prepared) {
    word.failed = 1;
    prepared.error().message.copy(word.reason.data(), word.reason.size() - 1);
  } else if (*prepared) {
    word.address = (*prepared)->local.address.value();
    word.port = (*prepared)->local.port;
    put_secret(word);
  }
  return word;
}

Result<void> judge(const std::vector<Word>& words) {
  for (std::uint32_t rank = 0; rank < words.size(); ++rank) {
    const auto& word = words[rank];
    if (word.magic != Word::right_magic || word.version != rendezvous_version) {
      return fail(Error::Code::rendezvous, rank_text(rank) +
                                               " has another version of libtributary than this "
                                               "rank; install the same one everywhere");
    }
  }
  const auto failed = std::ranges::find(words, 1, &Word::failed);
  if (failed == words.end()) {
    return {};
  }
  const auto rank = static_cast<std::uint32_t>(failed - words.begin());
  const std::string_view reason(failed->reason.data(), failed->reason.size());
  return fail(Error::Code::rendezvous,
              rank_text(rank) + ": " + std::string(reason.substr(0, reason.find('\0'))));
}

}  // namespace

Result<Communicator> Bootstrap::create(Result<CommunicatorOptions> options,
                                       std::uint32_t world_size, const Allgather& allgather) {
  auto prepared = options ? prepare(*options) : tl::make_unexpected(options.error());
  const auto mine = word_of(prepared);
  std::vector<Word> words(world_size);
  if (!allgather(&mine, words.data(), sizeof mine)) {
    return fail(Error::Code::rendezvous, "the allgather that was given to meet by has failed");
  }
  if (!prepared) {
    return tl::make_unexpected(prepared.error());
  }
  if (auto judged = judge(words); !judged) {
    return tl::make_unexpected(judged.error());
  }
  const auto& first = words.front();
  options->rendezvous = to_string(Endpoint{wire::Ipv4Address(first.address), first.port});
  if (options->secret.empty()) {
    options->secret.assign(first.secret.data(), first.secret.size());
  }
  return *prepared ? Communicator::create(*options, std::move(**prepared))
                   : Communicator::create(*options);
}

bool Bootstrap::attend(const Allgather& allgather) {
  const Word mine;
  Word heard;
  return allgather(&mine, &heard, sizeof mine);
}

CommunicatorOptions options_of_part(const CommunicatorOptions& options) {
  auto part = options;
  part.job = 0;
  const auto& protocol = default_protocol();
  const auto is_called = [&](const Algorithm& one) { return one.name == options.algorithm; };
  if (options.algorithm != ring_algorithm && std::ranges::none_of(protocol.algorithms, is_called)) {
    part.algorithm = automatic_algorithm;
  }
  std::erase_if(part.parameters, [&](const auto& given) {
    const auto is_given = [&](const Parameter& one) { return one.name == given.first; };
    return std::ranges::none_of(protocol.parameters, is_given) &&
           std::ranges::none_of(journal_parameters, is_given);
  });
  return part;
}

}  // namespace tributary::host
