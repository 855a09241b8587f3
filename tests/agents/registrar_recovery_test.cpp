// SPDX-License-Identifier: Apache-2.0
// A registrar starts although one of its rows cannot be read.
#include <QTemporaryDir>
#include <QTest>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/decision/embedded.h"
#include "agents/node/job_row.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/txn_row.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/modelled_data.h"
#include "agents/sim/process.h"
#include "agents/views/snapshot_row.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/history/history.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

const std::string kGood = "good";
constexpr std::int64_t kTransaction = 9;

ptc::Layout LayoutOn(const char* mesh) {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *tensors);
}

/// The journal, the history and the decisions of a cluster with a job, and registrars over them.
struct Office {
  sim::MemoryStore disk;
  std::unique_ptr<engine::History> history = *engine::History::InMemory();
  EmbeddedRegister decisions{disk};
  sim::SimWorld sim{1};
  sim::Process process{sim, [] {}};
  wire::Reply reply;
  std::unique_ptr<Registrar> registrar;

  Office() {
    const engine::JobSettings settings{.model = *engine::FindModel("gpt-nano")};
    const JobTableRow row{{engine::ToJson(settings), LayoutOn("dp=2 on n0g0,n1g0"), 3, 1, 7, 4},
                          {false, 4},
                          5,
                          engine::JobState::kRunning,
                          "",
                          40};
    disk.rows["job/" + kGood] = ToText(row);
  }
  Status Start() {
    registrar.reset();
    registrar = std::make_unique<Registrar>(
        process, AgentConfig{},
        Registrar::World{
            .send = [](const std::string&, const wire::ToNode&) { return OkStatus(); },
            .reply = [this](const std::string&, const wire::Reply& out) { reply = out; },
            .publish = [](const wire::Published&) {},
            .wall_clock = [this] { return sim.wall_clock(); },
            .print = [](const std::string&) {},
            .fault_point = [](const std::string&) {},
            .data = std::make_unique<sim::ModelledData>(process),
            .compute =
                [](const std::function<void()>& work, const std::function<void()>& then) {
                  work();
                  then();
                },
            .decisions = decisions,
            .journal = disk,
            .history = *history,
            .reader = *history,
        });
    return registrar->Recover();
  }
  /// Lets this time pass.
  void Wait(std::chrono::milliseconds time) {
    const sim::Time end = sim.clock.now() + time.count();
    while (sim.clock.RunNext(end)) {
    }
  }
  /// The registrar has died while "good" started on n0, on the request `id`.
  void LeaveStart(const std::string& id) {
    const engine::JobSettings settings{.model = *engine::FindModel("gpt-nano")};
    JobTableRow row{{engine::ToJson(settings), LayoutOn("dp=1 on n0g0"), 1, 0, 7, 0}};
    row.start_request = id;
    disk.rows["job/" + kGood] = ToText(row);
  }
  /// n0 registers, with the first GPU in the job "good", after `step`.
  void Register(std::int64_t epoch, std::uint64_t origin, std::int64_t step = 0) {
    wire::FromNode message;
    message.set_node(0);
    message.set_incarnation(1);
    wire::Register& row = *message.mutable_register_();
    row.set_major(kProtocolMajor);
    row.set_minor(kProtocolMinor);
    row.set_node(0);
    row.set_incarnation(1);
    row.set_keeper_pid(1);
    wire::NodeDevice& device = *row.add_devices();
    device.set_job(kGood);
    device.set_epoch(epoch);
    device.set_begin(step);
    device.set_end(step);
    device.set_capacity(1000);
    row.add_jobs()->set_job(kGood);
    row.mutable_jobs(0)->set_origin(origin);
    row.mutable_jobs(0)->set_epoch(epoch);
    registrar->OnNode("n0", message);
  }
  void Stop() {
    wire::Request request;
    request.set_id("stop");
    request.mutable_job()->set_job(kGood);
    request.mutable_job()->set_act(wire::JobRequest::STOP);
    registrar->OnRequest("client", {"operator", Role::kOperator}, request);
  }
  /// "good" if that is the only job that the registrar knows.
  std::string Jobs() {
    wire::Request request;
    request.mutable_jobs();
    registrar->OnRequest("client", {"operator", Role::kOperator}, request);
    std::string names;
    for (const wire::JobStateInfo& job : reply.jobs().jobs()) names += job.name();
    return names;
  }
  void PassASecond() {
    const sim::Time end = sim.clock.now() + 1000;
    while (sim.clock.RunNext(end)) {
    }
  }
  /// As a client is told.
  std::string Incarnation() {
    wire::Request request;
    request.set_id("hello");
    request.mutable_hello()->set_major(kProtocolMajor);
    request.mutable_hello()->set_minor(kProtocolMinor);
    registrar->OnRequest("client", {"operator", Role::kOperator}, request);
    return reply.hello().incarnation();
  }
  int CountEvents(const std::string& text) const {
    const auto events = history->Events(engine::EventQuery());
    int count = 0;
    for (const engine::Event& event : *events) {
      count += event.text.find(text) != std::string::npos ? 1 : 0;
    }
    return count;
  }
};

std::string TxnText() {
  return ToText(
      TxnRow{kTransaction, kGood, 5, 4, LayoutOn("dp=2 on n2g0,n1g0"), {false, 4}, false, 1, 1e9});
}

/// The record of that transaction, without an outcome.
engine::HistoryEntry Record(const std::string& from) {
  engine::HistoryEntry entry;
  entry.id = kTransaction;
  entry.job = kGood;
  entry.from = from;
  entry.to = "dp=2 on n2g0,n1g0";
  entry.started = 1e9;
  return entry;
}

}  // namespace

class RegistrarRecoveryTest : public QObject {
  Q_OBJECT
 private slots:
  // A registrar that returns is of the same cluster; `up` begins another, whose history may go on.
  void theIncarnationIsThatOfTheCluster() {
    const QTemporaryDir folder;
    Office office;
    office.PassASecond();
    VERIFY_OK(office.Start());
    const std::string first = office.Incarnation();
    QVERIFY(first.find('/') != std::string::npos && !first.ends_with('/'));
    office.PassASecond();
    VERIFY_OK(office.Start());
    QCOMPARE(office.Incarnation(), first);
    QCOMPARE(office.CountEvents("begins anew"), 0);

    // Its history and what was measured are kept, all else is gone.
    engine::Event event{0, office.sim.wall_clock(), engine::Severity::kInfo, "n3", "joined"};
    event.note = engine::NodeNote{3, engine::NodeState::kAlive, {}};
    VERIFY_OK(office.history->AddEvent(event));
    office.disk.rows.clear();
    office.disk.rows["calibration"] = "{}";
    office.PassASecond();
    VERIFY_OK(office.Start());
    const std::string second = office.Incarnation();
    QVERIFY(second != first);
    QCOMPARE(office.CountEvents("begins anew"), 1);
    QCOMPARE(office.CountEvents("ended with the cluster"), 1);

    // Another history has events with numbers of its own.
    office.registrar.reset();
    office.history = *engine::History::Open(folder.filePath("new.db").toStdString());
    VERIFY_OK(office.Start());
    QVERIFY(office.Incarnation() != second);
    QCOMPARE(office.CountEvents("begins anew"), 0);
  }

  void aRowThatCannotBeReadIsSetAside_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const char* key, const std::string& text = "?") {
      QTest::newRow(name) << QByteArray(key) << QByteArray::fromStdString(text);
    };
    row("a job", "job/bad");
    Office office;
    JobTableRow settings = *ParseJobTableRow("job/good", office.disk.rows["job/" + kGood]);
    settings.job.settings = "{";
    row("settings of a job", "job/bad", ToText(settings));
    row("the end of a job", "ended-job/bad");
    row("a transaction", "txn");
    row("a snapshot", "snapshot/good");
    row("a checkpoint", "checkpoint/1");
    row("the past of a job", "checkpoint-lineage/good");
    row("a schedule", "checkpoint-schedule/good");
    row("recorded steps", "recorded/good");
    row("numbers", "next_number");
    row("a request of a client", "act/1", "9 and more");
  }
  void aRowThatCannotBeReadIsSetAside() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, text);
    Office office;
    const std::string name = key.toStdString();
    office.disk.rows[name] = text.toStdString();
    for (int start = 0; start < 2; ++start) {
      VERIFY_OK(office.Start());
      QCOMPARE(office.Jobs(), kGood);
      QCOMPARE(office.CountEvents("row '" + name + "' of registrar.db cannot be read"), 1);
    }
    QCOMPARE(office.disk.rows["unreadable/" + name], text.toStdString());
    const auto now = office.disk.rows.find(name);
    QVERIFY(now == office.disk.rows.end() || now->second != text.toStdString());
  }

  // An old copy of registrar.db was put back. A stop would free the state of steps since then.
  void aJobWhoseRowIsOldIsNotStopped() {
    Office office;
    VERIFY_OK(office.Start());
    office.Register(4, 7);
    office.Stop();
    QVERIFY(!office.reply.has_job());  // nodes are asked what they hold
    QVERIFY(!office.disk.rows.contains("ended-job/" + kGood));
    VERIFY_OK(office.Start());
    office.Register(3, 7);
    office.Stop();
    QVERIFY2(!office.reply.has_error(), office.reply.error().message().c_str());
    QVERIFY(office.disk.rows.contains("ended-job/" + kGood));
  }

  // The ranks of such a job have made no step. Its memory and its name are free again.
  void aStartThatWasCutOffIsEndedOnceItsNodesAreThere() {
    Office office;
    office.LeaveStart("start");
    VERIFY_OK(office.Start());
    office.Wait(std::chrono::seconds(2));
    QCOMPARE(office.Jobs(), kGood);  // its node may know better
    office.Register(1, 7);
    office.Wait(std::chrono::seconds(2));
    QCOMPARE(office.Jobs(), std::string());
    QVERIFY(!office.disk.rows.contains("job/" + kGood));
    QVERIFY(office.disk.rows.contains("ended-job/" + kGood));
    QCOMPARE(office.CountEvents("the registrar's agent restarted while it started"), 1);
  }

  // The row is an old copy: the state that the node holds is kept, as before.
  void aStartWhoseRanksHaveMadeStepsIsKept() {
    Office office;
    office.LeaveStart("start");
    VERIFY_OK(office.Start());
    office.Register(1, 7, 40);
    office.Wait(std::chrono::seconds(2));
    QCOMPARE(office.Jobs(), kGood);
    QVERIFY(!office.disk.rows.contains("ended-job/" + kGood));
  }

  // A client repeats its request as soon as the registrar is back, which may be before any node is.
  void aRepeatedStartWaitsForTheNodes_data() {
    QTest::addColumn<bool>("is_same");
    QTest::newRow("the request of before") << true;
    QTest::newRow("of another user, who does not wait for its end") << false;
  }
  void aRepeatedStartWaitsForTheNodes() {
    QFETCH(bool, is_same);
    Office office;
    office.LeaveStart("start");
    VERIFY_OK(office.Start());
    wire::Request request;
    request.set_id(is_same ? "start" : "other");
    request.mutable_start_job()->set_name(kGood);
    request.mutable_start_job()->set_model("gpt-nano");
    office.reply.Clear();
    office.registrar->OnRequest("client", {"operator", Role::kOperator}, request);
    if (!is_same) {
      QVERIFY2(office.reply.error().message().find("exists and is failed") != std::string::npos,
               office.reply.error().message().c_str());
      return;
    }
    QVERIFY(!office.reply.has_error());
    office.Register(1, 7);
    office.Wait(std::chrono::seconds(3));
    // Ended, and begun again: this registrar's start has another origin.
    const std::string said = office.reply.error().message();
    QVERIFY2(said.find("exists") == std::string::npos, said.c_str());
    QCOMPARE(office.CountEvents("the registrar's agent restarted while it started"), 1);
  }

  // The next measurement replaces them.
  void measurementsThatCannotBeReadAreDropped_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("event");
    QTest::newRow("links") << QByteArray("links") << QByteArray("bandwidths cannot be read");
    QTest::newRow("probe") << QByteArray("calibration") << QByteArray("calibration cannot be read");
  }
  void measurementsThatCannotBeReadAreDropped() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, event);
    Office office;
    office.disk.rows[key.toStdString()] = "?";
    VERIFY_OK(office.Start());
    QCOMPARE(office.Jobs(), kGood);
    QCOMPARE(office.CountEvents(event.toStdString()), 1);
    QVERIFY(!office.disk.rows.contains(key.toStdString()));
  }

  // Nodes take a message with a number that they know for an old one.
  void numbersContinueFarAboveAllThatAreKnown() {
    Office office;
    office.disk.rows[TransactionNumbers::kKey] = "12x";
    VERIFY_OK(office.history->PutTransaction(Record("dp=2 on n0g0,n1g0")));
    VERIFY_OK(office.Start());
    const auto next = TransactionNumbers(office.disk).Upcoming();
    VERIFY_OK(next);
    QVERIFY(*next > kTransaction + 1000);
  }

  // Whoever waits for its outcome finds one: the register's, which is `abort` if it is empty.
  void aTransactionWhoseRowCannotBeReadHasAnOutcome() {
    Office office;
    office.disk.rows[kTxnKey] = "?";
    office.disk.rows[TransactionNumbers::kKey] = "10";
    VERIFY_OK(office.history->PutTransaction(Record("dp=2 on n0g0,n1g0")));
    VERIFY_OK(office.Start());
    const auto closed = office.history->Transaction(kTransaction);
    VERIFY_OK(closed);
    QVERIFY(*closed);
    QCOMPARE((**closed).result, std::string("rolled_back"));
  }

  // The lost journal had the decision, and nodes may have followed it.
  void theOutcomeOfAChangeOfALostJournalIsUnknown() {
    Office office;
    office.disk.rows.clear();
    VERIFY_OK(office.history->PutTransaction(Record("dp=2 on n0g0,n1g0")));
    VERIFY_OK(office.Start());
    const auto closed = office.history->Transaction(kTransaction);
    VERIFY_OK(closed);
    QVERIFY(*closed);
    QCOMPARE((**closed).result, std::string("unknown"));
    QVERIFY2((**closed).reason.find("tesseractl status") != std::string::npos,
             (**closed).reason.c_str());
  }

  void aRoundThatIsImpossibleSetsItsTransactionAside_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("no number") << QByteArray("nine 1");
    QTest::newRow("too late") << QByteArray("9 77");
    QTest::newRow("too early") << QByteArray("9 0");
  }
  void aRoundThatIsImpossibleSetsItsTransactionAside() {
    QFETCH(QByteArray, text);
    Office office;
    office.disk.rows[kTxnKey] = TxnText();
    office.disk.rows[kRoundKey] = text.toStdString();
    office.disk.rows[TransactionNumbers::kKey] = "10";
    VERIFY_OK(office.history->PutTransaction(Record("dp=2 on n0g0,n1g0")));
    VERIFY_OK(office.Start());
    QCOMPARE(office.Jobs(), kGood);
    for (const char* const key : {kTxnKey, kRoundKey}) {
      QVERIFY(!office.disk.rows.contains(key));
      QVERIFY(office.disk.rows.contains(std::string("unreadable/") + key));
    }
    QVERIFY(!(**office.history->Transaction(kTransaction)).result.empty());
  }

  // A checkpoint was loaded.
  void whatAPausedJobHasReachedIsForgottenInANewTimeline() {
    for (const std::int64_t timeline : {1, 2}) {
      Office office;
      const std::string key = "job/" + kGood;
      JobTableRow row = *ParseJobTableRow(key, office.disk.rows[key]);
      row.state = engine::JobState::kPaused;
      row.reason = "all 40 steps are made";
      office.disk.rows[key] = ToText(row);
      TxnRow change = *ParseTxnRow(TxnText());
      change.was_paused = true;
      change.timeline = timeline;
      office.disk.rows[kTxnKey] = ToText(change);
      const engine::Decision commit{.commit = true,
                                    .transaction = change.id,
                                    .epoch = change.epoch,
                                    .layout_hash = ptc::Hex16(change.to.hash()),
                                    .step = 20};
      office.decisions.Write(kGood, change.slot, commit, [](const auto&) {});
      VERIFY_OK(office.history->PutTransaction(Record("dp=2 on n0g0,n1g0")));
      VERIFY_OK(office.Start());
      const JobTableRow after = *ParseJobTableRow(key, office.disk.rows[key]);
      QCOMPARE(after.job.epoch, change.epoch);
      QCOMPARE(after.reason, timeline == 1 ? row.reason : std::string());
    }
  }

  // The history is never waited for: the row of the job says where the transaction began.
  void aRecordThatCannotBeReadStopsNothing_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<int>("events");
    QTest::newRow("whole") << QByteArray("dp=2,tp=1,pp=1 on n0g0,n1g0") << 0;
    QTest::newRow("empty") << QByteArray() << 1;
    QTest::newRow("no mesh") << QByteArray("nowhere") << 1;
    QTest::newRow("too few devices") << QByteArray("dp=2,tp=1,pp=1 on n0g0") << 1;
  }
  void aRecordThatCannotBeReadStopsNothing() {
    QFETCH(QByteArray, from);
    QFETCH(int, events);
    Office office;
    office.disk.rows[kTxnKey] = TxnText();
    VERIFY_OK(office.history->PutTransaction(Record(from.toStdString())));
    VERIFY_OK(office.Start());
    QCOMPARE(office.Jobs(), kGood);
    QCOMPARE(office.CountEvents("its record in the history cannot be read"), events);
    QCOMPARE(office.CountEvents("reading the outcome from the register"), 1);
    QCOMPARE(office.registrar->num_nodes(), std::size_t{3});  // of both layouts
  }
};

TESSERA_TEST_APPLESS(RegistrarRecoveryTest)
#include "registrar_recovery_test.moc"
