// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <string>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "feed.h"
#include "generate.h"
#include "options.h"
#include "pcap_file.h"

namespace {

void start_logging(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("tributary-pktgen"));
  spdlog::set_level(spdlog::level::from_str(level));
}

int run(int argc, char** argv) {
  const auto parsed = tributary::pktgen::parse(argc, argv);
  if (parsed.feed) {
    start_logging(parsed.feed->log_level);
    return tributary::pktgen::feed(*parsed.feed);
  }
  if (!parsed.options) {
    return parsed.exit_code;
  }
  const auto& options = *parsed.options;
  if (options.mode() == tributary::traffic::Mode::pcap) {
    return tributary::pktgen::write_pcap(options);
  }
  start_logging(options.log_level);
  return tributary::pktgen::generate(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // memory, mostly
    std::fprintf(stderr, "tributary-pktgen: %s\n", error.what());
    return 1;
  }
}
