// SPDX-License-Identifier: BSD-3-Clause
#include "property/exercises.h"

#include <algorithm>
#include <utility>

#include "host/sparse_vector.h"
#include "property/flare_job.h"
#include "property/handled.h"

namespace tributary::test {
namespace {

Exercise with_handled_data(Exercise exercise, std::uint32_t world, Random& random) {
  const auto number = wire::handler_number(exercise.op);
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    exercise.inputs.push_back(handled_data(random, number, exercise.elements, rank));
  }
  exercise.expected = handled(exercise.inputs, number);
  return exercise;
}

Exercise with_data(Exercise exercise, std::uint32_t world, Random& random) {
  if (wire::is_handler(exercise.op)) {
    return with_handled_data(std::move(exercise), world, random);
  }
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    exercise.inputs.push_back(
        random_data(random, exercise.type, exercise.op, exercise.elements, rank));
  }
  exercise.expected = exercise.collective == host::Collective::broadcast
                          ? exercise.inputs[exercise.root]
                          : reduced(exercise.inputs, exercise.type, exercise.op);
  return exercise;
}

// Some reductions use a handler, where the network's switches accept handlers.
void draw_handler(Exercise& exercise, Random& random) {
  const bool reduces = exercise.collective == host::Collective::allreduce ||
                       exercise.collective == host::Collective::reduce;
  const auto number = static_cast<unsigned>(random() % (2 * handled_kinds));
  if (reduces && number < handled_kinds) {
    load_handlers();
    exercise.type = handled_type(number);
    exercise.op = wire::handler_operator(number);
  }
}

// Writes zeros where the rank has no element: everywhere, nearly everywhere, in every other place,
// or behind a place, so that blocks are empty, sparse and dense.
void make_sparse(Data& input, wire::ElementType type, Random& random) {
  const auto bytes = wire::element_bytes(type);
  const auto elements = input.size() / bytes;
  const auto one_in = std::uint64_t{1} << random() % 10;
  const auto until = random() % 4 == 0 ? random() % (elements + 1) : elements;
  for (std::size_t i = 0; i < elements; ++i) {
    if (i >= until || random() % one_in != 0) {
      std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes, std::byte{});
    }
  }
}

Exercise with_sparse_data(Exercise exercise, std::uint32_t world, Random& random) {
  exercise = with_data(std::move(exercise), world, random);
  for (auto& input : exercise.inputs) {
    make_sparse(input, exercise.type, random);
  }
  exercise.expected = reduced(exercise.inputs, exercise.type, exercise.op);
  return exercise;
}

// The choices that the kind of a job leaves open.
struct Freedom {
  bool all_have_part = true;  // in every sum
  bool handlers = false;
  bool sparse = false;
};

Exercise draw_exercise(const Shape& shape, const Freedom& freedom, std::uint32_t world,
                       Random& random) {
  const bool all_have_part = freedom.all_have_part;
  Exercise exercise;
  const auto kind = random() % 8;
  const auto type = static_cast<wire::ElementType>(random() % wire::built_in_type_count);
  const auto op = static_cast<wire::Operator>(random() % wire::operator_count);
  exercise.root = static_cast<std::uint32_t>(random() % world);
  exercise.in_place = random() % 2 != 0;
  const auto most = static_cast<std::size_t>(shape.elements);
  exercise.elements = random() % 4 == 0 ? most : random() % (most + 1);
  if (shape.mixed_kinds != 0) {
    exercise.collective = kind < 5                     ? host::Collective::allreduce
                          : kind == 5                  ? host::Collective::reduce
                          : kind == 6 && all_have_part ? host::Collective::broadcast
                          : all_have_part              ? host::Collective::barrier
                                                       : host::Collective::allreduce;
  }
  if (shape.mixed_types != 0) {
    exercise.type = type;
    exercise.op = wire::is_valid(type, op) ? op : wire::any_operator(type);
  }
  if (freedom.sparse && random() % 2 == 0) {
    exercise.sparse = true;
    exercise.collective = host::Collective::allreduce;
    exercise.type = is_sparse_type(exercise.type) ? exercise.type : wire::ElementType::f32;
    exercise.op = wire::Operator::sum;
    exercise.elements = std::max<std::size_t>(exercise.elements, 1);  // none is no call
    return with_sparse_data(std::move(exercise), world, random);
  }
  if (freedom.handlers) {
    draw_handler(exercise, random);
  }
  if (exercise.collective == host::Collective::barrier) {
    exercise.elements = 0;
  }
  return with_data(std::move(exercise), world, random);
}

}  // namespace

std::vector<Exercise> draw_exercises(const Shape& shape, std::uint32_t job, std::uint32_t world) {
  auto random = stream_of(shape.seed, Stream::data, job);
  // Collectives that need all ranks are not for trees that may leave some out (Communicator).
  const Freedom freedom{!is_panama(shape, job) || shape.missing == 0,
                        shape.handlers != 0 && !is_panama(shape, job) && !is_netreduce(shape, job),
                        is_flare(shape, job) && has_sparse_calls(shape)};
  std::vector<Exercise> exercises;
  for (std::uint64_t run = 0; run < runs_of(shape, job); ++run) {
    if (is_netreduce(shape, job)) {  // whose runs begin with one (Communicator)
      exercises.push_back(with_data({.collective = host::Collective::barrier}, world, random));
    }
    for (std::uint64_t i = 0; i < shape.collectives; ++i) {
      exercises.push_back(draw_exercise(shape, freedom, world, random));
    }
  }
  return exercises;
}

}  // namespace tributary::test
