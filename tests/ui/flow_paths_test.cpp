// SPDX-License-Identifier: Apache-2.0
#include "ui/canvas/flow_paths.h"

#include <QTest>

#include "tests/support/random.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/sample_clusters.h"
#include "ui/canvas/mesh_layout.h"
#include "ui/format.h"

using namespace tessera;
using ui::MeshLayout;
using ui::MeshScene;

class FlowPathsTest : public QObject {
  Q_OBJECT
 private slots:
  // Cards: whatever flows between whichever GPUs, a line crosses no cell and no label covers one.
  void linesStayInTheGutters() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 60; ++round) {
      const int nodes = 1 + static_cast<int>(rng() % 6);
      auto cluster = test::IdleCluster(nodes, 4);
      test::AddJob(&cluster, test::Shape(nodes * 4, 1, 1));
      MeshScene scene = ui::makeScene(cluster, test::kJob);
      const auto any = [&] {
        return ptc::DeviceId{static_cast<int>(rng() % static_cast<unsigned>(nodes)),
                             static_cast<int>(rng() % 4)};
      };
      std::set<ptc::DeviceId> ends;
      for (int f = 0; f < 12; ++f) {
        const auto from = any(), to = any();
        if (from == to) continue;
        scene.flows.push_back({from, to, 1, 10'000'000, 1e6, true, false});
        ends.insert(from);
      }
      const MeshLayout layout(scene, QSize(900 + static_cast<int>(rng() % 900), 2000), 1, true);
      QCOMPARE(layout.metrics().detail, ui::Detail::Card);
      for (const auto& paths :
           {ui::routeFlows(scene, layout), ui::routeFlowsOf(ends, scene, layout)}) {
        for (std::size_t i = 0; i < paths.size(); ++i) {
          const auto& path = paths[i];
          QVERIFY(path.length() > 0);
          for (const auto id : layout.order()) {
            const QRectF inside = QRectF(layout.cellRect(id)).adjusted(1, 1, -1, -1);
            QVERIFY(!inside.intersects(path.labelArea));
            for (const QPointF& point : path.points) {
              QVERIFY2(!inside.contains(point),
                       qPrintable(QString::fromStdString(ptc::ToString(id))));
            }
          }
          for (std::size_t j = 0; j < i; ++j)
            QVERIFY(!path.labelArea.intersects(paths[j].labelArea));
        }
      }
    }
  }

  // Four flows between the same nodes are one line, with their bytes.
  void flowsOfANodePairAreOneLine() {
    const auto scene = ui::makeScene(test::MovingCluster(), test::kJob);
    QCOMPARE(scene.flows.size(), 4U);
    std::int64_t bytes = 0;
    for (const auto& flow : scene.flows) bytes += flow.total;
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    const auto paths = ui::routeFlows(scene, layout);
    QCOMPARE(paths.size(), 1U);
    const auto& path = paths.front();
    QCOMPARE(path.bytes, bytes);
    QCOMPARE(path.label, ui::format::bytes(bytes));
    QCOMPARE(path.head.toSubpathPolygons().size(), 1);
    const auto frameOf = [&](ptc::DeviceId id) {
      return layout.boxes()[static_cast<std::size_t>(*layout.boxOf(id))].frame;
    };
    const QRect from = frameOf(scene.flows.front().from), to = frameOf(scene.flows.front().to);
    QVERIFY(from.adjusted(0, 0, 1, 2).contains(path.points.front().toPoint()));
    QVERIFY(to.adjusted(0, 0, 1, 3).contains(path.points.back().toPoint()));
  }

  void flowsWithinANodeHaveNoLine() {
    auto scene = ui::makeScene(test::SmallCluster(), test::kJob);
    scene.flows = {{{0, 0}, {0, 1}, 1, 10, 1e6, true, false}};
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    QVERIFY(ui::routeFlows(scene, layout).empty());
    QVERIFY(ui::routeFlowsOf({{0, 0}}, scene, layout).empty());
  }

  // The lines of a GPU run from cell to cell.
  void ownLinesEndAtTheirCells() {
    const auto scene = ui::makeScene(test::MovingCluster(), test::kJob);
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    std::set<ptc::DeviceId> senders;
    for (const auto& flow : scene.flows) senders.insert(flow.from);
    const auto paths = ui::routeFlowsOf(senders, scene, layout);
    QCOMPARE(paths.size(), 4U);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const QRect from = layout.cellRect(scene.flows[i].from);
      const QRect to = layout.cellRect(scene.flows[i].to);
      QVERIFY(from.adjusted(0, 0, 1, 2).contains(paths[i].points.front().toPoint()));
      QVERIFY(to.adjusted(0, 0, 1, 3).contains(paths[i].points.back().toPoint()));
      // What runs in the same gutter runs in another lane.
      for (std::size_t j = 0; j < i; ++j) {
        const bool sameRow = layout.cellRect(scene.flows[j].from).top() == from.top();
        if (sameRow)
          QVERIFY(!paths[i].line.intersects(paths[j].line.boundingRect()) ||
                  paths[i].points[2].y() != paths[j].points[2].y());
      }
    }
  }

  void finishedLinesKeepTheirLanes() {
    auto cluster = test::IdleCluster(4, 4);
    test::AddJob(&cluster, test::Shape(16, 1, 1));
    MeshScene before = ui::makeScene(cluster, test::kJob);
    before.flows = {{{0, 0}, {1, 0}, 1, 10, 1e6, true, false},
                    {{0, 1}, {2, 0}, 1, 10, 1e6, true, false},
                    {{0, 2}, {3, 0}, 1, 10, 1e6, true, false}};
    MeshScene after = before;
    after.flows.front().done = 10;
    const MeshLayout layout(before, QSize(891, 900), 1, true);
    const auto three = ui::routeFlows(before, layout);
    const auto two = ui::routeFlows(after, layout);
    QCOMPARE(three.size(), 3U);
    QCOMPARE(two.size(), 2U);
    QCOMPARE(two[0].points, three[1].points);
    QCOMPARE(two[1].points, three[2].points);
  }

  void onlyTheBusiestPortHasLinesAmongManyGpus() {
    auto scene = ui::makeScene(test::LargeCluster(64, 8, 4, 40), test::kJob);
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    QVERIFY(layout.order().size() > ui::kMostGpusWithAllLines);
    scene.flows = {{{3, 0}, {4, 0}, 0, 30, 0, false, false},
                   {{5, 0}, {9, 0}, 0, 20, 0, false, false},
                   {{6, 0}, {9, 1}, 0, 20, 0, false, false}};
    const auto paths = ui::routeFlows(scene, layout);
    QCOMPARE(paths.size(), 2U);
    for (const auto& path : paths) QCOMPARE(path.to.node, 9);
    QVERIFY(paths.front().points.back() != paths.front().points.front());
    // The head is at the end of its line.
    for (const auto& path : paths)
      QVERIFY(path.head.boundingRect().adjusted(-1, -1, 1, 1).contains(path.points.back()));
    const auto huge = ui::makeScene(test::LargeCluster(512, 8, 0, 3000), test::kJob);
    QVERIFY(ui::routeFlows(huge, MeshLayout(huge, QSize(1600, 1000), 1, true)).size() <=
            ui::kMostLines);
  }

  void dotsRunTowardsTheEnd() {
    const auto scene = ui::makeScene(test::MovingCluster(), test::kJob);
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    const auto path = ui::routeFlows(scene, layout).front();
    std::vector<QPointF> now, later;
    path.dots(0, &now);
    path.dots(0.1, &later);
    QVERIFY(!now.empty());
    QCOMPARE(now.front(), path.points.front());
    QVERIFY(QLineF(later.front(), path.points.front()).length() > 1);
    QVERIFY(std::abs(path.spacing * static_cast<double>(now.size()) - path.length()) <
            path.spacing + 1);
  }
};
TESSERA_THEMED_TEST(FlowPathsTest)
#include "flow_paths_test.moc"
