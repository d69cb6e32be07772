// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/bootstrap.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sodium/core.h>
#include <sodium/crypto_generichash.h>
#include <sodium/randombytes.h>
#include <sodium/utils.h>

#include "host/journal/unread_variables.h"
#include "host/parallel/seating.h"
#include "host/protocol.h"
#include "host/rendezvous/messages.h"
#include "host/setup.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

// The lowest eight bits count versions of words; above them is that of the rendezvous that follows.
constexpr std::uint32_t right_version = rendezvous_version << 8 | 2;

// A rank tells the others whether it is ready, where it is, and rank 0 where it listens. Versions
// of the library agree on a word's size, the first two fields, and nothing more.
struct Word {
  static constexpr std::uint32_t right_magic = 0x74726962;
  std::uint32_t magic = right_magic;
  std::uint32_t version = right_version;
  std::array<std::uint8_t, 16> address{};  // wire::IpAddress::octets()
  std::uint16_t port = 0;
  std::uint8_t failed = 0;
  std::uint8_t shares = 0;  // 1: it wants to share its machine
  std::array<char, 32> secret{};
  std::array<char, 4> unused{};
  std::uint64_t machine = 0;       // see machine_number()
  std::array<char, 184> reason{};  // why it failed, with a null behind it
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
  return parse_ip_address(options.local_address).and_then([](const wire::IpAddress& address) {
    return listen_on(Endpoint::at(address, 0));
  });
}

// Fails if there is an address that is not one of this machine's.
Result<void> check_address(const CommunicatorOptions& options) {
  if (options.local_address.empty()) {
    return {};
  }
  return parse_ip_address(options.local_address)
      .and_then([](const wire::IpAddress& address) { return interface_of(address); })
      .map([](const Interface&) {});
}

// Does what has to go well before the others hear of this rank. Returns where rank 0 listens.
Result<std::optional<Listener>> prepare(CommunicatorOptions& options) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  if (options.membership != Membership::fixed) {
    return fail(Error::Code::invalid_argument,
                "ranks that meet by an allgather of theirs stay the same; leave "
                "TRIBUTARY_MEMBERSHIP at fixed, or have them meet at a keeper's address");
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
    word.address = (*prepared)->local.ip().octets();
    word.port = (*prepared)->local.port;
    put_secret(word);
  }
  return word;
}

Result<void> judge(const std::vector<Word>& words) {
  for (std::uint32_t rank = 0; rank < words.size(); ++rank) {
    const auto& word = words[rank];
    if (word.magic != Word::right_magic || word.version != right_version) {
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

// Returns nothing where each rank stands for itself.
std::optional<Seating> seating_of(const std::vector<Word>& words) {
  std::vector<std::uint64_t> machines;
  std::ranges::transform(words, std::back_inserter(machines), &Word::machine);
  Seating seating(machines);
  const bool all_want =
      std::ranges::all_of(words, [](const Word& word) { return word.shares == 1; });
  return all_want && seating.is_shared() ? std::optional(std::move(seating)) : std::nullopt;
}

// Names the ranks of this meeting. Everybody on a machine may see the name, so the secret is not in
// it.
std::string name_of_meeting(const Word& first) {
  std::array<unsigned char, 16> hash;
  crypto_generichash(hash.data(), hash.size(),
                     reinterpret_cast<const unsigned char*>(first.secret.data()),
                     first.secret.size(), nullptr, 0);
  std::array<char, 2 * hash.size() + 1> text;
  sodium_bin2hex(text.data(), text.size(), hash.data(), hash.size());
  return std::string("tributary ") + text.data();
}

}  // namespace

Result<Communicator> Bootstrap::create(Result<CommunicatorOptions> options,
                                       std::uint32_t world_size, const Allgather& allgather,
                                       Sharing sharing, const std::atomic<bool>* given_up) {
  const auto given_address = options ? options->local_address : std::string();
  auto prepared = options ? prepare(*options) : tl::make_unexpected(options.error());
  auto mine = word_of(prepared);
  // Sums that are to be reproducible must not depend on who is beside whom.
  if (prepared && sharing == Sharing::machine && !options->reproducible) {
    mine.shares = 1;
    mine.machine = machine_number(given_address);
  }
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
  tell_of_unread_variables(*options);
  const auto& first = words.front();
  options->rendezvous = to_string(Endpoint::at(wire::IpAddress(first.address), first.port));
  if (options->secret.empty()) {
    options->secret.assign(first.secret.data(), first.secret.size());
  }
  Listener* const listener = *prepared ? &**prepared : nullptr;
  const auto seating = seating_of(words);
  return seating
             ? Communicator::create_sharing(*options, *seating, name_of_meeting(first), listener)
             : Communicator::create(*options, listener, {}, given_up);
}

bool Bootstrap::attend(const Allgather& allgather) {
  const Word mine;
  Word heard;
  return allgather(&mine, &heard, sizeof mine);
}

CommunicatorOptions options_of_part(const CommunicatorOptions& options) {
  auto part = options;
  part.job = 0;
  part.membership = Membership::fixed;
  const auto& protocol = default_protocol();
  const auto is_called = [&](const Algorithm& one) { return one.name == options.algorithm; };
  bool measures = true;
  if (options.algorithm != ring_algorithm && std::ranges::none_of(protocol.algorithms, is_called)) {
    part.algorithm = automatic_algorithm;
    measures = options.algorithm == automatic_algorithm;
  }
  const auto own = own_parameters();
  std::erase_if(part.parameters, [&](const auto& given) {
    return !has_parameter(protocol, given.first) &&
           std::ranges::none_of(own,
                                [&](const Parameter* one) { return one->name == given.first; });
  });
  // Whoever names an algorithm wants no other bits than by that; hosts do not take over from it.
  if (!measures) {
    part.set("tune", "off");
  }
  return part;
}

}  // namespace tributary::host
