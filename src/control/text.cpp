// SPDX-License-Identifier: BSD-3-Clause
#include "control/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include "control/join.h"
#include "control/text_parts.h"
#include "wire/vlan.h"

namespace tributary::control {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Smaller units come first.
constexpr Unit duration_units[] = {{"ns", 1},
                                   {"us", 1'000},
                                   {"ms", 1'000'000},
                                   {"s", 1'000'000'000},
                                   {"min", 60'000'000'000},
                                   {"h", 3'600'000'000'000},
                                   {"d", 86'400'000'000'000}};
constexpr Unit rate_units[] = {{"bit", 1},
                               {"kbit", 1'000},
                               {"Mbit", 1'000'000},
                               {"Gbit", 1'000'000'000},
                               {"Tbit", 1'000'000'000'000}};
constexpr Unit size_units[] = {{"B", 1},
                               {"kB", 1'000},
                               {"KiB", 1024},
                               {"MB", 1'000'000},
                               {"MiB", 1024 * 1024},
                               {"GB", 1'000'000'000},
                               {"GiB", 1024 * 1024 * 1024}};

// Values beyond this lose precision on the way through double, and nothing needs them.
constexpr double quantity_max = 9e15;

Parsed<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     std::string_view what, std::string_view example) {
  const auto names = join(units, [](const Unit& unit) { return unit.name; });
  const std::string hint =
      "write a number and a unit (" + names + "), for example \"" + std::string(example) + "\"";
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number)) {
    return tl::unexpected(Complaint{quoted(text) + " is not a " + std::string(what), hint});
  }
  std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (name.starts_with(' ')) {
    name.remove_prefix(1);
  }
  for (const Unit& unit : units) {
    if (unit.name == name) {
      const double value = number * static_cast<double>(unit.factor);
      if (value < 0) {
        return tl::unexpected(Complaint{
            quoted(text) + " is negative; a " + std::string(what) + " is positive", hint});
      }
      if (value > quantity_max) {
        return tl::unexpected(Complaint{quoted(text) + " is out of range", hint});
      }
      return static_cast<std::uint64_t>(std::llround(value));
    }
  }
  if (name.empty() && number == 0 && text.find_first_not_of("0") == std::string_view::npos) {
    return std::uint64_t{0};
  }
  return tl::unexpected(
      Complaint{quoted(text) + (name.empty() ? " has no unit" : " has an unknown unit"), hint});
}

std::string quantity_text(std::uint64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      best = &unit;
    }
  }
  return std::to_string(value / best->factor) + std::string(best->name);
}

std::optional<wire::Ipv4Address> ipv4_of(std::string_view text) {
  in_addr octets{};
  return parse_octets(AF_INET, text, &octets)
             ? std::optional(wire::Ipv4Address(ntohl(octets.s_addr)))
             : std::nullopt;
}

Parsed<forwarding::InterfaceAddress> parse_with_length4(std::string_view text,
                                                        std::string_view example) {
  return parse_with_length<forwarding::InterfaceAddress>(text, example, "IPv4", 32, ipv4_of);
}

// Says why no host can have this address; empty if one can.
std::string unusable(wire::Ipv4Address address) {
  const std::uint32_t first = address.value() >> 24;
  if (first == 0) {
    return "0.0.0.0/8 means \"this host\"";
  }
  if (first == 127) {
    return "127.0.0.0/8 is loopback";
  }
  if (first >= 224) {
    return address.is_multicast() ? "it is a multicast address" : "240.0.0.0/4 is reserved";
  }
  return {};
}

// The text is "10", or "30-39".
std::optional<forwarding::VidRange> parse_vid_range(std::string_view text) {
  forwarding::VidRange range;
  const auto* const end = text.data() + text.size();
  const auto [dash, error] = std::from_chars(text.data(), end, range.first);
  range.last = range.first;
  if (error != std::errc{}) {
    return std::nullopt;
  }
  if (dash != end) {
    const auto [behind, why] = std::from_chars(dash + 1, end, range.last);
    if (*dash != '-' || why != std::errc{} || behind != end) {
      return std::nullopt;
    }
  }
  const bool is_sound =
      range.first >= 1 && range.first <= range.last && range.last <= wire::vid_max;
  return is_sound ? std::optional(range) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

bool parse_octets(int family, std::string_view text, void* octets) {
  return text.find('\0') == std::string_view::npos &&
         inet_pton(family, std::string(text).c_str(), octets) == 1;
}

Parsed<Duration> parse_duration(std::string_view text) {
  return parse_quantity(text, duration_units, "duration", "1ms").map([](std::uint64_t value) {
    return Duration(static_cast<Duration::rep>(value));
  });
}

Parsed<std::uint64_t> parse_rate(std::string_view text) {
  return parse_quantity(text, rate_units, "rate", "200Mbit");
}

Parsed<std::uint64_t> parse_size(std::string_view text) {
  return parse_quantity(text, size_units, "size", "1MiB");
}

Parsed<wire::MacAddress> parse_mac(std::string_view text) {
  const std::string hint = "write six octets, for example \"02:00:00:01:00:01\"";
  wire::MacAddress mac;
  const Complaint malformed{quoted(text) + " is not a MAC address", hint};
  if (text.size() != 17) {
    return tl::unexpected(malformed);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const char* const first = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(first, first + 2, mac.octets[i], 16);
    if (error != std::errc{} || end != first + 2 || (i < 5 && *end != ':')) {
      return tl::unexpected(malformed);
    }
  }
  if (mac.is_group()) {
    return tl::unexpected(Complaint{quoted(text) + " is a group address",
                                    "the first octet of a station's address is even"});
  }
  if (mac.is_zero()) {
    return tl::unexpected(Complaint{"a station's MAC address cannot be zero", hint});
  }
  return mac;
}

Parsed<wire::Ipv4Address> parse_group(std::string_view text) {
  const auto group = ipv4_of(text);
  const std::string hint = "for example \"239.192.0.1\"";
  if (!group) {
    return tl::unexpected(Complaint{quoted(text) + " is not an IPv4 address", hint});
  }
  if (!group->is_multicast()) {
    return tl::unexpected(Complaint{quoted(text) + " is no multicast address", hint});
  }
  return *group;
}

Parsed<wire::Ipv4Address> parse_ipv4(std::string_view text) {
  const auto address = ipv4_of(text);
  const std::string hint = "write it like \"10.1.1.1\"";
  if (!address) {
    const bool length = text.find('/') != std::string_view::npos;
    return tl::unexpected(Complaint{quoted(text) + " is not an IPv4 address",
                                    length ? "without a prefix length here" : hint});
  }
  const std::string why = unusable(*address);
  if (!why.empty()) {
    return tl::unexpected(Complaint{quoted(text) + " cannot be a host's address", why});
  }
  return *address;
}

Parsed<wire::IpAddress> parse_ip(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return parse_ipv4(text).map([](wire::Ipv4Address v4) { return wire::IpAddress(v4); });
  }
  std::array<std::uint8_t, 16> octets{};
  if (!parse_octets(AF_INET6, text, octets.data())) {
    return tl::unexpected(
        Complaint{quoted(text) + " is not an IPv6 address", "write it like \"fd00::1\""});
  }
  const wire::IpAddress address(octets);
  constexpr std::uint8_t multicast = 0xff;
  const bool is_nobody = address.high() == 0 && address.low() <= 1;
  if (is_nobody || octets[0] == multicast || address.is_v4()) {
    return tl::unexpected(Complaint{quoted(text) + " cannot be a host's address",
                                    "no group, no loopback, and IPv4 is written as such"});
  }
  return address;
}

Parsed<forwarding::Prefix> parse_prefix(std::string_view text) {
  const auto parsed = parse_with_length4(text, "10.1.0.0/16");
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  const auto prefix = prefix_of(*parsed);
  if (prefix.network != parsed->address) {
    return tl::unexpected(Complaint{quoted(text) + " has host bits set",
                                    "did you mean \"" + to_string(prefix) + "\"?"});
  }
  return prefix;
}

Parsed<forwarding::InterfaceAddress> parse_interface_address(std::string_view text) {
  const auto parsed = parse_with_length4(text, "10.1.1.1/24");
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (const std::string why = unusable(parsed->address); !why.empty()) {
    return tl::unexpected(Complaint{quoted(text) + " cannot be an interface's address", why});
  }
  if (parsed->length < 4) {
    return tl::unexpected(Complaint{"prefix of " + quoted(text) + " is too wide",
                                    "an interface's prefix has 4 to 32 bits"});
  }
  const std::uint32_t host = parsed->address.value() & ~prefix_mask(parsed->length);
  if (parsed->length < 31 && (host == 0 || host == ~prefix_mask(parsed->length))) {
    return tl::unexpected(Complaint{quoted(text) + " is the " +
                                        (host == 0 ? "network" : "broadcast") +
                                        " address of its prefix",
                                    "choose an address between the two"});
  }
  return parsed;
}

Parsed<forwarding::Priorities> parse_priorities(std::string_view text) {
  if (const auto priorities = forwarding::priorities_named(text)) {
    return *priorities;
  }
  return tl::unexpected(
      Complaint{"`" + std::string(text).substr(0, 64) + "` is no list of priorities from 0 to 7",
                "write them like \"3\" or \"3,4\", each once"});
}

Parsed<forwarding::VidSet> parse_vids(std::string_view text) {
  forwarding::VidSet vids;
  auto& ranges = vids.ranges;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto item = trimmed(text.substr(at, end - at));
    const auto range = parse_vid_range(item);
    if (!range) {
      return tl::unexpected(
          Complaint{quoted(item) + " is no VLAN from 1 to 4094 and no range of them",
                    "write them like \"10,20,30-39\""});
    }
    ranges.push_back(*range);
    at = end + 1;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first <= ranges[i - 1].last) {
      return tl::unexpected(Complaint{"VLAN " + std::to_string(ranges[i].first) + " is named twice",
                                      "name each VLAN once"});
    }
  }
  return vids;
}

std::string to_string(wire::Ipv4Address address) {
  const std::uint32_t value = address.value();
  return std::to_string(value >> 24) + '.' + std::to_string((value >> 16) & 0xff) + '.' +
         std::to_string((value >> 8) & 0xff) + '.' + std::to_string(value & 0xff);
}

std::string to_string(const wire::IpAddress& address) {
  if (address.is_v4()) {
    return to_string(address.v4());
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, address.octets().data(), text.data(), text.size());
  return text.data();
}

std::string to_string(const wire::MacAddress& mac) {
  std::array<char, 18> text{};
  const auto& o = mac.octets;
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", o[0], o[1], o[2], o[3],
                o[4], o[5]);
  return text.data();
}

std::string to_string(const forwarding::Prefix& prefix) {
  return to_string(prefix.network) + '/' + std::to_string(prefix.length);
}

std::string to_string(const forwarding::InterfaceAddress& address) {
  return to_string(address.address) + '/' + std::to_string(address.length);
}

std::string to_string(const forwarding::VidSet& vids) {
  const auto range_text = [](const forwarding::VidRange& range) {
    const auto first = std::to_string(range.first);
    return range.first == range.last ? first : first + '-' + std::to_string(range.last);
  };
  return join(vids.ranges, range_text, ",");
}

std::string duration_text(Duration duration) {
  return quantity_text(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::string rate_text(std::uint64_t bits_per_second) {
  return quantity_text(bits_per_second, rate_units);
}

std::string size_text(std::uint64_t bytes) {
  return quantity_text(bytes, size_units);
}

}  // namespace tributary::control
