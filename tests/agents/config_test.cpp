// SPDX-License-Identifier: Apache-2.0
#include "agents/node/config.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <map>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

class ConfigTest : public QObject {
  Q_OBJECT

 private slots:
  void roundTrips() {
    const std::string path = Path("agent.json");
    const AgentConfig config = Sample();
    QVERIFY(SaveAgentConfig(config, path));
    const auto read = LoadAgentConfig(path);
    QVERIFY2(read, read ? "" : read.error().ToString().c_str());
    QCOMPARE(read->cluster, config.cluster);
    QCOMPARE(read->node, config.node);
    QCOMPARE(read->lanes, config.lanes);
    QCOMPARE(read->device_bytes, config.device_bytes);
    QCOMPARE(read->allowed_folder, config.allowed_folder);
    QVERIFY(read->jobs == config.jobs);
    QCOMPARE(read->view_lease_seconds, config.view_lease_seconds);
    QCOMPARE(read->lane_security, config.lane_security);
    QCOMPARE(read->rack, config.rack);
    QCOMPARE(AgentConfig().rack, std::string());
    QCOMPARE(AgentConfig().lane_security, std::string("curve"));
    QVERIFY(!QFile::exists(QString::fromStdString(path + ".new")));
  }

  void aSimulationRoundTrips() {
    AgentConfig config = Sample();
    config.simulation = {.nodes = 8, .speed = 2, .scenario = "/tmp/x.json", .ahead = true};
    QVERIFY(SaveAgentConfig(config, Path("agent.json")));
    const auto read = LoadAgentConfig(Path("agent.json"));
    QVERIFY2(read, read ? "" : read.error().ToString().c_str());
    QVERIFY(read->simulation == config.simulation);
  }

  void refuses_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QByteArray>("message");  // after the path
    QTest::newRow("an unknown key, with its line")
        << QByteArray("\"cluster\"") << QByteArray("\"colour\"")
        << QByteArray(":4: unknown key 'colour'");
    QTest::newRow("a key of the wrong type")
        << QByteArray("\"node\": 1") << QByteArray("\"node\": \"one\"")
        << QByteArray(": key 'node' has the wrong type: \"one\"");
    QTest::newRow("text that ends early")
        << QByteArray("}") << QByteArray("") << QByteArray(": not valid JSON");
    QTest::newRow("a missing key") << QByteArray("\"events\": \"tcp://127.0.0.1:40002\",")
                                   << QByteArray("") << QByteArray(": key 'events' is missing");
    QTest::newRow("no devices") << QByteArray("\"devices\": 4") << QByteArray("\"devices\": 0")
                                << QByteArray(": devices = 0 is not in 1…1024");
    QTest::newRow("too small an arena")
        << QByteArray("\"device_bytes\": 67108864") << QByteArray("\"device_bytes\": 1000")
        << QByteArray(": device_bytes = 1000 is below 4194304");
    QTest::newRow("a lease that ends at once")
        << QByteArray("\"view_lease_seconds\": 7") << QByteArray("\"view_lease_seconds\": 0")
        << QByteArray(": view_lease_seconds = 0 is not in 1…86400");
    QTest::newRow("a limit that is not known") << QByteArray("\"exec\"") << QByteArray("\"exes\"")
                                               << QByteArray("key 'jobs' has the wrong type");
    QTest::newRow("a folder that is not absolute")
        << QByteArray("\"/srv/data\"") << QByteArray("\"srv/data\"")
        << QByteArray("key 'jobs' has the wrong type");
    QTest::newRow("a rack that is no name")
        << QByteArray("\"rack\": \"r12\"") << QByteArray("\"rack\": \"Row 12\"")
        << QByteArray(": rack = Row 12 does not match [a-z0-9][a-z0-9-]{0,62}");
    QTest::newRow("an unknown encryption of lanes")
        << QByteArray("\"lane_security\": \"plain\"") << QByteArray("\"lane_security\": \"tls\"")
        << QByteArray(": lane_security = tls is not curve or plain");
  }
  void refuses() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QByteArray, message);
    const std::string path = Path("bad.json");
    QVERIFY(SaveAgentConfig(Sample(), path));
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QByteArray text = file.readAll();
    QVERIFY2(text.contains(from), text.constData());
    text.replace(from, to);
    file.resize(0);
    file.seek(0);
    file.write(text);
    file.close();
    const auto read = LoadAgentConfig(path);
    QVERIFY(!read);
    const QByteArray said = QByteArray::fromStdString(read.error().ToString());
    QVERIFY2(said.startsWith(QByteArray::fromStdString(path)), said.constData());
    QVERIFY2(said.contains(message), said.constData());
    QVERIFY(!said.contains('\n'));
  }

  // A file of an earlier version has no rack.
  void theRackMayBeLeftOut() {
    AgentConfig config = Sample();
    config.rack.clear();
    QVERIFY(SaveAgentConfig(config, Path("agent.json")));
    QFile file(QString::fromStdString(Path("agent.json")));
    QVERIFY(file.open(QIODevice::ReadOnly) && !file.readAll().contains("rack"));
    const auto read = LoadAgentConfig(Path("agent.json"));
    QVERIFY(read && read->rack.empty());
  }

  void racksHaveEqualShares() {
    QCOMPARE(RackOf(0, 4, 1), std::string("r0"));
    QCOMPARE(RackOf(3, 4, 1), std::string("r0"));
    QCOMPARE(RackOf(4, 4, 1), std::string("r1"));  // it joined later
    std::map<std::string, int> nodes;
    for (int node = 0; node < 10; ++node) ++nodes[RackOf(node, 10, 4)];
    QCOMPARE(nodes, (std::map<std::string, int>{{"r0", 3}, {"r1", 2}, {"r2", 3}, {"r3", 2}}));
  }

  void namesAMissingFile() {
    const auto read = LoadAgentConfig(Path("absent.json"));
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::kNotFound);
    QVERIFY(read.error().message.find("absent.json") != std::string::npos);
  }

 private:
  std::string Path(const char* name) const {
    return m_folder.filePath(QString::fromLatin1(name)).toStdString();
  }
  static AgentConfig Sample() {
    AgentConfig c;
    c.cluster = "lab";
    c.node = 1;
    c.host = "h1";
    c.directory = "/tmp/x";
    c.endpoint = "tcp://127.0.0.1:40001";
    c.events = "tcp://127.0.0.1:40002";
    c.lanes = {"tcp://127.0.0.1:40003", "tcp://127.0.0.1:40004"};
    c.registrar_endpoint = "tcp://127.0.0.1:40000";
    c.devices = 4;
    c.device_bytes = 64 << 20;
    c.agent_keys = "/tmp/x/agents.key";
    c.allowed_folder = "/tmp/x/allowed";
    c.view_lease_seconds = 7;
    c.lane_security = "plain";
    c.rack = "r12";
    c.jobs = {.exec = false,
              .data = {{"/srv/data", "https://data.lab/text"}},
              .checkpoints = {{"/srv/checkpoints"}}};
    return c;
  }
  QTemporaryDir m_folder;
};

TESSERA_TEST(ConfigTest)
#include "config_test.moc"
