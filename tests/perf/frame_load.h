// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "packet/list.h"
#include "packet/pool.h"
#include "switch/config.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::perf {

// Smallest frames from station to station of a bridge, pairs drawn.
class BridgeLoad {
 public:
  BridgeLoad(PortIndex ports, std::uint32_t stations) : ports_(ports), stations_(stations) {}

  switching::SwitchConfig config() const;
  // A frame of one station, so that it is learned.
  PacketList introduction(PacketPool& pool, std::uint32_t station) const;
  PacketList next(PacketPool& pool, std::size_t count);

 private:
  PacketPtr frame(PacketPool& pool, std::uint32_t from, std::uint32_t to) const;

  PortIndex ports_;
  std::uint32_t stations_;
  std::minstd_rand random_;
};

// Smallest frames that a router forwards: to stations on its links, or by routes of 24 bits behind
// one gateway per port, or to stations of other VLANs of its bridge, of which each port has one;
// destinations are drawn.
class RouterLoad {
 public:
  enum class Way : std::uint8_t { stations, routes, vlans };

  RouterLoad(PortIndex ports, Way way, std::uint32_t destinations)
      : ports_(ports), way_(way), destinations_(destinations) {}

  switching::SwitchConfig config() const;
  PacketList next(PacketPool& pool, std::size_t count);

 private:
  void put_into_vlans(switching::SwitchConfig& config) const;
  wire::Ipv4Address neighbour(std::uint32_t index) const;
  wire::Ipv4Address destination(std::uint32_t index) const;

  PortIndex ports_;
  Way way_;
  std::uint32_t destinations_;
  std::minstd_rand random_;
};

// The same of IPv6, by routes of 64 bits.
class Router6Load {
 public:
  Router6Load(PortIndex ports, std::uint32_t destinations)
      : ports_(ports), destinations_(destinations) {}

  switching::SwitchConfig config() const;
  PacketList next(PacketPool& pool, std::size_t count);

 private:
  PortIndex ports_;
  std::uint32_t destinations_;
  std::minstd_rand random_;
};

}  // namespace tributary::perf
