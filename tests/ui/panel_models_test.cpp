// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <memory>
#include <string>

#include "engine/search/group_traffic.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/models/cluster_tree_model.h"
#include "ui/models/event_table_model.h"
#include "ui/models/history_table_model.h"
#include "ui/models/job_groups.h"
#include "ui/pages/memory_use.h"

using namespace tessera;
using Tester = QAbstractItemModelTester;

class PanelModelsTest : public QObject {
  Q_OBJECT

 private slots:
  void clusterTreeUnderChurn() {
    ui::ClusterTreeModel model;
    Tester tester(&model, Tester::FailureReportingMode::Fatal);
    QCOMPARE(model.rowCount(), 0);
    model.setSnapshot(test::PanelCluster(), nullptr);
    const QModelIndex root = model.index(0, 0);
    QCOMPARE(root.data().toString(), QStringLiteral("local"));
    QCOMPARE(root.siblingAtColumn(1).data().toString(), QStringLiteral("8 GPUs"));
    QCOMPARE(model.rowCount(root), 2);
    const QModelIndex n1 = model.index(1, 0, root);
    QCOMPARE(n1.siblingAtColumn(1).data().toString(), QStringLiteral("4 idle"));
    QVERIFY(model.node(n1) == 1);
    const QModelIndex device = model.indexOf({0, 2});
    QVERIFY((model.device(device) == ptc::DeviceId{0, 2}));
    QCOMPARE(device.siblingAtColumn(1).data().toString(), QStringLiteral("rank 2"));

    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    model.setSnapshot(test::PanelMove(engine::TxnPhase::kTransferring, {62, 58, 64, 41}), nullptr);
    QCOMPARE(reset.count(), 0);
    QVERIFY(changed.count() > 0);
    QCOMPARE(device.siblingAtColumn(1).data().toString(), QStringLiteral("sending"));
    QCOMPARE(model.indexOf({1, 3}).siblingAtColumn(1).data().toString(), QStringLiteral("41 %"));

    // While ranks start, the flows are a plan.
    auto preparing = test::PanelMove(engine::TxnPhase::kPreparing, {0, 0, 0, 0});
    preparing.transaction->flows.push_back(
        {.source = {1, 3}, .destination = {1, 3}, .bytes_total = 9});
    model.setSnapshot(preparing, nullptr);
    QCOMPARE(model.indexOf({1, 3}).siblingAtColumn(1).data().toString(), QStringLiteral("joining"));
    QCOMPARE(device.siblingAtColumn(1).data().toString(), QStringLiteral("rank 2"));

    model.setSnapshot(test::IdleCluster(3, 8), nullptr);
    QCOMPARE(reset.count(), 1);
    model.setSnapshot(test::LargeCluster(64, 8, 4, 6), nullptr);
    model.setSnapshot({}, nullptr);
    model.setSnapshot(test::PanelGrown(), nullptr);
  }

  void theTreeSaysWhatIsDrafted() {
    ui::ClusterModel cluster;
    cluster.setSnapshot(test::PanelCluster());
    ui::Draft draft(cluster);
    cluster.flush();
    draft.toggle({{0, 3}, {1, 0}, {1, 1}});
    ui::ClusterTreeModel model;
    Tester tester(&model, Tester::FailureReportingMode::Fatal);
    model.setSnapshot(cluster.snapshot(), &draft);
    const auto state = [&](const QModelIndex& index) {
      return index.siblingAtColumn(1).data().toString();
    };
    QCOMPARE(state(model.indexOf({1, 0})), QStringLiteral("joins"));
    QCOMPARE(state(model.indexOf({0, 3})), QStringLiteral("leaves"));
    QCOMPARE(state(model.index(1, 0, model.index(0, 0))), QStringLiteral("+2"));
    QCOMPARE(state(model.index(0, 0, model.index(0, 0))), QStringLiteral("−1"));
  }

  void eventsGrowAndTheOldestGiveWay() {
    ui::EventTableModel model;
    Tester tester(&model, Tester::FailureReportingMode::Fatal);
    model.append(test::PanelEvents());
    QCOMPARE(model.rowCount(), 7);
    const QModelIndex error = model.index(6, ui::EventTableModel::TextColumn);
    QCOMPARE(error.data(ui::EventTableModel::SeverityRole).toInt(),
             static_cast<int>(engine::Severity::kError));
    QVERIFY(error.data(ui::EventTableModel::FilterRole).toString().contains(QStringLiteral("n2")));
  }

  void theNumberOfEventsIsBounded() {
    ui::EventTableModel model;
    std::vector<engine::Event> many(static_cast<std::size_t>(ui::EventTableModel::kMaxRows));
    for (std::size_t i = 0; i < many.size(); ++i) many[i].text = std::to_string(i);
    model.append(many);
    model.append(test::PanelEvents());
    QCOMPARE(model.rowCount(), ui::EventTableModel::kMaxRows);
    QCOMPARE(model.index(0, ui::EventTableModel::TextColumn).data().toString(),
             QStringLiteral("7"));
  }

  void historyIsNewestFirst() {
    ui::HistoryTableModel model;
    Tester tester(&model, Tester::FailureReportingMode::Fatal);
    auto entries = test::PanelHistory();
    std::reverse(entries.begin(), entries.end());
    model.setEntries(entries);
    QCOMPARE(model.rowCount(), 3);
    const auto text = [&](int row, int column) {
      return model.index(row, column).data().toString();
    };
    using Model = ui::HistoryTableModel;
    QCOMPARE(text(0, Model::ChangeColumn), QStringLiteral("1 × 2 × 1 → 2 × 2 × 1"));
    QCOMPARE(text(0, Model::MovedColumn), QStringLiteral("18.7 MiB"));
    QCOMPARE(text(0, Model::BoundColumn), QStringLiteral("18.7 MiB"));
    QCOMPARE(text(0, Model::PauseColumn), QStringLiteral("0.31 s"));
    QCOMPARE(text(0, Model::ResultColumn), QStringLiteral("committed"));
    QCOMPARE(text(0, Model::DigestsColumn), QStringLiteral("equal"));
    QCOMPARE(text(2, Model::ResultColumn), QStringLiteral("rolled back"));
    QCOMPARE(text(2, Model::DigestsColumn), QStringLiteral("—"));
    QCOMPARE(model.lastCommitted(), 0);
    model.setEntries({});
    QCOMPARE(model.lastCommitted(), -1);
    QVERIFY(model.entry(0) == nullptr);
  }

  void differentDigestsAreSaid() {
    auto entries = test::PanelHistory();
    entries[0].digest_after = "0000000000000000";
    ui::HistoryTableModel model;
    model.setEntries(entries);
    QCOMPARE(model.index(0, ui::HistoryTableModel::DigestsColumn).data().toString(),
             QStringLiteral("different"));
  }

  void updatesAreBundled() {
    ui::ClusterModel model;
    QSignalSpy changed(&model, &ui::ClusterModel::changed);
    QElapsedTimer clock;
    clock.start();
    int updates = 0;
    while (clock.elapsed() < 500) {
      model.setSnapshot(test::PanelCluster());
      ++updates;
      QTest::qWait(1);
    }
    model.flush();
    const auto allowed = clock.elapsed() * ui::ClusterModel::kMaxNotificationsPerSecond / 1000 + 2;
    QVERIFY2(changed.count() <= allowed, qPrintable(QString::number(changed.count())));
    QVERIFY(changed.count() >= 1);
    QVERIFY(updates > changed.count());
  }

  void aRankHasAGroupForEachAxis() {
    using ptc::Axis;
    engine::ClusterSnapshot cluster = test::PanelCluster();
    const engine::JobStatus& job = cluster.jobs.front();  // 2 x 2 x 1
    const auto facts = test::StatesOf(cluster).at(job.name);
    const auto groups = ui::groupsOf(job, 2, facts);
    QCOMPARE(groups.size(), std::size_t{2});
    QCOMPARE(groups[0].axis, Axis::kTp);
    QCOMPARE(groups[0].devices, (std::vector<ptc::DeviceId>{{0, 2}, {0, 3}}));
    QCOMPARE(groups[1].axis, Axis::kDp);
    QCOMPARE(groups[1].devices, (std::vector<ptc::DeviceId>{{0, 0}, {0, 2}}));
    const auto settings = *engine::ParseJobSettings(facts->info.settings_json);
    for (const ui::JobGroup& group : groups) {
      QCOMPARE(group.bytes,
               std::optional(engine::GroupBytes(settings, job.mesh, job.options, 2, group.axis)));
      QVERIFY(*group.bytes > 0);
    }
    // Nothing is told of what is not known: other programs, other layouts, no facts.
    const auto areUnknown = [&](const engine::vfs::JobFactsPtr& known) {
      const auto other = ui::groupsOf(job, 2, known);
      return other.size() == 2 &&
             std::ranges::all_of(other, [](const ui::JobGroup& group) { return !group.bytes; });
    };
    QVERIFY(areUnknown(nullptr));
    engine::vfs::JobInfo info = facts->info;
    ++info.epoch;
    QVERIFY(areUnknown(engine::vfs::MakeFacts(info, nullptr)));
    info = facts->info;
    info.settings_json.clear();
    QVERIFY(areUnknown(engine::vfs::MakeFacts(info, nullptr)));
    // A job that opens its data has no devices yet.
    engine::JobStatus waiting = job;
    waiting.devices.clear();
    QVERIFY(ui::groupsOf(waiting, 0, facts).empty());
  }

  void theMemoryOfAGpuHasParts() {
    constexpr std::int64_t kMiB = 1 << 20;
    engine::DeviceStatus device;
    device.id = {0, 1};
    device.total_bytes = 100 * kMiB;
    device.used_bytes = 40 * kMiB;
    device.parameter_bytes = 10 * kMiB;
    device.optimizer_bytes = 20 * kMiB;
    const auto whole = [](const ui::MemoryUse& use) {
      return use.parameters + use.gradients + use.optimizer + use.others + use.staging + use.free;
    };
    // Without the layout gradients cannot be told from other state.
    const ui::MemoryUse coarse = ui::memoryOf(device, nullptr, nullptr);
    QVERIFY(!coarse.knowsGradients && coarse.gradients == 0);
    QCOMPARE(coarse.others, 10 * kMiB);
    QCOMPARE(whole(coarse), device.total_bytes);
    const engine::Holding held{.pieces = 3,
                               .parameter_bytes = 10 * kMiB,
                               .optimizer_bytes = 20 * kMiB,
                               .gradient_bytes = 9 * kMiB,
                               .other_bytes = kMiB};
    engine::TxnStatus txn;
    txn.phase = engine::TxnPhase::kTransferring;
    txn.flows = {{.source = {1, 0}, .destination = device.id, .bytes_done = 3 * kMiB},
                 {.source = device.id, .destination = {1, 0}, .bytes_done = 5 * kMiB}};
    const ui::MemoryUse exact = ui::memoryOf(device, &held, &txn);
    QCOMPARE(exact.gradients, 9 * kMiB);
    QCOMPARE(exact.others, kMiB);
    QCOMPARE(exact.staging, 3 * kMiB);
    QCOMPARE(whole(exact), device.total_bytes);
    // What has arrived is state after the commit point.
    txn.phase = engine::TxnPhase::kCommitting;
    QCOMPARE(ui::memoryOf(device, &held, &txn).staging, std::int64_t{0});
    const ui::MemoryUse alone = ui::memoryOf(held, device.total_bytes);
    QCOMPARE(whole(alone), device.total_bytes);
    QCOMPARE(alone.free, 60 * kMiB);
    ui::MemoryUse both = exact;
    both += coarse;
    QVERIFY(!both.knowsGradients);
    QCOMPARE(whole(both), 2 * device.total_bytes);
    // Empty parts are left out; the free memory is always named.
    QStringList names;
    for (const auto& segment : ui::memorySegments(exact)) names << segment.name;
    QCOMPARE(names.join(u' '),
             QStringLiteral("parameters gradients optimizer other state staging free"));
    device.parameter_bytes = device.optimizer_bytes = device.used_bytes = 0;
    QCOMPARE(ui::memorySegments(ui::memoryOf(device, nullptr, nullptr)).size(), std::size_t{1});
  }

  // Who publishes a snapshot and all views share one value.
  void aSharedSnapshotIsNotCopied() {
    ui::ClusterModel model;
    const auto published = std::make_shared<const engine::ClusterSnapshot>(test::PanelCluster());
    model.setSnapshot(published);
    QCOMPARE(model.shared().get(), published.get());

    engine::ClusterSnapshot talkative = test::PanelCluster();
    talkative.jobs.front().reason = std::string(ui::ClusterModel::kMostText + 1, 'x');
    const auto tooLong = std::make_shared<const engine::ClusterSnapshot>(talkative);
    model.setSnapshot(tooLong);
    QVERIFY(model.shared() != tooLong);
    QCOMPARE(tooLong->jobs.front().reason, talkative.jobs.front().reason);
    QVERIFY(model.snapshot().jobs.front().reason.ends_with("…"));
  }

  void samplesAreHandedOnInOrder() {
    ui::ClusterModel model;
    std::vector<std::int64_t> steps;
    connect(&model, &ui::ClusterModel::samplesAdded, &model,
            [&](const std::vector<engine::Sample>& samples) {
              for (const engine::Sample& sample : samples) steps.push_back(sample.step);
            });
    for (const int step : {1, 2, 3, 2}) {
      engine::Sample sample;
      sample.job = test::kJob;
      sample.step = step;
      model.addSample(sample);
    }
    model.flush();
    QCOMPARE(steps, (std::vector<std::int64_t>{1, 2, 3, 2}));
    model.flush();
    QCOMPARE(steps.size(), std::size_t{4});
  }
};

TESSERA_WIDGET_TEST(PanelModelsTest)
#include "panel_models_test.moc"
