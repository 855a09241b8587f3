// SPDX-License-Identifier: Apache-2.0 The Data page: the position of a job in its pass, the next
// samples of each rank, and the effect of changes.
#include "ui/views/data_page.h"

#include <QApplication>
#include <QLabel>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <set>

#include "tests/support/random.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/models/data_view.h"
#include "ui/pages/history_page.h"
#include "ui/theme.h"
#include "ui/widgets/batch_strip.h"
#include "ui/widgets/pass_strip.h"
#include "ui/widgets/tabbed_pane.h"

using namespace tessera;

namespace {

ui::DataPage* openPage(test::Panel& panel) {
  panel.window->show();
  panel.window->actions()->find(QStringLiteral("view.data"))->trigger();
  panel.model.flush();
  return panel.window->findChild<ui::DataPage*>();
}

}  // namespace

class DataPageTest : public QObject {
  Q_OBJECT

 private slots:
  void TheViewFollowsFromTheStep() {
    const engine::ClusterSnapshot cluster = test::PanelCluster();
    const engine::JobStatus& job = cluster.jobs.front();
    const auto view = ui::makeDataView(job, test::PanelHistory());
    QVERIFY(view.has_value());
    QCOMPARE(view->pass, std::int64_t{0});
    QCOMPARE(view->next, job.step * job.global_batch);
    QCOMPARE(view->shares.size(), std::size_t{2});
    QCOMPARE(view->shares[1].devices, (std::vector<ptc::DeviceId>{{0, 2}, {0, 3}}));
    QCOMPARE(view->changes.back().txn, std::int64_t{3});
    QCOMPARE(view->changes.back().position, std::int64_t{1200 * 16});
    QCOMPARE(view->changes.back().fromDp, std::int64_t{1});
    QCOMPARE(view->changes.back().toDp, std::int64_t{2});
  }

  void EveryPositionOfABatchHasOneReader() {
    std::mt19937_64 rng(test::Seed());
    const auto below = [&](std::int64_t n) {
      return std::uniform_int_distribution<std::int64_t>(0, n - 1)(rng);
    };
    for (int i = 0; i < 2000; ++i) {
      engine::JobStatus job = test::PanelCluster().jobs.front();
      const std::int64_t degree = 1 + below(12);
      job.global_batch = degree + below(200);
      job.data.num_samples = 1 + below(5000);
      job.step = below(400);
      job.mesh = test::Shape(degree, 1, 1);
      job.devices.clear();
      for (std::int64_t d = 0; d < degree; ++d)
        job.devices.push_back({0, static_cast<std::int32_t>(d)});
      const auto view = ui::makeDataView(job, {});
      QVERIFY(view.has_value());
      std::int64_t at = view->next;
      std::int64_t least = job.global_batch, most = 0;
      for (const ui::DataView::Share& share : view->shares) {
        QCOMPARE(share.begin, at);
        at = share.end;
        least = std::min(least, share.end - share.begin);
        most = std::max(most, share.end - share.begin);
        QCOMPARE(static_cast<std::int64_t>(share.samples.size()),
                 std::min<std::int64_t>(share.end - share.begin, ui::kShownSamples));
        for (const std::int64_t sample : share.samples) {
          QVERIFY(sample >= 0 && sample < job.data.num_samples);
        }
      }
      QCOMPARE(at, view->next + job.global_batch);
      QVERIFY(most - least <= 1);
      QCOMPARE(view->pass * job.data.num_samples + view->next, job.step * job.global_batch);
    }
  }

  void ChangesOfEarlierPassesAreNotOfThisOne() {
    engine::JobStatus job = test::PanelCluster().jobs.front();
    job.data.num_samples = 20'000;  // 1284 steps of 16 are in the second pass, 1200 in the first
    const auto view = ui::makeDataView(job, test::PanelHistory());
    QVERIFY(view.has_value());
    QCOMPARE(view->pass, std::int64_t{1});
    QCOMPARE(view->next, std::int64_t{1284 * 16 - 20'000});
    QVERIFY(view->changes.empty());
  }

  void ThePageShowsPassBatchesAndReaders() {
    test::Panel panel;
    ui::DataPage* page = openPage(panel);
    QVERIFY(page->isVisible());
    QCOMPARE(page->words(), QString());
    QTRY_COMPARE(page->view()->changes.size(), std::size_t{2});
    QCOMPARE(page->table()->model()->rowCount(), 2);
    QCOMPARE(page->table()->model()->index(1, 0).data().toString(), QStringLiteral("dp 1"));
    auto* batches = page->findChild<ui::BatchStrip*>();
    QVERIFY(batches->accessibleDescription().contains(QStringLiteral("step 1,285")));
    QVERIFY(!batches->accessibleDescription().contains(QStringLiteral("step 1,284")));
  }

  void AMarkOnTheStripShowsTheBatchesAroundTheChange() {
    test::Panel panel;
    ui::DataPage* page = openPage(panel);
    QTRY_COMPARE(page->view()->changes.size(), std::size_t{2});
    auto* strip = page->findChild<ui::PassStrip*>();
    const ui::DataView::Change change = page->view()->changes.back();
    QTest::mouseClick(strip, Qt::LeftButton, {},
                      QPoint(static_cast<int>(strip->xOf(change.position)), strip->height() / 2));
    QCOMPARE(panel.window->findChild<ui::HistoryPage*>()->chosen()->id, change.txn);
    const QString text = page->findChild<ui::BatchStrip*>()->accessibleDescription();
    const QStringList steps = text.split(QLatin1Char('\n'));
    QCOMPARE(steps.size(), 4);
    // The last step before the change has one reader, the first after it two.
    QVERIFY(steps[1].startsWith(QStringLiteral("step 1,200")));
    QCOMPARE(steps[1].count(QStringLiteral("dp ")), 1);
    QVERIFY(steps[2].startsWith(QStringLiteral("step 1,201")));
    QCOMPARE(steps[2].count(QStringLiteral("dp ")), 2);
  }

  void WhatIsNotKnownIsSaidInWords() {
    auto cluster = test::PanelCluster();
    cluster.jobs.front().data = {};
    test::Panel unknown({}, cluster);
    QVERIFY(openPage(unknown)->words().contains(QStringLiteral("does not report")));
    cluster.jobs.front().command = "./my-job";
    test::Panel own({}, cluster);
    QVERIFY(openPage(own)->words().contains(QStringLiteral("external program")));
    cluster.jobs.clear();
    for (auto& node : cluster.nodes) {
      for (auto& device : node.devices) {
        device.job.clear();
        device.rank.reset();
      }
    }
    test::Panel none({}, cluster);
    QVERIFY(openPage(none)->words().contains(QStringLiteral("No job")));
  }

  void TabsAndKeysChooseTheView() {
    test::Panel panel;
    auto* views = panel.window->findChild<ui::TabbedPane*>(QStringLiteral("views"));
    QCOMPARE(views->tabs()->tabText(0), QStringLiteral("Mesh"));
    ui::DataPage* page = openPage(panel);
    QCOMPARE(views->current(), page);
    panel.window->actions()->find(QStringLiteral("view.mesh"))->trigger();
    QVERIFY(!page->isVisible());
  }
};

TESSERA_THEMED_TEST(DataPageTest)
#include "data_page_test.moc"
