// SPDX-License-Identifier: BSD-3-Clause
#include "controller/parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "wire/embedding_prefix.h"

namespace tributary::controller {
namespace {

class Parts {
 public:
  Parts(const Topology& topology, const Job& job, const Parents& parents)
      : topology_(topology), job_(job), parents_(parents) {}

  Tree make(std::uint16_t id, std::size_t root, wire::Ipv4Address group) {
    tree_ = {id, root, group, {}};
    add(root, std::nullopt, {});
    return std::move(tree_);
  }

 private:
  std::uint16_t add(std::size_t sw, std::optional<std::string> parent,
                    const wire::IpAddress& parent_address) {
    const std::size_t at = tree_.parts.size();
    TreePart part;
    part.job = job_.id;
    part.tree = tree_.id;
    part.group = tree_.group;
    part.parent = std::move(parent);
    part.workers = static_cast<std::uint16_t>(job_.hosts.size());
    part.quorum = job_.quorum;
    part.parent_address = parent_address;
    part.engine = job_.engine;
    part.settings = job_.settings;
    for (const std::size_t host : job_.hosts) {
      if (topology_.hosts[host].at.switch_index == sw) {
        part.children.push_back(topology_.hosts[host].at.port);
        part.child_addresses.push_back(known(topology_.hosts[host].address));
      }
    }
    if (job_.limits.members) {
      part.members = addresses_of(job_.hosts);
    }
    part.workers_below = static_cast<std::uint16_t>(part.children.size());
    tree_.parts.push_back({sw, {}});
    for (const auto& entry : parents_) {
      if (entry.second.to == sw) {
        part.children.push_back(*entry.second.far_port);
        part.child_addresses.push_back(known(topology_.switches[entry.first].address));
        const auto first = tree_.parts.size();
        const auto below =
            add(entry.first, *entry.second.port, known(topology_.switches[sw].address));
        if (job_.limits.members) {
          part.racks.push_back(workers_of(first));
        }
        part.workers_below = static_cast<std::uint16_t>(part.workers_below + below);
      }
    }
    const auto is_unknown = [](const auto& address) { return address.is_unspecified(); };
    if (std::all_of(part.child_addresses.begin(), part.child_addresses.end(), is_unknown)) {
      part.child_addresses.clear();
    }
    const std::uint16_t below = part.workers_below;
    tree_.parts[at].part = std::move(part);
    return below;
  }

  // Returns what the job's protocol knows a host or switch by.
  wire::IpAddress known(const wire::IpAddress& address) const {
    const bool as_it_is = job_.limits.members || address.is_unspecified();
    return as_it_is ? address : wire::IpAddress(wire::EmbeddingPrefix::embedded_in(address));
  }

  std::vector<wire::IpAddress> addresses_of(const std::vector<std::size_t>& hosts) const {
    std::vector<wire::IpAddress> addresses;
    for (const std::size_t host : hosts) {
      addresses.push_back(topology_.hosts[host].address);
    }
    return addresses;
  }

  // Returns the workers behind switches whose parts came from `first` on.
  std::vector<wire::IpAddress> workers_of(std::size_t first) const {
    std::vector<std::size_t> workers;
    std::copy_if(
        job_.hosts.begin(), job_.hosts.end(), std::back_inserter(workers), [&](std::size_t host) {
          return std::any_of(tree_.parts.begin() + static_cast<std::ptrdiff_t>(first),
                             tree_.parts.end(), [&](const PlacedPart& part) {
                               return part.switch_index == topology_.hosts[host].at.switch_index;
                             });
        });
    return addresses_of(workers);
  }

  const Topology& topology_;
  const Job& job_;
  const Parents& parents_;
  Tree tree_;
};

}  // namespace

Tree make_tree(const Topology& topology, const Job& job, const Parents& parents, std::uint16_t id,
               std::size_t root, wire::Ipv4Address group) {
  return Parts(topology, job, parents).make(id, root, group);
}

}  // namespace tributary::controller
