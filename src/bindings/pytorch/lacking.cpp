// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/lacking.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>

#include "bindings/pytorch/communicator.h"

namespace tributary::pytorch {
namespace {

void expect_told(tributary_result result) {
  if (result != TRIBUTARY_SUCCESS) {
    throw std::runtime_error("by how many ranks an average is divided cannot be told: " +
                             failure_text(result));
  }
}

// Of the collective that has just ended.
Lacking ask(tributary_comm* comm) {
  std::size_t count = 0;
  expect_told(tributary_comm_partial_results(comm, nullptr, nullptr, &count));
  std::vector<tributary_partial_result> results(count);
  std::vector<std::uint64_t> missing(count * TRIBUTARY_RANK_WORDS(tributary_comm_size(comm)));
  expect_told(tributary_comm_partial_results(comm, results.data(), missing.data(), &count));
  Lacking lacking;
  for (const auto& [first, elements, ranks] : results) {
    lacking.push_back({static_cast<std::int64_t>(first), static_cast<std::int64_t>(elements),
                       static_cast<int>(ranks)});
  }
  return lacking;
}

struct Question {
  tributary_comm* comm;
  std::promise<Lacking> answer{};

  static void ended(void* context, tributary_result result) {
    const std::unique_ptr<Question> question(static_cast<Question*>(context));
    try {
      question->answer.set_value(result == TRIBUTARY_SUCCESS ? ask(question->comm) : Lacking{});
    } catch (...) {
      question->answer.set_exception(std::current_exception());
    }
  }
};

}  // namespace

std::future<Lacking> lacking_of(tributary_comm* comm, tributary_request* request) {
  auto question = std::make_unique<Question>(Question{comm});
  auto answer = question->answer.get_future();
  expect_told(tributary_request_on_completion(request, Question::ended, question.get()));
  (void)question.release();  // it is the function's now
  return answer;
}

}  // namespace tributary::pytorch
