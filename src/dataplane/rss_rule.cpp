// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/rss_rule.h"

#include "dataplane/rss.h"

namespace tributary::dataplane {
namespace {

constexpr std::uint32_t entries = 128;  // of a rule's own list
constexpr std::size_t key_bytes = 40;   // of cards that take a key with a rule

}  // namespace

RssRule::RssRule(Form form, std::uint16_t queues) {
  if (form == Form::by_itself) {
    key_.resize(key_bytes);
    fill_rss_key(key_);
    for (std::uint32_t i = 0; i < entries; ++i) {
      queues_.push_back(rss_queue(i, entries, queues));
    }
  }
  attributes_.ingress = 1;
  pattern_[0].type = RTE_FLOW_ITEM_TYPE_ETH;
  pattern_[1].type = RTE_FLOW_ITEM_TYPE_IPV4;
  pattern_[2].type = RTE_FLOW_ITEM_TYPE_UDP;
  pattern_[3].type = RTE_FLOW_ITEM_TYPE_END;
  spread_.func = RTE_ETH_HASH_FUNCTION_TOEPLITZ;
  spread_.types = source_port_hash;
  spread_.key_len = static_cast<std::uint32_t>(key_.size());
  spread_.key = key_.empty() ? nullptr : key_.data();
  spread_.queue_num = static_cast<std::uint32_t>(queues_.size());
  spread_.queue = queues_.empty() ? nullptr : queues_.data();
  actions_[0].type = RTE_FLOW_ACTION_TYPE_RSS;
  actions_[0].conf = &spread_;
  actions_[1].type = RTE_FLOW_ACTION_TYPE_END;
}

}  // namespace tributary::dataplane
