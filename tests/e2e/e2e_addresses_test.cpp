// SPDX-License-Identifier: Apache-2.0
// Nodes that are set up by a name or by an IPv6 address.
#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/cluster.h"
#include "tests/support/home_guard.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eAddressesTest : public QObject {
  Q_OBJECT

 private slots:
  void aNodeTrainsAtItsAddress_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("listens");
    QTest::newRow("a name") << "localhost"
                            << "127.0.0.1";
    QTest::newRow("IPv6") << "[::1]"
                          << "[::1]";
  }
  void aNodeTrainsAtItsAddress() {
    QFETCH(QString, host);
    QFETCH(QString, listens);
    if (listens == "[::1]" && !QFile::exists("/proc/net/if_inet6"))
      QSKIP("this machine has no IPv6");
    const QTemporaryDir home("/tmp/tsa.XXXXXX");
    const HomeGuard guard(home.path());
    const auto run = [&](const QStringList& words) {
      return RunProgram("tesseractl", words, EnvironmentWithHome(home.path()), 60);
    };
    const QString config = home.filePath("n0/agent.json"), allowed = home.filePath("n0/allowed/");
    const QString address =
        QStringLiteral("%1:%2").arg(host).arg(QRandomGenerator::global()->bounded(15000, 30000));
    const Outcome setup =
        run({"node", "setup", "--cluster", "lab", "--address", address, "--gpus", "2",
             "--gpu-memory", "64M", "--output", config, "--directory", home.filePath("n0/state")});
    QVERIFY2(setup.code == 0, setup.Text());
    QVERIFY2(setup.output.contains(listens + " is reached from this machine only"),
             qPrintable(setup.output));
    QVERIFY(run({"keys", "new", "lena"}).code == 0);
    QVERIFY(QFile::copy(home.filePath("keys/lena.pub"), allowed + "lena.pub"));
    const Outcome added = run({"profile", "add", "lab", "--registrar", address, "--server-key",
                               allowed + "n0.pub", "--key", home.filePath("keys/lena.key")});
    QVERIFY2(added.code == 0, added.Text());

    const auto agent =
        StartProgram("tessera-agent", {"--config", config}, EnvironmentWithHome(home.path()));
    const auto status = [&] { return run({"status", "--json"}).LastJson(); };
    QVERIFY(Cluster::WaitFor([&] {
      const Json now = status();
      return now.is_object() && !now["nodes"].empty() && now["nodes"][0]["state"] == "alive";
    }));
    const Outcome start =
        run({"job", "start", "gpt-nano", "--mesh", "dp=2", "--devices", "n0g0,n0g1"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(Cluster::WaitFor([&] {
      const Json now = status();
      return now.is_object() && !now["jobs"].empty() && now["jobs"][0]["step"] > 2;
    }));
    const Outcome doctor = run({"doctor", "--json"});
    for (const Json& check : doctor.LastJson()["checks"])
      if (check["name"] == "ports") QCOMPARE(check["verdict"].get<std::string>(), "ok");
    agent->terminate();
    QVERIFY(agent->waitForFinished(20'000));
  }

  // Each holds a stage; then the first stage moves to the other node.
  void twoNodesMeetOverIpv6() {
    if (!QFile::exists("/proc/net/if_inet6")) QSKIP("this machine has no IPv6");
    const QTemporaryDir home("/tmp/tsa.XXXXXX");
    const HomeGuard guard(home.path());
    const auto run = [&](const QStringList& words) {
      return RunProgram("tesseractl", words, EnvironmentWithHome(home.path()), 60);
    };
    const int port = QRandomGenerator::global()->bounded(15000, 30000);
    const auto address = [&](int node) { return QStringLiteral("[::1]:%1").arg(port + 20 * node); };
    const auto path = [&](int node, const QString& file) {
      return home.filePath(QStringLiteral("n%1/%2").arg(node).arg(file));
    };
    for (int node = 0; node < 2; ++node) {
      QStringList words{"node",         "setup",
                        "--cluster",    "lab",
                        "--node",       QString::number(node),
                        "--address",    address(node),
                        "--host",       QStringLiteral("h%1").arg(node),
                        "--gpus",       "2",
                        "--gpu-memory", "64M",
                        "--output",     path(node, "agent.json"),
                        "--directory",  path(node, "state")};
      if (node > 0) {
        words << "--registrar" << address(0) << "--registrar-key" << path(0, "allowed/n0.pub");
      }
      const Outcome setup = run(words);
      QVERIFY2(setup.code == 0, setup.Text());
    }
    QVERIFY(run({"keys", "new", "lena"}).code == 0);
    QVERIFY(QFile::copy(path(0, "allowed/n0.pub"), path(1, "allowed/n0.pub")));
    QVERIFY(QFile::copy(path(1, "allowed/n1.pub"), path(0, "allowed/n1.pub")));
    for (int node = 0; node < 2; ++node) {
      QVERIFY(QFile::copy(home.filePath("keys/lena.pub"), path(node, "allowed/lena.pub")));
    }
    const Outcome added = run({"profile", "add", "lab", "--registrar", address(0), "--server-key",
                               path(0, "allowed/n0.pub"), "--key", home.filePath("keys/lena.key")});
    QVERIFY2(added.code == 0, added.Text());

    const auto start_agent = [&](int node) {
      return StartProgram("tessera-agent", {"--config", path(node, "agent.json")},
                          EnvironmentWithHome(home.path()));
    };
    const auto first = start_agent(0), second = start_agent(1);
    const auto status = [&] { return run({"status", "--json"}).LastJson(); };
    QVERIFY(Cluster::WaitFor([&] {
      const Json now = status();
      if (!now.is_object() || now["nodes"].size() != 2) return false;
      return now["nodes"][0]["state"] == "alive" && now["nodes"][1]["state"] == "alive";
    }));
    const auto trains = [&](std::int64_t after) {
      return Cluster::WaitFor([&] {
        const Json now = status();
        return now.is_object() && !now["jobs"].empty() && now["jobs"][0]["step"] > after;
      });
    };
    const Outcome start =
        run({"job", "start", "gpt-nano", "--mesh", "pp=2", "--devices", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(trains(2));
    const Outcome moved =
        run({"apply", "gpt-nano", "--mesh", "pp=2", "--devices", "n1g0,n1g1", "--yes"});
    QVERIFY2(moved.code == 0, moved.Text());
    QVERIFY(trains(status()["jobs"][0]["step"].get<std::int64_t>()));
    const auto devices = status()["jobs"][0]["devices"].get<std::set<std::string>>();
    QVERIFY(devices == (std::set<std::string>{"n1g0", "n1g1"}));
    for (QProcess* const agent : {second.get(), first.get()}) {
      agent->terminate();
      QVERIFY(agent->waitForFinished(20'000));
    }
  }

  void aNameThatDoesNotExistIsRefused() {
    const QTemporaryDir home("/tmp/tsa.XXXXXX");
    const Outcome setup =
        RunProgram("tesseractl",
                   {"node", "setup", "--cluster", "lab", "--address", "no-such-host.invalid",
                    "--output", home.filePath("agent.json"), "--directory", home.path()},
                   EnvironmentWithHome(home.path()), 60);
    QCOMPARE(setup.code, 2);
    QVERIFY2(setup.SaysInOneLine("tesseractl", "--address: 'no-such-host.invalid': "),
             setup.Text());
    QVERIFY(!QFile::exists(home.filePath("agent.json")));
  }
};

TESSERA_TEST(E2eAddressesTest)
#include "e2e_addresses_test.moc"
