// SPDX-License-Identifier: BSD-3-Clause
// The pages in docs/reference/wire are the authority on the formats: their tables and the worked
// example must agree with the code, byte for byte.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/membership/messages.h"
#include "host/rendezvous/messages.h"
#include "protocols/canary/wire.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/wire.h"
#include "protocols/panama/wire.h"
#include "wire/checksum.h"
#include "wire/transport.h"

namespace tributary::wire {
namespace {

// The lines of a page between the markers <!-- NAME --> and <!-- end -->.
std::vector<std::string> section(const std::string& page, const std::string& name) {
  const std::string path = WIRE_DOCUMENTS "/" + page;
  std::ifstream document(path);
  EXPECT_TRUE(document) << "cannot open " << path;
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line == "<!-- end -->") {
      inside = false;
    } else if (inside) {
      lines.push_back(line);
    }
    inside = inside || line == "<!-- " + name + " -->";
  }
  EXPECT_FALSE(lines.empty()) << "no section " << name << " in " << path;
  return lines;
}

// "0010  45 00 ...  remark": an offset, up to 16 bytes, and remarks behind a '#'.
std::vector<std::byte> hex_of(const std::vector<std::string>& lines) {
  std::vector<std::byte> bytes;
  for (const auto& line : lines) {
    if (line.starts_with("```")) {
      continue;
    }
    std::istringstream words(line.substr(0, line.find('#')));
    std::string offset;
    words >> offset;
    EXPECT_EQ(std::strtoul(offset.c_str(), nullptr, 16), bytes.size()) << line;
    for (std::string word; words >> word;) {
      bytes.push_back(static_cast<std::byte>(std::strtoul(word.c_str(), nullptr, 16)));
    }
  }
  return bytes;
}

std::string to_hex(Bytes bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    char buffer[32];
    if (at % 16 == 0) {
      std::snprintf(buffer, sizeof buffer, "%s%04zx ", at == 0 ? "" : "\n", at);
      text += buffer;
    }
    std::snprintf(buffer, sizeof buffer, " %02x", std::to_integer<unsigned>(bytes[at]));
    text += buffer;
  }
  return text;
}

// Offset and size of each field of a header.
using Fields = std::map<std::string, std::pair<std::size_t, std::size_t>>;

Fields documented(const std::string& page, const std::string& table) {
  Fields fields;
  for (const auto& line : section(page, "table: " + table)) {
    std::istringstream words(line);
    std::string bar;
    std::size_t offset = 0;
    std::size_t size = 0;
    std::string name;
    if (words >> bar >> offset >> bar >> size >> bar >> name) {
      fields[name.substr(1, name.size() - 2)] = {offset, size};  // without the backquotes
    }
  }
  return fields;
}

struct [[gnu::packed]] Example {
  EthernetHeader ethernet;
  Ipv4Header ip;
  UdpHeader udp;
  CanaryHeader canary;
  float elements[4];
};

// Worker 2 of 4 contributes 1, 2, 3, 4 to block 7 of job 0x1234.
Example example() {
  Example frame{};
  frame.ethernet.destination = MacAddress{{0x02, 0, 0, 1, 0, 1}};
  frame.ethernet.source = MacAddress{{0x02, 0, 0, 0, 0, 2}};
  frame.ethernet.type = ethertype::ipv4;
  frame.ip.tos = ecn::ect0;
  frame.ip.total_length = sizeof frame - sizeof frame.ethernet;
  frame.ip.fragment = Ipv4Header::dont_fragment;
  frame.ip.protocol = ip_protocol::udp;
  frame.ip.source = Ipv4Address(10, 1, 2, 2);
  frame.ip.destination = Ipv4Address(10, 1, 1, 2);
  finish_ipv4(frame.ip);
  auto& header = frame.canary;
  header.destination = frame.ip.destination;
  header.id = 7;
  header.counter = 1;
  header.hosts = 4;
  header.flags = CanaryHeader::current_version;
  header.job = 0x1234;
  header.elements = 4;
  header.child_port = canary_udp_port_first;
  header.fingerprint = 0x4d293186d214c607ULL;
  header.child_address = frame.ip.source;
  header.rank = 2;
  frame.udp.source_port = source_port_of(header.key());
  frame.udp.destination_port = canary_udp_port_first;
  frame.udp.length = sizeof frame.udp + sizeof header + sizeof frame.elements;
  const float elements[4] = {1, 2, 3, 4};
  std::memcpy(&frame.elements, elements, sizeof elements);
  Bytes bytes = std::as_bytes(std::span(&frame, 1));
  seal(header, bytes.last(sizeof elements));
  return frame;
}

TEST(WireDocument, example_is_the_frame_that_the_code_makes) {
  const auto frame = example();
  EXPECT_EQ(to_hex(hex_of(section("canary.md", "example: contribution"))),
            to_hex(std::as_bytes(std::span(&frame, 1))));
}

TEST(WireDocument, example_parses) {
  auto bytes = hex_of(section("canary.md", "example: contribution"));
  ASSERT_EQ(bytes.size(), sizeof(Example));
  const auto canary = MutableBytes(bytes).subspan(offsetof(Example, canary));
  const auto view = parse_canary(canary, Encapsulation::udp);
  EXPECT_EQ(view.error, CanaryError::none);
  EXPECT_EQ(view.header->rank.value(), 2);
}

TEST(WireDocument, table_has_the_offset_and_size_of_every_field) {
#define TRIBUTARY_FIELD(field)                                   \
  {                                                              \
#field, {                                                    \
      offsetof(CanaryHeader, field), sizeof(CanaryHeader::field) \
    }                                                            \
  }
  const Fields fields = {TRIBUTARY_FIELD(destination),   TRIBUTARY_FIELD(id),
                         TRIBUTARY_FIELD(counter),       TRIBUTARY_FIELD(hosts),
                         TRIBUTARY_FIELD(children),      TRIBUTARY_FIELD(switch_address),
                         TRIBUTARY_FIELD(flags),         TRIBUTARY_FIELD(kind),
                         TRIBUTARY_FIELD(element_type),  TRIBUTARY_FIELD(op),
                         TRIBUTARY_FIELD(unused),        TRIBUTARY_FIELD(shard),
                         TRIBUTARY_FIELD(job),           TRIBUTARY_FIELD(elements),
                         TRIBUTARY_FIELD(child_port),    TRIBUTARY_FIELD(fingerprint),
                         TRIBUTARY_FIELD(child_address), TRIBUTARY_FIELD(switch_ipv4),
                         TRIBUTARY_FIELD(child_mac),     TRIBUTARY_FIELD(rank),
                         TRIBUTARY_FIELD(payload_crc),   TRIBUTARY_FIELD(crc)};
#undef TRIBUTARY_FIELD
  EXPECT_EQ(documented("canary.md", "canary header"), fields);
}

TEST(WireDocument, panamas_table_has_the_offset_and_size_of_every_field) {
#define TRIBUTARY_FIELD(field)                                   \
  {                                                              \
#field, {                                                    \
      offsetof(PanamaHeader, field), sizeof(PanamaHeader::field) \
    }                                                            \
  }
  const Fields fields = {
      TRIBUTARY_FIELD(job),          TRIBUTARY_FIELD(tree),     TRIBUTARY_FIELD(wnd_cap),
      TRIBUTARY_FIELD(vid),          TRIBUTARY_FIELD(flags),    TRIBUTARY_FIELD(kind),
      TRIBUTARY_FIELD(element_type), TRIBUTARY_FIELD(op),       TRIBUTARY_FIELD(run),
      TRIBUTARY_FIELD(epoch),        TRIBUTARY_FIELD(elements), TRIBUTARY_FIELD(contributions),
      TRIBUTARY_FIELD(workers),      TRIBUTARY_FIELD(rank),     TRIBUTARY_FIELD(fingerprint),
      TRIBUTARY_FIELD(payload_crc),  TRIBUTARY_FIELD(crc)};
#undef TRIBUTARY_FIELD
  EXPECT_EQ(documented("panama.md", "panama header"), fields);
}

TEST(WireDocument, flares_table_has_the_offset_and_size_of_every_field) {
#define TRIBUTARY_FIELD(field)                                 \
  {                                                            \
#field, {                                                  \
      offsetof(FlareHeader, field), sizeof(FlareHeader::field) \
    }                                                          \
  }
  const Fields fields = {
      TRIBUTARY_FIELD(job),         TRIBUTARY_FIELD(run),      TRIBUTARY_FIELD(block),
      TRIBUTARY_FIELD(flags),       TRIBUTARY_FIELD(kind),     TRIBUTARY_FIELD(element_type),
      TRIBUTARY_FIELD(op),          TRIBUTARY_FIELD(elements), TRIBUTARY_FIELD(contributions),
      TRIBUTARY_FIELD(workers),     TRIBUTARY_FIELD(window),   TRIBUTARY_FIELD(fingerprint),
      TRIBUTARY_FIELD(payload_crc), TRIBUTARY_FIELD(crc)};
#undef TRIBUTARY_FIELD
  EXPECT_EQ(documented("flare.md", "flare header"), fields);
}

TEST(WireDocument, table_has_the_offset_and_size_of_every_field_of_flares_sparse_header) {
#define TRIBUTARY_FIELD(field)                                             \
  {                                                                        \
#field, {                                                              \
      offsetof(FlareSparseHeader, field), sizeof(FlareSparseHeader::field) \
    }                                                                      \
  }
  const Fields fields = {
      TRIBUTARY_FIELD(job),     TRIBUTARY_FIELD(run),      TRIBUTARY_FIELD(block),
      TRIBUTARY_FIELD(flags),   TRIBUTARY_FIELD(kind),     TRIBUTARY_FIELD(element_type),
      TRIBUTARY_FIELD(op),      TRIBUTARY_FIELD(elements), TRIBUTARY_FIELD(contributions),
      TRIBUTARY_FIELD(workers), TRIBUTARY_FIELD(window),   TRIBUTARY_FIELD(fingerprint),
      TRIBUTARY_FIELD(edition), TRIBUTARY_FIELD(span),     TRIBUTARY_FIELD(first),
      TRIBUTARY_FIELD(full),    TRIBUTARY_FIELD(shard),    TRIBUTARY_FIELD(shards),
      TRIBUTARY_FIELD(form),    TRIBUTARY_FIELD(reserved), TRIBUTARY_FIELD(payload_crc),
      TRIBUTARY_FIELD(crc)};
#undef TRIBUTARY_FIELD
  EXPECT_EQ(documented("flare.md", "flare sparse header"), fields);
}

TEST(WireDocument, table_has_the_offset_and_size_of_every_field_of_netreduce) {
#define TRIBUTARY_FIELD(field)                             \
  {                                                        \
#field, {                                              \
      offsetof(InaHeader, field), sizeof(InaHeader::field) \
    }                                                      \
  }
  const Fields fields = {
      TRIBUTARY_FIELD(tag),    TRIBUTARY_FIELD(ring),    TRIBUTARY_FIELD(message),
      TRIBUTARY_FIELD(length), TRIBUTARY_FIELD(run),     TRIBUTARY_FIELD(packets),
      TRIBUTARY_FIELD(rank),   TRIBUTARY_FIELD(world),   TRIBUTARY_FIELD(element_type),
      TRIBUTARY_FIELD(op),     TRIBUTARY_FIELD(version), TRIBUTARY_FIELD(unused)};
#undef TRIBUTARY_FIELD
  EXPECT_EQ(documented("netreduce.md", "netreduce header"), fields);
}

struct NamedVersion {
  std::string page;
  std::string before;  // the number, in a cell of a table
  unsigned version;
};

TEST(WireDocument, versions_are_those_of_the_code) {
  const std::string upgrade = "../../operate/upgrade.md";
  const NamedVersion all[] = {
      {"rendezvous.md", "| 4 | 2 | version, ", host::rendezvous_version},
      {"rendezvous.md", "(\"TRIB\") (4), version, ", host::rendezvous_version},
      {"membership.md", "(\"TRIM\") (4), version, ", host::membership_version},
      {upgrade, "| rendezvous, ", host::rendezvous_version},
      {upgrade, "| memberships, ", host::membership_version},
      {upgrade, "Canary | header, ", CanaryHeader::current_version},
      {upgrade, "PANAMA | header, ", PanamaHeader::current_version},
      {upgrade, "Flare | header, ", FlareHeader::current_version},
      {upgrade, "NetReduce | INA header, ", InaHeader::current_version},
  };
  for (const auto& [page, before, version] : all) {
    std::ifstream document(WIRE_DOCUMENTS "/" + page);
    std::ostringstream text;
    text << document.rdbuf();
    const auto at = text.str().find(before);
    ASSERT_NE(at, std::string::npos) << before << " in " << page;
    EXPECT_EQ(std::strtoul(text.str().c_str() + at + before.size(), nullptr, 10), version)
        << before << " in " << page;
  }
}

}  // namespace
}  // namespace tributary::wire
