// SPDX-License-Identifier: BSD-3-Clause
// Prints what an allreduce of 64 hosts costs, or a sum of sparse blocks in one switch, as JSON for
// tools/experiment-sparse-fabric:
//   sparse_table flare-dense|ring-dense SCALE
//   sparse_table flare-sparse|ring-sparse|split-sparse|split-dense SCALE BUCKET CANDIDATES
//   sparse_table hash|array CHILDREN BUCKET CANDIDATES
#include <cstdio>
#include <cstdlib>
#include <string>

#include "unit/fabric/sparse_schemes.h"
#include "unit/fabric/sparse_storage_cost.h"

namespace tributary::test {
namespace {

// The numbers of the paper's evaluation. Vectors and links are both `scale` times smaller, so bytes
// are that many times fewer, and times are the same except for that of a single packet.
constexpr std::size_t vector_elements = (100 << 20) / sizeof(float);
constexpr std::size_t storage_elements = (1 << 20) / sizeof(float);

int usage() {
  std::fputs("usage: sparse_table SCHEME SCALE|CHILDREN [BUCKET CANDIDATES]\n", stderr);
  return 2;
}

Cluster scaled_cluster(std::size_t scale) {
  Cluster cluster;
  cluster.rate_bps /= scale;
  return cluster;
}

int print(const Cost& cost) {
  std::printf(R"({"seconds": %.9f, "line_bytes": %llu, "exact": %s})"
              "\n",
              std::chrono::duration<double>(cost.time).count(),
              static_cast<unsigned long long>(cost.line_bytes), cost.exact ? "true" : "false");
  return cost.exact ? 0 : 1;
}

int print(const StorageCost& cost) {
  std::printf(R"({"span": %zu, "packet_bytes": %zu, "buffers_max": %zu, "buffers_mean": %.3f, )"
              R"("came_bytes": %llu, "sent_bytes": %llu, "sent_packets": %llu})"
              "\n",
              cost.span, cost.packet_bytes, cost.buffers_max, cost.buffers_mean,
              static_cast<unsigned long long>(cost.came_bytes),
              static_cast<unsigned long long>(cost.sent_bytes),
              static_cast<unsigned long long>(cost.sent_packets));
  return 0;
}

int dense(const std::string& scheme, std::size_t scale) {
  const auto cluster = scaled_cluster(scale);
  const auto count = vector_elements / scale;
  if (scheme == "flare-dense") {
    return print(flare_dense(cluster, count));
  }
  return scheme == "ring-dense" ? print(ring_dense(cluster, count)) : usage();
}

int sparse(const std::string& scheme, std::size_t number, std::size_t bucket,
           std::size_t candidates) {
  const bool stores = scheme == "hash" || scheme == "array";
  SparseDraw draw{vector_elements / number, bucket, candidates, Cluster{}.hosts()};
  if (stores) {
    draw.count = storage_elements;
    draw.ranks = static_cast<std::uint32_t>(number);
    return print(
        storage_cost(SparseInputs(draw), scheme == "hash" ? Storage::hash : Storage::array));
  }
  const SparseInputs inputs(draw);
  const auto cluster = scaled_cluster(number);
  if (scheme == "flare-sparse") {
    return print(flare_sparse(cluster, inputs));
  }
  if (scheme == "ring-sparse") {
    return print(ring_sparse(cluster, inputs));
  }
  if (scheme == "split-sparse" || scheme == "split-dense") {
    return print(split_allgather(cluster, inputs, scheme == "split-dense"));
  }
  return usage();
}

}  // namespace
}  // namespace tributary::test

int main(int argc, char** argv) {
  using namespace tributary::test;
  if (argc != 3 && argc != 5) {
    return usage();
  }
  const auto number = [argv](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (number(2) == 0) {
    return usage();
  }
  if (argc == 3) {
    return dense(argv[1], number(2));
  }
  const bool is_possible = number(3) > 0 && number(4) > 0 && number(4) <= number(3);
  return is_possible ? sparse(argv[1], number(2), number(3), number(4)) : usage();
}
