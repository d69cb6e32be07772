// SPDX-License-Identifier: BSD-3-Clause
#include "property/members.h"

#include <algorithm>
#include <cstring>
#include <regex>

namespace tributary::test {
namespace {

// Around every buffer, to see that nobody writes beyond it.
constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xa5};

Data guarded(const Data& content) {
  Data buffer(content.size() + 2 * guard_bytes, guard);
  std::copy(content.begin(), content.end(), buffer.begin() + guard_bytes);
  return buffer;
}

bool holds(const Data& buffer, const Data& content) {
  return buffer == guarded(content);
}

bool guards_hold(const Data& buffer) {
  const auto is_guard = [](std::byte b) { return b == guard; };
  return std::all_of(buffer.begin(), buffer.begin() + guard_bytes, is_guard) &&
         std::all_of(buffer.end() - guard_bytes, buffer.end(), is_guard);
}

}  // namespace

struct Members::Worker {
  std::uint32_t rank = 0;
  std::size_t host = 0;
  std::unique_ptr<host::CanaryCollectives> machine;
  std::size_t next = 0;  // exercise
  bool running = false;
  bool alive = true;
  bool failed = false;
  Time began{};
  Time deadline{};
  std::vector<Data> in;  // guarded, by exercise; kept, so that late writes are noticed
  std::vector<Data> out;
};

Members::Members(VirtualFabric& fabric, const Shape& shape, std::uint32_t job)
    : fabric_(fabric), shape_(shape), job_(job), random_(stream_of(shape.seed, Stream::jobs, job)) {
  place();
  draw_exercises();
  busy_ = workers_.size();
  for (auto& worker : workers_) {
    plan(*worker);
  }
}

Members::~Members() {
  for (const auto& worker : workers_) {
    fabric_.detach(*worker->machine);
  }
}

void Members::place() {
  const auto hosts = fabric_.host_count();
  std::vector<std::size_t> seats(hosts);
  for (std::size_t i = 0; i < hosts; ++i) {
    seats[i] = i;
  }
  std::shuffle(seats.begin(), seats.end(), random_);
  host::Job job;
  job.id = 1 + job_ * 0x10001;
  for (auto& byte : job.key) {
    byte = static_cast<std::uint8_t>(random_());
  }
  job.payload_bytes = static_cast<std::uint32_t>(shape_.payload);
  job.window = static_cast<std::uint32_t>(shape_.window);
  job.encapsulation =
      shape_.ethernet != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
  for (std::uint32_t rank = 0; rank < shape_.world; ++rank) {
    auto worker = std::make_unique<Worker>();
    worker->rank = rank;
    worker->host = shape_.crowd != 0 ? random_() % hosts : seats[rank % hosts];
    const auto port = shape_.ethernet != 0 ? std::uint16_t{0}
                                           : static_cast<std::uint16_t>(17000 + job_ * 16 + rank);
    job.peers.push_back(fabric_.endpoint(worker->host, port));
    workers_.push_back(std::move(worker));
  }
  host::CanaryTuning tuning;
  tuning.attempts_max = static_cast<unsigned>(shape_.attempts);
  tuning.implicit_release_max = shape_.retained_kib * 1024;
  for (auto& worker : workers_) {
    job.rank = worker->rank;
    worker->machine = std::make_unique<host::CanaryCollectives>(
        job, tuning, static_cast<std::uint32_t>(shape_.first_sequence));
    fabric_.attach(worker->host, job.self().port, *worker->machine,
                   [this, &worker = *worker] { ended(worker); });
  }
}

void Members::draw_exercises() {
  auto random = stream_of(shape_.seed, Stream::data, job_);
  for (std::uint64_t i = 0; i < shape_.collectives; ++i) {
    Exercise exercise;
    const auto kind = random() % 8;
    const auto type = static_cast<wire::ElementType>(random() % wire::element_type_count);
    const auto op = static_cast<wire::Operator>(random() % wire::operator_count);
    exercise.root = static_cast<std::uint32_t>(random() % shape_.world);
    exercise.in_place = random() % 2 != 0;
    const auto most = static_cast<std::size_t>(shape_.elements);
    exercise.elements = random() % 4 == 0 ? most : random() % (most + 1);
    if (shape_.mixed_kinds != 0) {
      exercise.collective = kind < 5    ? host::Collective::allreduce
                            : kind == 5 ? host::Collective::reduce
                            : kind == 6 ? host::Collective::broadcast
                                        : host::Collective::barrier;
    }
    if (shape_.mixed_types != 0) {
      exercise.type = type;
      exercise.op = wire::is_valid(type, op) ? op : wire::Operator::sum;
    }
    if (exercise.collective == host::Collective::barrier) {
      exercise.elements = 0;
    }
    for (std::uint32_t rank = 0; rank < shape_.world; ++rank) {
      exercise.inputs.push_back(
          random_data(random, exercise.type, exercise.op, exercise.elements, rank));
    }
    exercise.expected = exercise.collective == host::Collective::broadcast
                            ? exercise.inputs[exercise.root]
                            : reduced(exercise.inputs, exercise.type, exercise.op);
    exercises_.push_back(std::move(exercise));
  }
}

// The next collective of this rank begins, sooner or later.
void Members::plan(Worker& worker) {
  const bool late = random_() % 1000 < shape_.late;
  const auto delay = late ? random_() % (shape_.late_us + 1) : random_() % 5;
  fabric_.at(fabric_.now() + std::chrono::microseconds(delay), [this, &worker] {
    if (worker.alive) {
      begin(worker);
    }
  });
}

void Members::begin(Worker& worker) {
  const auto& exercise = exercises_[worker.next];
  const auto& input = exercise.inputs[worker.rank];
  worker.in.push_back(guarded(input));
  worker.out.push_back(guarded(Data(input.size())));
  host::Buffers buffers;
  buffers.in = worker.in.back().data() + guard_bytes;
  const bool in_place = exercise.in_place || exercise.collective == host::Collective::broadcast;
  buffers.out = (in_place ? worker.in : worker.out).back().data() + guard_bytes;
  buffers.count = exercise.elements;
  buffers.type = exercise.type;
  buffers.op = exercise.op;
  worker.running = true;
  worker.began = fabric_.now();
  worker.deadline = worker.began + std::chrono::milliseconds(shape_.deadline_ms);
  worker.machine->begin({exercise.collective, buffers, exercise.root}, fabric_.host_now(),
                        host::Time(worker.deadline.time_since_epoch()));
  fabric_.wake(worker.host);
  if (!worker.machine->running()) {
    ended(worker);  // nothing to do
  }
}

void Members::ended(Worker& worker) {
  if (!worker.running) {
    return;
  }
  worker.running = false;
  tally_.longest = std::max(tally_.longest, fabric_.now() - worker.began);
  if (worker.machine->failure()) {
    worker.failed = true;
    ++tally_.failed;
    --busy_;
    if (must_succeed(shape_)) {
      blame(worker, "failed: " + worker.machine->failure()->message);
    }
    return;
  }
  ++tally_.succeeded;
  check(worker, exercises_[worker.next]);
  if (++worker.next < exercises_.size()) {
    plan(worker);
  } else {
    --busy_;
  }
}

bool Members::delivers(const Exercise& exercise, std::uint32_t rank) {
  return exercise.collective == host::Collective::allreduce ||
         exercise.collective == host::Collective::broadcast ||
         (exercise.collective == host::Collective::reduce && exercise.root == rank);
}

void Members::check(Worker& worker, const Exercise& exercise) {
  const auto index = static_cast<std::size_t>(&exercise - exercises_.data());
  const bool in_place = exercise.in_place || exercise.collective == host::Collective::broadcast;
  const auto& in = worker.in[index];
  const auto& out = in_place ? in : worker.out[index];
  const auto which = " in collective " + std::to_string(index);
  if (!guards_hold(in) || !guards_hold(worker.out[index])) {
    blame(worker, "wrote beyond a buffer" + which);
  } else if (delivers(exercise, worker.rank) && !holds(out, exercise.expected)) {
    blame(worker, "wrong result" + which);
  } else if (!in_place && !holds(in, exercise.inputs[worker.rank])) {
    blame(worker, "input changed" + which);
  }
}

void Members::kill(std::uint32_t rank) {
  auto& worker = *workers_[rank];
  if (!worker.alive) {
    return;
  }
  worker.alive = false;
  if (worker.next < exercises_.size() && !worker.failed) {
    --busy_;
  }
  worker.running = false;
  fabric_.detach(*worker.machine);
}

void Members::blame(const Worker& worker, const std::string& what) {
  if (fault_.empty()) {
    fault_ = "job " + std::to_string(job_) + " rank " + std::to_string(worker.rank) + " " + what;
  }
}

std::string Members::fault() const {
  if (!fault_.empty()) {
    return fault_;
  }
  for (const auto& worker : workers_) {
    const auto name = "job " + std::to_string(job_) + " rank " + std::to_string(worker->rank);
    if (worker->running) {
      return name + " hangs in collective " + std::to_string(worker->next);
    }
    for (std::size_t i = 0; i < worker->next; ++i) {
      const auto& exercise = exercises_[i];
      const bool in_place = exercise.in_place || exercise.collective == host::Collective::broadcast;
      const auto& out = in_place ? worker->in[i] : worker->out[i];
      if (delivers(exercise, worker->rank) && !holds(out, exercise.expected)) {
        return name + " changed the result of collective " + std::to_string(i) + " afterwards";
      }
    }
  }
  if (!names_the_dead()) {
    return "job " + std::to_string(job_) + ": no error names the rank that died";
  }
  return {};
}

// Where nothing else can be the reason, all that miss a rank say which: the one that contributed
// nothing or does not answer. Other ranks may be named besides, for they wait as well.
bool Members::names_the_dead() const {
  const bool calm =
      shape_.loss + shape_.corrupt + shape_.forged + shape_.restarts + shape_.flaps + shape_.cuts ==
          0 &&
      shape_.queue_kib >= 1024;
  const auto dead = std::find_if(workers_.begin(), workers_.end(),
                                 [](const auto& worker) { return !worker->alive; });
  const bool failed = std::any_of(workers_.begin(), workers_.end(),
                                  [](const auto& worker) { return worker->failed; });
  if (!calm || shape_.deaths != 1 || dead == workers_.end() || !failed) {
    return true;
  }
  const auto rank = std::to_string((*dead)->rank);
  const std::regex name("(no contribution of|wait(s|ed) for) ranks? ([0-9]+, )*" + rank +
                        "\\b|\\brank " + rank + " does not answer");
  return std::all_of(workers_.begin(), workers_.end(), [&name](const auto& worker) {
    return !worker->alive || !worker->machine->failure() ||
           std::regex_search(worker->machine->failure()->message, name);
  });
}

Members::Tally Members::tally() const {
  auto tally = tally_;
  for (const auto& worker : workers_) {
    const auto& from = worker->machine->statistics();
    auto& to = tally.statistics;
    to.switch_sums_seen += from.switch_sums_seen;
    to.requests_sent += from.requests_sent;
    to.replays_sent += from.replays_sent;
    to.failures_sent += from.failures_sent;
    to.blocks_in_network += from.blocks_in_network;
    to.blocks_by_hosts += from.blocks_by_hosts;
    to.fingerprint_rejections += from.fingerprint_rejections;
    to.collisions_received += from.collisions_received;
  }
  return tally;
}

std::string Members::state() const {
  std::string text;
  for (const auto& worker : workers_) {
    text += "  job " + std::to_string(job_) + " rank " + std::to_string(worker->rank) +
            " on host " + std::to_string(worker->host) + ": " + std::to_string(worker->next) +
            " of " + std::to_string(exercises_.size()) + " done" +
            (worker->running ? ", running" : "") + (worker->alive ? "" : ", dead");
    if (worker->machine->failure()) {
      text += ", " + worker->machine->failure()->message;
    }
    text += "\n";
  }
  return text;
}

}  // namespace tributary::test
