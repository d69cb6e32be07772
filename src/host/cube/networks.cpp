// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/networks.h"

#include <algorithm>
#include <condition_variable>
#include <fcntl.h>
#include <optional>
#include <thread>
#include <utility>

#include "host/protocol.h"
#include "host/safely.h"
#include "host/text.h"
#include "host/thread.h"
#include "host/transport/address.h"

namespace tributary::host {

// Has how far the pieces of a call are, whose networks have a thread each.
class CubeNetworks::Progress {
 public:
  Progress(std::size_t pieces, std::size_t networks) : passed_(pieces), running_(networks) {}

  // Waits until it is the step's turn; false if something has failed.
  bool await(const NetworkPlan::Step& step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || passed_[step.piece] == step.stage; });
    return !failure_;
  }
  void pass(std::size_t piece) {
    const std::lock_guard lock(mutex_);
    ++passed_[piece];
    changed_.notify_all();
  }
  // The first failure counts.
  void fail(Error why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = std::move(why);
    }
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }
  // Waits a little for all networks to end.
  bool have_ended() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, Deadline::look_interval, [this] { return running_ == 0; });
  }
  // Precondition: all networks have ended.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> passed_;  // steps, by piece
  std::size_t running_;
  std::optional<Error> failure_;
};

CubeNetworks::CubeNetworks(const CommunicatorOptions& options, Job job, const CubeLayout& layout,
                           std::uint32_t pieces_max, std::vector<CubeInterface> interfaces,
                           std::vector<std::vector<Endpoint>> all)
    : options_(options),
      job_(std::move(job)),
      layout_(layout),
      pieces_max_(pieces_max),
      interfaces_(std::move(interfaces)),
      all_(std::move(all)),
      was_told_of_(interfaces_.size()) {}

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
  options.parameters.erase("cube_pieces");
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
    for (std::uint32_t network = 0; network < networks_per_interface(); ++network) {
      auto made = meet_over(interface, until);
      if (!made) {
        return tl::make_unexpected(about(interface, made.error()));
      }
      networks_.push_back(std::move(*made));
    }
    interfaces_[interface].listener.fd = FileDescriptor();
  }
  return {};
}

// The ranks meet at the same listener once for each communicator: all have left a meeting when the
// communicator is complete.
Result<Communicator> CubeNetworks::meet_over(std::uint32_t interface, Time until) {
  auto options = options_of(interface);
  options.deadline = std::max<Duration>(until - Clock::now(), std::chrono::milliseconds(1));
  if (options.rank != 0) {
    return Communicator::create(options, nullptr, {});
  }
  const auto& known = interfaces_[interface].listener;
  Listener listener{FileDescriptor(::fcntl(known.fd.get(), F_DUPFD_CLOEXEC, 0)), known.local};
  if (!listener.fd) {
    return fail(Error::Code::network, errno_text("a rendezvous"));
  }
  return Communicator::create(options, &listener, {});
}

Error CubeNetworks::about(std::uint32_t interface, const Error& error) const {
  return {error.code, text_of(job_.rank, interfaces_[interface]) + ": " + error.message};
}

std::uint32_t CubeNetworks::networks_per_interface() const {
  return NetworkPlan::networks_per_interface(layout_, pieces_max_);
}

// Each network has a thread, while this one looks at the interfaces.
Result<void> CubeNetworks::run(const Call& call, Deadline until) {
  const auto plan = plan_of(call);
  Progress progress(plan.pieces(), plan.networks());
  std::vector<std::thread> threads;
  threads.reserve(plan.networks());
  for (std::size_t network = 0; network < plan.networks(); ++network) {
    const auto carry = [&, network, this] {
      carry_out(plan.steps(network), network, until, progress);
      progress.end();
    };
    if (auto started = start_thread(carry)) {
      threads.push_back(std::move(*started));
    } else {
      progress.fail(about(interface_of(network), started.error()));
      carry();  // leaves everything out
    }
  }
  const auto watched = watch(until, [&] { return progress.have_ended(); });
  for (auto& thread : threads) {
    thread.join();
  }
  if (!watched || progress.failure()) {
    return tl::make_unexpected(watched ? *progress.failure() : watched.error());
  }
  return {};
}

// Calls behind one that has failed are counted: the others may carry them out, and would take the
// next call's for them.
void CubeNetworks::carry_out(const std::vector<NetworkPlan::Step>& steps, std::size_t network,
                             const Deadline& until, Progress& progress) {
  auto& communicator = networks_[network];
  for (const auto& step : steps) {
    if (!progress.await(step)) {
      communicator.leave_out(step.call);
      continue;
    }
    const auto done = safely([&] { return communicator.run_within(step.call, until); },
                             [&] { communicator.abort(); });
    if (done) {
      progress.pass(step.piece);
    } else {
      progress.fail(about(interface_of(network), done.error()));
    }
  }
}

void CubeNetworks::skip(const Call& call) {
  const auto plan = plan_of(call);
  for (std::size_t network = 0; network < plan.networks(); ++network) {
    for (const auto& step : plan.steps(network)) {
      networks_[network].leave_out(step.call);
    }
  }
}

// An interface that has failed ends what is under way: nothing more comes over it.
Result<void> CubeNetworks::watch(const Deadline& until, const std::function<bool()>& is_done) {
  while (!is_done()) {
    const auto sound = look_for(Losses::all);
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

// Fails for the first such interface that is down, and tells of it alone.
Result<void> CubeNetworks::look_for(Losses losses) {
  Result<void> seen;
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    if (is_running(interfaces_[i])) {
      was_told_of_[i] = false;
    } else if (seen && (losses == Losses::all || !was_told_of_[i])) {
      was_told_of_[i] = true;
      seen = tl::make_unexpected(down(job_.rank, interfaces_[i]));
    }
  }
  return seen;
}

Result<void> CubeNetworks::hear() {
  return look_for(Losses::untold);
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
