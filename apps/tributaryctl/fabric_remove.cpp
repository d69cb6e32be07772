// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {

ExitCode fabric_remove(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  if (!live.all_answer() && !fabric.skip_unreachable) {
    return report_silent(options, *file, live);
  }
  const auto jobs = fabric.jobs.empty() ? ids_of(*file) : fabric.jobs;
  const auto changes = control::changes_between(live.changeable(), {}, jobs);
  if (const auto done = carry_out(options, *file, live, changes); !done) {
    return done.error();
  }
  if (options.json) {
    print_json(
        {{"changes", to_json(*file, changes)}, {"unreachable", silent_switches(*file, live)}});
    return ExitCode::ok;
  }
  print_silent(*file, live);
  if (changes.empty()) {
    std::printf("nothing to remove\n");
  } else {
    std::printf("removed from %s\n", names_of(*file, changes).c_str());
  }
  return ExitCode::ok;
}

}  // namespace tributary::ctl
