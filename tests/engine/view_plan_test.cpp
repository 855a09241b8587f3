// SPDX-License-Identifier: Apache-2.0
#include "engine/store/view_plan.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <string>

#include "engine/model/gpt.h"
#include "engine/store/view_memory.h"
#include "tests/engine/cells.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

class ViewPlanTest : public QObject {
  Q_OBJECT

 private slots:
  void everyElementIsInOneCellOfAHolder_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<bool>("zero");
    for (const bool zero : {false, true}) {
      for (const char* mesh :
           {"dp=1,tp=1,pp=1 on n3g1", "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3",
            "dp=4,tp=1,pp=2 on 2x4", "dp=2,tp=2,pp=2 on n1g0,n0g1,n2g2,n0g3,n1g3,n0g0,n2g0,n1g1",
            "dp=3,tp=1,pp=1 on n0g0,n1g0,n2g0"}) {
        QTest::addRow("%s, zero %d", mesh, zero) << QString::fromLatin1(mesh) << zero;
      }
    }
  }
  void everyElementIsInOneCellOfAHolder() {
    QFETCH(QString, mesh);
    QFETCH(bool, zero);
    const ptc::Layout layout = LayoutOf(mesh.toStdString(), zero);
    const ViewPlan plan(layout);
    const auto& tensors = layout.collection().tensors();
    for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
      const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(t)];
      const ptc::Box whole = *ptc::Box::Whole(spec.shape);
      std::vector<int> seen(static_cast<std::size_t>(whole.num_elements()));
      for (const ViewCell& cell : plan.CellsOf(t)) {
        QCOMPARE(cell.tensor, t);
        QCOMPARE(cell.size_bytes, cell.box.num_elements() * ptc::SizeBytes(spec.dtype));
        const auto rank = layout.mesh().RankOf(cell.device);
        QVERIFY(rank);
        const auto held = layout.Boxes(*rank, t);
        QVERIFY(std::any_of(held.begin(), held.end(),
                            [&](const ptc::Box& box) { return Contains(box, cell.box); }));
        test::ForEachElement(cell.box, [&](const std::vector<std::int64_t>& at) {
          ++seen[static_cast<std::size_t>(test::IndexIn(whole, at))];
        });
      }
      QVERIFY2(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }),
               spec.name.c_str());
    }
  }

  void memoryOfANodeHoldsItsCellsApart() {
    const ViewPlan plan(LayoutOf("dp=2,tp=2,pp=2 on 2x4", true));
    std::map<std::int32_t, std::int64_t> end;
    for (const ViewCell& cell : plan.cells()) {
      const auto [at, fresh] =
          end.try_emplace(cell.device.node, static_cast<std::int64_t>(kViewHeaderBytes));
      QVERIFY(cell.offset_bytes >= at->second);
      QCOMPARE(cell.offset_bytes % 64, 0);
      at->second = cell.offset_bytes + cell.size_bytes;
    }
    QCOMPARE(end.size(), plan.bytes_of_node().size());
    std::int64_t total = 0;
    for (const auto& [node, bytes] : plan.bytes_of_node()) {
      QVERIFY(end.at(node) <= bytes);
      QVERIFY(bytes - end.at(node) < static_cast<std::int64_t>(kViewHeaderBytes));
      total += bytes;
    }
    QCOMPARE(plan.total_bytes(), total);
  }

  void replicasShareTheWork() {
    const ptc::Layout layout = LayoutOf("dp=4,tp=1,pp=1 on 2x2", false);
    const ViewPlan plan(layout);
    std::map<ptc::DeviceId, std::int64_t> load;
    std::int64_t largest = 0;
    for (const ViewCell& cell : plan.cells()) {
      load[cell.device] += cell.size_bytes;
      largest = std::max(largest, cell.size_bytes);
    }
    QCOMPARE(load.size(), std::size_t{4});
    const std::int64_t fair = layout.collection().total_bytes() / 4;
    for (const auto& [device, bytes] : load) QVERIFY(std::abs(bytes - fair) <= largest);
  }

  void snapshotHasEachCellOnTwoNodes_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<bool>("zero");
    QTest::addColumn<bool>("isFetched");  // whether some cells have holders on one node only
    QTest::newRow("one node") << "dp=2,tp=2,pp=1 on 1x4" << false << false;
    QTest::newRow("stages") << "dp=1,tp=2,pp=2 on 2x2" << false << true;
    QTest::newRow("replicas on both nodes") << "dp=2,tp=2,pp=1 on 2x2" << false << false;
    QTest::newRow("ZeRO") << "dp=4,tp=1,pp=1 on 2x2" << true << true;
    QTest::newRow("three nodes") << "dp=3,tp=1,pp=1 on n4g0,n2g0,n7g1" << true << true;
  }
  void snapshotHasEachCellOnTwoNodes() {
    QFETCH(QString, mesh);
    QFETCH(bool, zero);
    QFETCH(bool, isFetched);
    const ptc::Layout layout = LayoutOf(mesh.toStdString(), zero);
    const ViewPlan view(layout);
    const ViewPlan plan = ViewPlan::OfSnapshot(layout);
    if (view.bytes_of_node().size() == 1) {
      QVERIFY(plan.cells() == view.cells());
      return;
    }
    QVERIFY(plan.hash() != view.hash());
    QCOMPARE(plan.cells().size(), 2 * view.cells().size());
    std::map<std::int32_t, std::int64_t> end;  // of the last cell in each node's memory
    bool fetches = false;
    for (std::size_t i = 0; i < plan.cells().size(); ++i) {
      const ViewCell& cell = plan.cells()[i];
      const ViewCell& first = plan.cells()[i / 2 * 2];
      QCOMPARE(cell.is_second, i % 2 == 1);
      QCOMPARE(cell.tensor, first.tensor);
      QVERIFY(cell.box == first.box);
      QVERIFY(cell.offset_bytes >= end[cell.device.node]);
      end[cell.device.node] = cell.offset_bytes + cell.size_bytes;
      if (!cell.is_second) {
        QCOMPARE(cell.device, view.cells()[i / 2].device);
        QVERIFY(!cell.is_fetched());
        continue;
      }
      QVERIFY(cell.device.node != first.device.node);
      fetches = fetches || cell.is_fetched();
      if (cell.is_fetched()) {
        // Only if no device of another node holds it. Then it is on the next node of the ring.
        for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
          const auto held = layout.Boxes(rank, cell.tensor);
          const bool holds = std::any_of(held.begin(), held.end(), [&](const ptc::Box& box) {
            return Contains(box, cell.box);
          });
          const auto device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
          QVERIFY(!holds || device.node == first.device.node);
        }
        auto next = view.bytes_of_node().upper_bound(first.device.node);
        if (next == view.bytes_of_node().end()) next = view.bytes_of_node().begin();
        QCOMPARE(cell.device.node, next->first);
      } else {
        const auto held = layout.Boxes(*layout.mesh().RankOf(cell.device), cell.tensor);
        QVERIFY(std::any_of(held.begin(), held.end(),
                            [&](const ptc::Box& box) { return Contains(box, cell.box); }));
      }
    }
    QCOMPARE(fetches, isFetched);
    for (const auto& [node, bytes] : plan.bytes_of_node()) QVERIFY(end.at(node) <= bytes);
  }

  void aGuestKeepsTheSecondCopiesOfOneNode() {
    const ptc::Layout layout = LayoutOf("dp=1,tp=2,pp=1 on n3g0,n3g1", false);
    const ViewPlan alone = ViewPlan::OfSnapshot(layout);
    const ViewPlan plan = ViewPlan::OfSnapshot(layout, 1);
    QVERIFY(plan.nodes() == (std::set<std::int32_t>{1, 3}));
    QVERIFY(plan.hash() != alone.hash());
    QVERIFY(plan.hash() != ViewPlan::OfSnapshot(layout, 2).hash());
    QCOMPARE(plan.cells().size(), 2 * alone.cells().size());
    for (const ViewCell& cell : plan.cells()) {
      QCOMPARE(cell.device.node, cell.is_second ? 1 : 3);
      QCOMPARE(cell.is_fetched(), cell.is_second);
    }
    QVERIFY(plan.IsCoveredBy({1}));
    QVERIFY(plan.IsCoveredBy({3}));
    QVERIFY(!plan.IsCoveredBy({2}));
    QCOMPARE(plan.bytes_of_node().at(1), plan.bytes_of_node().at(3));
    // A job on several nodes has no use for one.
    const ptc::Layout wide = LayoutOf("dp=1,tp=1,pp=2 on n0g0,n1g0", false);
    QVERIFY(ViewPlan::OfSnapshot(wide).nodes() == (std::set<std::int32_t>{0, 1}));
  }

  void equalLayoutsGiveEqualPlans() {
    const ViewPlan one(LayoutOf("dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1", false));
    const ViewPlan same(LayoutOf("dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1", false));
    const ViewPlan other(LayoutOf("dp=2,tp=2,pp=1 on n0g1,n0g0,n1g0,n1g1", false));
    QCOMPARE(one.hash(), same.hash());
    QVERIFY(one.cells() == same.cells());
    QVERIFY(one.hash() != other.hash());
  }

 private:
  static ptc::Layout LayoutOf(const std::string& mesh, bool zero) {
    const auto tensors = MakeCollection({.model = *FindModel("gpt-nano")}, zero);
    return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *tensors);
  }
};
TESSERA_TEST_APPLESS(ViewPlanTest)
#include "view_plan_test.moc"
