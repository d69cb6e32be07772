// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/errors.h"
#include "bindings/python/ranks.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

using Access = View::Access;

// Operands are what a reduction reads and writes.
struct Operands {
  std::vector<View> views;  // one, if the reduction is in place
  Elements elements;
  tributary_operator op = TRIBUTARY_SUM;

  void* in() const { return views.front().data(); }
  void* out() const { return views.back().data(); }
};

Operands operands_of(const py::object& buffer, const py::object& out, const std::string& op,
                     const Dtype& dtype, Access access) {
  const bool in_place = out.is_none() || out.is(buffer);
  Operands all;
  all.views.emplace_back(buffer, in_place ? access : Access::read, "the buffer");
  all.elements = elements_of(all.views.front(), dtype);
  all.op = operator_of(op, all.elements);
  if (!in_place) {
    all.views.emplace_back(out, Access::write, "out");
    if (elements_of(all.views.back(), dtype).type != all.elements.type) {
      throw py::type_error("out has elements of another type than the buffer");
    }
  }
  return all;
}

void expect_bytes(const View& out, std::size_t bytes, const std::string& what) {
  if (out.bytes() != bytes) {
    throw py::value_error("out has " + std::to_string(out.bytes()) + " bytes; " + what + ": " +
                          std::to_string(bytes));
  }
}

void expect_floats(const View& view, const Elements& elements, std::size_t count) {
  if (elements.type != TRIBUTARY_F32) {
    throw py::type_error("a sketch is of elements of f32; give x.astype('float32')");
  }
  if (view.bytes() != count * sizeof(float)) {
    throw py::value_error("the sketch is of " + std::to_string(count) +
                          " elements, and a buffer has " +
                          std::to_string(view.bytes() / sizeof(float)));
  }
  if (reinterpret_cast<std::uintptr_t>(view.data()) % alignof(float) != 0) {
    throw py::value_error("a buffer's elements are not at addresses of f32; give a copy");
  }
}

void expect_apart(const Operands& all) {
  if (all.views.size() == 2 && overlap(all.views.front(), all.views.back())) {
    throw py::value_error(
        "the buffer and out overlap; give no out to have the result in place, or other memory");
  }
}

bool has_ended(Posted& one) {
  const py::gil_scoped_release others_run;
  return one.wait_for(std::chrono::milliseconds(100));
}

// Waits for what another thread does, while signals have their handlers in this one.
void await_with_signals(const std::future<void>& done) {
  constexpr auto slice = std::chrono::milliseconds(100);
  const auto is_done = [&] {
    const py::gil_scoped_release others_run;
    return done.wait_for(slice) == std::future_status::ready;
  };
  while (!is_done()) {
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  }
}

}  // namespace

Communicator::Communicator(const py::kwargs& keywords) {
  auto options = options_of(keywords);
  notice_ = options.notice;
  tributary_comm* comm = nullptr;
  tributary_result result = TRIBUTARY_SUCCESS;
  {
    const py::gil_scoped_release others_run;
    result = tributary_comm_create(&comm, options.handle.get());
  }
  check(result);
  comm_ = Handle(comm, tributary_comm_destroy);
}

Communicator::Communicator(tributary_comm* comm, std::shared_ptr<Notice> notice)
    : notice_(std::move(notice)), comm_(comm, tributary_comm_destroy) {}

Communicator::~Communicator() {
  end(false);
}

const Communicator::Handle& Communicator::usable() const {
  if (comm_ == nullptr) {
    throw py::value_error("the communicator is closed");
  }
  return comm_;
}

std::uint64_t Communicator::statistic(const std::string& name) const {
  auto comm = usable();
  std::uint64_t value = 0;
  tributary_result result = TRIBUTARY_SUCCESS;
  {
    const py::gil_scoped_release others_run;
    result = tributary_comm_statistic(comm.get(), name.c_str(), &value);
    comm.reset();  // another thread may have closed it meanwhile, and its end takes a while
  }
  check(result);
  return value;
}

py::list Communicator::partial_results() const {
  auto comm = usable();
  const auto ranks = tributary_comm_size(comm.get());
  const auto words = TRIBUTARY_RANK_WORDS(std::size_t{ranks});
  std::vector<tributary_partial_result> results;
  std::vector<std::uint64_t> missing;
  tributary_result result = TRIBUTARY_SUCCESS;
  {
    const py::gil_scoped_release others_run;
    std::size_t count = 0;
    do {  // there may be more, if another thread posts
      results.resize(count);
      missing.resize(count * words);
      result = tributary_comm_partial_results(comm.get(), results.data(), missing.data(), &count);
    } while (result == TRIBUTARY_SUCCESS && count > results.size());
    results.resize(std::min(count, results.size()));
    comm.reset();
  }
  check(result);
  py::list all;
  const auto* at = missing.data();
  for (const auto& one : results) {
    all.append(py::make_tuple(one.first, one.count, ranks_in(at, ranks)));
    at += words;
  }
  return all;
}

// Requests that nobody has any more are looked after here: their memory is in use until they end.
Request Communicator::keep(tributary_request* request, std::vector<View> views, py::object result,
                           const Deadline& deadline) {
  const auto in_use = [](const std::shared_ptr<Posted>& one) {
    return one.use_count() > 1 || !one->wait_for({});
  };
  const auto gone = std::ranges::stable_partition(posted_, in_use);
  // Python may run when their memory goes, and post: they go last.
  const std::vector<std::shared_ptr<Posted>> ended(std::move_iterator(gone.begin()),
                                                   std::move_iterator(gone.end()));
  posted_.erase(gone.begin(), gone.end());
  auto posted = std::make_shared<Posted>(request, std::move(views));
  posted_.push_back(posted);
  if (deadline) {
    posted->set_deadline(*deadline);
  }
  return {std::move(posted), std::move(result)};
}

Request Communicator::iallreduce(const py::object& buffer, const std::string& op,
                                 const py::object& out, const Dtype& dtype,
                                 const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  auto all = operands_of(buffer, out, op, dtype, Access::write);
  expect_bytes(all.views.back(), all.views.front().bytes(), "the buffer has");
  expect_apart(all);
  tributary_request* request = nullptr;
  check(tributary_iallreduce(comm.get(), all.in(), all.out(), all.elements.count, all.elements.type,
                             all.op, &request));
  return keep(request, std::move(all.views), out.is_none() ? buffer : out, limit);
}

Request Communicator::ireduce(const py::object& buffer, Root root, const std::string& op,
                              const py::object& out, const Dtype& dtype,
                              const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  const bool is_root = tributary_comm_rank(comm.get()) == root;
  auto all = operands_of(buffer, is_root ? out : py::none(), op, dtype,
                         is_root ? Access::write : Access::read);
  expect_bytes(all.views.back(), all.views.front().bytes(), "the buffer has");
  expect_apart(all);
  tributary_request* request = nullptr;
  check(tributary_ireduce(comm.get(), all.in(), is_root ? all.out() : nullptr, all.elements.count,
                          all.elements.type, all.op, root, &request));
  py::object result = out.is_none() ? buffer : out;
  return keep(request, std::move(all.views), is_root ? std::move(result) : py::none(), limit);
}

Request Communicator::ibroadcast(const py::object& buffer, Root root, const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  const bool is_root = tributary_comm_rank(comm.get()) == root;
  std::vector<View> views;
  views.emplace_back(buffer, is_root ? Access::read : Access::write, "the buffer");
  tributary_request* request = nullptr;
  check(tributary_ibroadcast(comm.get(), views.front().data(), views.front().bytes(), TRIBUTARY_I8,
                             root, &request));
  return keep(request, std::move(views), buffer, limit);
}

Request Communicator::ibarrier(const py::object& deadline) {
  const auto limit = deadline_of(deadline);
  tributary_request* request = nullptr;
  check(tributary_ibarrier(usable().get(), &request));
  return keep(request, {}, py::none(), limit);
}

Request Communicator::iallgather(const py::object& buffer, const py::object& out,
                                 const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  std::vector<View> views;
  views.emplace_back(buffer, Access::read, "the buffer");
  views.emplace_back(out, Access::write, "out");
  const auto bytes = views.front().bytes();
  const auto ranks = tributary_comm_size(comm.get());
  expect_bytes(views.back(), bytes * ranks,
               "the buffers of all " + std::to_string(ranks) + " ranks have");
  tributary_request* request = nullptr;
  check(tributary_iallgather(comm.get(), views.front().data(), views.back().data(), bytes,
                             TRIBUTARY_I8, &request));
  return keep(request, std::move(views), out, limit);
}

Request Communicator::ireduce_scatter(const py::object& buffer, const py::object& out,
                                      const std::string& op, const Dtype& dtype,
                                      const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  auto all = operands_of(buffer, out, op, dtype, Access::read);
  const auto ranks = tributary_comm_size(comm.get());
  if (all.elements.count % ranks != 0) {
    throw py::value_error("the buffer has " + std::to_string(all.elements.count) +
                          " elements, which cannot be divided among " + std::to_string(ranks) +
                          " ranks");
  }
  expect_bytes(all.views.back(), all.views.front().bytes() / ranks, "a rank's part has");
  expect_apart(all);
  tributary_request* request = nullptr;
  check(tributary_ireduce_scatter(comm.get(), all.in(), all.out(), all.elements.count / ranks,
                                  all.elements.type, all.op, &request));
  return keep(request, std::move(all.views), out, limit);
}

Request Communicator::isketched_allreduce(const py::object& buffer, const Sketch& sketch,
                                          const py::object& out, const py::object& deadline) {
  const auto& comm = usable();
  const auto limit = deadline_of(deadline);
  auto all = operands_of(buffer, out, "sum", std::nullopt, Access::write);
  for (const auto& view : all.views) {
    expect_floats(view, all.elements, sketch.count());
  }
  expect_apart(all);
  tributary_request* request = nullptr;
  check(tributary_isketched_allreduce(comm.get(), static_cast<const float*>(all.in()),
                                      static_cast<float*>(all.out()), sketch.count(), sketch.get(),
                                      &request));
  return keep(request, std::move(all.views), out.is_none() ? buffer : out, limit);
}

py::object Communicator::finish(Request request) {
  try {
    return request.wait(std::nullopt);
  } catch (const py::error_already_set&) {
    if (!request.is_done()) {
      tributary_comm_abort((ending_ == nullptr ? comm_ : ending_).get());
      request.wait_uninterrupted();
    }
    throw;
  }
}

std::unique_ptr<Communicator> Communicator::split(std::optional<std::int64_t> color,
                                                  std::int64_t key) const {
  auto comm = usable();
  tributary_comm* part = nullptr;
  tributary_result result = TRIBUTARY_SUCCESS;
  {
    const py::gil_scoped_release others_run;
    result = tributary_comm_split(comm.get(), color.value_or(-1), key, &part);
    comm.reset();
  }
  check(result);
  return part == nullptr ? nullptr : std::unique_ptr<Communicator>(new Communicator(part, notice_));
}

std::unique_ptr<Communicator> Communicator::regroup(Whole<std::uint32_t, "size"> size) const {
  const auto comm = usable();
  tributary_comm* next = nullptr;
  auto result = TRIBUTARY_SUCCESS;
  std::string why;
  const auto regrouped = std::async(std::launch::async, [&] {
    result = tributary_comm_regroup(comm.get(), size, &next);
    why = tributary_last_error();
  });
  try {
    await_with_signals(regrouped);
  } catch (const py::error_already_set&) {
    const py::gil_scoped_release others_run;
    tributary_comm_abort(comm.get());
    regrouped.wait();
    tributary_comm_destroy(next);
    throw;
  }
  if (result != TRIBUTARY_SUCCESS) {
    raise(result, why);
  }
  return std::unique_ptr<Communicator>(new Communicator(next, notice_));
}

py::dict Communicator::membership() const {
  tributary_membership membership{};
  check(tributary_comm_membership(usable().get(), &membership));
  py::dict all;
  all["epoch"] = membership.epoch;
  all["newcomers"] = membership.newcomers;
  all["waiting"] = membership.waiting;
  all["ended"] = membership.ended != 0;
  return all;
}

void Communicator::abort() const {
  tributary_comm_abort((ending_ == nullptr ? usable() : ending_).get());
}

void Communicator::close() {
  end(true);
}

// What was posted is carried out, whoever else has the communicator: the requests have the memory.
void Communicator::end(bool heeds_signals) {
  if (comm_ == nullptr) {  // it is closed, or another thread is about it
    return;
  }
  ending_ = std::exchange(comm_, nullptr);
  const auto posted = std::exchange(posted_, {});
  std::optional<py::error_already_set> raised;
  for (const auto& one : posted) {
    while (!has_ended(*one)) {
      if (heeds_signals && !raised && PyErr_CheckSignals() != 0) {
        raised.emplace();
        tributary_comm_abort(ending_.get());
      }
    }
  }
  auto ended = std::exchange(ending_, nullptr);
  {
    const py::gil_scoped_release others_run;
    ended.reset();
  }
  if (raised) {
    throw py::error_already_set(*raised);
  }
}

}  // namespace tributary::python
