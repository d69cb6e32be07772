// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "generate.h"
#include "options.h"
#include "pcap_file.h"

namespace {

int run(int argc, char** argv) {
  const auto parsed = tributary::pktgen::parse(argc, argv);
  if (!parsed.options) {
    return parsed.exit_code;
  }
  const auto& options = *parsed.options;
  if (options.mode() == tributary::traffic::Mode::pcap) {
    return tributary::pktgen::write_pcap(options);
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("tributary-pktgen"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
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
