// SPDX-License-Identifier: Apache-2.0
#include "agents/node/peers.h"

#include <QTest>

#include "agents/job/rank_view.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

Peers PeersOn(const std::vector<std::string>& hosts) {
  Peers peers;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    auto* peer = peers.Add();
    peer->set_node(static_cast<std::int32_t>(i));
    peer->set_host(hosts[i]);
  }
  return peers;
}

}  // namespace

class PeersTest : public QObject {
  Q_OBJECT
 private slots:
  void nodesOfOneHostShareIt() {
    const ptc::Topology topology = TopologyOf(PeersOn({"a", "b", "a"}));
    QCOMPARE(topology.HostOf({2, 0}), 0);
    QCOMPARE(topology.HostOf({1, 0}), 1);
  }

  // Every agent receives the topology of the plan unchanged.
  void aPlanIsMadeWithTheRegistrarsFigures() {
    wire::Prepare prepare;
    *prepare.mutable_peers() = PeersOn({"a", "b", "a"});
    ptc::Topology planned = TopologyOf(prepare.peers());
    planned.network_bytes_per_second = 99876543;
    planned.host_bytes_per_second = 6.25e9;
    planned.network_of_host = {{1, 12345678}};
    planned.source = "measured \"then\"";
    prepare.set_topology(ptc::ToJson(ptc::Cluster{planned, {{0, 0}, {1, 0}, {2, 0}, {2, 1}}}));
    const auto topology = TopologyOf(prepare);
    VERIFY_OK(topology);
    for (const std::int32_t node : {0, 1, 2}) {
      const std::int32_t host = planned.HostOf({node, 0});
      QCOMPARE(topology->HostOf({node, 0}), host);
      QCOMPARE(topology->NetworkOf(host), planned.NetworkOf(host));
    }
    QCOMPARE(topology->host_bytes_per_second, planned.host_bytes_per_second);
    QCOMPARE(topology->source, planned.source);
  }

  void aPrepareWithoutFiguresIsOfAnOlderJournal() {
    wire::Prepare prepare;
    *prepare.mutable_peers() = PeersOn({"a", "a"});
    const auto topology = TopologyOf(prepare);
    VERIFY_OK(topology);
    QVERIFY(*topology == TopologyOf(prepare.peers()));
    prepare.set_topology("{");
    VERIFY_ERROR(TopologyOf(prepare), ErrorCode::kInvalidArgument, "the plan's topology:1");
  }
};

TESSERA_TEST_APPLESS(PeersTest)
#include "peers_test.moc"
