// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/links.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <sys/socket.h>
#include <utility>

#include "host/object_bytes.h"
#include "host/ring/greeting.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/transport/silence.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t cube_magic = 0x54524330;  // "TRC0", the interface, and the attempt
constexpr std::uint32_t attempts_told_apart = 16;

// After this long without an answer there is no way between two interfaces.
constexpr std::chrono::milliseconds silence_max{5000};
// A rank that only waits asks as often whether the other one is there. The kernel never gives up by
// itself before failure_of() has seen it.
constexpr std::chrono::seconds asking_interval{1};

Greeting greeting_of(const CubeEnds& ends, std::uint32_t rank, std::uint32_t interface) {
  const auto attempt = ends.attempt % attempts_told_apart;
  return Greeting::of(cube_magic + interface + (attempt << 16), ends.job, rank);
}

Error unreachable(const CubeEnds& ends, const CubeLink& link, const std::string& why) {
  return {Error::Code::rendezvous,
          ends.here(link.to.interface) + " has no connection with " + CubeEnds::there(link) + ": " +
              why +
              "; interfaces are given in the order of the networks that ranks share, the same on "
              "all of them (TRIBUTARY_INTERFACES)"};
}

Result<void> call(const CubeEnds& ends, CubeLink& link, Time until) {
  const auto interface = link.to.interface;
  auto made = connect_until(link.remote, ends.interfaces[interface].address(), until)
                  .and_then([&](FileDescriptor fd) {
                    const auto greeting = greeting_of(ends, ends.job.rank, interface);
                    link.fd = std::move(fd);
                    return send_all(link.fd.get(), bytes_of(greeting), until);
                  });
  return made.map_error([&](const Error& error) { return unreachable(ends, link, error.message); });
}

Result<void> await_callers(const CubeEnds& ends, std::vector<CubeLink>& links,
                           std::uint32_t interface, Time until) {
  std::vector<Awaited> awaited;
  for (auto& link : links) {
    if (link.to.interface == interface && link.to.rank < ends.job.rank) {
      awaited.push_back({&link.fd, greeting_of(ends, link.to.rank, interface)});
    }
  }
  auto accepted = accept_all(awaited, ends.interfaces[interface].listener, until, wait_alone);
  if (accepted || awaited.empty()) {
    return accepted;
  }
  for (const auto& link : links) {
    if (&link.fd == awaited.front().fd) {
      return tl::make_unexpected(unreachable(ends, link, accepted.error().message));
    }
  }
  return accepted;
}

}  // namespace

std::string CubeEnds::here(std::uint32_t interface) const {
  return text_of(job.rank, interfaces[interface]);
}

std::string CubeEnds::there(const CubeLink& link) {
  return rank_text(link.to.rank) + " (" + to_string(link.remote.ip()) + ")";
}

Result<std::vector<CubeLink>> connect_links(const CubeEnds& ends, Time until) {
  std::vector<CubeLink> links;
  for (const auto& neighbour : ends.layout.neighbours()) {
    links.push_back({neighbour, ends.all[neighbour.rank][neighbour.interface], {}});
  }
  for (auto& link : links) {
    if (link.to.rank > ends.job.rank) {
      if (auto made = call(ends, link, until); !made) {
        return tl::make_unexpected(made.error());
      }
    }
  }
  for (std::uint32_t interface = 0; interface < ends.layout.interfaces(); ++interface) {
    if (auto made = await_callers(ends, links, interface, until); !made) {
      return tl::make_unexpected(made.error());
    }
  }
  for (const auto& link : links) {
    keep_asking(link.fd.get(), asking_interval);
  }
  return links;
}

Error broken(const CubeEnds& ends, const CubeLink& link, const std::string& why) {
  return {Error::Code::network, ends.here(link.to.interface) + ": the connection with " +
                                    CubeEnds::there(link) + " broke (" + why + ")" + without_it};
}

std::optional<Error> told_failure(CubeLink& link) {
  std::array<std::byte, sizeof(CubeFrame) + CubeFrame::failure_text_max> bytes;
  const auto known = bytes_of(link.header.frame).first(link.header.known);
  std::ranges::copy(known, bytes.begin());
  const auto more = std::span(bytes).subspan(known.size());
  const auto n = ::recv(link.fd.get(), more.data(), more.size(), MSG_PEEK | MSG_DONTWAIT);
  link.has_ended |= n == 0;
  const auto all =
      std::span(bytes).first(known.size() + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  CubeFrame frame;
  if (all.size() < sizeof frame) {
    return std::nullopt;
  }
  std::ranges::copy(all.first(sizeof frame), writable_bytes_of(frame).begin());
  const auto text = all.subspan(sizeof frame);
  if (frame.kind != CubeFrame::Kind::failure || text.size() < frame.bytes.value()) {
    return std::nullopt;
  }
  return told_error(frame, text.first(frame.bytes.value()));
}

std::optional<Error> failure_of(const CubeEnds& ends, const CubeLink& link) {
  if (const auto& here = ends.interfaces[link.to.interface]; !is_running(here)) {
    return down(ends.job.rank, here);
  }
  const auto silence = silence_of(link.fd.get());
  if (silence < silence_max) {
    return std::nullopt;
  }
  return Error{Error::Code::network,
               ends.here(link.to.interface) + ": " + CubeEnds::there(link) +
                   " has not answered for " + seconds_text(silence) +
                   ", one of the two interfaces or what is between them has failed" + without_it};
}

}  // namespace tributary::host
