// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/networks.h"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "host/parallel/slabs.h"
#include "host/protocol.h"
#include "host/safely.h"
#include "host/text.h"
#include "host/thread.h"

namespace tributary::host {

// A part of the vector in one step.
struct CubeNetworks::Task {
  std::uint32_t interface;
  Call call;
};

CubeNetworks::CubeNetworks(const CommunicatorOptions& options, Job job, const CubeLayout& layout,
                           std::vector<CubeInterface> interfaces,
                           std::vector<std::vector<Endpoint>> all)
    : options_(options),
      job_(std::move(job)),
      layout_(layout),
      interfaces_(std::move(interfaces)),
      all_(std::move(all)) {}

// The first of a group has the others meet where its interface listens.
CommunicatorOptions CubeNetworks::options_of(std::uint32_t interface) {
  const auto group = layout_.group(interface);
  auto options = options_;
  options.rank = layout_.place(interface);
  options.world_size = static_cast<std::uint32_t>(group.size());
  options.rendezvous = to_string(all_[group.front()][interface]);
  options.local_address = to_string(interfaces_[interface].address());
  options.local_world_size = 1;
  options.job = 0;  // groups are jobs of their own
  options.algorithm = default_protocol().name;
  options.reproducible = false;  // the whole asks for what makes it so
  options.parameters.erase("interfaces");
  options.parameters.erase("report");
  options.parameters.erase("timeline");
  options.on_notice = [this, name = interfaces_[interface].name](const std::string& line) {
    const std::lock_guard lock(mutex_);
    notices_ += (notices_.empty() ? "" : "; ") + name + ": " + line;
  };
  return options;
}

std::string CubeNetworks::take_notices() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

Result<void> CubeNetworks::connect(Time until) {
  if (!std::exchange(was_tried_, true)) {
    connected_ = connect_all(until);
  }
  return connected_;
}

Result<void> CubeNetworks::connect_all(Time until) {
  for (std::uint32_t interface = 0; interface < layout_.interfaces(); ++interface) {
    auto options = options_of(interface);
    options.deadline = std::max<Duration>(until - Clock::now(), std::chrono::milliseconds(1));
    auto* const listener = options.rank == 0 ? &interfaces_[interface].listener : nullptr;
    auto made = Communicator::create(options, listener, {});
    if (!made) {
      return tl::make_unexpected(about(interface, made.error()));
    }
    networks_.push_back(std::move(*made));
  }
  return {};
}

Error CubeNetworks::about(std::uint32_t interface, const Error& error) const {
  return {error.code, text_of(job_.rank, interfaces_[interface]) + ": " + error.message};
}

// What was summed over one network is summed over the next. Empty parts have nothing to do.
std::vector<std::vector<CubeNetworks::Task>> CubeNetworks::steps_of(const Call& call) {
  const auto& [in, out, count, type, op] = call.buffers;
  const auto at = [](auto* bytes, std::size_t offset) {
    return bytes == nullptr ? nullptr : bytes + offset;  // of a refused call
  };
  std::vector<std::vector<Task>> steps(layout_.route(0).size());
  for (std::uint32_t part = 0; part < layout_.interfaces(); ++part) {
    const auto range = share_of(count, part, layout_.interfaces());
    const auto offset = range.begin * wire::element_bytes(type);
    const auto route = layout_.route(part);
    for (std::size_t step = 0; step < route.size() && range.size() != 0; ++step) {
      const auto* const from = step == 0 ? in : out;
      steps[step].push_back({route[step], call_of(Collective::allreduce, at(from, offset),
                                                  at(out, offset), range.size(), type, op)});
    }
  }
  return steps;
}

// Steps behind one that has failed are counted: the others may carry them out, and would take the
// next call's for them.
Result<void> CubeNetworks::run(const Call& call, Deadline until) {
  Result<void> done;
  for (const auto& step : steps_of(call)) {
    if (done) {
      done = run_all(step, until);
    } else {
      leave_out(step);
    }
  }
  return done;
}

void CubeNetworks::skip(const Call& call) {
  for (const auto& step : steps_of(call)) {
    leave_out(step);
  }
}

void CubeNetworks::leave_out(const std::vector<Task>& tasks) {
  for (const auto& task : tasks) {
    networks_[task.interface].leave_out(task.call);
  }
}

// Runs each by a thread, while this one looks at the interfaces.
Result<void> CubeNetworks::run_all(const std::vector<Task>& tasks, const Deadline& until) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = tasks.size();
  std::optional<Error> failure;
  const auto note_end = [&, this](const Task& task, const Result<void>& done) {
    const std::lock_guard lock(mutex);
    if (!done && !failure) {
      failure = about(task.interface, done.error());
    }
    --running;
    changed.notify_one();
  };
  std::vector<std::thread> threads;
  threads.reserve(tasks.size());
  for (const auto& task : tasks) {
    auto started = start_thread([&, this] {
      auto& network = networks_[task.interface];
      note_end(task, safely([&] { return network.run_within(task.call, until); },
                            [&] { network.abort(); }));
    });
    if (started) {
      threads.push_back(std::move(*started));
    } else {
      networks_[task.interface].leave_out(task.call);
      note_end(task, tl::make_unexpected(started.error()));
    }
  }
  const auto watched = watch(until, [&] {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, Deadline::look_interval, [&] { return running == 0; });
  });
  for (auto& thread : threads) {
    thread.join();
  }
  if (!watched || failure) {
    return tl::make_unexpected(watched ? *failure : watched.error());
  }
  return {};
}

// An interface that has failed ends what is under way: nothing more comes over it.
Result<void> CubeNetworks::watch(const Deadline& until, const std::function<bool()>& is_done) {
  while (!is_done()) {
    const auto sound = look_at_interfaces();
    if (sound && !until.is_given_up()) {
      continue;
    }
    for (auto& network : networks_) {
      network.abort();
    }
    return sound;  // where it was given up, each network says so
  }
  return {};
}

Result<void> CubeNetworks::look_at_interfaces() {
  const auto lost = std::ranges::find_if_not(interfaces_, is_running);
  if (lost == interfaces_.end()) {
    return {};
  }
  has_lost_one_ = true;
  return tl::make_unexpected(down(job_.rank, *lost));
}

Result<void> CubeNetworks::hear() {
  return has_lost_one_ ? Result<void>() : look_at_interfaces();
}

Figures CubeNetworks::figures() const {
  std::vector<Figure> all;
  for (const auto& network : networks_) {
    for (const auto& figure : network.statistics().carried.figures) {
      const auto known = std::ranges::find(all, figure.name, &Figure::name);
      if (known == all.end()) {
        all.push_back(figure);
      } else if (auto* const value = std::get_if<std::uint64_t>(&known->value)) {
        *value = merged(figure.merge, *value, std::get<std::uint64_t>(figure.value));
      }
    }
  }
  return Figures(std::move(all));
}

}  // namespace tributary::host
