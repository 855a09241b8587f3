// SPDX-License-Identifier: Apache-2.0
#include "ptc/topology/topology.h"

#include <QTest>

#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {

const std::string kFile = R"({
  "devices": "8x2",
  "hosts": [
    {"host": 0, "nodes": [0, 1]},
    {"host": 6, "nodes": [6, 7]}
  ],
  "racks": [
    {"rack": 1, "hosts": [4, 5, 6]}
  ],
  "host_bytes_per_second": 300000000000,
  "network_bytes_per_second": 50e9,
  "rack_bytes_per_second": 1e11,
  "network_of_host": [
    {"host": 3, "bytes_per_second": 12.5e9}
  ],
  "source": "two racks"
}
)";

/// The text with the first `old_text` replaced; aborts if there is none.
std::string Edited(std::string text, const QString& old_text, const QString& new_text) {
  const std::size_t at = text.find(old_text.toStdString());
  if (at == std::string::npos) qFatal("the text has no such place");
  return text.replace(at, static_cast<std::size_t>(old_text.toUtf8().size()),
                      new_text.toStdString());
}

}  // namespace

class TopologyTest : public QObject {
  Q_OBJECT
 private slots:
  void aFileIsRead() {
    const auto cluster = ParseCluster("cluster.json", kFile);
    QVERIFY2(cluster, cluster ? "" : cluster.error().ToString().c_str());
    const Topology& topology = cluster->topology;
    QCOMPARE(cluster->devices.size(), 16U);
    QCOMPARE(topology.HostOf({0, 1}), 0);
    QCOMPARE(topology.HostOf({1, 1}), 0);
    QCOMPARE(topology.HostOf({2, 0}), 2);
    QCOMPARE(topology.HostOf({7, 0}), 6);
    QCOMPARE(topology.HostOf({6, 0}), 6);
    QCOMPARE(topology.RackOf(6), 1);
    QCOMPARE(topology.RackOf(3), 0);
    QCOMPARE(topology.NetworkOf(3), 12.5e9);
    QCOMPARE(topology.NetworkOf(4), 50e9);
    QCOMPARE(topology.host_bytes_per_second, 3e11);
    QCOMPARE(topology.rack_bytes_per_second, std::optional(1e11));
    QCOMPARE(topology.source, "two racks");
  }

  void theShorthandMakesEachNodeAHost() {
    const auto cluster = ParseCluster("--cluster", " 3x4\n");
    QVERIFY(cluster);
    QCOMPARE(cluster->devices.size(), 12U);
    QCOMPARE(cluster->topology, Topology{});
    QCOMPARE(cluster->topology.HostOf({2, 3}), 2);
  }

  void leftOutMeansAssumedSpeedsAndTheFileAsSource() {
    const auto cluster = ParseCluster("c.json", R"({"devices": "n4g0,n1g2"})");
    QVERIFY(cluster);
    QCOMPARE(cluster->devices, (std::vector<DeviceId>{{4, 0}, {1, 2}}));
    Topology expected;
    expected.source = "c.json";
    QCOMPARE(cluster->topology, expected);
  }

  // Printed clusters parse to themselves: a fixed text, and random clusters.
  void writtenAndReadBack() {
    const auto cluster = ParseCluster("cluster.json", kFile);
    const std::string text = ToJson(*cluster);
    QCOMPARE(text, Edited(Edited(Edited(kFile, "50e9", "50000000000"), "1e11", "100000000000"),
                          "12.5e9", "12500000000"));
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 300; ++i) {
      Cluster any;
      const auto nodes = static_cast<std::int32_t>(1 + rng() % 6);
      for (std::int32_t node = 0; node < nodes; ++node) {
        const auto devices = static_cast<std::int32_t>(1 + rng() % 3);
        for (std::int32_t g = 0; g < devices; ++g) any.devices.push_back({node, g});
      }
      for (std::int32_t node = 1; node < nodes; ++node) {
        if (rng() % 3 == 0) any.topology.host_of_node[node] = node - 1;
      }
      for (DeviceId device : any.devices) {
        const std::int32_t host = any.topology.HostOf(device);
        if (rng() % 4 == 0)
          any.topology.rack_of_host[host] = static_cast<std::int32_t>(1 + rng() % 3);
        if (rng() % 4 == 0)
          any.topology.network_of_host[host] = 0.5 * static_cast<double>(2 + rng() % 9);
      }
      if (rng() % 2 == 0) any.topology.rack_bytes_per_second = 1e15 / 3;
      any.topology.host_bytes_per_second = 1 + static_cast<double>(rng() % 1000) / 7;
      any.topology.source = "\"quoted\"\n\xff";
      const auto back = ParseCluster("any", ToJson(any));
      QVERIFY2(back, back ? "" : back.error().ToString().c_str());
      QCOMPARE(back->devices, any.devices);
      any.topology.source = back->topology.source;  // bytes that are not UTF-8 were replaced
      QCOMPARE(back->topology, any.topology);
    }
  }

  void mistakesAreNamed_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* from, const char* to, const char* message) {
      QTest::newRow(name) << from << to << message;
    };
    row("no devices", R"("devices": "8x2",)", "", "c.json:1: the cluster needs 'devices'");
    row("bad devices", "8x2", "8x2x",
        "c.json:2: device grid '8x2x' is not <nodes>x<devices of a node>");
    row("too many", "8x2", "65536x2",
        "c.json:2: device grid '65536x2' has more than 65536 devices");
    row("unknown key", "racks", "rooms",
        "c.json:7: unknown key 'rooms', the cluster has devices, hosts, racks, "
        "host_bytes_per_second, network_bytes_per_second, rack_bytes_per_second, network_of_host, "
        "source");
    row("no such node", "[6, 7]", "[8]", "c.json:5: node 8 of host 6 has no device");
    row("a node twice", "[6, 7]", "[1]", "c.json:5: node 1 is given to a host twice");
    row("a negative node", "[6, 7]", "[-7]", "c.json:5: 'nodes': -7 is not in 0..2147483647");
    row("a huge host", R"("host": 6)", R"("host": 2147483648)",
        "c.json:5: 'host': 2147483648 is not in 0..2147483647");
    row("no such host", "[4, 5, 6]", "[7]", "c.json:8: host 7 of rack 1 has no device");
    row("a host twice", "[4, 5, 6]", "[4, 4]", "c.json:8: host 4 is given to a rack twice");
    row("a speed of nothing", "50e9", "0",
        "c.json:11: 'network_bytes_per_second' must be a number of bytes a second in 1..1e15, not "
        "0");
    row("a speed beyond all", "1e11", "1e300",
        "c.json:12: 'rack_bytes_per_second' must be a number of bytes a second in 1..1e15, not "
        "1e300");
    row("a speed as text", "12.5e9", R"("fast")",
        "c.json:14: 'bytes_per_second' must be a number of bytes a second in 1..1e15, not 'fast'");
    row("no such link", R"("host": 3)", R"("host": 1)", "c.json:14: host 1 has no device");
    row("not json", "[0, 1]", "[0, 1", "c.json:4: not json at '1}'");
  }
  void mistakesAreNamed() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, message);
    const auto cluster = ParseCluster("c.json", Edited(kFile, from, to));
    QVERIFY(!cluster);
    QCOMPARE(cluster.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(cluster.error().ToString()), message);
  }

  void badShorthands_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("none") << "0x8"
                          << "device grid '0x8' is not <nodes>x<devices of a node>";
    QTest::newRow("many") << "70000x8"
                          << "device grid '70000x8' has more than 65536 devices";
    QTest::newRow("three") << "1x2x3"
                           << "device grid '1x2x3' is not <nodes>x<devices of a node>";
    QTest::newRow("empty") << ""
                           << "--cluster:1: not json: the text ends too early";
    QTest::newRow("list") << "[]"
                          << "--cluster:1: expected an object, not a list: the cluster has "
                             "devices, hosts, racks, host_bytes_per_second, "
                             "network_bytes_per_second, rack_bytes_per_second, "
                             "network_of_host, source";
  }
  void badShorthands() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto cluster = ParseCluster("--cluster", text.toStdString());
    QVERIFY(!cluster);
    QCOMPARE(QString::fromStdString(cluster.error().ToString()), message);
  }
};

TESSERA_TEST_APPLESS(TopologyTest)
#include "topology_test.moc"
