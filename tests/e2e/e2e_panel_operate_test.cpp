// SPDX-License-Identifier: Apache-2.0
// The requests of the panel's commands on a real cluster: they say what tesseractl says.
#include <QTemporaryDir>
#include <QTest>

#include "app/bridge.h"
#include "app/connections.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

constexpr int kPatienceMs = 120'000;

/// Sends a request and waits for the answer.
template <typename R>
Result<typename R::Answer> askAndWait(
    ui::ClusterCommands& commands, const R& request,
    std::function<void(const typename R::Answer&)> progress = {}) {
  std::optional<Result<typename R::Answer>> answer;
  commands.ask(
      request, [&](Result<typename R::Answer> result) { answer = std::move(result); },
      std::move(progress));
  if (!QTest::qWaitFor([&] { return answer.has_value(); }, kPatienceMs))
    return Timeout("no answer");
  return *answer;
}

template <typename T>
const char* why(const Result<T>& result) {
  return result ? "" : result.error().message.c_str();
}

}  // namespace

class E2ePanelOperateTest : public QObject {
  Q_OBJECT

 private slots:
  void theCommandsDoWhatTheySay() {
    const test::LocalCluster cluster{{}};
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    qputenv("TESSERA_HOME", cluster.home().toUtf8());
    const auto start =
        cluster.Run(QStringLiteral("job start gpt-nano --devices n0g0,n0g1").split(u' '));
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(cluster.WaitStep(QStringLiteral("gpt-nano"), 2));
    ui::ClusterModel model;
    app::Bridge bridge(model);
    app::AppConnections connections(model, bridge);
    QVERIFY(connections.open("t"));
    QTRY_VERIFY_WITH_TIMEOUT(model.findJob("gpt-nano") != nullptr, 20'000);
    ui::ClusterCommands& commands = connections;

    // Logs, of the agent and of a rank. A second question continues where the first ended.
    const auto log = askAndWait(commands, ui::LogRequest{.node = 0, .lines = 5});
    QVERIFY2(log, why(log));
    QVERIFY(!log->lines.empty());
    const ui::LogRequest ofRank{.node = 0, .job = "gpt-nano", .device = 1};
    const auto printed = askAndWait(commands, ofRank);
    QVERIFY2(printed, why(printed));

    // Links: nothing is known, then they are measured.
    auto links = askAndWait(commands, ui::LinksRequest{false});
    QVERIFY2(links, why(links));
    QVERIFY(links->measured.empty());
    links = askAndWait(commands, ui::LinksRequest{true});
    QVERIFY2(links, why(links));
    QVERIFY(!links->measured.empty());

    // Tuning ends on one of the configurations that were measured, and says what it does.
    int said = 0;
    const auto tuned =
        askAndWait(commands, ui::TuneRequest{"gpt-nano", 2, 4, true},
                   [&](const ui::TuneAnswer& part) { said += part.doing.has_value(); });
    QVERIFY2(tuned, why(tuned));
    QCOMPARE(tuned->rows.size(), std::size_t{2});
    QCOMPARE(said, 2);
    QVERIFY(tuned->kept && !tuned->stopped);

    // A stopped one returns to the configuration that the job had.
    const auto before = model.findJob("gpt-nano")->mesh;
    std::optional<Result<ui::TuneAnswer>> stopped;
    commands.ask(
        ui::TuneRequest{"gpt-nano", 4, 10'000, true},
        [&](Result<ui::TuneAnswer> result) { stopped = std::move(result); },
        [&](const ui::TuneAnswer&) {
          QMetaObject::invokeMethod(
              &bridge, [&] { commands.stopRequests(); }, Qt::QueuedConnection);
        });
    QTRY_VERIFY_WITH_TIMEOUT(stopped, kPatienceMs);
    QVERIFY2(*stopped, why(*stopped));
    QVERIFY((*stopped)->stopped);
    QTRY_COMPARE(model.findJob("gpt-nano")->mesh, before);

    // The digest of a paused job is that of tesseractl.
    std::optional<Status> paused;
    commands.jobAct(QStringLiteral("gpt-nano"), ui::JobAct::Pause,
                    [&](const Status& result) { paused = result; });
    QTRY_VERIFY_WITH_TIMEOUT(paused, kPatienceMs);
    const auto digest = askAndWait(commands, ui::DigestRequest{"gpt-nano"});
    QVERIFY2(digest, why(digest));
    QVERIFY(!digest->tensors.empty());
    const auto printedDigest = cluster.Run({QStringLiteral("digest"), QStringLiteral("gpt-nano")});
    QVERIFY2(
        QString::fromUtf8(printedDigest.Text()).contains(QString::fromStdString(digest->digest)),
        printedDigest.Text());

    // Checkpoints: saved, listed, deleted.
    const QTemporaryDir folder;
    std::optional<Status> saved;
    commands.saveCheckpoint(QStringLiteral("gpt-nano"), folder.path(),
                            [&](const Status& result) { saved = result; });
    QTRY_VERIFY_WITH_TIMEOUT(saved, kPatienceMs);
    QVERIFY2(*saved, saved->has_value() ? "" : saved->error().message.c_str());
    auto list = askAndWait(commands, ui::CheckpointsRequest{});
    QVERIFY2(list, why(list));
    QCOMPARE(list->size(), std::size_t{1});
    VERIFY_DIGESTS(list->front().digest, digest->digest);
    const auto removed = askAndWait(commands, ui::DeleteCheckpointRequest{list->front().path});
    QVERIFY2(removed, why(removed));
    QVERIFY(*removed > 0);
    list = askAndWait(commands, ui::CheckpointsRequest{});
    QVERIFY(list && list->empty());

    const auto registrar = askAndWait(commands, ui::RegistrarRequest{});
    QVERIFY2(registrar, why(registrar));
    QCOMPARE(registrar->node, 0);
    QVERIFY(!registrar->members.empty());

    // Without a change there is nothing to limit.
    QVERIFY(!askAndWait(commands, ui::ThrottleRequest{5'000'000}));

    const auto killed = askAndWait(commands, ui::NodeRequest{1, ui::NodeRequest::Act::Kill});
    QVERIFY2(killed, why(killed));
    QTRY_VERIFY_WITH_TIMEOUT(model.snapshot().nodes[1].state != engine::NodeState::kAlive, 30'000);

    // The panel stops the whole cluster.
    std::optional<Status> down;
    connections.stopLocal(QStringLiteral("t"), [&](const Status& result) { down = result; });
    QTRY_VERIFY_WITH_TIMEOUT(down, kPatienceMs);
    QVERIFY2(*down, down->has_value() ? "" : down->error().message.c_str());
    QCOMPARE(model.link(), ui::LinkState::Stopped);
    QVERIFY(model.stopped()->time > 0);
    const ui::StoppedCluster known = connections.stoppedCluster(connections.current());
    QVERIFY(known.canStart && known.history.endsWith(QStringLiteral("history.db")));
    connections.closeConnection();
    QCOMPARE(model.link(), ui::LinkState::None);
    QVERIFY(connections.current().isEmpty());
  }
};

TESSERA_TEST(E2ePanelOperateTest)
#include "e2e_panel_operate_test.moc"
