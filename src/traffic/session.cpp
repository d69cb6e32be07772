// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/session.h"

#include <algorithm>
#include <utility>

#include "control/text.h"

namespace tributary::traffic {
namespace {

// What was flooded is out of the queues by then (RFC 2544, section 23).
constexpr Duration learning_pause = std::chrono::milliseconds(500);
constexpr auto nothing_measured = "stopped before anything was measured";
constexpr auto unfinished_search = "stopped before the search was over: it has found no rate";

}  // namespace

Session::Session(const SessionPlan& plan, Neighbours& neighbours, Traffic& traffic, Edge edge)
    : plan_(plan), neighbours_(neighbours), traffic_(traffic), edge_(std::move(edge)) {
  traffic_.set_growth(edge_.growth());
  if (plan_.search) {
    search_.emplace(*plan_.search);
  }
}

void Session::receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) {
  PacketList rest;
  while (auto packet = arrivals.pop()) {
    if (!neighbours_.take(packet, port, out)) {
      edge_.enter(*packet);
      rest.push(std::move(packet));
    }
  }
  if (!rest.empty()) {
    edge_.leave(out, [&](Outbox& made) { traffic_.receive(std::move(rest), port, now, made); });
  }
}

void Session::run(std::size_t most, Time now, Outbox& out) {
  if (done_) {
    return;
  }
  if (!trial_) {
    find_neighbours(most, now, out);
    return;
  }
  edge_.leave(out, [&](Outbox& made) {
    traffic_.expire(now, made);
    trial_->run(most, now, made);
  });
  if (trial_->phase() == Trial::Phase::done) {
    end_trial(now);
  }
}

void Session::find_neighbours(std::size_t most, Time now, Outbox& out) {
  neighbours_.send(most, now, out);
  if (!asking_since_ && neighbours_.announced()) {
    asking_since_ = now;  // gateways are asked only then
  }
  if (neighbours_.ready()) {
    ready_since_ = ready_since_.value_or(now);
    if (!search_ || now - *ready_since_ >= learning_pause) {
      begin_trial(now);
    }
  } else if (asking_since_ && now - *asking_since_ >= plan_.gateway_patience) {
    if (const auto gateway = neighbours_.unresolved()) {
      error_ = "the gateway " + control::to_string(*gateway) + " does not answer " +
               (gateway->is_v4() ? "ARP" : "neighbour solicitations") +
               "; check its address and the port's link, or give gateway-mac=";
      done_ = true;
    }
  }
}

void Session::begin_trial(Time now) {
  auto plan = plan_.trial;
  if (search_) {
    plan.rate = *search_->next();
  }
  trial_.emplace(traffic_, plan, now);
}

void Session::end_trial(Time now) {
  auto result = trial_->result(now);
  if (search_) {
    search_->add(result);
  }
  if (stopped_ && !search_ && result.seconds == 0) {
    error_ = nothing_measured;
  }
  trials_.push_back(std::move(result));
  done_ = stopped_ || !search_ || !search_->next();
  if (stopped_ && search_ && (trials_.back().cut_short || search_->next())) {
    error_ = unfinished_search;
  }
  if (!done_) {
    trial_.reset();
    ready_since_.reset();
    neighbours_.announce_again();  // RFC 2544, section 23: before each trial
  }
}

void Session::stop(Time now) {
  stopped_ = true;
  if (trial_) {
    trial_->stop(now);
    return;
  }
  done_ = true;
  if (search_) {
    error_ = unfinished_search;
  } else if (trials_.empty()) {
    error_ = nothing_measured;
  }
}

Time Session::deadline() const {
  if (!trial_) {
    return ready_since_ ? *ready_since_ + learning_pause : neighbours_.deadline();
  }
  return std::min(trial_->deadline(), traffic_.deadline());
}

Session::View Session::view(Time now) const {
  View view;
  view.trial = trials_.size() + (done_ ? 0 : 1);
  view.finding_neighbours = !trial_;
  if (trial_) {
    view.phase = trial_->phase();
    view.now = trial_->result(now);
  }
  return view;
}

}  // namespace tributary::traffic
