// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/cube/frames.h"
#include "host/cube/links.h"
#include "host/cube/schedule.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/rendezvous/rendezvous.h"
#include "host/runner.h"

namespace tributary::host {

// Carries out allreduces over several interfaces by the hosts, with connections to all neighbours
// and one thread for all of them. A rank that fails tells its neighbours why, and these theirs, so
// that all end with the error of the first. After that every further call fails.
class CubeRunner final : public Runner {
 public:
  CubeRunner(Job job, const CubeLayout& layout, std::vector<CubeInterface> interfaces,
             std::vector<std::vector<Endpoint>> all);

  // All ranks call it at once.
  Result<void> connect(Time until);

  Result<void> run(const Call& call, Deadline until) override;
  void skip(const Call& /*call*/) override { ++sequence_; }
  // Is called while this rank is in a call of the ring. Fails if a neighbour has said why it goes
  // no further, or a link has failed; that is passed on, and every further call fails.
  Result<void> hear();
  // Returns why that ring broke, if a neighbour says so soon; otherwise the error that it got.
  Error explain(const Error& why);
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }

  // Elements that went over all connections of an interface.
  struct Traffic {
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
  };
  const std::vector<Traffic>& traffic() const { return traffic_; }

 private:
  // The allreduce that is under way.
  struct Exchange;

  CubeEnds ends() const { return {job_, layout_, interfaces_, all_, attempts_}; }
  Result<void> drive(Exchange& exchange, Deadline& until);
  Result<void> send_some(Exchange& exchange, std::size_t link, bool& moved);
  Result<void> receive_some(Exchange& exchange, std::size_t link, bool& moved);
  void await(Exchange& exchange, Time until) const;
  Result<void> hear_neighbours();
  Result<void> look_at_links() const;
  Error lateness_of(const Exchange& exchange, const Deadline& until) const;
  void tell(const std::vector<std::vector<std::byte>>& endings, Duration patience);
  void count(const Exchange& exchange);

  Job job_;
  CubeLayout layout_;
  std::vector<CubeInterface> interfaces_;
  std::vector<std::vector<Endpoint>> all_;
  std::vector<CubeLink> links_;
  std::vector<Traffic> traffic_;
  std::uint32_t sequence_ = 0;
  std::uint32_t attempts_ = 0;  // to connect
  std::string broken_;          // why, if a collective failed
};

}  // namespace tributary::host
