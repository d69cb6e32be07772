// SPDX-License-Identifier: BSD-3-Clause
#include "property/exercises.h"

#include <utility>

namespace tributary::test {
namespace {

Exercise with_data(Exercise exercise, std::uint32_t world, Random& random) {
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    exercise.inputs.push_back(
        random_data(random, exercise.type, exercise.op, exercise.elements, rank));
  }
  exercise.expected = exercise.collective == host::Collective::broadcast
                          ? exercise.inputs[exercise.root]
                          : reduced(exercise.inputs, exercise.type, exercise.op);
  return exercise;
}

Exercise draw_exercise(const Shape& shape, bool all_have_part, std::uint32_t world,
                       Random& random) {
  Exercise exercise;
  const auto kind = random() % 8;
  const auto type = static_cast<wire::ElementType>(random() % wire::element_type_count);
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
  if (exercise.collective == host::Collective::barrier) {
    exercise.elements = 0;
  }
  return with_data(std::move(exercise), world, random);
}

}  // namespace

std::vector<Exercise> draw_exercises(const Shape& shape, std::uint32_t job, std::uint32_t world) {
  auto random = stream_of(shape.seed, Stream::data, job);
  // What all must have part in is not for trees that leave some out (Communicator).
  const bool all_have_part = !is_panama(shape, job) || shape.missing == 0;
  std::vector<Exercise> exercises;
  for (std::uint64_t run = 0; run < runs_of(shape, job); ++run) {
    if (is_netreduce(shape, job)) {  // whose runs begin with one (Communicator)
      exercises.push_back(with_data({.collective = host::Collective::barrier}, world, random));
    }
    for (std::uint64_t i = 0; i < shape.collectives; ++i) {
      exercises.push_back(draw_exercise(shape, all_have_part, world, random));
    }
  }
  return exercises;
}

}  // namespace tributary::test
