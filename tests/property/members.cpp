// SPDX-License-Identifier: BSD-3-Clause
#include "property/members.h"

#include <algorithm>
#include <numeric>

#include "host/sparse_vector.h"
#include "property/explanations.h"
#include "property/guarded.h"
#include "property/partial_sums.h"
#include "property/seats.h"
#include "protocols/flare/wire.h"
#include "protocols/panama/host/collectives.h"
#include "protocols/panama/wire.h"
#include "wire/roce.h"

namespace tributary::test {

struct Members::Worker {
  std::uint32_t rank = 0;
  std::size_t host = 0;
  std::unique_ptr<host::Machine> machine;
  std::size_t next = 0;  // exercise
  bool busy = false;     // with the run
  bool running = false;
  bool alive = true;
  Time began{};
  std::vector<Data> in;                // guarded, by exercise
  std::vector<std::uint32_t> indices;  // of the sparse call that runs
  Data values;
  SparseElements sum;
  host::SparseCall sparse;
  std::vector<Data> out;
  // The contents of the result's buffers at delivery; they must not change afterwards.
  std::vector<Data> delivered;

  // Gathers the elements of the input that are not zero.
  void gather(const Exercise& exercise) {
    const auto& input = exercise.inputs[rank];
    const auto bytes = wire::element_bytes(exercise.type);
    indices.clear();
    values.clear();
    for (std::size_t i = 0; i < exercise.elements; ++i) {
      const auto* const element = input.data() + i * bytes;
      if (std::any_of(element, element + bytes, [](std::byte b) { return b != std::byte{}; })) {
        indices.push_back(static_cast<std::uint32_t>(i));
        values.insert(values.end(), element, element + bytes);
      }
    }
    sum = {};
    sparse = {{indices, values.data(), exercise.elements, exercise.type, exercise.op}, &sum};
  }
  // Writes the dense vector that the sum stands for.
  void expand(Data& buffer) const { sum.expand(buffer.data() + guard_bytes); }

  Data& result_of(std::size_t index, const Exercise& exercise) {
    return exercise.writes_in_place() ? in[index] : out[index];
  }
};

Members::Members(VirtualFabric& fabric, const Shape& shape, std::uint32_t job)
    : fabric_(fabric),
      shape_(shape),
      job_(job),
      random_(stream_of(shape.seed, Stream::jobs, job)),
      born_(fabric.now()) {
  if (panama()) {
    seat_apart(wire::panama_udp_port);
  } else if (netreduce()) {
    seat_apart(wire::roce_udp_port);
  } else if (flare()) {
    seat_apart(wire::flare_udp_port);
  } else {
    seat_anywhere();
  }
  prepare_exercises();
  begin_run();
}

Members::~Members() {
  for (const auto& worker : workers_) {
    fabric_.detach(*worker->machine);
  }
}

void Members::draw_key() {
  for (auto& byte : base_.key) {
    byte = static_cast<std::uint8_t>(random_());
  }
}

void Members::prepare_job() {
  base_.id = job_id(job_);
  draw_key();
  base_.payload_bytes = static_cast<std::uint32_t>(shape_.payload);
  base_.window = static_cast<std::uint32_t>(shape_.window);
}

void Members::add_worker(std::size_t host, std::uint16_t port) {
  auto worker = std::make_unique<Worker>();
  worker->rank = world_size();
  worker->host = host;
  workers_.push_back(std::move(worker));
  base_.peers.push_back(fabric_.endpoint(host, port));
}

void Members::seat_anywhere() {
  const auto hosts = fabric_.host_count();
  std::vector<std::size_t> seats(hosts);
  std::iota(seats.begin(), seats.end(), std::size_t{0});
  std::shuffle(seats.begin(), seats.end(), random_);
  prepare_job();
  base_.encapsulation =
      shape_.ethernet != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
  for (std::uint32_t rank = 0; rank < shape_.world; ++rank) {
    add_worker(shape_.crowd != 0 ? random_() % hosts : seats[rank % hosts],
               canary_port(shape_, job_, rank));
  }
}

void Members::seat_apart(std::uint16_t port) {
  prepare_job();
  for (const auto host : separate_hosts(shape_, job_, fabric_.host_count())) {
    add_worker(host, port);
  }
}

void Members::begin_run() {
  run_began_ = fabric_.now();
  busy_ = workers_.size();
  for (auto& worker : workers_) {
    auto job = base_;
    job.rank = worker->rank;
    worker->machine = make_machine(shape_, job_, job, run_);
    fabric_.attach(worker->host, job.self().port, *worker->machine,
                   [this, one = worker.get()] { ended(*one); });
  }
  for (auto& worker : workers_) {
    worker->busy = true;
    worker->next = run_ * exercises_per_run();
    plan(*worker);
  }
}

// The next run has a new communicator; dead ranks do not take part.
void Members::begin_next_run() {
  busy_ = 0;
  if (!all_alive()) {
    return;
  }
  for (const auto& worker : workers_) {
    tally_.add(shape_, job_, *worker->machine);
    fabric_.detach(*worker->machine);
  }
  ++run_;
  draw_key();
  begin_run();
}

void Members::leave(Worker& worker) {
  worker.busy = false;
  if (--busy_ == 0 && run_ + 1 < runs_of(shape_, job_)) {
    busy_ = workers_.size();
    const auto meeting = std::chrono::microseconds(random_() % 2000);
    fabric_.at(fabric_.now() + meeting, [this] { begin_next_run(); });
  }
}

bool Members::all_alive() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker->alive; });
}

// This also holds for a collective of NetReduce whose run began after the last restart of a switch:
// no copy of an earlier packet is on its way that a switch could mistake for the beginning of a
// message.
bool Members::must_succeed_now() const {
  const auto disturbed_ms = shape_.event_ms + (shape_.stray != 0 ? shape_.stray_ms : 0) +
                            (shape_.outages + shape_.suspended != 0 ? shape_.outage_ms : 0);
  const bool is_calm = run_began_ > born_ + std::chrono::milliseconds(disturbed_ms);
  return must_succeed(shape_, job_) || (netreduce() && is_calm && must_succeed_undisturbed(shape_));
}

// A collective that need not succeed gets a short deadline.
Duration Members::deadline() const {
  constexpr std::uint64_t in_vain_ms = 3000;
  const bool in_vain = (panama() || netreduce() || flare()) && !must_succeed_now();
  return std::chrono::milliseconds(in_vain ? std::min(shape_.deadline_ms, in_vain_ms)
                                           : shape_.deadline_ms);
}

void Members::prepare_exercises() {
  exercises_ = draw_exercises(shape_, job_, world_size());
  for (auto& worker : workers_) {
    worker->in.resize(exercises_.size());
    worker->out.resize(exercises_.size());
    worker->delivered.resize(exercises_.size());
  }
}

// Plans the next collective of this rank at a random time.
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
  worker.in[worker.next] = guarded(input);
  worker.out[worker.next] = guarded(Data(input.size()));
  host::Buffers buffers;
  buffers.in = worker.in[worker.next].data() + guard_bytes;
  buffers.out = worker.result_of(worker.next, exercise).data() + guard_bytes;
  buffers.count = exercise.elements;
  buffers.type = exercise.type;
  buffers.op = exercise.op;
  host::Call call{exercise.collective, buffers, exercise.root};
  if (exercise.sparse) {
    worker.gather(exercise);
    call = {};
    call.sparse = &worker.sparse;
  }
  worker.running = true;
  worker.began = fabric_.now();
  const auto until = worker.began + deadline();
  worker.machine->begin(call, fabric_.host_now(), host::Time(until.time_since_epoch()));
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
    const auto& why = worker.machine->failure()->message;
    ++tally_.failed;
    if (must_succeed_now()) {
      blame(worker, "failed: " + why);
    } else if (netreduce() && !says_what_is_lost(why, shape_.restarts != 0)) {
      blame(worker, "does not say why it failed: " + why);
    }
    leave(worker);
    return;
  }
  ++tally_.succeeded;
  check(worker, exercises_[worker.next]);
  if (++worker.next % exercises_per_run() != 0) {
    plan(worker);
  } else {
    leave(worker);
  }
}

bool Members::is_right(const Worker& worker, const Exercise& exercise, const Data& buffer) const {
  if (!panama()) {
    return holds(buffer, exercise.expected);
  }
  const auto& machine = static_cast<const host::PanamaCollectives&>(*worker.machine);
  return is_partial_sum(exercise, {buffer.begin() + guard_bytes, buffer.end() - guard_bytes},
                        machine.partial_results(), world_size() - machine.plan().quorum);
}

void Members::check(Worker& worker, const Exercise& exercise) {
  const auto index = index_of(exercise);
  const auto& in = worker.in[index];
  if (exercise.sparse) {
    if (worker.sum.count != exercise.elements || worker.sum.type != exercise.type) {
      return blame(worker, "a sum of another form in collective " + std::to_string(index));
    }
    worker.expand(worker.out[index]);
  }
  const auto& result = worker.result_of(index, exercise);
  const auto which = " in collective " + std::to_string(index);
  worker.delivered[index] = result;
  if (!guards_hold(in) || !guards_hold(worker.out[index])) {
    blame(worker, "wrote beyond a buffer" + which);
  } else if (exercise.delivers(worker.rank) && !is_right(worker, exercise, result)) {
    blame(worker, "wrong result" + which);
  } else if (!exercise.writes_in_place() && !holds(in, exercise.inputs[worker.rank])) {
    blame(worker, "input changed" + which);
  }
}

void Members::kill(std::uint32_t rank) {
  auto& worker = *workers_[rank];
  if (!worker.alive) {
    return;
  }
  worker.alive = false;
  worker.running = false;
  fabric_.detach(*worker.machine);
  if (worker.busy) {
    leave(worker);
  }
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
    for (std::size_t i = 0; i < exercises_.size(); ++i) {
      const auto& exercise = exercises_[i];
      if (!worker->delivered[i].empty() && exercise.delivers(worker->rank) &&
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

// Where nothing else can be the cause, all ranks that miss a rank name it: the one that contributed
// nothing or does not answer. They may name other ranks as well, because these wait, too.
bool Members::names_the_dead() const {
  const bool calm =
      shape_.loss + shape_.corrupt + shape_.forged + shape_.flaps + shape_.cuts == 0 &&
      !is_interrupted(shape_) && shape_.queue_kib >= 1024;
  const auto dead = std::find_if(workers_.begin(), workers_.end(),
                                 [](const auto& worker) { return !worker->alive; });
  const bool failed = std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker->machine->failure().has_value();
  });
  const bool names_ranks = !panama() && !netreduce() && !flare();
  if (!names_ranks || !calm || shape_.deaths != 1 || dead == workers_.end() || !failed) {
    return true;
  }
  return std::all_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
    return !worker->alive || !worker->machine->failure() ||
           names_missing(worker->machine->failure()->message, (*dead)->rank);
  });
}

Tally Members::tally() const {
  auto tally = tally_;
  for (const auto& worker : workers_) {
    tally.add(shape_, job_, *worker->machine);
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
