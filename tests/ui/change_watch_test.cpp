// SPDX-License-Identifier: Apache-2.0
// A change while it runs and after it: the table of flows, the report, the notice of the desktop,
// and the facts of a GPU and a link.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QImage>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <set>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/canvas/scene_picture.h"
#include "ui/models/change_report.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/settings/settings.h"

using namespace tessera;
using engine::FlowState;

namespace {

engine::FlowStatus flow(int from, int to, std::int64_t done, double rate, FlowState state) {
  engine::FlowStatus one;
  one.source = {0, from};
  one.destination = {1, to};
  one.bytes_done = done;
  one.bytes_total = 1000;
  one.bytes_per_second = rate;
  one.state = state;
  return one;
}

engine::ClusterSnapshot moving(std::vector<engine::FlowStatus> flows) {
  auto cluster = test::PanelMove(engine::TxnPhase::kTransferring, {10, 20, 30, 40});
  cluster.transaction->flows = std::move(flows);
  return cluster;
}

QString end(ui::FlowsPage& page, int row) {
  return page.model()->index(row, ui::LinkTableModel::ToColumn).data().toString();
}

}  // namespace

class ChangeWatchTest : public QObject {
  Q_OBJECT

 private slots:
  void theSlowestFlowComesFirst() {
    ui::ClusterModel model;
    ui::FlowsPage page;
    QAbstractItemModelTester tester(page.model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    page.refresh(model);
    QVERIFY(page.words().startsWith(QStringLiteral("No change is in progress.")));
    model.setSnapshot(
        moving({flow(0, 0, 900, 100, FlowState::kMoving), flow(1, 1, 100, 100, FlowState::kMoving),
                flow(2, 2, 500, 0, FlowState::kStalled), flow(3, 3, 1000, 0, FlowState::kDone)}));
    page.refresh(model);
    QCOMPARE(end(page, 0), QStringLiteral("n1g2"));  // stalled: it may never end
    QCOMPARE(end(page, 1), QStringLiteral("n1g1"));  // 9 s left
    QCOMPARE(end(page, 2), QStringLiteral("n1g0"));  // 1 s left
    QCOMPARE(end(page, 3), QStringLiteral("n1g3"));
    const auto left = [&](int row) {
      return page.model()->index(row, ui::LinkTableModel::LeftColumn).data().toString();
    };
    QCOMPARE(left(1), QStringLiteral("9 s"));
    QCOMPARE(left(0), QStringLiteral("—"));
    QVERIFY2(page.words().startsWith(QStringLiteral("2 of 4 flows move, 1 stalled")),
             qPrintable(page.words()));

    // A row says why it is late.
    engine::FlowStatus late = flow(2, 2, 500, 0, FlowState::kStalled);
    late.reason = "nothing has arrived for 4 s";
    model.setSnapshot(
        moving({flow(0, 0, 900, 100, FlowState::kMoving), flow(1, 1, 100, 100, FlowState::kMoving),
                late, flow(3, 3, 1000, 0, FlowState::kDone)}));
    page.refresh(model);
    const QModelIndex why = page.model()->index(0, ui::LinkTableModel::ReasonColumn);
    QCOMPARE(why.data().toString(), QStringLiteral("nothing has arrived for 4 s"));
    QVERIFY(!page.table()->isColumnHidden(why.column()));
    QVERIFY(page.model()->exported(ui::ExportFormat::Csv).contains("nothing has arrived"));

    page.movingOnly()->setChecked(true);
    QCOMPARE(page.model()->rowCount(), 3);
    page.movingOnly()->setChecked(false);
    QCOMPARE(page.model()->rowCount(), 4);
  }

  void oneSnapshotIsOneSignalAndRowsKeepTheirPlaces() {
    ui::ClusterModel model;
    ui::FlowsPage page;
    std::vector<engine::FlowStatus> flows;
    for (int i = 0; i < 100; ++i) flows.push_back(flow(i, i, i, 100, FlowState::kMoving));
    model.setSnapshot(moving(flows));
    page.refresh(model);
    const QString first = end(page, 0);
    QSignalSpy changed(page.model(), &QAbstractItemModel::dataChanged);
    QSignalSpy laidOut(page.model(), &QAbstractItemModel::layoutChanged);
    QSignalSpy reset(page.model(), &QAbstractItemModel::modelReset);
    for (engine::FlowStatus& each : flows) each.bytes_done = 1000 - each.bytes_done;
    model.setSnapshot(moving(flows));
    page.refresh(model);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(reset.count(), 0);
    QCOMPARE(laidOut.count(), 0);
    QCOMPARE(end(page, 0), first);  // within a second nothing jumps
    QTest::qWait(ui::FlowsPage::kSortMs + 50);
    model.setSnapshot(moving(flows));
    page.refresh(model);
    QCOMPARE(laidOut.count(), 1);
    QVERIFY(end(page, 0) != first);
  }

  void theRangeOfTheTimeLeftFollowsTheRates() {
    ui::LinkTableModel model;
    model.setFlows({flow(0, 0, 0, 100, FlowState::kMoving)});
    model.setFlows({flow(0, 0, 0, 50, FlowState::kMoving)});
    const auto left = model.row(0).left();
    QVERIFY(left);
    QVERIFY2(left->first < left->second, qPrintable(QString::number(left->first)));
    QVERIFY(qFuzzyCompare(left->second, 20.0));  // at the slowest rate
    for (int i = 0; i < 200; ++i) model.setFlows({flow(0, 0, 0, 50, FlowState::kMoving)});
    QVERIFY(model.row(0).left()->first > 19.9);  // old rates are forgotten
  }

  void theReportIsOneFileWithPictures() {
    const engine::HistoryEntry entry = test::PanelHistory().front();
    const auto now = test::PanelCluster();
    const auto before = ui::clusterOfChange(entry, now, false);
    const auto after = ui::clusterOfChange(entry, now, true);
    QVERIFY(before && after);
    const auto from = ptc::ParseDeviceMesh(entry.from), to = ptc::ParseDeviceMesh(entry.to);
    QCOMPARE(before->jobs.front().devices.size(), from->devices().size());
    QCOMPARE(after->jobs.front().mesh, to->shape());
    const QByteArray picture = ui::scenePicture(ui::makeScene(*before, entry.job), QSize(400, 240));
    QVERIFY(!QImage::fromData(picture).isNull());

    const QString html = QString::fromUtf8(
        ui::reportHtml(entry, QStringLiteral("lab <1>"), {picture, picture, 400}));
    QCOMPARE(html.count(QStringLiteral("src=\"data:image/png;base64,")), 2);
    static const QRegularExpression outside(QStringLiteral("(src|href)=\"(?!data:)"));
    QVERIFY(!outside.match(html).hasMatch());  // nothing is outside of the file
    QVERIFY(html.contains(QStringLiteral("lab &lt;1&gt;")));
    QVERIFY(html.contains(QString::fromStdString(entry.digest_before)));
    QVERIFY(html.contains(QStringLiteral("<svg")));
    QVERIFY(html.contains(QStringLiteral("The job was paused for")));
    QVERIFY(!html.contains(QStringLiteral("SIMULATED")));
    const QString simulated = QString::fromUtf8(ui::reportHtml(
        entry, QStringLiteral("lab"), {}, engine::SimulationStatus{.hardware = "h100"}));
    QVERIFY(simulated.contains(QStringLiteral("SIMULATED")));
    QVERIFY(simulated.contains(QStringLiteral("h100")));
  }

  void aRolledBackChangeEndsWhereItBegan() {
    engine::HistoryEntry entry = test::PanelHistory().front();
    entry.result = "rolled_back";
    const auto now = test::PanelCluster();
    QCOMPARE(ui::clusterOfChange(entry, now, true)->jobs.front().devices,
             ui::clusterOfChange(entry, now, false)->jobs.front().devices);
    entry.from = "no mesh";
    QVERIFY(!ui::clusterOfChange(entry, now, true));
  }

  void aNoticeAppearsOnlyForAnotherWindowAndIfItIsWanted() {
    std::vector<ui::DesktopNotice> notices;
    ui::WindowOptions options;
    options.notify = [&](QWidget*, const ui::DesktopNotice& notice) { notices.push_back(notice); };
    test::Panel panel(options, test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    const auto done = test::PanelMove(engine::TxnPhase::kDone, {100, 100, 100, 100});
    QWidget other;
    other.show();
    QApplication::setActiveWindow(&other);
    QVERIFY(!panel.window->isActiveWindow());
    panel.setSnapshot(done);
    QCOMPARE(notices.size(), std::size_t{1});
    QVERIFY(!notices.front().isUrgent);
    QVERIFY(!notices.front().title.isEmpty());

    QVERIFY(!panel.window->isActiveWindow());
    panel.setSnapshot(test::PanelLost());
    QVERIFY(panel.model.job() != nullptr && panel.model.job()->decision);
    QVERIFY(!panel.window->isActiveWindow());
    QCOMPARE(notices.size(), std::size_t{2});
    QVERIFY(notices.back().isUrgent);
    QVERIFY(notices.back().title.startsWith(QStringLiteral("gpt-mini")));
    panel.setSnapshot(test::PanelLost());
    QCOMPARE(notices.size(), std::size_t{2});  // once for a loss

    panel.setSnapshot(test::PanelGrown());
    panel.window->settings().set(ui::Setting::Notify, false);
    panel.setSnapshot(test::PanelLost());
    QCOMPARE(notices.size(), std::size_t{2});

    panel.setSnapshot(test::PanelGrown());
    panel.window->settings().set(ui::Setting::Notify, true);
    QApplication::setActiveWindow(panel.window.get());
    panel.setSnapshot(test::PanelLost());
    QCOMPARE(notices.size(), std::size_t{2});
  }

  void theInspectorTellsHowLongAGpuWaits() {
    auto cluster = test::PanelCluster();
    cluster.jobs.front().step_seconds = 0.4;
    cluster.nodes.front().devices.front().busy_seconds = 0.3;
    ui::ClusterModel model;
    ui::Inspector inspector(model);
    model.setSnapshot(cluster);
    inspector.setSelection({{0, 0}});
    QCOMPARE(inspector.facts()->value(QStringLiteral("step time")), QStringLiteral("0.40 s"));
    QCOMPARE(inspector.facts()->value(QStringLiteral("waits")), QStringLiteral("25 %"));
    inspector.setSelection({{0, 1}});  // unknown: no row, never 0
    QVERIFY(inspector.facts()->value(QStringLiteral("waits")).isEmpty());

    // A node shows it for each of its GPUs.
    std::set<ptc::DeviceId> all;
    for (const engine::DeviceStatus& device : cluster.nodes.front().devices) all.insert(device.id);
    inspector.setSelection(all);
    const QString first = inspector.facts()->value(QStringLiteral("n0g0"));
    QVERIFY2(first.contains(QStringLiteral("full · computes 0.30 s · waits 25 %")),
             qPrintable(first));
    QVERIFY(!inspector.facts()->value(QStringLiteral("n0g1")).contains(QStringLiteral("waits")));
    inspector.setSelection({{0, 1}});

    inspector.setLink(ui::ChosenLink{QStringLiteral("n0 → n1"),
                                     {{QStringLiteral("carries"), QStringLiteral("3 MiB")}}});
    QCOMPARE(inspector.title(), QStringLiteral("n0g1"));  // a selected GPU comes first
    inspector.setSelection({});
    QCOMPARE(inspector.title(), QStringLiteral("n0 → n1"));
    QCOMPARE(inspector.facts()->value(QStringLiteral("carries")), QStringLiteral("3 MiB"));
  }

  // A cluster that was started anew may give its changes and events the numbers of the one before.
  void aClusterStartedAnewIsShownFromItsBeginning() {
    test::Panel panel;
    const ui::ProgressPanel* progress = panel.window->progressPanel();
    auto* history = panel.window->findChild<ui::HistoryPage*>();
    auto* events = panel.window->findChild<ui::EventsPage*>();
    const auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    for (const engine::Event& event : test::PanelEvents()) panel.model.addEvent(event);
    panel.setSnapshot(test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    QTRY_VERIFY(history->model()->rowCount() > 0);
    QVERIFY(events->model()->rowCount() > 0);
    QTRY_VERIFY(!timeline->samples().series().points().empty());
    panel.setSnapshot(test::PanelGrown());  // it ends, and its card is closed
    QVERIFY(progress->view() && progress->view()->ended);
    panel.window->progressPanel()->dismiss();
    QVERIFY(!progress->view());
    history->choose(3);
    QVERIFY(history->chosen() != nullptr);

    // An answer to what was asked before belongs to the earlier start.
    history->reload();
    const int asked = panel.commands.historyCalls;
    panel.model.startAnew();
    test::settle();
    QCOMPARE(history->model()->rowCount(), 0);
    QVERIFY(history->chosen() == nullptr);
    QCOMPARE(events->model()->rowCount(), 0);
    QVERIFY(timeline->samples().series().points().empty());
    QVERIFY(!panel.model.hasSnapshot());
    QVERIFY(panel.model.link() == ui::LinkState::Connected);
    QVERIFY(panel.window->statusBar()->currentMessage().contains(QStringLiteral("started anew")));

    panel.commands.entries.clear();
    panel.commands.recorded.clear();
    panel.setSnapshot(test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    QVERIFY(progress->view() && !progress->view()->ended);
    QVERIFY(!progress->isHidden());
    QVERIFY(!progress->cancelButton()->isHidden());
    QTRY_VERIFY(panel.commands.historyCalls > asked);
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(progress->view() && progress->view()->ended);
    QVERIFY(!progress->reportButton()->isHidden());
  }
};

TESSERA_THEMED_TEST(ChangeWatchTest)
#include "change_watch_test.moc"
