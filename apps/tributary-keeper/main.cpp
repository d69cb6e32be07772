// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "control/log_queue.h"
#include "decimal.h"
#include "end_of_parse.h"
#include "exit_codes.h"
#include "host/membership/keeper.h"
#include "host/transport/address.h"
#include "signals.h"

namespace tributary {
namespace {

// Whoever does not read the log, or has it written by strangers at the door, stops no rank.
control::LogQueue& log_queue() {
  constexpr std::size_t capacity = 64 * 1024;
  static control::LogQueue queue(STDERR_FILENO, capacity, [](std::uint64_t missing) {
    return "tributary-keeper: " + std::to_string(missing) +
           " lines are missing here, as nobody took them\n";
  });
  return queue;
}

void say(const std::string& line) {
  log_queue().push("tributary-keeper: " + line + "\n");
}

std::string secret_of_environment() {
  const char* const secret = std::getenv("TRIBUTARY_SECRET");
  return secret == nullptr ? "" : secret;
}

// The keeper needs a descriptor for each rank of the world.
void raise_limit_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int serve(const std::string& listen) {
  const auto secret = secret_of_environment();
  const auto place = host::resolve(listen, "--listen");
  if (!place) {
    say(place.error().message);
    return apps::exit_failed;
  }
  auto keeper = host::Keeper::at(*place, secret, say);
  if (!keeper) {
    say("--listen: " + keeper.error().message);
    return apps::exit_failed;
  }
  say("listens at " + host::to_string(keeper->place()) +
      (secret.empty() ? ": whoever reaches it is believed, as there is no TRIBUTARY_SECRET" : ""));
  keeper->serve(apps::is_stop_requested);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Keeps the memberships of an elastic world: its ranks have this address and port as "
      "MASTER_ADDR and MASTER_PORT, TRIBUTARY_MEMBERSHIP=elastic, and the same TRIBUTARY_SECRET in "
      "their environment.",
      "tributary-keeper");
  std::string listen;
  app.add_option("--listen,-l", listen, "where ranks come to, as in 10.0.0.1:29500")
      ->required()
      ->type_name("ADDRESS:PORT");
  app.set_version_flag("--version", "tributary-keeper " TRIBUTARY_VERSION);
  try {
    apps::parse_decimal(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return apps::end_of_parse(app, error);
  }
  apps::catch_signals();
  raise_limit_of_descriptors();
  const int code = serve(listen);
  (void)log_queue().written(std::chrono::milliseconds(500));
  return code;
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  try {
    return tributary::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tributary-keeper: %s\n", error.what());
    return tributary::apps::exit_failed;
  }
}
