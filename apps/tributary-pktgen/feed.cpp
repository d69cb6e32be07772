// SPDX-License-Identifier: BSD-3-Clause
#include "feed.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <utility>

#include "control/cores.h"
#include "control/loader.h"
#include "dataplane/dataplane.h"
#include "dataplane/feed.h"
#include "failure.h"
#include "feed_plan.h"
#include "feed_report.h"
#include "frame_file.h"
#include "output_file.h"
#include "signals.h"

namespace tributary::pktgen {
namespace {

using Sources = std::deque<dataplane::FeedSource>;

constexpr std::chrono::milliseconds look_interval{100};  // between two looks at links
// The switch is measured for longer if nothing came: on a busy machine the feeder may not have run
// at all.
constexpr int durations_max = 20;

tl::expected<FeedPlan, std::string> load_plan(const FeedOptions& options) {
  auto config = control::load_config(options.config);
  if (!config) {
    return tl::unexpected(control::to_string(config.error()));
  }
  std::vector<unsigned> cpus;
  for (const auto& cpu : control::allowed_cpus()) {
    cpus.push_back(cpu.number);
  }
  return plan_feed(std::move(*config), options, cpus);
}

tl::expected<Sources, std::string> read_sources(const FeedPlan& plan) {
  Sources sources;
  for (const auto& queue : plan.queues) {
    auto frames = read_frames(queue.file, queue.frame_bytes_max);
    if (!frames) {
      return tl::unexpected(frames.error());
    }
    sources.push_back({queue.device, queue.queue, 0, std::move(*frames)});
  }
  return sources;
}

// Only the data plane knows which of its cores polls a queue.
control::Outcome find_cpus(const FeedPlan& plan, dataplane::Dataplane& dataplane,
                           Sources& sources) {
  const auto ports = dataplane.ports();
  if (!ports) {
    return tl::unexpected(ports.error());
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& queue = plan.queues[i];
    for (const auto& port : *ports) {
      if (port.switch_name == queue.switch_name && port.name == queue.port) {
        sources[i].cpu = port.cpus.at(queue.queue);
      }
    }
  }
  return {};
}

double seconds_of(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A Feeder is a thread that feeds from its own CPU while it lives.
class Feeder {
 public:
  Feeder(dataplane::Feed& feed, unsigned cpu) : thread_([this, &feed] { feed.run(stop_); }) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(thread_.native_handle(), sizeof(set), &set);
    pthread_getcpuclockid(thread_.native_handle(), &clock_);
  }
  ~Feeder() {
    stop_.store(true);
    thread_.join();
  }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  // All CPU time of the process but the feeder's and the caller's is the packet cores'.
  double cpu_seconds_of_others() const {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(clock_) -
           seconds_of(CLOCK_THREAD_CPUTIME_ID);
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  clockid_t clock_{};
};

tl::expected<FeedReading, std::string> read(dataplane::Dataplane& dataplane,
                                            const dataplane::Feed& feed, const Feeder& feeder) {
  FeedReading reading;
  reading.seconds = seconds_of(CLOCK_MONOTONIC_RAW);
  reading.feed = feed.counters();
  reading.cpu_seconds = feeder.cpu_seconds_of_others();
  auto engines = dataplane.engines();
  auto switches = engines ? dataplane.switches() : tl::unexpected(engines.error());
  auto ports = switches ? dataplane.ports() : tl::unexpected(switches.error());
  auto daemon = ports ? dataplane.status() : tl::unexpected(ports.error());
  if (!daemon) {
    return tl::unexpected(daemon.error());
  }
  reading.engines = std::move(*engines);
  reading.switches = std::move(*switches);
  reading.ports = std::move(*ports);
  reading.daemon = std::move(*daemon);
  return reading;
}

void let_pass(dataplane::Dataplane& dataplane, Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  for (auto now = end - duration; now < end && !apps::is_stop_requested();
       now = std::chrono::steady_clock::now()) {
    std::this_thread::sleep_until(std::min(now + look_interval, end));
    dataplane.poll_links();
  }
}

tl::expected<FeedResult, std::string> measure(const FeedOptions& options,
                                              dataplane::Dataplane& dataplane,
                                              const dataplane::Feed& feed, const Feeder& feeder) {
  let_pass(dataplane, options.warm_up);
  if (apps::is_stop_requested()) {
    return tl::unexpected(std::string("stopped before anything was measured"));
  }
  const auto before = read(dataplane, feed, feeder);
  if (!before) {
    return tl::unexpected(before.error());
  }
  FeedResult result;
  int waited = 0;
  do {
    let_pass(dataplane, options.duration);
    const auto after = read(dataplane, feed, feeder);
    if (!after) {
      return tl::unexpected(after.error());
    }
    result = gain(*before, *after);
  } while (result.packets == 0 && ++waited < durations_max && !apps::is_stop_requested());
  return result;
}

tl::expected<FeedResult, std::string> run(const FeedOptions& options) {
  const auto plan = load_plan(options);
  if (!plan) {
    return tl::unexpected(plan.error());
  }
  auto sources = read_sources(*plan);
  if (!sources) {
    return tl::unexpected(sources.error());
  }
  std::unique_ptr<dataplane::Feed> feed;  // outlives the devices
  const auto dataplane = dataplane::Dataplane::open(plan->config, TRIBUTARY_VERSION);
  if (!dataplane) {
    return tl::unexpected(dataplane.error());
  }
  if (const auto found = find_cpus(*plan, **dataplane, *sources); !found) {
    return tl::unexpected(found.error());
  }
  auto attached =
      dataplane::Feed::attach(std::move(*sources), (*dataplane)->mempool(), options.descriptors);
  if (!attached) {
    return tl::unexpected(attached.error());
  }
  feed = std::move(*attached);
  (*dataplane)->launch();
  const Feeder feeder(*feed, plan->core);
  return measure(options, **dataplane, *feed, feeder);
}

// Returns null if no JSON is asked for.
tl::expected<OutputFile, std::string> open_json(const FeedOptions& options) {
  return options.json.empty() ? tl::expected<OutputFile, std::string>()
                              : open_output("--json", options.json);
}

}  // namespace

int feed(const FeedOptions& options) {
  const auto json = open_json(options);
  if (!json) {
    return fail(json.error());
  }
  apps::catch_signals();
  const auto result = run(options);
  if (!result) {
    return fail(result.error());
  }
  auto* const shown = options.json == "-" ? stderr : stdout;
  std::fputs(text_of(*result).c_str(), shown);
  if (const auto written = flush_output(shown, "the result", "to standard output"); !written) {
    return fail(written.error());
  }
  if (*json != nullptr) {
    std::fputs(json_of(*result).c_str(), json->get());
    if (const auto written = flush_output(json->get(), "--json", options.json); !written) {
      return fail(written.error());
    }
  }
  return result->packets == 0 ? fail("the switch received nothing") : 0;
}

}  // namespace tributary::pktgen
