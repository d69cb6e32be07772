// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packet/clock.h"
#include "packet/list.h"
#include "traffic/edge.h"
#include "traffic/neighbours.h"
#include "traffic/search.h"
#include "traffic/traffic.h"
#include "traffic/trial.h"

namespace tributary::traffic {

struct SessionPlan {
  TrialPlan trial;
  std::optional<SearchPlan> search;  // instead of one trial at its rate
  Duration gateway_patience = std::chrono::seconds(5);
};

// A Session is a run of the generator from the first ARP packet to the last trial, without I/O:
// whoever drives it hands in what was received and the time, and sends what comes out.
class Session {
 public:
  // A View is what can be seen of the session meanwhile.
  struct View {
    std::size_t trial = 0;  // how many there have been, this one included
    Trial::Phase phase = Trial::Phase::warm_up;
    bool finding_neighbours = false;
    TrialResult now;  // of the trial that runs
  };

  // Packets of the traffic pass the edge.
  Session(const SessionPlan& plan, Neighbours& neighbours, Traffic& traffic, Edge edge = {});

  void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out);
  // Does one round: sends up to `most` packets.
  void run(std::size_t most, Time now, Outbox& out);
  Time deadline() const;
  bool done() const { return done_; }
  // Ends the session early, with what there is.
  void stop(Time now);

  View view(Time now) const;
  // Is known when the session is done. The error says what was missing.
  const std::optional<std::string>& error() const { return error_; }
  const std::vector<TrialResult>& trials() const { return trials_; }
  const std::optional<Search>& search() const { return search_; }

 private:
  void find_neighbours(std::size_t most, Time now, Outbox& out);
  void begin_trial(Time now);
  void end_trial(Time now);

  SessionPlan plan_;
  Neighbours& neighbours_;
  Traffic& traffic_;
  Edge edge_;
  std::optional<Search> search_;
  std::optional<Time> ready_since_;  // all hosts are announced, and a trial may begin soon
  std::optional<Trial> trial_;
  std::vector<TrialResult> trials_;
  std::optional<Time> asking_since_;
  bool done_ = false;
  bool stopped_ = false;
  std::optional<std::string> error_;
};

}  // namespace tributary::traffic
