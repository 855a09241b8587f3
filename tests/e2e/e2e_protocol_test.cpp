// SPDX-License-Identifier: Apache-2.0
// What a client other than our own could send: stale plans, acts sent twice, ports that are taken.
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "agents/client/cluster.h"
#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "tests/support/local_cluster.h"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {
const QString kJob = QStringLiteral("nano");
}

class E2eProtocolTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
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

  // An act is done once, however often it is sent, also across a restart of the registrar's agent.
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
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Job(kJob).is_object(); }, 30));
    const auto third = m_client->CallAndWait(ApplyTo(4, "act-of-this-test"), 30s);
    QVERIFY2(third && third->has_apply(), third ? "no apply" : third.error().message.c_str());
    QCOMPARE(third->apply().transaction(), id);
    QVERIFY(m_cluster->Phase().empty());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void aRequestWithoutABodyIsAnswered() {
    const auto reply = m_client->CallAndWait(wire::Request(), 10s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kInvalidArgument);
  }

  void aPortInUseIsNamed() {
    const QString folder = m_cluster->home() + QStringLiteral("/clusters/t");
    auto config =
        agents::LoadAgentConfig((folder + QStringLiteral("/n0/agent.json")).toStdString());
    QVERIFY2(config, config ? "" : config.error().ToString().c_str());
    QTemporaryDir other;
    config->directory = other.path().toStdString();
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

  std::unique_ptr<LocalCluster> m_cluster;
  std::unique_ptr<agents::ClusterClient> m_client;
};

QTEST_GUILESS_MAIN(E2eProtocolTest)
#include "e2e_protocol_test.moc"
