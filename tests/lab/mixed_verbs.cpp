// SPDX-License-Identifier: BSD-3-Clause
// Every kind of request on one queue pair, several at a time: what it reads back must be what it
// wrote just before. The peer, which runs the same program with 0 rounds, only lends its memory.
//
//   mixed_verbs DEVICE OWN_ADDRESS PEER_ADDRESS ROUNDS
//
// It tells of its end in /tmp/here and waits for what the peer's tells in /tmp/there.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/transport/address.h"
#include "protocols/netreduce/carrier/verbs/completions.h"
#include "protocols/netreduce/carrier/verbs/device.h"
#include "protocols/netreduce/carrier/verbs/queue_pair.h"

namespace {

using namespace tributary;
using namespace tributary::host::verbs;

constexpr std::uint32_t path_mtu = 1024;
constexpr std::uint32_t block = 3 * path_mtu - 200;  // three packets
constexpr std::uint32_t requests = 16;
constexpr std::uint32_t inbox_blocks = 512;
constexpr auto patience = std::chrono::seconds(60);

void must(bool holds, const std::string& what) {
  if (!holds) {
    std::cerr << what << '\n';
    std::exit(1);
  }
}
template <typename Value>
Value must(Result<Value> value) {
  must(value.has_value(), value ? "" : value.error().message);
  if constexpr (!std::is_void_v<Value>) {
    return std::move(*value);
  }
}

// What each side has: a counter for atomics in front of a block, which the other writes and reads.
struct Shared {
  std::uint64_t counter = 0;
  std::array<std::uint8_t, block> bytes{};
};

// Of one side, as it tells the other.
struct End {
  std::uint32_t queue_pair = 0;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

// Files appear whole: under another name first.
void tell(const End& own) {
  std::ofstream("/tmp/here.new") << own.queue_pair << ' ' << own.address << ' ' << own.key << '\n';
  must(std::rename("/tmp/here.new", "/tmp/here") == 0, "cannot write /tmp/here");
}

End hear() {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    End peer;
    if (std::ifstream file("/tmp/there"); file >> peer.queue_pair >> peer.address >> peer.key) {
      return peer;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  must(false, "the peer has not told of its end");
  return {};
}

class Side {
 public:
  Side(const std::string& name, wire::Ipv4Address own, wire::Ipv4Address peer)
      : device_(must(open_device(name, own))), domain_(ibv_alloc_pd(device_.context.get())) {
    must(completions_.open(device_, requests + inbox_blocks));
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    shared_memory_.reset(ibv_reg_mr(domain_.get(), &shared_, sizeof shared_, access));
    local_memory_.reset(ibv_reg_mr(domain_.get(), &local_, sizeof local_, access));
    inbox_memory_.reset(ibv_reg_mr(domain_.get(), inbox_.data(), inbox_.size(), access));
    must(shared_memory_ && local_memory_ && inbox_memory_, "cannot register memory");
    pair_ = must(make_queue_pair(device_, *domain_, completions_.queue(), inbox_blocks));
    must(clear(device_, *pair_));
    tell({pair_->qp_num, reinterpret_cast<std::uint64_t>(&shared_), shared_memory_->rkey});
    peer_ = hear();
    constexpr std::uint32_t first_psn = 0xfffff0;  // the numbers come round on the way
    must(connect(device_, *pair_, {peer, peer_.queue_pair, first_psn, first_psn},
                 {path_mtu, std::chrono::seconds(1), 6}));
    ibv_qp_attr attributes{};
    attributes.qp_access_flags = access;
    must(ibv_modify_qp(pair_.get(), &attributes, IBV_QP_ACCESS_FLAGS) == 0, "no access");
    for (std::uint32_t i = 0; i < inbox_blocks; ++i) {
      expect_message(i);
    }
  }

  // WRITE, READ, SEND, FETCH AND ADD, WRITE, READ: all on their way at once.
  void exchange(std::uint64_t round) {
    fill(local_.first, round, 0);
    fill(local_.second, round, 1);
    post(IBV_WR_RDMA_WRITE, local_.first, false);
    post(IBV_WR_RDMA_READ, local_.first_back, false);
    post(IBV_WR_SEND, local_.first, false);
    post_fetch_add();
    post(IBV_WR_RDMA_WRITE, local_.second, false);
    post(IBV_WR_RDMA_READ, local_.second_back, true);
    wait_for_last();
    must(local_.first_back == local_.first && local_.second_back == local_.second,
         "round " + std::to_string(round) + ": what was read is not what was written");
    must(local_.fetched == round,
         "round " + std::to_string(round) + ": the counter was " + std::to_string(local_.fetched));
  }

 private:
  using Block = std::array<std::uint8_t, block>;
  struct Local {
    Block first{}, second{}, first_back{}, second_back{};
    std::uint64_t fetched = 0;
  };

  static void fill(Block& bytes, std::uint64_t round, std::uint64_t half) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(i * 7 + round * 2 + half);
    }
  }

  void expect_message(std::uint32_t number) {
    ibv_sge place{reinterpret_cast<std::uint64_t>(inbox_.data() + std::size_t{number} * block),
                  block, inbox_memory_->lkey};
    ibv_recv_wr receive{};
    receive.sg_list = &place;
    receive.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    must(ibv_post_recv(pair_.get(), &receive, &bad) == 0, "cannot post a receive");
  }

  void post(ibv_wr_opcode opcode, Block& bytes, bool is_last) {
    ibv_send_wr request{};
    request.opcode = opcode;
    request.wr.rdma.remote_addr = peer_.address + offsetof(Shared, bytes);
    request.wr.rdma.rkey = peer_.key;
    post(request, bytes.data(), block, is_last);
  }
  void post_fetch_add() {
    ibv_send_wr request{};
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic.remote_addr = peer_.address + offsetof(Shared, counter);
    request.wr.atomic.compare_add = 1;
    request.wr.atomic.rkey = peer_.key;
    post(request, &local_.fetched, sizeof local_.fetched, false);
  }
  void post(ibv_send_wr& request, void* bytes, std::uint32_t length, bool is_last) {
    ibv_sge place{reinterpret_cast<std::uint64_t>(bytes), length, local_memory_->lkey};
    request.sg_list = &place;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr_id = is_last ? 1 : 0;
    ibv_send_wr* bad = nullptr;
    must(ibv_post_send(pair_.get(), &request, &bad) == 0, "cannot post a request");
  }

  void wait_for_last() {
    const auto until = host::Clock::now() + patience;
    while (host::Clock::now() < until) {
      for (const auto& completion : must(completions_.take())) {
        must(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
        if (completion.wr_id == 1) {
          return;
        }
      }
      must(completions_.sleep(until));
    }
    must(false, "a request has not ended");
  }

  Device device_;
  Domain domain_;
  Completions completions_;
  Shared shared_;
  Local local_;
  std::vector<std::uint8_t> inbox_ = std::vector<std::uint8_t>(std::size_t{inbox_blocks} * block);
  Memory shared_memory_, local_memory_, inbox_memory_;
  QueuePair pair_;
  End peer_;
};

}  // namespace

int main(int argc, char** argv) {
  must(argc == 5, "mixed_verbs DEVICE OWN_ADDRESS PEER_ADDRESS ROUNDS");
  Side side(argv[1], must(host::parse_address(argv[2])), must(host::parse_address(argv[3])));
  const auto rounds = std::stoul(argv[4]);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    side.exchange(round);
  }
  if (rounds == 0) {
    std::this_thread::sleep_for(patience);
  }
}
