// SPDX-License-Identifier: Apache-2.0
#include "engine/recovery/stragglers.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera::engine;
using tessera::ptc::Axis;
using tessera::ptc::DeviceMesh;
using tessera::ptc::MeshShape;

namespace {

DeviceMesh Mesh(std::int64_t pp, std::int64_t dp) {
  MeshShape shape;
  shape[Axis::kPp] = pp;
  shape[Axis::kDp] = dp;
  std::vector<tessera::ptc::DeviceId> devices;
  for (std::int32_t i = 0; i < pp * dp; ++i) devices.push_back({0, i});
  return *DeviceMesh::Make(shape, devices);
}

}  // namespace

class StragglersTest : public QObject {
  Q_OBJECT

 private slots:
  void aRankIsComparedWithTheOthersOfItsStage() {
    // The second stage has twice the work, which makes none of its ranks slow.
    const std::vector<double> busy{0.2, 0.21, 0.33, 0.4, 0.41, 0.42};
    const auto slow = FindSlowRanks(Mesh(2, 3), busy);
    QCOMPARE(slow.size(), 1U);
    QCOMPARE(slow[0].device.index, 2);
    QCOMPARE(slow[0].seconds, 0.33);
    QCOMPARE(slow[0].peers_seconds, 0.21);
  }

  void noiseAndUnknownTimesNameNobody() {
    QVERIFY(FindSlowRanks(Mesh(1, 2), std::vector{0.010, 0.028}).empty());
    QVERIFY(FindSlowRanks(Mesh(1, 2), std::vector{0.2, 0.0}).empty());
    QVERIFY(FindSlowRanks(Mesh(2, 1), std::vector{0.2, 0.9}).empty());  // nobody to compare with
    QVERIFY(FindSlowRanks(Mesh(1, 2), std::vector{0.2, 0.29}).empty());
  }

  void aSlowRankStaysSlowUntilItIsClearlyFaster() {
    const std::vector<SlowRank> before{{{0, 1}, 0.4, 0.2}};
    QCOMPARE(FindSlowRanks(Mesh(1, 2), std::vector{0.2, 0.27}, before).size(), 1U);
    QVERIFY(FindSlowRanks(Mesh(1, 2), std::vector{0.2, 0.24}, before).empty());
  }
};

TESSERA_TEST_APPLESS(StragglersTest)
#include "stragglers_test.moc"
