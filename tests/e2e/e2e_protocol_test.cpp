// SPDX-License-Identifier: Apache-2.0
// Requests that only a foreign client sends (stale plans, repeated acts), lost connections, used
// ports.
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "agents/client/cluster.h"
#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr int kAwayMs = 2800;  // a silent connection lives for less: the node replaces it
}  // namespace

class E2eProtocolTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    // A node is suspect after 9 s of silence, much later than kAwayMs.
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 30}}));
    const Outcome start =
        m_cluster->StartJob(kJob, QStringLiteral("dp=1,tp=2"), FirstDevices(2, 2));
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const auto profile =
        agents::LoadProfile((m_cluster->home() + QStringLiteral("/profiles/t.json")).toStdString());
    QVERIFY(profile);
    auto client = agents::ClusterClient::OpenForCommands(*profile);
    QVERIFY(client);
    m_client = std::move(*client);
  }
  void cleanupTestCase() {
    m_client.reset();
    m_cluster.reset();
  }

  void aStalePlanIsRefused() {
    const Json before = m_cluster->Job(kJob);
    wire::Request request = ApplyTo(4);
    request.mutable_apply()->set_plan_hash("0123456789abcdef");
    const auto reply = m_client->CallAndWait(std::move(request), 10s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kFailedPrecondition);
    const std::string& said = reply.error().message;
    QVERIFY2(said.starts_with("stale plan: 0123456789abcdef"), said.c_str());
    QVERIFY(said.find('\n') == std::string::npos);
    QCOMPARE(m_cluster->Job(kJob)["epoch"].dump(), before["epoch"].dump());
  }

  // The plan of one epoch is stale in the next, although it names the same devices.
  void aPlanOfAnEarlierEpochIsRefused() {
    wire::Request ask;
    *ask.mutable_plan() = ApplyTo(4).apply().plan();
    const auto plan = m_client->CallAndWait(std::move(ask), 10s);
    QVERIFY(plan && plan->has_plan());
    const Json moved = m_cluster->Apply(kJob, QStringLiteral("dp=2,tp=1"), FirstDevices(2, 2));
    QVERIFY(moved.is_object() && moved["result"] == "committed");
    wire::Request request = ApplyTo(4);
    request.mutable_apply()->set_plan_hash(plan->plan().hash());
    const auto reply = m_client->CallAndWait(std::move(request), 10s);
    QVERIFY(!reply);
    QVERIFY2(reply.error().message.starts_with("stale plan: "), reply.error().message.c_str());
  }

  // An act is done once, however often it is sent, even across a restart of the registrar's agent.
  void anActSentTwiceIsDoneOnce() {
    const auto first = m_client->CallAndWait(ApplyTo(4, "act-of-this-test"), 10s);
    QVERIFY2(first && first->has_apply(), first ? "no apply" : first.error().message.c_str());
    const std::int64_t id = first->apply().transaction();
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase().empty(); }, 60));
    const auto second = m_client->CallAndWait(ApplyTo(4, "act-of-this-test"), 10s);
    QVERIFY(second && second->has_apply());
    QCOMPARE(second->apply().transaction(), id);

    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    // The registrar plans with the nodes that have registered again.
    QVERIFY(m_cluster->WaitAllAlive());
    const auto third = m_client->CallAndWait(ApplyTo(4, "act-of-this-test"), 30s);
    QVERIFY2(third && third->has_apply(), third ? "no apply" : third.error().message.c_str());
    QCOMPARE(third->apply().transaction(), id);
    QVERIFY(m_cluster->Phase().empty());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // Another micro-batch moves no bytes, but begins a new epoch. Plans of the old epoch are then
  // stale, although the layouts are equal.
  void onlyTheMicroBatchChanges() {
    wire::Request ask;
    *ask.mutable_plan() = ApplyTo(1).apply().plan();
    const auto plan = m_client->CallAndWait(ask, 10s);
    QVERIFY2(plan && plan->has_plan(), plan ? "" : plan.error().message.c_str());
    const Json before = m_cluster->Job(kJob);
    const QStringList apply = {"apply",           kJob,     "--devices",
                               devicesOf(before), "--mesh", meshOf(before),
                               "--micro-batch",   "2",      "--yes"};
    const Json moved = m_cluster->Run(apply + QStringList{"--json"}, 90).LastJson();
    QVERIFY(moved.is_object() && moved["result"] == "committed");
    QCOMPARE(moved["moved_bytes"].get<std::int64_t>(), std::int64_t{0});
    const Json after = m_cluster->Job(kJob);
    QCOMPARE(after["micro_batch"].get<int>(), 2);
    QCOMPARE(after["layout_hash"].dump(), before["layout_hash"].dump());
    QCOMPARE(after["epoch"].get<std::int64_t>(), before["epoch"].get<std::int64_t>() + 1);
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome again = m_cluster->Run(apply, 90);
    QVERIFY2(again.code == 0 && again.output.contains("unchanged: job 'nano' already runs"),
             again.Text());

    wire::Request request = ApplyTo(1);
    request.mutable_apply()->set_plan_hash(plan->plan().hash());
    const auto reply = m_client->CallAndWait(std::move(request), 10s);
    QVERIFY(!reply);
    QVERIFY2(reply.error().message.starts_with("stale plan: "), reply.error().message.c_str());
  }

  void zeroIsSwitchedOnAndOff() {
    for (const char* zero : {"on", "off"}) {
      const Json moved = m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4, 2), {"--zero", zero});
      QVERIFY(moved.is_object() && moved["result"] == "committed");
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(m_cluster->Job(kJob)["zero"].get<bool>(), zero == std::string("on"));
      QVERIFY(m_cluster->GoesOn(kJob));
    }
    const Json last = m_cluster->Ask({"history", "--job", kJob})["transactions"][0];
    QVERIFY(last["from"]["zero"].get<bool>() && !last["to"]["zero"].get<bool>());
    QVERIFY2(last["who"].get<std::string>().starts_with("operator: tesseractl, "),
             last.dump().c_str());
    QVERIFY(last["pause_estimate_seconds"].get<double>() > 0);
    std::int64_t bytes = 0;
    for (const Json& flow : last["flows"]) bytes += flow["bytes"].get<std::int64_t>();
    QCOMPARE(bytes, last["moved_bytes"].get<std::int64_t>());
    QCOMPARE(
        last["bytes"]["host"].get<std::int64_t>() + last["bytes"]["network"].get<std::int64_t>(),
        bytes);
  }

  // Each proposed configuration can be planned, and proposal and plan agree.
  void proposalsCanBePlanned() {
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code ==
            0);  // so that its step time does not change
    wire::Request ask;
    ask.mutable_propose()->set_job(kJob.toStdString());
    for (int i = 0; i < 4; ++i) {
      agents::Encode(ptc::DeviceId{i / 2, i % 2}, ask.mutable_propose()->add_devices());
    }
    const auto reply = m_client->CallAndWait(std::move(ask), 10s);
    QVERIFY2(reply && reply->has_propose(), reply ? "" : reply.error().message.c_str());
    const auto proposal = agents::Decode(reply->propose());
    QVERIFY(proposal);
    QVERIFY(proposal->candidates.size() >= 4);
    QVERIFY(!proposal->why.empty());
    int recommended = 0, current = 0;
    for (const engine::Candidate& candidate : proposal->candidates) {
      recommended += candidate.recommended ? 1 : 0;
      current += candidate.current ? 1 : 0;
      QVERIFY(candidate.step_seconds > 0 && candidate.fits());
      if (candidate.current) continue;
      wire::Request dry_run;
      dry_run.mutable_plan()->set_job(kJob.toStdString());
      agents::Encode(candidate.mesh, dry_run.mutable_plan()->mutable_mesh());
      agents::Encode(candidate.options, dry_run.mutable_plan()->mutable_options());
      for (const ptc::DeviceId id : candidate.devices) {
        agents::Encode(id, dry_run.mutable_plan()->add_devices());
      }
      const auto planned = m_client->CallAndWait(std::move(dry_run), 10s);
      QVERIFY2(planned && planned->has_plan(), planned ? "" : planned.error().message.c_str());
      const auto plan = agents::Decode(planned->plan());
      QVERIFY(plan && plan->to_step_seconds.has_value());
      QVERIFY(plan->to_options == candidate.options);
      QCOMPARE(plan->moved(), candidate.moved_bytes);
      QVERIFY(std::abs(*plan->to_step_seconds - candidate.step_seconds) <
              0.05 * candidate.step_seconds);
    }
    QCOMPARE(recommended, 1);
    QCOMPARE(current, 1);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
  }

  void anotherClustersNameIsRefused() {
    auto profile =
        agents::LoadProfile((m_cluster->home() + QStringLiteral("/profiles/t.json")).toStdString());
    QVERIFY(profile);
    profile->name = "lab";
    const auto client = agents::ClusterClient::OpenForCommands(*profile);
    QVERIFY(client);
    wire::Request request;
    request.mutable_status();
    const auto reply = (*client)->CallAndWait(std::move(request), 10s);
    QVERIFY(!reply);
    QCOMPARE(QString::fromStdString(reply.error().message),
             QString("this is cluster 't', but the profile names cluster 'lab'"));
  }

  void everyNodeAnswersForItself() {
    wire::Request doctor;
    doctor.mutable_doctor();
    const auto checks = m_client->CallAndWait(std::move(doctor), 20s);
    QVERIFY2(checks && checks->has_doctor(), checks ? "" : checks.error().message.c_str());
    std::set<std::int32_t> nodes;
    for (const wire::CheckInfo& check : checks->doctor().checks()) nodes.insert(check.node());
    QCOMPARE(nodes, (std::set<std::int32_t>{0, 1}));

    wire::Request probe;  // a probe is refused on busy machines
    probe.mutable_probe();
    const auto refused = m_client->CallAndWait(std::move(probe), 10s);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.find(kJob.toStdString()) != std::string::npos,
             refused.error().message.c_str());

    wire::Request log;
    log.mutable_log()->set_node(7);
    const auto unknown = m_client->CallAndWait(std::move(log), 10s);
    QVERIFY(!unknown);
    QCOMPARE(unknown.error().code, ErrorCode::kNotFound);
  }

  // Agents repeat the steps that a killed registrar had not recorded.
  void noStepIsMissingAfterTheRegistrarsAgentWasKilled() {
    for (int node : {0, 1, 0}) {
      QVERIFY(m_cluster->GoesOn(kJob, 5));
      const auto agent = m_cluster->Agent(node);
      QVERIFY(agent && LocalCluster::Kill(*agent));
      QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Job(kJob).is_object(); }, 30));
    }
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->GoesOn(kJob, 20));
    const Outcome metrics = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QCOMPARE(metrics.code, 0);
    std::int64_t last = 0;
    for (const QString& line : metrics.output.trimmed().split(u'\n')) {
      const Json sample = Json::parse(line.toStdString(), nullptr, false);
      QVERIFY2(sample.is_object(), qPrintable(line));
      QCOMPARE(sample["step"].get<std::int64_t>(), last + 1);
      ++last;
    }
    QVERIFY(last > 30);
  }

  void mistakesAtTheStart_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& words, int code, const char* says) {
      QTest::newRow(name) << words << code << QString::fromUtf8(says);
    };
    row("a name that is taken", {"gpt-nano", "--name", kJob}, 1, "job 'nano' exists");
    row("an empty data set", {"gpt-nano", "--name", "b", "--data", "EMPTY"}, 1, "has 0 bytes");
    row("a data set without a sample", {"gpt-nano", "--name", "b", "--data", "SHORT"}, 1,
        "has 5 bytes");
    row("a setting that does not exist", {"gpt-nano", "--name", "b", "--set", "lr=1"}, 2,
        "there is no setting 'lr'");
    row("a setting out of range", {"gpt-nano", "--name", "b", "--dropout", "1.5"}, 2, "dropout");
    row("a precision that does not exist", {"gpt-nano", "--name", "b", "--precision", "fp8"}, 2,
        "fp8");
    row("devices that are taken, whatever the micro-batch",
        {"gpt-nano", "--name", "b", "--devices", "n0g0,n0g1", "--mesh", "dp=2", "--micro-batch",
         "3"},
        1, "n0g0 is in job 'nano'");
  }
  void mistakesAtTheStart() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, says);
    QTemporaryDir files;
    for (const auto& [name, text] : {std::pair{"EMPTY", ""}, {"SHORT", "short"}}) {
      QFile file(files.filePath(QString::fromLatin1(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
      words.replaceInStrings(QString::fromLatin1(name), file.fileName());
    }
    const Outcome outcome = m_cluster->Run(QStringList{"job", "start"} + words);
    QVERIFY2(outcome.code == code, outcome.Text());
    QVERIFY2(outcome.errors.count(u'\n') == 1 && outcome.errors.contains(says), outcome.Text());
    QCOMPARE(m_cluster->Status()["jobs"].size(), std::size_t{1});
  }

  // On idle devices that are too small.
  void mistakesOnIdleDevices() {
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    const auto says = [&](const QStringList& words, const char* part) {
      const Outcome outcome = m_cluster->Run(QStringList{"job", "start"} + words);
      QVERIFY2(outcome.code == 1 && outcome.errors.count(u'\n') == 1 &&
                   outcome.errors.contains(QString::fromLatin1(part)),
               outcome.Text());
    };
    says({"gpt-nano", "--mesh", "dp=4", "--global-batch", "2"},
         "global batch 2 is smaller than dp = 4");
    says({"gpt-nano", "--mesh", "dp=2", "--micro-batch", "9"},
         "micro-batch 9 is larger than a rank's share of 8 samples");
    says({"gpt-25m"}, "model gpt-25m needs");
    says({"gpt-25m", "--mesh", "dp=1"}, "the smallest set that fits has");
    QVERIFY(m_cluster->Status()["jobs"].empty());
  }

  void aRequestWithoutABodyIsAnswered() {
    const auto reply = m_client->CallAndWait(wire::Request(), 10s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kInvalidArgument);
  }

  // A node that is disconnected misses the end of a job and the start of the next one with its
  // name. Both messages are repeated when it is back.
  void wordsLostWithAConnectionAreSaidAgain_data() {
    QTest::addColumn<bool>("starts_while_away");
    QTest::newRow("the end of a job") << false;
    QTest::newRow("the end and the next start") << true;
  }
  void wordsLostWithAConnectionAreSaidAgain() {
    QFETCH(bool, starts_while_away);
    const QStringList words = {"job",    "start", "gpt-nano",  "--name",   kJob,
                               "--mesh", "dp=2",  "--devices", "n0g0,n1g0"};
    const Outcome first = m_cluster->Run(words);
    QVERIFY2(first.code == 0, first.Text());
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent);
    app::signalProcess(*agent, SIGSTOP);
    QTest::qSleep(kAwayMs);
    const Outcome stop = m_cluster->Run({"job", "stop", kJob, "--yes"});
    std::unique_ptr<QProcess> start;
    if (starts_while_away) {
      start = m_cluster->Start(words);
      QTest::qSleep(400);
    }
    app::signalProcess(*agent, SIGCONT);
    QVERIFY2(stop.code == 0, stop.Text());
    if (!start) {
      const auto is_free = [&] {
        for (const Json& node : m_cluster->Status()["nodes"]) {
          for (const Json& device : node["devices"]) {
            if (device["used_bytes"].get<std::int64_t>() > 0) return false;
          }
        }
        return true;
      };
      QVERIFY(LocalCluster::WaitFor(is_free, 20));
      start = m_cluster->Start(words);
    }
    const Outcome started = LocalCluster::Finish(*start);
    QVERIFY2(started.code == 0, started.Text() + m_cluster->Run({"events"}).Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
  }

  // The same within a transaction: it continues when the node is back, whatever message was lost.
  void aTransactionOutlivesAConnection_data() {
    QTest::addColumn<int>("after_ms");
    QTest::newRow("as it is asked for") << 0;
    QTest::newRow("while ranks start") << 400;
    QTest::newRow("when they have started") << 1200;
  }
  void aTransactionOutlivesAConnection() {
    QFETCH(int, after_ms);
    const Outcome started = m_cluster->Run(
        {"job", "start", "gpt-nano", "--name", kJob, "--mesh", "dp=1", "--devices", "n0g0"});
    QVERIFY2(started.code == 0, started.Text());
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent);
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", "n0g0,n1g0", "--mesh", "dp=2", "--yes", "--json"});
    QTest::qSleep(after_ms);
    app::signalProcess(*agent, SIGSTOP);
    QTest::qSleep(kAwayMs);
    app::signalProcess(*agent, SIGCONT);
    const Outcome outcome = LocalCluster::Finish(*apply, 90);
    QVERIFY2(outcome.LastJson()["result"] == "committed",
             outcome.Text() + m_cluster->Run({"events"}).Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
  }

  void aPortInUseIsNamed() {
    const QString folder = m_cluster->home() + QStringLiteral("/clusters/t");
    auto config =
        agents::LoadAgentConfig((folder + QStringLiteral("/n0/agent.json")).toStdString());
    QVERIFY2(config, config ? "" : config.error().ToString().c_str());
    QTemporaryDir other;
    config->directory = other.path().toStdString();
    config->log_file.clear();  // so that this test can read its output
    const std::string path = other.filePath(QStringLiteral("agent.json")).toStdString();
    QVERIFY(agents::SaveAgentConfig(*config, path));
    QProcess agent;
    agent.setProcessChannelMode(QProcess::MergedChannels);
    agent.start(QStringLiteral(TESSERA_BIN_DIR "/tessera-agent"),
                {QStringLiteral("--config"), QString::fromStdString(path)});
    QByteArray said;
    const QByteArray wanted = "port in use: " + QByteArray::fromStdString(config->endpoint);
    const bool named = LocalCluster::WaitFor(
        [&] {
          agent.waitForReadyRead(100);
          said += agent.readAll();
          return said.contains(wanted);
        },
        15);
    agent.terminate();
    if (!agent.waitForFinished(10000)) agent.kill();
    QVERIFY2(named, said.constData());
  }

 private:
  static wire::Request ApplyTo(int devices, const std::string& id = {}) {
    wire::Request request;
    request.set_id(id);
    auto* plan = request.mutable_apply()->mutable_plan();
    plan->set_job(kJob.toStdString());
    for (int i = 0; i < devices; ++i) {
      agents::Encode(ptc::DeviceId{i / 2, i % 2}, plan->add_devices());
    }
    return request;
  }

  static QString devicesOf(const Json& job) {
    QStringList names;
    for (const Json& name : job["devices"]) names << QString::fromStdString(name);
    return names.join(u',');
  }
  static QString meshOf(const Json& job) {
    return QStringLiteral("dp=%1,tp=%2,pp=%3")
        .arg(job["mesh"]["dp"].get<int>())
        .arg(job["mesh"]["tp"].get<int>())
        .arg(job["mesh"]["pp"].get<int>());
  }

  std::unique_ptr<LocalCluster> m_cluster;
  std::unique_ptr<agents::ClusterClient> m_client;
};

TESSERA_TEST(E2eProtocolTest)
#include "e2e_protocol_test.moc"
