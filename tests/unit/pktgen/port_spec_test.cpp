// SPDX-License-Identifier: BSD-3-Clause
#include "port_spec.h"

#include <gtest/gtest.h>

#include "control/text.h"

namespace tributary::pktgen {
namespace {

template <typename Device>
Device device_of(const std::string& text) {
  const auto spec = parse_port(text, 0);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error());
  const auto* device = spec ? std::get_if<Device>(&spec->device) : nullptr;
  EXPECT_NE(device, nullptr) << text;
  return device == nullptr ? Device{} : *device;
}

TEST(ParsePort, KnowsEveryKind) {
  using Driver = control::InterfaceDevice::Driver;
  EXPECT_EQ(device_of<control::InterfaceDevice>("interface=veth0").driver, Driver::af_packet);
  EXPECT_EQ(device_of<control::InterfaceDevice>("interface=veth0,driver=af_xdp").driver,
            Driver::af_xdp);
  EXPECT_EQ(device_of<control::TapDevice>("tap=gen0").interface, "gen0");
  const auto memif = device_of<control::MemifDevice>("memif=/run/x.sock,role=server,id=3");
  EXPECT_EQ(memif.socket, "/run/x.sock");
  EXPECT_TRUE(memif.server);
  EXPECT_EQ(memif.id, 3u);
  EXPECT_TRUE(device_of<control::VhostDevice>("vhost=/run/x.sock").server);
  const auto vhost = device_of<control::VhostDevice>("vhost=/run/x.sock,role=client");
  EXPECT_EQ(vhost.socket, "/run/x.sock");
  EXPECT_FALSE(vhost.server);
  EXPECT_EQ(device_of<control::VirtioUserDevice>("virtio_user=/run/x.sock").socket, "/run/x.sock");
  EXPECT_EQ(device_of<control::PciDevice>("pci=0000:01:00.0").address, "0000:01:00.0");
  EXPECT_EQ(device_of<control::RingDevice>("ring=r0").name, "r0");
  const auto pcap = device_of<control::PcapDevice>("pcap-rx=in,pcap-tx=out,infinite");
  EXPECT_EQ(pcap.rx, std::vector<std::string>{"in"});
  EXPECT_EQ(pcap.tx, "out");
  EXPECT_TRUE(pcap.infinite);
  EXPECT_EQ(device_of<control::RawDevice>("device=net_null0,size=64,no-rx=1").arguments,
            "net_null0,size=64,no-rx=1");
}

TEST(ParsePort, TakesAddresses) {
  const auto spec = parse_port(
      "device=net_null0,size=64,address=10.1.1.2,mac=02:00:00:00:00:07,gateway=10.1.1.1", 0);
  ASSERT_TRUE(spec);
  EXPECT_EQ(std::get<control::RawDevice>(spec->device).arguments, "net_null0,size=64");
  EXPECT_EQ(control::to_string(spec->stations.address), "10.1.1.2");
  EXPECT_EQ(control::to_string(spec->stations.mac), "02:00:00:00:00:07");
  ASSERT_TRUE(spec->stations.gateway);
  EXPECT_EQ(control::to_string(*spec->stations.gateway), "10.1.1.1");
  EXPECT_FALSE(spec->stations.gateway_mac);
}

TEST(ParsePort, TakesAddressesOfIpv6) {
  const auto spec = parse_port("ring=r0,address=2001:db8:64::10.1.1.2,gateway=fe80::1", 0);
  ASSERT_TRUE(spec);
  EXPECT_EQ(control::to_string(spec->stations.address), "10.1.1.2");
  ASSERT_TRUE(spec->stations.prefix);
  EXPECT_EQ(control::to_string(*spec->stations.prefix), "2001:db8:64::/96");
  EXPECT_EQ(control::to_string(*spec->stations.gateway), "fe80::1");
}

TEST(ParsePort, PortsDifferByDefault) {
  const auto first = parse_port("ring=r0", 0);
  const auto second = parse_port("ring=r1", 1);
  EXPECT_NE(first->stations.mac, second->stations.mac);
  EXPECT_NE(first->stations.address, second->stations.address);
}

TEST(ParsePort, RefusesWithAHint) {
  for (const auto& [text, words] : {std::pair{"", "interface="},
                                    {"veth0", "interface="},
                                    {"interface=", "interface="},
                                    {"eth=veth0", "say interface="},
                                    {"interface=a,driver=x", "af_packet"},
                                    {"interface=a,speed=1", "unknown key `speed`"},
                                    {"interface=a,id=1", "unknown key `id`"},
                                    {"memif=s", "names no directory"},
                                    {"memif=./s,role=boss", "server"},
                                    {"memif=./s,id=-1", "0 to 4294967295"},
                                    {"memif=./s,id=one", "number"},
                                    {"memif=./s,size=1", "unknown key `size`"},
                                    {"vhost=./s,role=boss", "server"},
                                    {"vhost=./s,id=1", "unknown key `id`"},
                                    {"virtio_user=./s,role=client", "unknown key `role`"},
                                    {"tap=a,address=fe80::2", "address of one link"},
                                    {"tap=a,address=ff02::1", "cannot be a host's address"},
                                    {"tap=a,address=fd00::x", "fd00::1"},
                                    {"tap=a,gateway=fd00::1", "another version of IP"},
                                    {"tap=a,b=c", "unknown key `b`"},
                                    {"tap=sixteen-letters-", "1 to 15"},
                                    {"tap=a,infinite", "one thing"},
                                    {"pci=eth0", "0000:01:00.0"},
                                    {"ring=a,ring=b", "twice"},
                                    {"pcap-rx=a,pcap-rx=b", "twice"},
                                    {"tap=a,address=10.0.0.1,address=10.0.0.2", "twice"},
                                    {"pcap-rx=a,infinite=false", "leave it out"},
                                    {"ring=r,address=1.2.3", ""},
                                    {"ring=r,mac=zz", ""},
                                    {"ring=r,gateway=x", ""}}) {
    const auto spec = parse_port(text, 0);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.error().find(words), std::string::npos) << spec.error();
  }
}

}  // namespace
}  // namespace tributary::pktgen
