// SPDX-License-Identifier: Apache-2.0
#include "ui/canvas/flow_paths.h"

#include <QGuiApplication>
#include <QTest>

#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/ui/sample_clusters.h"
#include "ui/canvas/mesh_layout.h"

using namespace tessera;
using ui::MeshLayout;
using ui::MeshScene;

class FlowPathsTest : public QObject {
  Q_OBJECT
 private slots:
  // Cards: whatever flows between whichever GPUs, a line crosses no cell.
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
      for (int f = 0; f < 12; ++f) {
        const auto from = any(), to = any();
        if (from != to) scene.flows.push_back({from, to, 1, 10, 1e6, true, false});
      }
      const MeshLayout layout(scene, QSize(900 + static_cast<int>(rng() % 900), 2000), 1, true);
      QCOMPARE(layout.metrics().detail, ui::Detail::Card);
      const auto paths = ui::routeFlows(scene, layout);
      QCOMPARE(paths.size(), scene.flows.size());
      for (const auto& path : paths) {
        for (const QPointF& point : path.points) {
          for (const auto id : layout.order()) {
            const QRectF inside = QRectF(layout.cellRect(id)).adjusted(1, 1, -1, -1);
            QVERIFY2(!inside.contains(point),
                     qPrintable(QString::fromStdString(ptc::ToString(id))));
          }
        }
        QVERIFY(path.length() > 0);
      }
    }
  }

  void endsAtItsCells() {
    const auto scene = ui::makeScene(test::MovingCluster(), test::kJob);
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    const auto paths = ui::routeFlows(scene, layout);
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

  void finishedFlowsKeepTheirLanes() {
    const auto before = ui::makeScene(test::MovingCluster({50, 50, 50, 50}), test::kJob);
    const auto after = ui::makeScene(test::MovingCluster({100, 50, 100, 50}), test::kJob);
    const MeshLayout layout(before, QSize(891, 566), 1, true);
    const auto four = ui::routeFlows(before, layout);
    const auto two = ui::routeFlows(after, layout);
    QCOMPARE(two.size(), 2U);
    QVERIFY(two[0].looksLike(four[1]));
    QVERIFY(two[1].looksLike(four[3]));
  }

  void manyFlowsBecomeBundles() {
    const auto scene = ui::makeScene(test::LargeCluster(64, 8, 4, 40), test::kJob);
    const MeshLayout layout(scene, QSize(891, 566), 1, true);
    QVERIFY(scene.flows.size() > ui::kMaxSingleFlows);
    const auto paths = ui::routeFlows(scene, layout);
    QVERIFY(paths.size() <= 40U);
    double least = 100, most = 0;
    for (const auto& path : paths) {
      QVERIFY(path.bundle);
      least = std::min(least, path.width);
      most = std::max(most, path.width);
    }
    QVERIFY(most > least);
    const auto huge = ui::makeScene(test::LargeCluster(512, 8, 0, 3000), test::kJob);
    QVERIFY(ui::routeFlows(huge, MeshLayout(huge, QSize(1600, 1000), 1, true)).size() <=
            ui::kMaxBundles);
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
TESSERA_TEST(FlowPathsTest)
#include "flow_paths_test.moc"
