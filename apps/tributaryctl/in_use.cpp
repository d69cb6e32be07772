// SPDX-License-Identifier: BSD-3-Clause
#include "in_use.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tributary::ctl {
namespace {

using controller::silence_s;
using controller::TreeUse;
using nlohmann::json;

// A JobUse is what the switches tell of one job.
struct JobUse {
  std::set<std::uint32_t> trees;
  std::set<std::string> switches;
  std::optional<double> idle_s;  // silence of the part that was heard last

  json to_json(std::uint32_t job) const {
    return {{"job", job},
            {"trees", trees},
            {"switches", switches},
            {"idle_seconds", idle_s ? json(*idle_s) : json(nullptr)}};
  }
  std::string text(std::uint32_t job) const {
    return "job " + std::to_string(job) + " (" + (trees.size() == 1 ? "tree " : "trees ") +
           joined(trees) + "; " +
           (idle_s ? "last packet " + seconds_for_people(*idle_s) + " ago" : "active") + ")";
  }
};

}  // namespace

ExitCode report_in_use(const Options& options, const std::vector<TreeUse>& uses) {
  std::map<std::uint32_t, JobUse> jobs;
  for (const TreeUse& use : uses) {
    JobUse& job = jobs[use.job];
    job.trees.insert(use.tree);
    job.switches.insert(use.switch_name);
    if (use.idle_s) {
      job.idle_s = std::min(job.idle_s.value_or(*use.idle_s), *use.idle_s);
    }
  }
  json list = json::array();
  std::string texts;
  for (const auto& [id, job] : jobs) {
    list.push_back(job.to_json(id));
    texts += (texts.empty() ? "" : ", ") + job.text(id);
  }
  return report(options, ExitCode::failed, "in_use",
                "trees are in use, and nothing was removed: " + texts +
                    "; end the workers and wait " + std::to_string(silence_s) +
                    " s, or pass --force",
                {{"in_use", std::move(list)}});
}

}  // namespace tributary::ctl
