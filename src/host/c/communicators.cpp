// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/c/border.h"
#include "host/c/objects.h"
#include "host/c/tributary.h"
#include "host/partial_result.h"
#include "host/rendezvous/bootstrap.h"
#include "host/text.h"

using namespace tributary;  // the functions are C's
using host::invalid;
using host::Sharing;
using host::c::guarded;

namespace {

host::Variables variables_of(const tributary_options* options) {
  return options == nullptr ? host::Variables{} : options->variables;
}

Sharing sharing_of(const tributary_options* options) {
  return options != nullptr && options->share_machine ? Sharing::machine : Sharing::none;
}

// Takes the options that are no variables.
void take_the_rest(const tributary_options* given, CommunicatorOptions& options) {
  if (given == nullptr) {
    return;
  }
  options.on_notice = given->on_notice;
  if (given->for_part) {
    options = host::options_of_part(options);
  }
}

// Rank and size are taken from the communicator, as an elastic world gives them itself.
Result<void> keep(CommunicatorOptions options, Sharing sharing, tributary_comm** comm,
                  const host::Stream::Make& make) {
  return host::Stream::over(make).map([&](std::unique_ptr<host::Stream> stream) {
    options.rank = stream->communicator().rank();
    options.world_size = stream->communicator().world_size();
    *comm = new tributary_comm(options, sharing, std::move(stream));
  });
}

// Ranks that meet by an allgather tell each other of an error in place of options.
Result<CommunicatorOptions> if_ready(const Result<CommunicatorOptions>& options,
                                     const Result<void>& ready) {
  return ready ? options : tl::make_unexpected(ready.error());
}

host::Bootstrap::Allgather by(tributary_allgather_function allgather, void* context) {
  return [=](const void* in, void* out, std::size_t bytes) {
    return allgather(context, in, out, bytes) == 0;
  };
}

// Has what a rank wants of a split.
struct Wish {
  std::int64_t color = -1;
  std::int64_t key = 0;
};

// Returns the ranks of the communicator that are this one's part, in their new order.
std::vector<std::uint32_t> part_of(const std::vector<Wish>& wishes, std::int64_t color) {
  std::vector<std::uint32_t> part;
  for (std::uint32_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].color == color) {
      part.push_back(rank);
    }
  }
  std::ranges::stable_sort(part, {}, [&](std::uint32_t rank) { return wishes[rank].key; });
  return part;
}

// Returns null where there is no such figure, or it is none of these.
const std::uint64_t* whole_number(const CommunicatorStatistics& all, const char* name) {
  const auto* const general = all.general.find(name);
  const auto* const figure = general == nullptr ? all.carried.figures.find(name) : general;
  return figure == nullptr ? nullptr : std::get_if<std::uint64_t>(&figure->value);
}

Result<void> gather_by(tributary_comm& comm, const void* in, void* out, std::size_t bytes) {
  return comm.stream->run({std::nullopt, [=](Communicator& communicator) {
                             return communicator.allgather(in, out, bytes, wire::ElementType::i8);
                           }});
}

// Returns an allgather of the ranks that are this one's part, by what all ranks of `comm` tell each
// other: all go through it together, whatever their parts. The error of `comm` is kept in `failed`.
host::Bootstrap::Allgather among(tributary_comm& comm, const std::vector<std::uint32_t>& members,
                                 std::optional<Error>& failed) {
  return [&](const void* in, void* out, std::size_t bytes) {
    std::vector<std::byte> all(bytes * comm.options.world_size);
    if (const auto told = gather_by(comm, in, all.data(), bytes); !told) {
      failed = told.error();
      return false;
    }
    auto* to = static_cast<std::byte*>(out);
    for (const auto member : members) {
      to = std::copy_n(all.data() + member * bytes, bytes, to);
    }
    return true;
  };
}

// The part goes by the network that this rank's communicator goes by.
CommunicatorOptions options_of_part(const tributary_comm& comm,
                                    const std::vector<std::uint32_t>& members) {
  auto options = host::options_of_part(comm.options);
  if (options.local_address.empty()) {
    options.local_address = comm.stream->communicator().local_address();
  }
  options.world_size = static_cast<std::uint32_t>(members.size());
  options.rank =
      static_cast<std::uint32_t>(std::ranges::find(members, comm.options.rank) - members.begin());
  return options;
}

Result<void> split(tributary_comm& comm, const Wish& mine, tributary_comm** part) {
  std::vector<Wish> wishes(comm.options.world_size);
  if (auto told = gather_by(comm, &mine, wishes.data(), sizeof mine); !told) {
    return told;
  }
  const bool has_part = mine.color >= 0;
  const auto members = has_part ? part_of(wishes, mine.color) : std::vector{comm.options.rank};
  const auto options = options_of_part(comm, members);
  std::optional<Error> failed;
  const auto allgather = among(comm, members, failed);
  if (!has_part) {
    return host::Bootstrap::attend(allgather) ? Result<void>() : tl::make_unexpected(*failed);
  }
  return keep(options, comm.sharing, part, [&](const Result<void>& ready) {
    auto made = host::Bootstrap::create(if_ready(options, ready), options.world_size, allgather,
                                        comm.sharing);
    return failed ? tl::make_unexpected(*failed) : std::move(made);
  });
}

Result<Communicator> regrouped(tributary_comm& comm, std::uint32_t world_size) {
  std::optional<Communicator> made;
  const auto regroup = [&](Communicator& communicator) {
    return communicator.regroup(world_size).map([&](Communicator found) {
      made.emplace(std::move(found));
    });
  };
  return comm.stream->run({std::nullopt, regroup}).map([&] { return std::move(*made); });
}

}  // namespace

tributary_result tributary_options_create(tributary_options** options) {
  return guarded([&]() -> Result<void> {
    if (options == nullptr) {
      return invalid("there is no place for the options");
    }
    *options = new tributary_options;
    return {};
  });
}

tributary_result tributary_options_set(tributary_options* options, const char* variable,
                                       const char* value) {
  return guarded([&]() -> Result<void> {
    if (options == nullptr || variable == nullptr) {
      return invalid("an option has a name, and options to be put into");
    }
    options->variables.set(variable,
                           value == nullptr ? std::nullopt : std::optional<std::string>(value));
    return {};
  });
}

tributary_result tributary_options_on_notice(tributary_options* options, tributary_notice notice,
                                             void* context) {
  return guarded([&]() -> Result<void> {
    if (options == nullptr) {
      return invalid("there are no options");
    }
    options->on_notice = nullptr;
    if (notice != nullptr) {
      options->on_notice = [=](const std::string& line) { notice(context, line.c_str()); };
    }
    return {};
  });
}

tributary_result tributary_options_for_part(tributary_options* options) {
  return guarded([&]() -> Result<void> {
    if (options == nullptr) {
      return invalid("there are no options");
    }
    options->for_part = true;
    return {};
  });
}

tributary_result tributary_options_share_machine(tributary_options* options) {
  return guarded([&]() -> Result<void> {
    if (options == nullptr) {
      return invalid("there are no options");
    }
    options->share_machine = true;
    return {};
  });
}

void tributary_options_destroy(tributary_options* options) {
  delete options;
}

tributary_result tributary_comm_create(tributary_comm** comm, const tributary_options* options) {
  return guarded([&]() -> Result<void> {
    if (comm == nullptr) {
      return invalid("there is no place for the communicator");
    }
    *comm = nullptr;
    auto all = host::options_of(variables_of(options));
    if (!all) {
      return tl::make_unexpected(all.error());
    }
    if (sharing_of(options) != Sharing::none) {
      return invalid(
          "ranks that meet at an address do not know who is beside whom: have them meet by an "
          "allgather (tributary_comm_create_with), or do not share machines");
    }
    take_the_rest(options, *all);
    return keep(*all, Sharing::none, comm,
                [&](const Result<void>& ready) { return Communicator::create(*all, ready); });
  });
}

tributary_result tributary_comm_create_with(tributary_comm** comm, const tributary_options* options,
                                            uint32_t rank, uint32_t world_size,
                                            tributary_allgather_function allgather, void* context) {
  return guarded([&]() -> Result<void> {
    if (comm == nullptr || allgather == nullptr) {
      return invalid("a communicator has a place to be put into, and an allgather to meet by");
    }
    *comm = nullptr;
    if (world_size == 0) {
      return invalid("a world has one rank or more");
    }
    auto all = host::settings_of(variables_of(options));
    if (rank >= world_size) {  // the others wait for what this one has to say
      all = invalid("rank " + std::to_string(rank) + " does not exist in a world of " +
                    std::to_string(world_size));
    }
    if (all) {
      all->rank = rank;
      all->world_size = world_size;
      take_the_rest(options, *all);
    }
    const auto sharing = sharing_of(options);
    return keep(all.value_or(CommunicatorOptions()), sharing, comm, [&](const Result<void>& ready) {
      return host::Bootstrap::create(if_ready(all, ready), world_size, by(allgather, context),
                                     sharing);
    });
  });
}

tributary_result tributary_comm_split(tributary_comm* comm, int64_t color, int64_t key,
                                      tributary_comm** part) {
  return guarded([&]() -> Result<void> {
    if (part == nullptr) {
      return invalid("there is no place for the communicator");
    }
    *part = nullptr;
    return host::c::usable(comm).and_then([&] { return split(*comm, {color, key}, part); });
  });
}

tributary_result tributary_comm_regroup(tributary_comm* comm, uint32_t world_size,
                                        tributary_comm** next) {
  return guarded([&]() -> Result<void> {
    if (next == nullptr) {
      return invalid("there is no place for the communicator");
    }
    *next = nullptr;
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    const auto make = [&](const Result<void>& ready) {
      return ready.and_then([&] { return regrouped(*comm, world_size); });
    };
    return keep(comm->options, comm->sharing, next, make);
  });
}

tributary_result tributary_comm_membership(const tributary_comm* comm,
                                           tributary_membership* membership) {
  return guarded([&]() -> Result<void> {
    if (membership == nullptr) {
      return invalid("there is no place for the membership");
    }
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    const auto [epoch, newcomers, waiting, ended] = comm->stream->communicator().membership();
    *membership = {epoch, newcomers, waiting, ended ? 1 : 0};
    return {};
  });
}

void tributary_comm_destroy(tributary_comm* comm) {
  if (comm != nullptr && comm->is_here()) {
    delete comm;
  }
}

void tributary_comm_abort(tributary_comm* comm) {
  if (comm != nullptr && comm->is_here()) {
    comm->stream->abort();
  }
}

uint32_t tributary_comm_rank(const tributary_comm* comm) {
  return comm == nullptr ? 0 : comm->options.rank;
}

uint32_t tributary_comm_size(const tributary_comm* comm) {
  return comm == nullptr ? 0 : comm->options.world_size;
}

const char* tributary_comm_algorithm(const tributary_comm* comm) {
  return comm == nullptr ? "" : comm->stream->communicator().algorithm().c_str();
}

tributary_result tributary_comm_statistic(tributary_comm* comm, const char* name, uint64_t* value) {
  return guarded([&]() -> Result<void> {
    if (name == nullptr || value == nullptr) {
      return invalid("a statistic has a name, and a place to be put into");
    }
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    if (std::string_view(name) == "collectives_fused") {
      *value = comm->stream->fused();
      return {};
    }
    const auto counted = [](const Communicator& communicator) { return communicator.statistics(); };
    return comm->stream->between_collectives(counted).and_then(
        [&](const CommunicatorStatistics& all) -> Result<void> {
          const auto* const number = whole_number(all, name);
          if (number == nullptr) {
            return invalid("no whole number is counted by the name of " + std::string(name));
          }
          *value = *number;
          return {};
        });
  });
}

tributary_result tributary_comm_partial_results(tributary_comm* comm,
                                                tributary_partial_result* results,
                                                uint64_t* missing, size_t* count) {
  return guarded([&]() -> Result<void> {
    if (count == nullptr || (*count != 0 && (results == nullptr || missing == nullptr))) {
      return invalid(
          "there is no place for the ranges, their missing ranks, or how many there are");
    }
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    const auto asked = [](const Communicator& communicator) {
      return communicator.partial_results();
    };
    return comm->stream->between_collectives(asked)
        .and_then([](auto partial) { return partial; })
        .map([&](const std::vector<PartialResult>& all) {
          const auto told = std::min(*count, all.size());
          const auto words = TRIBUTARY_RANK_WORDS(std::size_t{comm->options.world_size});
          std::fill_n(missing, told * words, 0);
          for (std::size_t i = 0; i < told; ++i, missing += words) {
            results[i] = {all[i].first, all[i].count,
                          static_cast<std::uint32_t>(all[i].missing.size())};
            for (const auto rank : all[i].missing) {
              missing[rank / 64] |= std::uint64_t{1} << rank % 64;
            }
          }
          *count = all.size();
        });
  });
}
