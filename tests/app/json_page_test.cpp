// SPDX-License-Identifier: Apache-2.0
/// \file
/// The page json.md of the guide describes what verbs print with --json.

#include "tests/support/json_page.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/job_describe.h"
#include "app/commands/json.h"
#include "app/commands/tuning.h"
#include "tests/folders.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera;
using app::JsonForm;

namespace {

/// A job with everything that a job can have.
engine::JobStatus WholeJob() {
  engine::JobStatus job;
  job.name = "gpt";
  job.state = engine::JobState::kRunning;
  job.step = 5;
  job.max_steps = 10;
  job.loss = 2.5;
  job.tokens_per_second = 100;
  job.step_seconds = 0.5;
  job.started = 100;
  job.owner = "laptop: tesseractl, lena@lab3";
  job.mesh = *ptc::ParseMeshShape("dp=2,ep=2");
  job.devices = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  job.command = "train";
  job.at_change = "loses its position";
  job.survival = engine::Survival{1, 5};
  job.data.parts = {{"web.txt", "text", 100, 0.5}};
  job.metrics = {{"accuracy", 0.5}};
  job.snapshots.every = {20, 0};
  job.snapshots.step = 4;
  job.snapshots.forecast = {100, 2, 70, 1};
  job.checkpoints.schedule = {{0, 60}, "/srv", 3};
  job.checkpoints.step = 3;
  job.decision.emplace();
  job.decision->loss = engine::LossCase::kSnapshot;
  job.decision->lost = {{1, 1}};
  job.decision->missing = {"w [0,4)"};
  job.decision->seconds_left = 30;
  job.decision->ways.emplace_back().devices = {{0, 0}};
  return job;
}

engine::TxnStatus WholeTxn() {
  engine::TxnStatus txn;
  txn.id = 4;
  txn.job = "gpt";
  txn.phase = engine::TxnPhase::kTransferring;
  txn.from_devices = {{0, 0}};
  txn.to_devices = {{1, 0}};
  txn.eta = 2;
  txn.eta_least = 1;
  txn.eta_most = 3;
  txn.throttle = 5;
  txn.round = 1;
  txn.rounds = 2;
  txn.flows = {{{0, 0}, {1, 0}, 1, 2, 3, engine::FlowState::kStalled, "slow"}};
  return txn;
}

engine::HistoryEntry WholeRecord() {
  engine::HistoryEntry entry;
  entry.id = 4;
  entry.job = "gpt";
  entry.from = "dp=1,tp=1,pp=1 on n0g0";
  entry.to = "dp=2,tp=1,pp=1 on n0g0,n1g0";
  entry.network = 5;
  entry.pause_estimate = 0.5;
  entry.phases = {{"pausing", 0.25}};
  entry.flows = {{{0, 0}, {1, 0}, 9, 9, 4.5}};
  entry.in_rounds = {100, 3, {{{0, 1}, 90, 91}}};
  return entry;
}

engine::ClusterSnapshot WholeCluster() {
  engine::ClusterSnapshot snapshot;
  snapshot.cluster = "lab";
  snapshot.time = 200;
  engine::NodeStatus node;
  engine::DeviceStatus device;
  device.job = "gpt";
  device.rank = 0;
  device.busy_seconds = 0.4;
  node.devices = {device, engine::DeviceStatus()};
  node.rack = "r1";
  node.gpu = "NVIDIA H200";
  node.problem = "journal.db is damaged";
  snapshot.nodes = {node, {}};
  snapshot.jobs = {WholeJob(), {}};
  snapshot.transaction = WholeTxn();
  snapshot.lease = engine::OperatorLease{"p", "lena", 3};
  snapshot.simulation = engine::SimulationStatus{"h100", 20, 19, 1};
  snapshot.history_problem = "the disk is full";
  return snapshot;
}

engine::PlanSummary WholePlan() {
  engine::PlanSummary plan;
  plan.job = "gpt";
  plan.peak_memory = {{{0, 1}, 77, 512}};
  plan.idle = {{1, 3}};
  plan.in_rounds = {100, 3, {{{0, 1}, 90, 0}}};
  plan.flows = {{{0, 0}, {1, 0}, 0, 5}};
  plan.snapshots = {100, 2, 70, 1};
  plan.survival = engine::Survival{};
  plan.to_step_seconds = 0.5;
  return plan;
}

}  // namespace

class JsonPageTest : public QObject {
  Q_OBJECT

 private slots:
  void everyVerbHasItsSection() {
    const test::JsonPage page;
    QCOMPARE(page.unknownNames().join(u' '), QString());
    std::set<std::string> known = {"mount", "unmount"};  // not in every build
    for (const app::Command& command : app::commands()) {
      const app::Syntax& syntax = command.syntax;
      known.insert(syntax.verb);
      const QString text = page.text(syntax.verb);
      const QString begins = syntax.json == JsonForm::kDocument ? QStringLiteral("One document.")
                             : syntax.json == JsonForm::kLines
                                 ? QStringLiteral("One document per line.")
                                 : QString();
      if (begins.isEmpty())
        QVERIFY2(text.isEmpty(), syntax.verb.c_str());
      else
        QVERIFY2(text.startsWith(begins), syntax.verb.c_str());
    }
    for (const auto& [name, block] : page.blocks())
      QVERIFY2(known.contains(name) || QString::fromStdString(name).isUpper(), name.c_str());
  }

  void helpSaysWhatIsPrinted() {
    for (const app::Command& command : app::commands())
      for (const app::OptionSpec& option : app::allOptions(command.syntax)) {
        if (option.name != "json") continue;
        const bool isLines = option.help.find("one document per line") != std::string::npos;
        QVERIFY2(isLines == (command.syntax.json == JsonForm::kLines), command.syntax.verb.c_str());
      }
  }

  // A comparison that finds nothing proves nothing.
  void differencesAreFound() {
    const test::JsonPage page;
    const auto differs = [&page](const char* verb, const char* line) {
      return page.differences(verb, QString::fromUtf8(line)).join(u'\n');
    };
    QCOMPARE(differs("down", R"({"version":1,"name":"lab","was_running":true})"), QString());
    QCOMPARE(differs("down", R"({"name":"lab"})"), QStringLiteral("down: has no 'was_running'"));
    QCOMPARE(differs("down", R"({"name":3,"was_running":true})"),
             QStringLiteral("down.name: 3 is not string"));
    QCOMPARE(differs("down", R"({"name":"lab","was_running":true,"pid":3})"),
             QStringLiteral("down.pid: is not on the page"));
    QCOMPARE(differs("logs", R"({"node":"0","line":""})"),
             QStringLiteral("logs.node: \"0\" is not NODE"));
    QCOMPARE(differs("keys revoke", R"({"removed":["a",3]})"),
             QStringLiteral("keys revoke.removed[1]: 3 is not string"));
    QVERIFY(differs("job list", R"({"jobs":[{"mesh":"dp=2"}]})")
                .contains(QLatin1String("job list.jobs[0].mesh: \"dp=2\" is not MESH")));
    QVERIFY(!differs("job list", "no JSON").isEmpty());
  }

  void documentsOfAClusterAreOnThePage() {
    const test::JsonPage page;
    const auto check = [&page](const char* verb, const app::Json& document) {
      const QStringList found = page.differences(verb, document);
      if (!found.isEmpty()) qWarning("%s", qPrintable(found.join(u'\n')));
      return found.isEmpty();
    };
    const engine::ClusterSnapshot snapshot = WholeCluster();
    QVERIFY(check("status", app::toJson(snapshot)));
    QVERIFY(check("status", app::toJson(engine::ClusterSnapshot())));
    QVERIFY(check("job list", {{"jobs", app::toJson(snapshot)["jobs"]}}));
    QVERIFY(
        check("job describe", app::jobDocument(snapshot, snapshot.jobs[0], {WholeRecord(), {}})));
    QVERIFY(check("plan", app::toJson(WholePlan())));
    QVERIFY(check("plan", app::toJson(engine::PlanSummary())));
    QVERIFY(check("history", app::toJson(WholeRecord())));
    QVERIFY(check("history", {{"transactions", {app::toJson(engine::HistoryEntry())}}}));
    app::Json txn = app::toJson(WholeTxn());
    txn["record"] = app::toJson(WholeRecord());
    QVERIFY(check("txn show", txn));
    engine::Event event;
    event.note = engine::NodeNote{};
    QVERIFY(check("events", app::toJson(event)));
    QVERIFY(check("events", app::toJson(engine::Event())));
    engine::Sample sample;
    sample.metrics = {{"accuracy", 0.5}};
    QVERIFY(check("job metrics", app::toJson(sample)));
    engine::Proposal proposal;
    proposal.candidates.resize(2);
    proposal.candidates[0].survival = engine::Survival{1, 5};
    proposal.calibrated = 5;
    QVERIFY(check("propose", app::toJson(proposal)));
    engine::CheckpointEntry checkpoint;
    QVERIFY(check("checkpoint list", {{"checkpoints", {app::toJson(checkpoint)}}}));
    checkpoint.mesh = "dp=2,tp=1,pp=1";
    QVERIFY(check("checkpoint save", app::toJson(checkpoint)));
    QCOMPARE(app::toJson(checkpoint)["mesh"]["dp"].get<int>(), 2);
    QVERIFY(check("doctor",
                  {{"checks", {app::toJson(engine::Check())}}, {"failed", 0}, {"warnings", 0}}));
    wire::DigestReply digest;
    (*digest.mutable_tensors())["wte"] = "00ff";
    QVERIFY(check("digest", app::toJson(digest)));
    app::Json every = {{"job", "gpt"}};
    every.update(app::toJson(engine::SnapshotEvery{0, 30}));
    QVERIFY(check("job snapshots", every));
    app::Measurement measured;
    measured.failure = "no memory";
    QVERIFY(check("job tune", app::toJson({measured}, measured.place)));
  }

  // Nothing else in a document is a mesh as text.
  void meshesAreObjects() {
    for (const app::Json& document :
         {app::toJson(WholeCluster()), app::toJson(WholeRecord()), app::toJson(WholePlan())})
      QVERIFY2(document.dump().find("dp=") == std::string::npos, document.dump().c_str());
  }

  void verbsWithoutAClusterPrintIt_data() {
    QTest::addColumn<QString>("verb");
    QTest::addColumn<QStringList>("words");
    const auto row = [](const char* verb, const char* words) {
      QTest::newRow(words) << QString::fromLatin1(verb)
                           << QString::fromLatin1(words).split(u' ', Qt::SkipEmptyParts);
    };
    row("models list", "models list");
    row("models show", "models show gpt2");
    row("rules list", "rules list");
    row("rules check", "rules check --model gpt2 --mesh tp=2");
    row("plan", "plan --model gpt2 --from tp=4 --to tp=2,dp=2");
    row("plan", "plan --model gpt2 --from tp=4 --to tp=2 --lost n0g1");
    row("lesson list", "lesson list");
    row("lesson check", "lesson check what-moves");
    row("explain", "explain");
    row("manual", "manual HOME/man");
    row("profile list", "profile list");
    row("profile use", "profile use --clear");
    row("keys new", "keys new laptop");
    row("keys list", "keys list");
    row("data show", "data show --data HOME/sample.txt --limit 3");
  }
  void verbsWithoutAClusterPrintIt() {
    QFETCH(QString, verb);
    QFETCH(QStringList, words);
    QTemporaryDir home;
    QFile text(home.filePath(QStringLiteral("sample.txt")));
    QVERIFY(text.open(QIODevice::WriteOnly) && text.write(QByteArray(5000, 'a')) == 5000);
    text.close();
    words.replaceInStrings(QStringLiteral("HOME"), home.path());
    const test::Outcome outcome = test::RunProgram(QStringLiteral("tesseractl"),
                                                   words + QStringList{QStringLiteral("--json")},
                                                   test::EnvironmentWithHome(home.path()), 60);
    QVERIFY2(outcome.code == 0, outcome.Text());
    const test::JsonPage page;
    const QStringList found =
        page.differences(verb.toStdString(), outcome.output.section(u'\n', 0, 0));
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
    QCOMPARE(outcome.output.count(u'\n'), 1);
  }
};

TESSERA_TEST_APPLESS(JsonPageTest)
#include "json_page_test.moc"
