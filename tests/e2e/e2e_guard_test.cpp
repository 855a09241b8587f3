// SPDX-License-Identifier: Apache-2.0
// A killed test leaves no process and no folder behind. This program is also the killed test: with
// `--be-killed` it starts a cluster and waits.
#include <QCoreApplication>
#include <QDir>
#include <QTest>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "engine/files/whole_file.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using test::LocalCluster;

namespace {

/// Arguments of the processes whose environment names this home.
QStringList RunningIn(const QString& home) {
  const std::string value = "=" + home.toStdString();
  QStringList found;
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto environment = engine::ReadWholeFile(folder.path().string() + "/environ");
    if (!environment || environment->find(value) == std::string::npos) continue;
    const auto command = engine::ReadWholeFile(folder.path().string() + "/cmdline");
    found << QString::fromStdString(command.value_or("")).replace(QChar(), u' ');
  }
  return found;
}

void Say(const QString& text) {
  std::printf("%s\n", qPrintable(text));
  std::fflush(stdout);
}

[[noreturn]] void WaitForTheEnd() {
  for (;;) ::pause();
}

/// "up": waits to be killed while a cluster starts; "job": while a job trains.
void BeKilled(const QString& when) {
  if (when == u"up") {
    const QTemporaryDir home(QStringLiteral("/tmp/tsr.XXXXXX"));
    const test::HomeGuard guard(home.path());
    const auto up = test::StartProgram(QStringLiteral("tesseractl"), {QStringLiteral("up")},
                                       test::EnvironmentWithHome(home.path()));
    up->waitForStarted();
    Say(home.path());
    WaitForTheEnd();
  }
  LocalCluster::Options options;
  options.devices = 1;
  const LocalCluster cluster(options);
  const test::Outcome job =
      cluster.StartJob(QStringLiteral("nano"), QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
  if (job.code != 0) qFatal("%s", job.Text().constData());
  Say(cluster.home());
  WaitForTheEnd();
}

}  // namespace

class E2eGuardTest : public QObject {
  Q_OBJECT

 private slots:
  void aKilledTestLeavesNothing_data() {
    QTest::addColumn<QString>("when");
    QTest::addColumn<int>("least");
    QTest::newRow("while a cluster comes up") << "up" << 1;
    QTest::newRow("while a job trains") << "job" << 6;  // two keepers, agents and ranks
  }
  void aKilledTestLeavesNothing() {
    QFETCH(QString, when);
    QFETCH(int, least);
    QProcess victim;
    victim.start(QCoreApplication::applicationFilePath(), {"--be-killed", when});
    QVERIFY(victim.waitForStarted());
    QVERIFY(LocalCluster::WaitFor([&] { return victim.waitForReadyRead(100); }, 120));
    const QString home = QString::fromUtf8(victim.readAllStandardOutput()).trimmed();
    QVERIFY2(home.startsWith("/tmp/tsr."), qPrintable(home));
    QVERIFY(QDir(home).exists());
    QVERIFY(LocalCluster::WaitFor([&] { return RunningIn(home).size() >= least; }, 20));
    victim.kill();
    QVERIFY(victim.waitForFinished(5000));
    const bool gone = LocalCluster::WaitFor(
        [&] { return RunningIn(home).isEmpty() && !QDir(home).exists(); }, 20);
    QVERIFY2(gone, qPrintable(RunningIn(home).join(u'\n')));
  }

  // A guard that is destroyed kills nothing.
  void aGuardThatIsLetGoDoesNothing() {
    const QTemporaryDir home(QStringLiteral("/tmp/tsr.XXXXXX"));
    QProcess bystander;
    bystander.setEnvironment(test::EnvironmentWithHome(home.path()));
    {
      const test::HomeGuard guard(home.path());
      QVERIFY(guard.is_on());
      bystander.start("sleep", {"60"});
      QVERIFY(bystander.waitForStarted());
    }
    // The guard has ended, so what it did not do it will not do.
    QVERIFY(!bystander.waitForFinished(0));
    QVERIFY(QDir(home.path()).exists());
    bystander.kill();
    QVERIFY(bystander.waitForFinished(5000));
  }
};

TESSERA_TEST_MAIN(argc, argv) {
  const QCoreApplication application(argc, argv);
  const QStringList words = QCoreApplication::arguments();
  if (words.size() == 3 && words[1] == u"--be-killed") BeKilled(words[2]);
  E2eGuardTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "e2e_guard_test.moc"
