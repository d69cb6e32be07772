// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/netreduce/engine/config.h"

namespace tributary::dataplane {
namespace {

using control::InterfaceDevice;
using testing::HasSubstr;

DeviceArguments made(const control::DeviceConfig& device, unsigned number = 3,
                     std::uint16_t mtu = 1500) {
  const auto arguments = device_arguments(device, number, {mtu});
  EXPECT_TRUE(arguments.has_value());
  EXPECT_TRUE(arguments->has_value());
  return arguments->value();
}

TEST(DeviceArguments, AfPacketNamesItsInterface) {
  const auto arguments = made(InterfaceDevice{"veth0"});
  EXPECT_EQ(arguments.bus, "vdev");
  EXPECT_EQ(arguments.name, "net_af_packet3");
  EXPECT_THAT(arguments.arguments, HasSubstr("iface=veth0,"));
  EXPECT_THAT(arguments.arguments, HasSubstr("blocksz=65536,framesz=2048,framecnt=512"));
}

TEST(DeviceArguments, AfPacketSlotsGrowWithTheMtu) {
  EXPECT_THAT(made(InterfaceDevice{"veth0"}, 0, 4200).arguments,
              HasSubstr("blocksz=65536,framesz=8192,framecnt=512"));
  EXPECT_THAT(made(InterfaceDevice{"veth0"}, 0, 9000).arguments, HasSubstr("framesz=16384"));
}

TEST(DeviceArguments, AfPacketHasASlotForEachFrameOfABurst) {
  const auto arguments = device_arguments(InterfaceDevice{"veth0"}, 0, {4200, 1, 680});
  EXPECT_THAT(arguments->value().arguments, HasSubstr("framesz=8192,framecnt=1024"));
}

TEST(DeviceArguments, WindowsOfAllRingsMayComeAtOnce) {
  switching::SwitchConfig config;
  EXPECT_EQ(frames_at_once(config, {}), 512u);
  config.protocols.emplace<netreduce::NetReduceConfig>();
  auto& rings = config.protocols.get<netreduce::NetReduceConfig>().rings;
  rings.resize(2);
  rings[0].window = rings[1].window = 4;
  EXPECT_EQ(frames_at_once(config, {}), 2u * 4 * 170);
  rings[0].message_packets = 8192;
  EXPECT_EQ(frames_at_once(config, {}), 8192u) << "more than that is not locked";
}

TEST(DeviceArguments, ANeighbourThatIsNotAskedForSilenceSendsOn) {
  forwarding::PortConfig port;
  port.queue.rate_bps = 100'000'000;
  EXPECT_EQ(frames_at_once({}, port), 512u);
  port.flow.mode = forwarding::FlowControl::pause;
  EXPECT_EQ(frames_at_once({}, port), 4166u) << "half a second of frames of 1500 bytes";
  port.queue.rate_bps = 0;
  EXPECT_EQ(frames_at_once({}, port), 8192u);
}

TEST(DeviceArguments, AfXdpRefusesAnMtuBeyondAPage) {
  const InterfaceDevice device{"veth0", InterfaceDevice::Driver::af_xdp};
  EXPECT_EQ(made(device).arguments, "iface=veth0,queue_count=1");
  const auto refused = device_arguments(device, 0, {9000});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("af_packet"));
}

TEST(DeviceArguments, TapMemifRingPcapPci) {
  EXPECT_EQ(made(control::TapDevice{"tap0"}).arguments, "iface=tap0");
  EXPECT_THAT(made(control::MemifDevice{"/run/x.sock", 4, true}).arguments,
              HasSubstr("role=server,id=4,socket=/run/x.sock,socket-abstract=no,bsize=2048"));
  EXPECT_EQ(made(control::RingDevice{"loop"}).name, "net_ring3");
  EXPECT_EQ(made(control::PcapDevice{{"a.pcap"}, "b.pcap", true}).arguments,
            "rx_pcap=a.pcap,tx_pcap=b.pcap,infinite_rx=1");
  EXPECT_EQ(made(control::PcapDevice{{}, "b.pcap", false}).arguments, "tx_pcap=b.pcap");
  EXPECT_EQ(made(control::PciDevice{"0000:01:00.0"}).bus, "pci");
}

TEST(DeviceArguments, BothSidesOfAVhostSocket) {
  const auto vhost = made(control::VhostDevice{"/run/vm.sock"});
  EXPECT_EQ(vhost.bus, "vdev");
  EXPECT_EQ(vhost.name, "net_vhost3");
  EXPECT_EQ(vhost.arguments, "iface=/run/vm.sock,queues=1,client=0");
  EXPECT_EQ(made(control::VhostDevice{"/run/vm.sock", false, 2}).arguments,
            "iface=/run/vm.sock,queues=2,client=1");
  const auto virtio = made(control::VirtioUserDevice{"/run/vm.sock", 2});
  EXPECT_EQ(virtio.name, "net_virtio_user3");
  EXPECT_EQ(virtio.arguments, "path=/run/vm.sock,queues=2,queue_size=512,mac=02:00:00:00:00:01");
  const control::VirtioUserDevice many{"/run/vm.sock", control::queues_automatic};
  EXPECT_THAT(device_arguments(many, 0, {1500, 8})->value().arguments, HasSubstr(",queues=8,"));
  EXPECT_THAT(device_arguments(many, 0, {1500, 9}).error(),
              HasSubstr("write queues = N at both ends"));
  EXPECT_THAT(device_arguments(control::VirtioUserDevice{"/run/vm.sock", 9}, 0, {}).error(),
              HasSubstr("at most 8"));
  const control::VhostDevice automatic{"/run/vm.sock", true, control::queues_automatic};
  EXPECT_THAT(device_arguments(automatic, 0, {1500, 3})->value().arguments,
              HasSubstr(",queues=3,"));
}

TEST(DeviceArguments, SeveralQueues) {
  InterfaceDevice device{"veth0"};
  device.queues = 4;
  EXPECT_THAT(made(device).arguments, HasSubstr(",qpairs=4,"));
  device.driver = InterfaceDevice::Driver::af_xdp;
  EXPECT_THAT(made(device).arguments, HasSubstr("queue_count=4"));
  device.queues = control::queues_automatic;
  EXPECT_THAT(device_arguments(device, 0, {1500, 3})->value().arguments,
              HasSubstr("queue_count=3"));
  EXPECT_EQ(made(control::PcapDevice{{"0.pcap", "1.pcap"}, "", true}).arguments,
            "rx_pcap=0.pcap,rx_pcap=1.pcap,infinite_rx=1");
}

TEST(DeviceArguments, RawArgumentsAreSplitAtTheFirstComma) {
  const auto arguments = made(control::RawDevice{"net_null0,size=64,copy=1"});
  EXPECT_EQ(arguments.name, "net_null0");
  EXPECT_EQ(arguments.arguments, "size=64,copy=1");
  EXPECT_EQ(made(control::RawDevice{"net_null0"}).arguments, "");
}

TEST(DeviceArguments, InternalLinkHasNoDevice) {
  const auto arguments = device_arguments(control::InternalLink{"spine1", "leaf1"}, 0, {});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_FALSE(arguments->has_value());
}

TEST(Describe, SaysWhatOperatorsKnow) {
  EXPECT_EQ(describe(InterfaceDevice{"veth0"}), "af_packet veth0");
  EXPECT_EQ(describe(control::VhostDevice{"/run/vm.sock"}), "vhost /run/vm.sock server");
  EXPECT_EQ(describe(control::VhostDevice{"/run/vm.sock", false}), "vhost /run/vm.sock client");
  EXPECT_EQ(describe(control::VirtioUserDevice{"/run/vm.sock"}), "virtio_user /run/vm.sock");
  EXPECT_EQ(describe(control::InternalLink{"spine1", "leaf1"}), "link spine1:leaf1");
}

}  // namespace
}  // namespace tributary::dataplane
