// SPDX-License-Identifier: BSD-3-Clause
#include "property/members.h"

#include <algorithm>
#include <numeric>
#include <regex>

#include "property/panama_job.h"

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

bool writes_in_place(const Exercise& exercise) {
  return exercise.in_place || exercise.collective == host::Collective::broadcast;
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
  std::unique_ptr<host::Machine> machine;
  std::size_t next = 0;  // exercise
  bool running = false;
  bool alive = true;
  bool failed = false;
  Time began{};
  std::vector<Data> in;  // guarded, by exercise
  std::vector<Data> out;
  std::vector<Data> delivered;  // what the result's buffer held: nobody writes there afterwards

  Data& result_of(std::size_t index, const Exercise& exercise) {
    return writes_in_place(exercise) ? in[index] : out[index];
  }
};

Members::Members(VirtualFabric& fabric, const Shape& shape, std::uint32_t job)
    : fabric_(fabric), shape_(shape), job_(job), random_(stream_of(shape.seed, Stream::jobs, job)) {
  if (panama()) {
    join_panama();
  } else {
    join_canary();
  }
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

host::Job Members::make_job() {
  host::Job job;
  job.id = job_id(job_);
  for (auto& byte : job.key) {
    byte = static_cast<std::uint8_t>(random_());
  }
  job.payload_bytes = static_cast<std::uint32_t>(shape_.payload);
  job.window = static_cast<std::uint32_t>(shape_.window);
  return job;
}

void Members::add_worker(std::size_t host) {
  auto worker = std::make_unique<Worker>();
  worker->rank = world_size();
  worker->host = host;
  workers_.push_back(std::move(worker));
}

void Members::attach(Worker& worker, std::uint16_t port, std::unique_ptr<host::Machine> machine) {
  worker.machine = std::move(machine);
  fabric_.attach(worker.host, port, *worker.machine, [this, &worker] { ended(worker); });
}

void Members::join_canary() {
  const auto hosts = fabric_.host_count();
  std::vector<std::size_t> seats(hosts);
  std::iota(seats.begin(), seats.end(), std::size_t{0});
  std::shuffle(seats.begin(), seats.end(), random_);
  auto job = make_job();
  job.encapsulation =
      shape_.ethernet != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
  for (std::uint32_t rank = 0; rank < shape_.world; ++rank) {
    add_worker(shape_.crowd != 0 ? random_() % hosts : seats[rank % hosts]);
    const auto port = shape_.ethernet != 0 ? std::uint16_t{0}
                                           : static_cast<std::uint16_t>(17000 + job_ * 16 + rank);
    job.peers.push_back(fabric_.endpoint(workers_.back()->host, port));
  }
  host::CanaryTuning tuning;
  tuning.attempts_max = static_cast<unsigned>(shape_.attempts);
  tuning.implicit_release_max = shape_.retained_kib * 1024;
  for (auto& worker : workers_) {
    job.rank = worker->rank;
    attach(*worker, job.self().port,
           std::make_unique<host::CanaryCollectives>(
               job, tuning, static_cast<std::uint32_t>(shape_.first_sequence)));
  }
}

void Members::join_panama() {
  auto job = make_job();
  for (const auto host : panama_hosts(shape_, job_, fabric_.host_count())) {
    add_worker(host);
    job.peers.push_back(fabric_.endpoint(host, wire::panama_udp_port));
  }
  // As near to the end of the numbers as Canary's.
  const auto first_epoch = shape_.first_sequence == 0
                               ? 0u
                               : 0u - static_cast<std::uint32_t>(1 + shape_.first_sequence % 4);
  for (auto& worker : workers_) {
    job.rank = worker->rank;
    attach(*worker, wire::panama_udp_port,
           std::make_unique<host::PanamaCollectives>(job, panama_plan(shape_, job_, world_size()),
                                                     host::PanamaTuning{}, first_epoch));
  }
}

// A collective that need not succeed is not waited for in vain for long.
Duration Members::deadline() const {
  constexpr std::uint64_t in_vain_ms = 3000;
  const bool in_vain = panama() && !must_succeed(shape_, job_);
  return std::chrono::milliseconds(in_vain ? std::min(shape_.deadline_ms, in_vain_ms)
                                           : shape_.deadline_ms);
}

void Members::draw_exercises() {
  auto random = stream_of(shape_.seed, Stream::data, job_);
  for (std::uint64_t i = 0; i < shape_.collectives; ++i) {
    exercises_.push_back(draw_exercise(random));
  }
  if (!panama() || shape_.missing == 0) {
    return;
  }
  const auto quorum = panama_plan(shape_, job_, world_size()).quorum;
  for (const auto& each : exercises_) {
    partial_.push_back(
        PartialSums({each.inputs, each.type, each.op, shape_.payload, std::size_t{quorum}}));
  }
}

Exercise Members::draw_exercise(Random& random) const {
  Exercise exercise;
  const auto kind = random() % 8;
  const auto type = static_cast<wire::ElementType>(random() % wire::element_type_count);
  const auto op = static_cast<wire::Operator>(random() % wire::operator_count);
  exercise.root = static_cast<std::uint32_t>(random() % world_size());
  exercise.in_place = random() % 2 != 0;
  const auto most = static_cast<std::size_t>(shape_.elements);
  exercise.elements = random() % 4 == 0 ? most : random() % (most + 1);
  // What all must have part in is not for trees that leave some out (Communicator).
  const bool all_have_part = !panama() || shape_.missing == 0;
  if (shape_.mixed_kinds != 0) {
    exercise.collective = kind < 5                     ? host::Collective::allreduce
                          : kind == 5                  ? host::Collective::reduce
                          : kind == 6 && all_have_part ? host::Collective::broadcast
                          : all_have_part              ? host::Collective::barrier
                                                       : host::Collective::allreduce;
  }
  if (shape_.mixed_types != 0) {
    exercise.type = type;
    exercise.op = wire::is_valid(type, op) ? op : wire::Operator::sum;
  }
  if (exercise.collective == host::Collective::barrier) {
    exercise.elements = 0;
  }
  for (std::uint32_t rank = 0; rank < world_size(); ++rank) {
    exercise.inputs.push_back(
        random_data(random, exercise.type, exercise.op, exercise.elements, rank));
  }
  exercise.expected = exercise.collective == host::Collective::broadcast
                          ? exercise.inputs[exercise.root]
                          : reduced(exercise.inputs, exercise.type, exercise.op);
  return exercise;
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
  buffers.out = worker.result_of(worker.next, exercise).data() + guard_bytes;
  buffers.count = exercise.elements;
  buffers.type = exercise.type;
  buffers.op = exercise.op;
  worker.running = true;
  worker.began = fabric_.now();
  const auto until = worker.began + deadline();
  worker.machine->begin({exercise.collective, buffers, exercise.root}, fabric_.host_now(),
                        host::Time(until.time_since_epoch()));
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
    if (must_succeed(shape_, job_)) {
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

bool Members::is_right(const Exercise& exercise, const Data& buffer) {
  if (holds(buffer, exercise.expected) || partial_.empty()) {
    return holds(buffer, exercise.expected);
  }
  return partial_[index_of(exercise)].can_be(
      {buffer.begin() + guard_bytes, buffer.end() - guard_bytes});
}

void Members::check(Worker& worker, const Exercise& exercise) {
  const auto index = index_of(exercise);
  const auto& in = worker.in[index];
  const auto& result = worker.result_of(index, exercise);
  const auto which = " in collective " + std::to_string(index);
  worker.delivered.push_back(result);
  if (!guards_hold(in) || !guards_hold(worker.out[index])) {
    blame(worker, "wrote beyond a buffer" + which);
  } else if (delivers(exercise, worker.rank) && !is_right(exercise, result)) {
    blame(worker, "wrong result" + which);
  } else if (!writes_in_place(exercise) && !holds(in, exercise.inputs[worker.rank])) {
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
      if (delivers(exercise, worker->rank) &&
          worker->result_of(i, exercise) != worker->delivered[i]) {
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
  if (panama() || !calm || shape_.deaths != 1 || dead == workers_.end() || !failed) {
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

void Members::Tally::add(const CanaryStatistics& from) {
  canary.switch_sums_seen += from.switch_sums_seen;
  canary.requests_sent += from.requests_sent;
  canary.replays_sent += from.replays_sent;
  canary.failures_sent += from.failures_sent;
  canary.blocks_in_network += from.blocks_in_network;
  canary.blocks_by_hosts += from.blocks_by_hosts;
  canary.fingerprint_rejections += from.fingerprint_rejections;
  canary.collisions_received += from.collisions_received;
}

void Members::Tally::add(const PanamaStatistics& from) {
  panama_partial += from.results_partial;
  for (const auto& tree : from.trees) {
    panama_repeats += tree.retransmissions_sent;
  }
}

Members::Tally Members::tally() const {
  auto tally = tally_;
  for (const auto& worker : workers_) {
    if (panama()) {
      tally.add(static_cast<const host::PanamaCollectives&>(*worker->machine).statistics());
    } else {
      tally.add(static_cast<const host::CanaryCollectives&>(*worker->machine).statistics());
    }
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
