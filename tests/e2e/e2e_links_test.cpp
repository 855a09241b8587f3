// SPDX-License-Identifier: Apache-2.0
// Bandwidths that running agents measure: they are close to the emulated port, are kept, are used
// by plans, and are dropped when a node registers with another link.
#include <QFile>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr double kLink = 1e8;  // 100 MB/s
constexpr int kNodes = 3;
}  // namespace

class E2eLinksTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.nodes = kNodes;
    options.devices = 1;
    options.memory = QStringLiteral("64M");
    options.link = QStringLiteral("100MB/s");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 5}}));  // 10 by default
    const Outcome start = StartExactJob(*m_cluster, kJob, "dp=2,tp=1", "n0g0,n1g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void nothingIsMeasuredAtFirst() {
    const Json topology = m_cluster->Ask({"topology"});
    QVERIFY(topology["measured"].is_null());
    QCOMPARE(topology["topology"]["network_bytes_per_second"].get<double>(), kLink);
    QCOMPARE(sourceOfPlans(), std::string("the links of this emulated cluster"));
  }

  void anEmulatedLinkIsMeasuredWhileAJobRuns() {
    const std::int64_t before = m_cluster->Step(kJob);
    const QString file = m_files.filePath("lab.json");
    const Json measured = m_cluster->Ask({"topology", "--measure", "--output", file});
    QVERIFY(measured.is_object());
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("running"));
    QVERIFY(m_cluster->WaitStep(kJob, before + 1));
    int network = 0, memory = 0;
    for (const Json& link : measured["measured"]["links"]) {
      const auto median = link["median_bytes_per_second"].get<double>();
      QVERIFY(link["bytes_per_second"].size() >= 1);
      if (link["from"] == link["to"]) {
        ++memory;
        QVERIFY2(median > 1e6, link.dump().c_str());
      } else {
        ++network;
        QVERIFY2(isWithin(median, kLink), link.dump().c_str());
      }
    }
    QCOMPARE(network, kNodes);  // a ring: each port once in each direction
    QCOMPARE(memory, kNodes);
    QVERIFY(isWithin(networkOf(measured), kLink));

    // The file is the one that `plan` reads.
    const Json plan = m_cluster->Ask(
        {"plan", "--model", "gpt2", "--from", "dp=1", "--to", "dp=3", "--topology", file});
    QVERIFY(plan.is_object());
    QCOMPARE(plan["bandwidths"]["network_bytes_per_second"].get<double>(), networkOf(measured));
    QVERIFY(plan["bandwidths"]["from"].get<std::string>().starts_with("measured 20"));
    const Outcome again = m_cluster->Run({"topology", "--output", file});
    QVERIFY2(again.code == 1 && again.SaysInOneLine("tesseractl", "lab.json"), again.Text());
    QVERIFY(m_cluster->Run({"topology", "--output", file, "--force"}).code == 0);
    const Outcome table = m_cluster->Run({"topology"});
    for (const char* part : {"n2 → n0", "n1 memory", "MB/s", "median", "measured 20"})
      QVERIFY2(table.output.contains(QString::fromUtf8(part)), qPrintable(table.output));
  }

  void plansAreMadeWithIt() {
    QVERIFY(isMeasured());
    const double measured = networkOf(m_cluster->Ask({"topology"}));
    const Json plan = m_cluster->Ask({"plan", kJob, "--devices", "n0g0,n2g0", "--mesh", "dp=2"});
    QVERIFY(plan.is_object());
    QCOMPARE(plan["bandwidths"]["network_bytes_per_second"].get<double>(), measured);
    const auto from = plan["bandwidths"]["from"].get<std::string>();
    QVERIFY2(from.starts_with("measured 20") && from.ends_with(" UTC on n0, n1, n2"), from.c_str());
    const Outcome text = m_cluster->Run({"plan", kJob, "--devices", "n0g0,n2g0", "--mesh", "dp=2"});
    QVERIFY2(text.output.contains(QString::fromStdString(from)), qPrintable(text.output));
    // Agents compute the same plan from the same figures.
    const Json moved = m_cluster->Apply(kJob, "dp=2,tp=1", "n0g0,n2g0");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
  }

  void notBesideATransaction() {
    const auto waiting = m_cluster->Start({"apply", kJob, "--devices", "n0g0,n1g0", "--mesh",
                                           "dp=2", "--at-step", "1000000", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }, 20));
    const Outcome refused = m_cluster->Run({"topology", "--measure"});
    QVERIFY2(refused.code == 1 && refused.SaysInOneLine("tesseractl", "wait for it or cancel it"),
             refused.Text());
    QVERIFY(m_cluster->Run({"topology"}).code == 0);  // to look is no harm
    QVERIFY(m_cluster->Run({"txn", "cancel"}).code == 0);
    LocalCluster::Finish(*waiting);
  }

  void aRestartedAgentKeepsIt() {
    QVERIFY(isMeasured());
    const std::string before = m_cluster->Ask({"topology"}).dump();
    for (int node : {0, 1}) {  // the registrar, and another
      const auto agent = m_cluster->Agent(node);
      QVERIFY(agent && LocalCluster::Kill(*agent));
      // Until it is missed it counts as alive.
      const auto isAnother = [&] {
        const auto now = m_cluster->Agent(node);
        return now && *now != *agent && isBack();
      };
      QVERIFY(LocalCluster::WaitFor(isAnother, 30));
    }
    QCOMPARE(m_cluster->Ask({"topology"}).dump(), before);
  }

  // The agent of n1 restarts with another port, so the measurements with n1 are dropped.
  void anotherLinkIsMeasuredAnew() {
    QVERIFY(isMeasured());
    const QString path = m_cluster->home() + "/clusters/t/n1/agent.json";
    QFile file(path);
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(path));
    Json config = Json::parse(file.readAll().toStdString());
    file.close();
    QCOMPARE(config["link_bytes_per_second"].get<double>(), kLink);
    config["link_bytes_per_second"] = 40'000'000;
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(QByteArray::fromStdString(config.dump()));
    file.close();
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor(
        [&] { return isBack() && !sourceOfPlans().ends_with("n0, n1, n2"); }, 30));
    QVERIFY2(sourceOfPlans().ends_with(" UTC on n0, n2"), sourceOfPlans().c_str());
    QVERIFY(m_cluster->Run({"events"}).output.contains("its measured bandwidths are dropped"));

    const Json measured = m_cluster->Ask({"topology", "--measure"});
    QVERIFY(measured.is_object());
    QVERIFY(isWithin(networkOf(measured), kLink));
    const Json exceptions = measured["topology"]["network_of_host"];
    QCOMPARE(exceptions.size(), std::size_t{1});
    QCOMPARE(exceptions[0]["host"].get<int>(), 1);
    const double slow = exceptions[0]["bytes_per_second"].get<double>();
    QVERIFY2(isWithin(slow, 4e7) && slow < networkOf(measured), exceptions.dump().c_str());
    // A plan through the slow port is still the same on every agent.
    const Json moved = m_cluster->Apply(kJob, "dp=2,tp=1", "n1g0,n2g0");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
  }

  void aDeadNodeDoesNotCount() {
    QVERIFY(isMeasured());
    QVERIFY(m_cluster->Apply(kJob, "dp=1,tp=1", "n0g0")["result"] == "committed");
    QVERIFY(m_cluster->Run({"node", "kill", "n1", "--yes"}).code == 0);
    QVERIFY(LocalCluster::WaitFor([&] { return sourceOfPlans().ends_with(" UTC on n0, n2"); }, 40));
    const Json topology = m_cluster->Ask({"topology"});
    QVERIFY(!topology["topology"].contains("network_of_host"));
    QVERIFY(isWithin(networkOf(topology), kLink));
    // The others are measured without it.
    const Json measured = m_cluster->Ask({"topology", "--measure"});
    QVERIFY(measured.is_object());
    QCOMPARE(measured["measured"]["links"].size(), std::size_t{4});
  }

 private:
  /// Measures unless an earlier function has.
  bool isMeasured() const {
    const Json topology = m_cluster->Ask({"topology"});
    return topology.is_object() && (!topology["measured"].is_null() ||
                                    m_cluster->Ask({"topology", "--measure"}).is_object());
  }
  /// No machine is so slow that a link would be faster than its limit, but for a burst.
  static bool isWithin(double measured, double limit) {
    return measured > 0 && measured < 1.25 * limit;
  }
  static double networkOf(const Json& answer) {
    return answer["topology"]["network_bytes_per_second"].get<double>();
  }
  std::string sourceOfPlans() const {
    const Json answer = m_cluster->Ask({"topology"});
    return answer.is_object() ? answer["topology"]["source"].get<std::string>() : std::string();
  }
  bool isBack() const {
    const Json status = m_cluster->Status();
    if (!status.is_object()) return false;
    for (const Json& node : status["nodes"])
      if (node["state"] != "alive") return false;
    return status["nodes"].size() == kNodes;
  }

  QTemporaryDir m_files;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eLinksTest)
#include "e2e_links_test.moc"
