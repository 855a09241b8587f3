// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/certificate.h"

#include <QTest>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "ptc/plan/plan.h"
#include "tests/ptc/equal_tensors.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::EqualTensors;
using tessera::test::HeldElements;
using tessera::test::Job;
using tessera::test::On;

namespace {

constexpr int kCases = 4000;

/// The bytes of one element, its holders and its needers, as bit sets of indices into the devices.
struct Element {
  unsigned holders = 0;
  unsigned needers = 0;
  std::int64_t bytes = 0;
};

std::vector<DeviceId> DevicesOfJob(const Job& job) {
  std::set<DeviceId> devices(job.from.mesh().devices().begin(), job.from.mesh().devices().end());
  devices.insert(job.to.mesh().devices().begin(), job.to.mesh().devices().end());
  return {devices.begin(), devices.end()};
}

/// Computed element by element from ownership alone; elements with the same devices are added up.
std::vector<Element> ElementsOfJob(const Job& job, const std::vector<DeviceId>& devices,
                                   const std::vector<DeviceId>& lost) {
  std::map<std::pair<unsigned, unsigned>, std::int64_t> sums;
  const auto& tensors = job.from.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::vector<Element> elements;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const auto mark = [&](const Layout& layout, unsigned Element::*who) {
        const auto rank = layout.mesh().RankOf(devices[d]);
        if (!rank) return;
        const auto held = HeldElements(layout, *rank, static_cast<int>(t));
        elements.resize(held.size());
        for (std::size_t i = 0; i < held.size(); ++i) {
          if (held[i]) elements[i].*who |= 1U << d;
        }
      };
      if (std::count(lost.begin(), lost.end(), devices[d]) == 0) mark(job.from, &Element::holders);
      mark(job.to, &Element::needers);
    }
    for (const Element& e : elements) sums[{e.holders, e.needers}] += SizeBytes(tensors[t].dtype);
  }
  std::vector<Element> all;
  for (const auto& [who, bytes] : sums) all.push_back({who.first, who.second, bytes});
  return all;
}

/// A load that any of the ports in a bit set may serve. The reference computes the least time by
/// trying all sets of ports.
struct Load {
  unsigned ports = 0;
  std::int64_t bytes = 0;
};
double LeastTime(const std::vector<Load>& loads, const std::vector<double>& speeds) {
  double longest = 0;
  for (unsigned set = 1; set < 1U << speeds.size(); ++set) {
    double speed = 0;
    for (std::size_t p = 0; p < speeds.size(); ++p) speed += (set >> p & 1U) * speeds[p];
    std::int64_t bytes = 0;
    for (const Load& load : loads) bytes += (load.ports & ~set) == 0 ? load.bytes : 0;
    longest = std::max(longest, static_cast<double>(bytes) / speed);
  }
  return longest;
}

/// Whether ports of capacity `most` can serve all loads, found unit by unit with augmenting paths.
/// \pre equal speeds, few bytes
class Dealer {
 public:
  Dealer(const std::vector<Load>& loads, std::size_t num_ports, std::int64_t most)
      : most_(most), served_(num_ports) {
    for (const Load& load : loads) {
      for (std::int64_t unit = 0; unit < load.bytes; ++unit) units_.push_back(load.ports);
    }
  }
  bool Run() {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      std::vector<bool> seen(served_.size());
      if (!Serve(unit, seen)) return false;
    }
    return true;
  }

 private:
  bool Serve(std::size_t unit, std::vector<bool>& seen) {
    for (std::size_t port = 0; port < served_.size(); ++port) {
      if ((units_[unit] >> port & 1U) == 0 || seen[port]) continue;
      seen[port] = true;
      if (std::ssize(served_[port]) < most_) {
        served_[port].push_back(unit);
        return true;
      }
      for (std::size_t& other : served_[port]) {
        if (Serve(other, seen)) {
          other = unit;
          return true;
        }
      }
    }
    return false;
  }
  std::int64_t most_;
  std::vector<unsigned> units_;
  std::vector<std::vector<std::size_t>> served_;
};

/// The figures of the certificate, by their definitions.
struct Expected {
  std::int64_t volume = 0, network_volume = 0, single_source = 0, storage = 0;
  double direct = 0, relayed = 0;
  std::vector<std::int64_t> peak;
  std::vector<Load> network_out;  // of direct plans
};

/// The devices of hosts, or the hosts of racks, as bit sets.
using Groups = std::vector<unsigned>;
Groups GroupsOf(const std::vector<std::int32_t>& names) {
  std::map<std::int32_t, unsigned> groups;
  for (std::size_t m = 0; m < names.size(); ++m) groups[names[m]] |= 1U << m;
  Groups result;
  for (const auto& [name, members] : groups) result.push_back(members);
  return result;
}
unsigned Touched(unsigned members, const Groups& groups) {
  unsigned touched = 0;
  for (std::size_t g = 0; g < groups.size(); ++g)
    touched |= (members & groups[g]) != 0 ? 1U << g : 0;
  return touched;
}
int CountOf(unsigned set) { return std::popcount(set); }

Expected Expect(const Job& job, const Topology& topology, const std::vector<DeviceId>& lost = {}) {
  Expected expected;
  const std::vector<DeviceId> devices = DevicesOfJob(job);
  std::vector<std::int32_t> host_names;
  for (DeviceId device : devices) host_names.push_back(topology.HostOf(device));
  const Groups hosts = GroupsOf(host_names);
  std::sort(host_names.begin(), host_names.end());
  host_names.erase(std::unique(host_names.begin(), host_names.end()), host_names.end());
  std::vector<std::int32_t> rack_names;
  std::vector<double> host_speeds;
  for (std::int32_t host : host_names) rack_names.push_back(topology.RackOf(host));
  for (std::int32_t host : host_names) host_speeds.push_back(topology.NetworkOf(host));
  const Groups racks = GroupsOf(rack_names);
  expected.peak.resize(devices.size());

  const std::vector<double> device_speeds(devices.size(), topology.host_bytes_per_second);
  const std::vector<double> rack_speeds(racks.size(),
                                        topology.rack_bytes_per_second.value_or(1e30));
  // Loads out of and into ports, for direct sends and for relays.
  struct Loads {
    std::vector<Load> out, in;
  };
  std::array<Loads, 2> device, host, rack;
  std::vector<Load> into_racks, out_of_racks;  // direct sends: bits of hosts, then of racks
  const auto all = [](std::size_t count) { return (1U << count) - 1; };
  for (const Element& e : ElementsOfJob(job, devices, lost)) {
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (((e.holders | e.needers) >> d & 1U) != 0) expected.peak[d] += e.bytes;
    }
    const unsigned lacking = e.needers & ~e.holders;
    if (lacking == 0) continue;
    expected.volume += e.bytes * CountOf(lacking);
    expected.single_source += CountOf(e.holders) == 1 ? e.bytes : 0;
    if (e.holders == 0) {
      expected.storage += e.bytes * CountOf(lacking);
      const unsigned entered = Touched(lacking, hosts);
      const unsigned entered_racks = Touched(entered, racks);
      for (std::size_t h = 0; h < hosts.size(); ++h) {
        if ((entered >> h & 1U) == 0) continue;
        const std::int64_t all_in = e.bytes * CountOf(lacking & hosts[h]);
        host[0].in.push_back({1U << h, all_in});
        host[1].in.push_back({1U << h, e.bytes});
        into_racks.push_back({Touched(1U << h, racks) << hosts.size(), all_in});
      }
      for (std::size_t r = 0; r < racks.size(); ++r) {
        if ((entered_racks >> r & 1U) != 0) rack[1].in.push_back({1U << r, e.bytes});
      }
      expected.network_volume += e.bytes * CountOf(entered);
      continue;
    }
    const unsigned holding_hosts = Touched(e.holders, hosts);
    const unsigned holding_racks = Touched(holding_hosts, racks);
    unsigned far_hosts = 0;
    unsigned far_racks = 0;
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      const unsigned here = lacking & hosts[h];
      if (here == 0) continue;
      if ((holding_hosts >> h & 1U) != 0) {
        const unsigned senders = e.holders & hosts[h];
        device[0].out.push_back({senders, e.bytes * CountOf(here)});
        device[1].out.push_back({senders, e.bytes});
        device[1].out.push_back({hosts[h], e.bytes * (CountOf(here) - 1)});
        for (std::size_t d = 0; d < devices.size(); ++d) {
          if ((here >> d & 1U) == 0) continue;
          device[0].in.push_back({1U << d, e.bytes});
          device[1].in.push_back({1U << d, e.bytes});
        }
        continue;
      }
      far_hosts |= 1U << h;
      host[0].out.push_back({holding_hosts, e.bytes * CountOf(here)});
      host[0].in.push_back({1U << h, e.bytes * CountOf(here)});
      host[1].in.push_back({1U << h, e.bytes});
      const unsigned its_rack = Touched(1U << h, racks);
      unsigned senders = 0;  // hosts of the rack
      for (std::size_t g = 0; g < hosts.size(); ++g) {
        if ((holding_hosts >> g & 1U) != 0 && Touched(1U << g, racks) == its_rack) {
          senders |= 1U << g;
        }
      }
      const std::int64_t all_in = e.bytes * CountOf(here);
      into_racks.push_back({senders | its_rack << hosts.size(), all_in});
      out_of_racks.push_back({senders | (holding_racks & ~its_rack) << hosts.size(), all_in});
      if ((its_rack & holding_racks) != 0) continue;
      far_racks |= its_rack;
    }
    expected.network_volume += e.bytes * CountOf(far_hosts);
    if (far_hosts != 0) {
      host[1].out.push_back({holding_hosts, e.bytes});
      host[1].out.push_back({all(hosts.size()), e.bytes * (CountOf(far_hosts) - 1)});
    }
    if (far_racks != 0) {
      rack[1].out.push_back({holding_racks, e.bytes});
      rack[1].out.push_back({all(racks.size()), e.bytes * (CountOf(far_racks) - 1)});
      for (std::size_t r = 0; r < racks.size(); ++r) {
        if ((far_racks >> r & 1U) != 0) rack[1].in.push_back({1U << r, e.bytes});
      }
    }
  }
  // Ports of different hosts share no loads, so the sets of devices of one host are enough.
  const auto device_time = [&](const std::vector<Load>& loads) {
    double longest = 0;
    for (unsigned members : hosts) {
      std::vector<std::size_t> ports;
      for (std::size_t d = 0; d < devices.size(); ++d) {
        if ((members >> d & 1U) != 0) ports.push_back(d);
      }
      std::vector<Load> own;
      for (const Load& load : loads) {
        if ((load.ports & members) == 0) continue;
        Load renamed{0, load.bytes};
        for (std::size_t p = 0; p < ports.size(); ++p) {
          renamed.ports |= (load.ports >> ports[p] & 1U) << p;
        }
        own.push_back(renamed);
      }
      longest =
          std::max(longest, LeastTime(own, std::vector<double>(ports.size(), device_speeds[0])));
    }
    return longest;
  };
  const auto time = [&](std::size_t how) {
    double longest = std::max(device_time(device[how].out), device_time(device[how].in));
    for (const auto* loads : {&host[how].out, &host[how].in}) {
      longest = std::max(longest, LeastTime(*loads, host_speeds));
    }
    for (const auto* loads : {&rack[how].out, &rack[how].in}) {
      longest = std::max(longest, LeastTime(*loads, rack_speeds));
    }
    return longest;
  };
  std::vector<double> both_speeds = host_speeds;
  both_speeds.insert(both_speeds.end(), rack_speeds.begin(), rack_speeds.end());
  expected.direct =
      std::max({time(0), LeastTime(into_racks, both_speeds), LeastTime(out_of_racks, both_speeds)});
  expected.relayed = time(1);
  expected.network_out = host[0].out;
  return expected;
}

Topology AnyTopology(std::mt19937_64& rng) {
  Topology topology;
  topology.host_bytes_per_second = static_cast<double>(1 + rng() % 6);
  topology.network_bytes_per_second = static_cast<double>(1 + rng() % 3);
  if (rng() % 3 == 0) topology.host_of_node = {{1, 0}};  // nodes 0 and 1 share a host
  if (rng() % 3 == 0) topology.network_of_host = {{2, 1.0 + static_cast<double>(rng() % 4)}};
  if (rng() % 3 == 0) topology.rack_of_host = {{2, 1}};
  if (rng() % 2 == 0) topology.rack_bytes_per_second = static_cast<double>(1 + rng() % 4);
  return topology;
}

/// None in every second job, else any of the old devices.
std::vector<DeviceId> AnyLost(std::mt19937_64& rng, const Job& job) {
  std::vector<DeviceId> lost;
  if (rng() % 2 == 0) return lost;
  for (DeviceId device : job.from.mesh().devices()) {
    if (rng() % 3 == 0) lost.push_back(device);
  }
  return lost;
}

bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

}  // namespace

class CertificateTest : public QObject {
  Q_OBJECT
 private slots:
  // All figures against their definitions: ownership element by element and every set of ports.
  void figuresAreThoseOfTheDefinitions() {
    std::mt19937_64 rng(tessera::test::Seed());
    int relay_helps = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const auto lost = AnyLost(rng, job);
      const Expected expected = Expect(job, topology, lost);
      const Certificate certificate = Certify(job.from, job.to, topology, lost);
      QCOMPARE(certificate.volume, expected.volume);
      QCOMPARE(certificate.storage_volume, expected.storage);
      QCOMPARE(certificate.network_volume, expected.network_volume);
      QCOMPARE(certificate.single_source_bytes, expected.single_source);
      QCOMPARE(certificate.peak_memory, expected.peak);
      QVERIFY2(Near(certificate.direct.seconds, expected.direct),
               qPrintable(QString("%1 %2").arg(certificate.direct.seconds).arg(expected.direct)));
      QVERIFY2(Near(certificate.relayed.seconds, expected.relayed),
               qPrintable(QString("%1 %2").arg(certificate.relayed.seconds).arg(expected.relayed)));
      QVERIFY(certificate.relayed.seconds <= certificate.direct.seconds);
      QCOMPARE(certificate.direct.port.empty(), expected.volume == 0);
      QCOMPARE(certificate.direct.num_ports == 0, expected.volume == 0);
      relay_helps += certificate.relayed.seconds < 0.9 * certificate.direct.seconds;
    }
    QVERIFY(relay_helps > kCases / 20);
  }

  // The direct bound is tight: ports with that many bytes can send everything, ports with one byte
  // less cannot.
  void theDirectBoundIsAttained() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    int judged = 0;
    while (judged < 100) {
      const Job job = AnyJob(rng);
      Topology topology;  // slow network ports, so that they decide
      topology.network_bytes_per_second = 1;
      topology.host_bytes_per_second = 1e12;
      const Certificate certificate = Certify(job.from, job.to, topology);
      const bool is_out = certificate.direct.port.ends_with(" out");
      if (certificate.network_volume == 0 || certificate.volume > 4000 || !is_out) continue;
      ++judged;
      const Expected expected = Expect(job, topology);
      const std::int64_t most = certificate.direct.bytes;
      QVERIFY(Dealer(expected.network_out, 3, most).Run());
      QVERIFY(!Dealer(expected.network_out, 3, most - 1).Run());
    }
  }

  void identityNeedsNothing() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 100; ++i) {
      const Job job = AnyJob(rng);
      const Certificate certificate = Certify(job.from, job.from, {});
      QCOMPARE(certificate.volume, 0);
      QCOMPARE(certificate.network_volume, 0);
      QCOMPARE(certificate.single_source_bytes, 0);
      QCOMPARE(certificate.direct.seconds, 0.0);
      QCOMPARE(certificate.direct.bytes, 0);
      QVERIFY(certificate.direct.port.empty());
      std::vector<std::int64_t> held;
      for (DeviceId device : DevicesOfJob({job.from, job.from})) {
        held.push_back(job.from.BytesOf(*job.from.mesh().RankOf(device)));
      }
      QCOMPARE(certificate.peak_memory, held);
    }
  }

  // One more replica on the same host, on another host, and two more on one host.
  void aReplicaMore() {
    const auto w = EqualTensors(1, {120});
    const Certificate near = Certify(On("dp=1 on n0g0", w), On("dp=2 on 1x2", w), {});
    QCOMPARE(near.volume, 120);
    QCOMPARE(near.network_volume, 0);
    QCOMPARE(near.direct.bytes, 120);
    QCOMPARE(near.direct.seconds, 120 / 6e9);
    QCOMPARE(near.direct.port, "n0g1 in");
    QCOMPARE(near.single_source_bytes, 120);
    QCOMPARE(near.peak_memory, (std::vector<std::int64_t>{120, 120}));

    const Certificate far = Certify(On("dp=1 on n0g0", w), On("dp=2 on n0g0,n1g0", w), {});
    QCOMPARE(far.network_volume, 120);
    QCOMPARE(far.direct.seconds, 120 / 1e9);
    QCOMPARE(far.direct.port, "n1 in");

    const Certificate two = Certify(On("dp=1 on n0g0", w), On("dp=2 on n1g0,n1g1", w), {});
    QCOMPARE(two.volume, 240);
    QCOMPARE(two.network_volume, 120);
    QCOMPARE(two.direct.bytes, 240);
    QCOMPARE(two.relayed.bytes, 120);
  }

  // tp 2 -> 4 on four hosts: each new device receives its quarter from the device that has it. A
  // device that stays sends one quarter, or two if it held the quarters of both new devices.
  void moreTensorParallel() {
    const auto w = EqualTensors(1, {400}, {{Axis::kTp}});
    const Certificate certificate =
        Certify(On("tp=2 on n0g0,n1g0", w), On("tp=4 on n0g0,n1g0,n2g0,n3g0", w), {});
    // n0 holds 0..199 and keeps 0..99; n1 holds 200..399 and needs 100..199.
    QCOMPARE(certificate.volume, 300);
    QCOMPARE(certificate.single_source_bytes, 300);
    QCOMPARE(certificate.direct.bytes, 200);
    QCOMPARE(certificate.direct.port, "n1 out");
    QCOMPARE(certificate.peak_memory, (std::vector<std::int64_t>{200, 300, 100, 100}));
  }

  // Three replicas send to one new device: no port must send more than a third, but everything must
  // come in. With four new devices on their own hosts, each of the three sends four thirds.
  void replicasShareTheSending() {
    const auto w = EqualTensors(1, {120});
    const Certificate one = Certify(On("dp=3 on n0g0,n1g0,n2g0", w), On("dp=1 on n3g0", w), {});
    QCOMPARE(one.direct.port, "n3 in");
    QCOMPARE(one.direct.bytes, 120);
    const Certificate four =
        Certify(On("dp=3 on n0g0,n1g0,n2g0", w), On("dp=4 on n3g0,n4g0,n5g0,n6g0", w), {});
    QCOMPARE(four.direct.bytes, 160);
    QCOMPARE(four.direct.port, "n0 out");
    QCOMPARE(four.direct.num_ports, 3);
    QCOMPARE(four.relayed.bytes, 120);
    QCOMPARE(four.single_source_bytes, 0);
  }

  // A slow link gets a smaller share of the load. A lost host leaves a single source.
  void slowAndLostHosts() {
    const auto w = EqualTensors(1, {900});
    Topology topology;
    topology.network_bytes_per_second = 10;
    topology.network_of_host = {{1, 5.0}, {2, 1000.0}, {3, 1000.0}};
    const Certificate slow =
        Certify(On("dp=2 on n0g0,n1g0", w), On("dp=2 on n2g0,n3g0", w), topology);
    QVERIFY(Near(slow.direct.seconds, 1800.0 / 15));
    QCOMPARE(slow.direct.bytes, 1200);
    const Certificate lost = Certify(On("dp=1 on n0g0", w), On("dp=2 on n2g0,n3g0", w), topology);
    QVERIFY(Near(lost.direct.seconds, 180.0));
    QCOMPARE(lost.single_source_bytes, 900);
  }

  // Bytes are sent in the old dtype. Elements that change their dtype need room beside the old
  // bytes.
  void dtypesMayChange() {
    const Layout from = On("dp=1 on n0g0", EqualTensors(1, {100}));
    const Layout to = On("dp=2 on 1x2", EqualTensors(1, {100}, {}, DType::kU16));
    const Certificate certificate = Certify(from, to, {});
    QCOMPARE(certificate.volume, 100);
    QCOMPARE(certificate.direct.bytes, 100);
    QCOMPARE(certificate.peak_memory, (std::vector<std::int64_t>{300, 200}));
  }

  // Bytes enter a rack through its port, unless a device in the rack holds them.
  void racksHavePorts() {
    const auto w = EqualTensors(1, {100});
    Topology topology;
    topology.network_bytes_per_second = 100;
    topology.rack_of_host = {{2, 1}, {3, 1}};
    topology.rack_bytes_per_second = 10;
    const Layout from = On("dp=1 on n0g0", w);
    const Certificate apart = Certify(from, On("dp=2 on n2g0,n3g0", w), topology);
    QCOMPARE(apart.direct.port, "rack 1 in");
    QVERIFY(Near(apart.direct.seconds, 20.0));
    QVERIFY(Near(apart.relayed.seconds, 10.0));
    const Certificate inside = Certify(from, On("dp=1 on n1g0", w), topology);
    QCOMPARE(inside.direct.port, "n1 in");
    QVERIFY(Near(inside.direct.seconds, 1.0));
  }

  // Bytes that n0 sends leave rack 0. Bytes that n1 sends leave its port, and rack 1 if n6 needs
  // them. So each of the 600 needed bytes uses the port of n1 or the port out of rack 0, which no
  // two kinds of ports alone show.
  void pricesBoundThreePortsAtOnce() {
    const auto w = EqualTensors(1, {120});
    Topology topology;
    topology.network_bytes_per_second = 60;
    topology.rack_bytes_per_second = 30;
    topology.rack_of_host = {{0, 0}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 2}};
    const Layout from = On("dp=2 on n0g0,n1g0", w);
    const Layout to = On("dp=5 on n2g0,n3g0,n4g0,n5g0,n6g0", w);
    QVERIFY(Near(Certify(from, to, topology).direct.seconds, 480.0 / 90));
    const PortPrices prices{.out_of_host = {{1, 7}}, .out_of_rack = {{0, 7}}, .into_rack = {}};
    const PortBound proved = Certify(from, to, topology, {}, prices).direct;
    QVERIFY(Near(proved.seconds, 600.0 / 90));
    QCOMPARE(proved.bytes, 400);
    QCOMPARE(proved.port, "n1 out");
    QCOMPARE(proved.num_ports, 2);
    const PortPrices wrong{
        .out_of_host = {{0, 1}, {9, 5}}, .out_of_rack = {}, .into_rack = {{1, -1}}};
    QVERIFY(Near(Certify(from, to, topology, {}, wrong).direct.seconds, 480.0 / 90));
    const auto plan = MakePlan(from, to, topology);
    QVERIFY(plan);
    QVERIFY2(
        Near(plan->transfer_seconds, proved.seconds),
        qPrintable(QString("%1 s, bound %2 s").arg(plan->transfer_seconds).arg(proved.seconds)));
  }
};

TESSERA_TEST_APPLESS(CertificateTest)
#include "certificate_test.moc"
