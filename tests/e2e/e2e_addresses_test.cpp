// SPDX-License-Identifier: Apache-2.0
// Nodes that are set up by a name or by an IPv6 address.
#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

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
    QTest::newRow("a name") << "localhost" << "127.0.0.1";
    QTest::newRow("IPv6") << "[::1]" << "[::1]";
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
