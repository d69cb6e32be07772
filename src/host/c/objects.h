// SPDX-License-Identifier: BSD-3-Clause
// These are what the pointers that C has point to.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/c/tributary.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/gradient_sketch.h"
#include "host/rendezvous/bootstrap.h"
#include "host/stream/posting.h"
#include "host/stream/stream.h"
#include "host/training/gradient_exchange.h"
#include "host/variables.h"

struct tributary_options {
  tributary::host::Variables variables;
  std::function<void(const std::string&)> on_notice;
  bool for_part = false;
  bool share_machine = false;
};

struct tributary_comm {
  tributary_comm(tributary::CommunicatorOptions given, tributary::host::Sharing shared,
                 std::unique_ptr<tributary::host::Stream> over)
      : options(std::move(given)), sharing(shared), stream(std::move(over)) {}

  // What is in a group that has not ended is not carried out any more.
  ~tributary_comm() {
    for (const auto& [thread, group] : groups) {
      for (const auto& posted : group) {
        posted.posting->end(tributary::fail(tributary::Error::Code::aborted,
                                            "the communicator ended before the group did"));
      }
    }
  }

  // In another process than that which made it, its threads are not there.
  bool is_here() const { return process == ::getpid(); }

  const tributary::CommunicatorOptions options;
  const tributary::host::Sharing sharing;                 // as it was asked for
  const std::shared_ptr<tributary::host::Stream> stream;  // shared with an exchange that is over it
  const pid_t process = ::getpid();

  std::mutex mutex;  // guards what follows
  // What threads have posted in a group that they have begun, and not ended.
  std::unordered_map<std::thread::id, std::vector<tributary::host::Posted>> groups;
};

struct tributary_sketch {
  // It is shared with what is in flight.
  std::shared_ptr<tributary::GradientSketch> sketch;
};

// Members are declared in the order in which they are needed: the exchange ends before its stream
// has the communicator back.
struct tributary_gradient_exchange {
  tributary_gradient_exchange(std::shared_ptr<tributary::host::Stream> of, std::size_t layer_count)
      : stream(std::move(of)), layers(layer_count) {}
  ~tributary_gradient_exchange() {
    exchange.reset();
    give_back();
  }
  tributary_gradient_exchange(const tributary_gradient_exchange&) = delete;
  tributary_gradient_exchange& operator=(const tributary_gradient_exchange&) = delete;

  // From now on the communicator ends with its handle.
  void give_back() {
    if (std::exchange(has_communicator, false)) {
      stream->take_back();
      stream.reset();
    }
  }

  std::shared_ptr<tributary::host::Stream> stream;  // null once the communicator was given back
  const std::size_t layers;
  std::optional<tributary::GradientExchange> exchange;  // once it is made
  bool has_communicator = false;
  const pid_t process = ::getpid();
};

struct tributary_request {
  std::shared_ptr<tributary::host::Posting> posting;
  pid_t process = ::getpid();
};

namespace tributary::host::c {

// Fails unless the communicator is there, and of this process.
Result<void> usable(const tributary_comm* comm);

}  // namespace tributary::host::c
