// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/snapshot_forecast.h"

#include <QTest>
#include <chrono>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/model/gpt.h"
#include "engine/search/fit.h"
#include "engine/store/view_plan.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

ptc::Layout LayoutOn(const char* mesh) {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *tensors);
}

/// Nodes n0, n1, … of these machines, with this much memory left.
Membership NodesOn(const std::vector<std::string>& machines, std::int64_t available) {
  Membership members{std::chrono::seconds(10)};
  for (std::size_t i = 0; i < machines.size(); ++i) {
    wire::Register hello;
    hello.set_node(static_cast<std::int32_t>(i));
    hello.set_incarnation(1);
    hello.set_machine(machines[i]);
    members.Register("id", hello, {});
    wire::Heartbeat beat;
    beat.set_memory_available(available);
    members.NoteHeartbeat(*members.Find(hello.node()), beat, {});
  }
  return members;
}

}  // namespace

class SnapshotForecastTest : public QObject {
  Q_OBJECT

 private slots:
  void itIsWhatTheNodesAllocate() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0");
    const SnapshotForecast forecast = ForecastSnapshots(layout, {});
    QCOMPARE(forecast.memory.num_nodes, 2);
    // Each cell is in the memory of both nodes.
    const std::int64_t state = layout.collection().total_bytes();
    QVERIFY(forecast.memory.bytes >= 2 * state);
    QVERIFY(forecast.memory.bytes < 2 * state + (1 << 20));
    const std::int64_t most = std::max(forecast.bytes_of_node.at(0), forecast.bytes_of_node.at(1));
    QCOMPARE(forecast.memory.peak_bytes, 2 * most);
    QCOMPARE(forecast.bytes_of_node.at(forecast.memory.peak_node), most);
  }

  void theGuestOfASingleNodeIsTheNextOne() {
    QCOMPARE(GuestOf({1}, {0, 1, 2}), std::optional<std::int32_t>(2));
    QCOMPARE(GuestOf({2}, {0, 1, 2}), std::optional<std::int32_t>(0));
    QCOMPARE(GuestOf({1}, {1}), std::nullopt);
    QCOMPARE(GuestOf({1}, {}), std::nullopt);
    QCOMPARE(GuestOf({0, 1}, {0, 1, 2}), std::nullopt);
    const ptc::Layout layout = LayoutOn("dp=1,tp=2,pp=1 on n0g0,n0g1");
    QCOMPARE(ForecastSnapshots(layout, 1).memory.num_nodes, 2);
    QCOMPARE(ForecastSnapshots(layout, {}).memory.num_nodes, 1);
  }

  void aMachineWithTooLittleMemoryIsNamed() {
    const SnapshotForecast forecast =
        ForecastSnapshots(LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0"), {});
    const std::int64_t one = forecast.bytes_of_node.at(0), two = forecast.bytes_of_node.at(1);
    // On machines of their own each needs its share only, on one both.
    const Membership apart = NodesOn({"a", "b"}, std::max(one, two));
    QCOMPARE(LackOfMemory(forecast, apart, 1), std::string());
    const Membership together = NodesOn({"a", "a"}, std::max(one, two));
    QCOMPARE(LackOfMemory(forecast, together, 1),
             "the machine of n0, n1 has " + engine::BytesText(std::max(one, two)) +
                 " left, and they need " + engine::BytesText(one + two) + " there");
    QVERIFY(LackOfMemory(forecast, apart, 2).find("the machine of n1 has") != std::string::npos);
    QCOMPARE(LackOfMemory(forecast, NodesOn({"a", "b"}, 0), 2), std::string());  // unknown
    QCOMPARE(LackOfMemory(forecast, NodesOn({}, 1), 2), std::string());
  }
};

TESSERA_TEST_APPLESS(SnapshotForecastTest)
#include "snapshot_forecast_test.moc"
