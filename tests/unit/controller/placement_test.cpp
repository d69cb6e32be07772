// SPDX-License-Identifier: BSD-3-Clause
#include "controller/placement.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "fabrics.h"
#include "tree_check.h"

namespace tributary::controller {
namespace {

Job job_of(std::uint32_t id, std::vector<std::size_t> hosts, std::size_t trees = 0) {
  const auto workers = static_cast<std::uint16_t>(hosts.size());
  return {id, std::move(hosts), trees, workers};
}

std::vector<std::size_t> all_hosts(const Topology& topology) {
  std::vector<std::size_t> hosts(topology.hosts.size());
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  return hosts;
}

std::vector<PlacedJob> placed(const Topology& topology, const std::vector<Job>& jobs,
                              const std::vector<PlacedPart>& before = {}) {
  const auto result = place(topology, jobs, before, test_groups);
  if (!result) {
    ADD_FAILURE() << result.error().front().message << " (" << result.error().front().hint << ")";
    return {};
  }
  EXPECT_EQ(result->size(), jobs.size());
  for (std::size_t i = 0; i < result->size(); ++i) {
    for (const Tree& tree : (*result)[i].trees) {
      EXPECT_EQ(defect(topology, jobs[i], tree), "");
    }
  }
  return *result;
}

Refusal refused(const Topology& topology, const std::vector<Job>& jobs,
                const std::vector<PlacedPart>& before = {}, GroupRange groups = test_groups) {
  const auto result = place(topology, jobs, before, groups);
  if (result) {
    ADD_FAILURE() << "it was placed";
    return {};
  }
  return result.error().front();
}

std::vector<std::string> roots(const Topology& topology, const PlacedJob& job) {
  std::vector<std::string> names;
  for (const Tree& tree : job.trees) {
    names.push_back(topology.switches[tree.root].name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Placement, one_switch_is_the_root) {
  const auto topology = two_levels(4, 2, 4);
  const auto jobs = placed(topology, {job_of(7, {4, 5, 7})});
  ASSERT_EQ(jobs[0].trees.size(), 1u);
  const auto& tree = jobs[0].trees[0];
  ASSERT_EQ(tree.parts.size(), 1u);
  EXPECT_EQ(tree.parts[0].switch_index, 1u);
  EXPECT_EQ(tree.parts[0].part.children, (Names{"h4", "h5", "h7"}));
  EXPECT_EQ(tree.parts[0].part.parent, std::nullopt);
  EXPECT_EQ(tree.parts[0].part.workers_below, 3);
  EXPECT_EQ(tree.group, wire::Ipv4Address(239, 192, 0, 1));
}

TEST(Placement, children_are_hosts_by_rank_then_switches) {
  const auto topology = two_levels(2, 1, 2);
  const auto jobs = placed(topology, {job_of(7, {3, 1, 0, 2})});
  const auto& parts = jobs[0].trees[0].parts;
  EXPECT_EQ(parts[0].part.children, (Names{"leaf1", "leaf2"}));
  EXPECT_EQ(parts[1].part.children, (Names{"h1", "h0"}));
  EXPECT_EQ(parts[2].part.children, (Names{"h3", "h2"}));
  EXPECT_EQ(parts[2].part.parent, "spine1");
}

TEST(Placement, switches_are_told_where_their_childrens_packets_come_from) {
  auto topology = two_levels(2, 1, 2);
  EXPECT_TRUE(
      placed(topology, {job_of(7, {0, 2})})[0].trees[0].parts[0].part.child_addresses.empty());
  const auto address = [](std::uint8_t last) { return wire::Ipv4Address(10, 0, 0, last); };
  topology.hosts[0].address = address(1);
  topology.hosts[1].address = address(2);
  topology.switches[0].address = address(101);
  topology.switches[2].address = address(103);
  const auto jobs = placed(topology, {job_of(7, {3, 1, 0, 2})});
  using Addresses = std::vector<wire::IpAddress>;
  const auto& parts = jobs[0].trees[0].parts;
  EXPECT_EQ(parts[0].part.child_addresses, (Addresses{address(101), wire::IpAddress{}}));
  EXPECT_EQ(parts[1].part.child_addresses, (Addresses{address(2), address(1)}));
  EXPECT_TRUE(parts[2].part.child_addresses.empty());
  EXPECT_TRUE(parts[0].part.parent_address.is_unspecified()) << "the root";
  EXPECT_EQ(parts[1].part.parent_address, address(103));
  EXPECT_EQ(parts[2].part.parent_address, address(103));
}

TEST(Placement, two_levels_have_a_tree_for_each_spine) {
  const auto topology = two_levels(4, 4, 2);
  const auto jobs = placed(topology, {job_of(7, all_hosts(topology))});
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine1", "spine2", "spine3", "spine4"}));
  std::set<std::size_t> links;
  for (const Tree& tree : jobs[0].trees) {
    for (const std::size_t link : links_of(topology, tree)) {
      EXPECT_TRUE(links.insert(link).second) << "two trees share a link";
    }
  }
  EXPECT_EQ(links.size(), 16u);
}

TEST(Placement, all_are_no_more_than_hosts_can_use) {
  const auto topology = two_levels(2, 17, 1);
  EXPECT_EQ(placed(topology, {job_of(7, all_hosts(topology))})[0].trees.size(), 16u);
}

TEST(Placement, three_levels_have_a_tree_for_each_core_over_disjoint_links_first) {
  const auto topology = three_levels(3, 2);
  const auto all = placed(topology, {job_of(7, all_hosts(topology))});
  EXPECT_EQ(roots(topology, all[0]), (Names{"core1", "core3", "core2", "core4"}));
  const auto two = placed(topology, {job_of(7, all_hosts(topology), 2)});
  const auto first = links_of(topology, two[0].trees[0]);
  const auto second = links_of(topology, two[0].trees[1]);
  std::vector<std::size_t> common;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(common));
  EXPECT_TRUE(common.empty());
  EXPECT_EQ(first.size(), 6u + 3u);
}

TEST(Placement, disjoint_links_come_before_those_that_others_use_less) {
  auto topology = three_levels(2, 2);
  topology.switches[4].unusable = "does not answer";
  const auto others = placed(
      topology, {job_of(1, {0, 2}), job_of(2, {1, 3}), job_of(3, {0, 2}), job_of(4, {1, 3})});
  topology.switches[4].unusable.clear();
  const auto jobs = placed(topology, {job_of(7, all_hosts(topology), 2)}, installed(others));
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"core1", "core3"}));
}

TEST(Placement, a_job_within_a_pod_does_not_climb_to_the_cores) {
  const auto topology = three_levels(2, 2);
  const auto jobs = placed(topology, {job_of(7, {0, 1, 2, 3})});
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine1", "spine2"}));
}

TEST(Placement, leaves_of_a_pod_meet_at_one_spine_where_all_are_joined) {
  Builder builder;  // two pods; every spine has a link to every core
  for (const char* name : {"leaf1", "leaf2", "leaf3", "spine1", "spine2", "spine3", "core1"}) {
    builder.add_switch(name);
  }
  for (const auto& [a, b] :
       {std::pair{0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 5}, {3, 6}, {4, 6}, {5, 6}}) {
    builder.add_link(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  }
  for (const std::size_t leaf : {0, 1, 2}) {
    builder.add_host(leaf);
  }
  const auto jobs = placed(builder.topology, {job_of(7, {0, 1, 2}, 1)});
  EXPECT_EQ(jobs[0].trees[0].parts.size(), 6u);
}

TEST(Placement, switches_in_a_row_have_the_middle_as_root) {
  Builder builder;
  for (std::size_t i = 0; i < 5; ++i) {
    builder.add_switch("s" + std::to_string(i));
    builder.add_host(i);
    if (i > 0) {
      builder.add_link(i - 1, i);
    }
  }
  const auto jobs = placed(builder.topology, {job_of(7, all_hosts(builder.topology))});
  EXPECT_EQ(roots(builder.topology, jobs[0]), (Names{"s2"}));
}

TEST(Placement, jobs_take_the_least_loaded_spine) {
  const auto topology = two_levels(2, 3, 4);
  const auto jobs =
      placed(topology, {job_of(1, {0, 4}, 1), job_of(2, {1, 5}, 2), job_of(3, {2, 6}, 1)});
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine1"}));
  EXPECT_EQ(roots(topology, jobs[1]), (Names{"spine2", "spine3"}));
  EXPECT_EQ(roots(topology, jobs[2]), (Names{"spine1"}));
}

TEST(Placement, a_slow_link_is_taken_when_the_fast_ones_are_fuller) {
  auto topology = two_levels(2, 2, 8);
  for (auto& link : topology.links) {
    const bool to_first = topology.switches[link.b.switch_index].name == "spine1" ||
                          topology.switches[link.a.switch_index].name == "spine1";
    link.rate_bps = to_first ? 10'000'000'000u : 30'000'000'000u;
  }
  std::vector<Job> jobs;
  for (std::uint32_t id = 1; id <= 4; ++id) {
    jobs.push_back(job_of(id, {id - 1, 8 + id - 1}, 1));
  }
  const auto all = placed(topology, jobs);
  Names first;
  for (const auto& job : all) {
    first.push_back(roots(topology, job)[0]);
  }
  EXPECT_EQ(std::count(first.begin(), first.end(), "spine1"), 1);
  EXPECT_EQ(first[0], "spine2");
}

TEST(Placement, parallel_links_are_used_in_turn) {
  Builder builder;
  for (const char* name : {"leaf1", "leaf2", "spine1"}) {
    builder.add_switch(name);
  }
  for (const char* suffix : {"a", "b"}) {
    builder.add_link(0, 2, suffix);
    builder.add_link(1, 2, suffix);
  }
  for (const std::size_t leaf : {0, 0, 1, 1}) {
    builder.add_host(leaf);
  }
  const auto jobs = placed(builder.topology, {job_of(1, {0, 2}), job_of(2, {1, 3})});
  EXPECT_NE(links_of(builder.topology, jobs[0].trees[0]),
            links_of(builder.topology, jobs[1].trees[0]));
}

TEST(Placement, the_load_of_jobs_placed_by_others_counts) {
  const auto topology = two_levels(2, 2, 2);
  const auto others = placed(topology, {job_of(1, {0, 2}, 1)});
  const auto jobs = placed(topology, {job_of(2, {1, 3}, 1)}, installed(others));
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine2"}));
  EXPECT_EQ(jobs[0].trees[0].group, wire::Ipv4Address(239, 192, 0, 2));
}

TEST(Placement, what_is_installed_stays_where_it_is) {
  const auto topology = two_levels(3, 3, 4);
  const auto first = placed(topology, {job_of(1, {0, 4, 8}, 1)});
  const std::vector<Job> both = {job_of(2, {1, 5}, 2), job_of(1, {0, 4, 8}, 1)};
  const auto second = placed(topology, both, installed(first));
  EXPECT_EQ(second[1].trees[0].parts.size(), first[0].trees[0].parts.size());
  EXPECT_EQ(roots(topology, second[1]), roots(topology, first[0]));
  EXPECT_EQ(second[1].trees[0].group, first[0].trees[0].group);
  EXPECT_EQ(roots(topology, second[0]), (Names{"spine2", "spine3"}));
}

TEST(Placement, a_switch_that_lost_its_part_gets_the_same_again) {
  const auto topology = two_levels(3, 3, 2);
  const std::vector<Job> jobs = {job_of(1, all_hosts(topology), 2)};
  auto before = installed(placed(topology, {job_of(9, {0, 2}, 1)}));
  const auto first = placed(topology, jobs, before);
  for (std::size_t lost = 0; lost < topology.switches.size(); ++lost) {
    auto left = installed(first);
    std::erase_if(left, [&](const PlacedPart& part) { return part.switch_index == lost; });
    const auto again = placed(topology, jobs, left);
    EXPECT_EQ(roots(topology, again[0]), roots(topology, first[0])) << lost;
  }
}

TEST(Placement, a_root_that_failed_moves_its_own_tree_only) {
  auto topology = two_levels(3, 3, 2);
  const std::vector<Job> jobs = {job_of(1, all_hosts(topology), 2)};
  const auto first = placed(topology, jobs);
  topology.switches[3].unusable = "does not answer";
  const auto second = placed(topology, jobs, installed(first));
  EXPECT_EQ(roots(topology, second[0]), (Names{"spine3", "spine2"}));
  EXPECT_EQ(second[0].trees[0].group, first[0].trees[0].group);
}

TEST(Placement, what_a_switch_that_was_gone_has_left_does_not_change_the_group) {
  const auto topology = two_levels(3, 1, 1);
  const auto job = job_of(7, {0, 1, 2});
  auto before = installed(placed(topology, {job}));
  const auto group = before[0].part.group;
  before[1].part.group = wire::Ipv4Address(239, 192, 0, 77);
  EXPECT_EQ(placed(topology, {job}, before)[0].trees[0].group, group);
}

TEST(Placement, trees_that_are_kept_share_a_root_where_none_is_left) {
  auto topology = two_levels(2, 2, 2);
  const auto job = job_of(7, all_hosts(topology));
  const auto before = placed(topology, {job});
  ASSERT_EQ(roots(topology, before[0]), (Names{"spine1", "spine2"}));
  topology.switches[2].unusable = "does not answer";
  EXPECT_EQ(placed(topology, {job}, installed(before))[0].trees.size(), 1u);
  auto kept = job;
  kept.trees_kept = 2;
  const auto after = placed(topology, {kept}, installed(before));
  EXPECT_EQ(roots(topology, after[0]), (Names{"spine2", "spine2"}));
  for (std::size_t tree = 0; tree < 2; ++tree) {
    EXPECT_EQ(after[0].trees[tree].group, before[0].trees[tree].group) << "workers send to it";
  }
  topology.switches[2].unusable = "";
  EXPECT_EQ(roots(topology, placed(topology, {kept}, installed(after))[0]),
            (Names{"spine2", "spine1"}))
      << "only one moves";
}

TEST(Placement, a_protocol_s_limits_hold) {
  auto topology = two_levels(2, 2, 2);
  for (std::size_t host = 0; host < 4; ++host) {
    topology.hosts[host].address = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(host + 1));
  }
  auto job = job_of(7, {3, 0, 2});
  job.engine = "some";
  job.settings = {{"window", 4}};
  job.limits = {.trees_max = 1, .groups = false, .members = true};
  const auto jobs = placed(topology, {job});
  ASSERT_EQ(jobs[0].trees.size(), 1u);
  const auto& root = jobs[0].trees[0].parts[0].part;
  EXPECT_TRUE(root.group.is_unspecified());
  EXPECT_EQ(root.engine, "some");
  EXPECT_EQ(root.settings, job.settings);
  const auto address = [](std::uint8_t last) { return wire::Ipv4Address(10, 0, 0, last); };
  using Rack = std::vector<wire::IpAddress>;
  EXPECT_EQ(root.members, (Rack{address(4), address(1), address(3)}));
  EXPECT_EQ(root.racks, (std::vector<Rack>{{address(1)}, {address(4), address(3)}}));
}

TEST(Placement, all_means_as_many_as_can_be_used) {
  auto topology = two_levels(2, 4, 2);
  topology.switches[2].unusable = "does not answer";
  topology.links[2].unusable = "leaf1:spine2 is down";
  topology.switches[4].trees_max = 0;
  const auto jobs = placed(topology, {job_of(1, all_hosts(topology))});
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine4"}));
}

TEST(Placement, more_trees_than_disjoint_roots_are_refused) {
  const auto topology = two_levels(2, 2, 2);
  const auto refusal = refused(topology, {job_of(7, all_hosts(topology), 3)});
  EXPECT_EQ(refusal.job, 7u);
  EXPECT_EQ(refusal.message, "3 trees, but only 2 disjoint roots: spine1, spine2");
  EXPECT_EQ(refusal.hint, "at most trees = 2");
}

TEST(Placement, two_workers_behind_one_port_are_refused) {
  auto topology = two_levels(2, 2, 2);
  topology.hosts[1].at.port = "h0";
  EXPECT_EQ(refused(topology, {job_of(7, {0, 1, 2})}).message,
            "workers h0 and h1 are behind one port, leaf1:h0");
  placed(topology, {job_of(7, {0, 2}), job_of(8, {1, 3})});
}

TEST(Placement, workers_that_nothing_joins_are_refused_with_what_is_in_the_way) {
  auto topology = two_levels(2, 1, 2);
  topology.links[1].unusable = "leaf2:spine1 is down";
  const auto refusal = refused(topology, {job_of(7, all_hosts(topology))});
  EXPECT_EQ(refusal.message, "no way joins all of its workers");
  EXPECT_EQ(refusal.hint, "leaf2:spine1 is down");
}

TEST(Placement, switches_with_the_same_fault_are_said_once) {
  auto topology = two_levels(2, 4, 2);
  for (const std::size_t spine : {2, 3, 5}) {
    topology.switches[spine].unusable = "does not answer";
  }
  topology.switches[4].trees_max = 0;
  EXPECT_EQ(refused(topology, {job_of(7, all_hosts(topology))}).hint,
            "each of spine1, spine2, spine4 does not answer, "
            "switch spine3 has no memory for another tree (at most 0)");
}

TEST(Placement, what_fits_has_a_place_beside_what_does_not) {
  const auto topology = two_levels(2, 2, 2);
  const std::vector<Job> jobs = {job_of(7, all_hosts(topology), 3), job_of(8, all_hosts(topology))};
  const auto result = place_what_fits(topology, jobs, {}, test_groups);
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].job, 7u);
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[0].id, 7u);
  EXPECT_TRUE(result.jobs[0].trees.empty());
  EXPECT_EQ(roots(topology, result.jobs[1]), (Names{"spine1", "spine2"}));
}

TEST(Placement, a_job_that_has_no_place_for_its_second_tree_takes_none_for_its_first) {
  auto topology = two_levels(2, 2, 2);
  topology.switches[0].trees_max = 1;
  const std::vector<Job> jobs = {job_of(7, all_hosts(topology), 2),
                                 job_of(8, all_hosts(topology), 1)};
  const auto result = place_what_fits(topology, jobs, {}, test_groups);
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].job, 7u);
  EXPECT_EQ(result.jobs[1].trees.size(), 1u);
}

TEST(Placement, a_worker_behind_a_port_that_is_down_is_refused) {
  auto topology = two_levels(2, 1, 2);
  topology.hosts[1].unusable = "leaf1:h1 is down";
  EXPECT_EQ(refused(topology, {job_of(7, {1, 2})}).hint, "leaf1:h1 is down");
  placed(topology, {job_of(7, {0, 2})});
}

TEST(Placement, a_switch_that_is_full_is_refused) {
  auto topology = two_levels(2, 2, 3);
  topology.switches[0].trees_max = 2;
  const auto refusal = refused(topology, {job_of(1, {0, 3}), job_of(2, {1, 4})});
  EXPECT_EQ(refusal.job, 2u);
  EXPECT_EQ(refusal.message, "switch leaf1 has no memory for another tree (at most 2)");
  placed(topology, {job_of(1, {0, 3}, 1), job_of(2, {1, 4})});  // one tree each
  EXPECT_EQ(refused(topology, {job_of(1, {0, 3}, 1), job_of(2, {1, 4}, 2)}).message,
            "no room for tree 1");
}

TEST(Placement, a_job_goes_around_switches_that_refuse_it) {
  const auto topology = two_levels(2, 2, 2);
  auto job = job_of(1, {0, 2}, 1);
  job.refused_by = {{2, "no room"}};
  const auto jobs = placed(topology, {job, job_of(2, {1, 3}, 1)});
  EXPECT_EQ(roots(topology, jobs[0]), (Names{"spine2"}));
  EXPECT_EQ(roots(topology, jobs[1]), (Names{"spine1"})) << "of the other job nothing was said";
}

TEST(Placement, a_job_that_no_switch_takes_is_refused_with_what_they_said) {
  const auto topology = two_levels(2, 2, 2);
  auto job = job_of(1, {0, 2}, 1);
  job.refused_by = {{2, "no room"}, {3, "no room"}};
  const auto refusal = refused(topology, {job});
  EXPECT_EQ(refusal.message, "no way joins all of its workers");
  EXPECT_EQ(refusal.hint, "each of spine1, spine2 refuses it: no room");
  job.refused_by = {{1, "raise working_memory"}};
  EXPECT_EQ(refused(topology, {job}).message, "switch leaf2 refuses it");
  EXPECT_EQ(refused(topology, {job}).hint, "raise working_memory");
}

TEST(Placement, the_setting_that_gives_more_room_is_named) {
  auto topology = two_levels(1, 0, 2);
  topology.switches[0].trees_max = 0;
  auto job = job_of(1, {0, 1});
  job.engine = "some";
  job.limits.memory = "some_memory";
  EXPECT_EQ(refused(topology, {job}).hint,
            "raise some_memory in its [switch.some], or remove a job");
}

TEST(Placement, a_job_that_is_installed_does_not_stand_in_its_own_way) {
  auto topology = two_levels(2, 2, 2);
  topology.switches[0].trees_max = 2;
  const std::vector<Job> jobs = {job_of(1, all_hosts(topology))};
  const auto first = placed(topology, jobs);
  EXPECT_EQ(placed(topology, jobs, installed(first))[0].trees.size(), 2u);
}

TEST(Placement, groups_that_are_taken_are_refused) {
  const auto topology = two_levels(2, 2, 2);
  const GroupRange one{wire::Ipv4Address(239, 0, 0, 1), wire::Ipv4Address(239, 0, 0, 1)};
  EXPECT_EQ(refused(topology, {job_of(1, all_hosts(topology), 2)}, {}, one).message,
            "no multicast group is left");
}

TEST(Placement, more_children_than_a_switch_can_have_are_refused) {
  const auto topology = two_levels(1, 0, 65);
  EXPECT_EQ(refused(topology, {job_of(1, all_hosts(topology))}).message,
            "switch leaf1 would have 65 children in a tree");
}

}  // namespace
}  // namespace tributary::controller
