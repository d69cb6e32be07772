// SPDX-License-Identifier: BSD-3-Clause
#include "host/canary_worker.h"

#include <cstring>

namespace tributary::host {

wire::CanaryHeader header_of(const Job& job, const Blocks& blocks, std::uint32_t block) {
  wire::CanaryHeader header;
  header.id = blocks.id(block);
  header.hosts = static_cast<std::uint16_t>(job.world_size());
  header.flags = wire::CanaryHeader::current_version;
  header.element_type = blocks.type();
  header.op = blocks.op();
  header.job = job.id;
  header.elements = blocks.elements(block);
  header.child_address = job.self().address;
  header.child_port = job.self().port;
  header.rank = wire::CanaryHeader::no_rank;
  return header;
}

bool agrees(const wire::CanaryHeader& header, const Job& job, const Blocks& blocks,
            std::uint32_t block) {
  return header.hosts.value() == job.world_size() && header.element_type == blocks.type() &&
         header.op == blocks.op() && header.elements.value() == blocks.elements(block);
}

void CanaryWorker::poll(const Blocks& blocks, const Progress& progress, Outbox& outbox) {
  for (; next_ < progress.limit() && !outbox.full(); ++next_) {
    const auto leader = blocks.leader(next_);
    if (leader == job_.rank) {
      continue;
    }
    Datagram datagram{job_.peers[leader], header_of(job_, blocks, next_), blocks.in(next_)};
    auto& header = datagram.header;
    header.destination = job_.peers[leader].address;
    header.counter = 1;
    header.kind = wire::CanaryKind::contribution;
    header.fingerprint = contribution_tag(job_.key, header.id.value(), header.attempt, job_.rank);
    header.rank = static_cast<std::uint16_t>(job_.rank);
    seal(header, datagram.payload);
    outbox.push(datagram);
  }
}

// The fingerprint of a sum to which every rank contributed once.
std::uint64_t CanaryWorker::total_tag(const wire::CanaryHeader& header) const {
  std::uint64_t total = 0;
  for (std::uint32_t rank = 0; rank < job_.world_size(); ++rank) {
    total += contribution_tag(job_.key, header.id.value(), header.attempt, rank);
  }
  return total;
}

Verdict CanaryWorker::take_result(const wire::CanaryHeader& header, wire::Bytes payload,
                                  std::uint32_t block, const Blocks& blocks, Progress& progress) {
  if (progress.done(block)) {
    return Verdict::duplicate;
  }
  // Nobody can know the result of a block that lacks this rank's data.
  if (blocks.leader(block) == job_.rank || block >= next_) {
    return Verdict::foreign;
  }
  if (!agrees(header, job_, blocks, block)) {
    return Verdict::mismatch;
  }
  // Without the job's key nobody can make up a result.
  if (header.fingerprint.value() != total_tag(header)) {
    return Verdict::foreign;
  }
  std::memcpy(blocks.out(block).data(), payload.data(), payload.size());
  progress.complete(block);
  return Verdict::taken;
}

}  // namespace tributary::host
