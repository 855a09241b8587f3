// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two users on one machine, with clusters and jobs of equal names; and what is left after one of
/// them has stopped a cluster.

#include <QDirIterator>
#include <QFile>
#include <QTest>
#include <memory>

#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("job");
const QString kMesh = QStringLiteral("dp=2,tp=1");

/// Processes whose command line, or whose environment, names `home`.
QStringList ProcessesOf(const QString& home) {
  QStringList found;
  QDirIterator processes(QStringLiteral("/proc"), {QStringLiteral("[0-9]*")}, QDir::Dirs);
  while (processes.hasNext()) {
    const QString folder = processes.next();
    for (const char* name : {"/cmdline", "/environ"}) {
      QFile file(folder + QLatin1String(name));
      if (file.open(QIODevice::ReadOnly) && file.readAll().contains(home.toUtf8())) {
        found << folder;
        break;
      }
    }
  }
  return found;
}

QStringList SocketsIn(const QString& home) {
  QStringList found;
  QDirIterator files(home, QDir::System | QDir::Hidden, QDirIterator::Subdirectories);
  while (files.hasNext()) found << files.next();
  return found;
}

/// Mounts below `home`.
QByteArrayList MountsIn(const QString& home) {
  QByteArrayList found;
  QFile mounts(QStringLiteral("/proc/self/mounts"));
  if (!mounts.open(QIODevice::ReadOnly)) return {"cannot read /proc/self/mounts"};
  for (const QByteArray& line : mounts.readAll().split('\n'))
    if (line.contains(home.toLocal8Bit())) found << line;
  return found;
}

}  // namespace

class E2eUsersTest : public QObject {
  Q_OBJECT

 private slots:
  void clustersOfOneNameStandSideBySide() {
    LocalCluster::Options options;
    options.nodes = 1;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    auto first = std::make_unique<LocalCluster>(options);
    LocalCluster second(options);
    QVERIFY2(first->up().code == 0, first->up().Text());
    QVERIFY2(second.up().code == 0, second.up().Text());
    for (const LocalCluster* cluster : {static_cast<const LocalCluster*>(first.get()),
                                        static_cast<const LocalCluster*>(&second)}) {
      const Outcome start = cluster->StartJob(kJob, kMesh, FirstDevices(2));
      QVERIFY2(start.code == 0, start.Text());
    }
    QVERIFY(first->WaitStep(kJob, 3) && second.WaitStep(kJob, 3));
    const QString home = first->home();
    QVERIFY(!ProcessesOf(home).isEmpty());

    const Outcome down =
        first->Run({QStringLiteral("down"), QStringLiteral("--all"), QStringLiteral("--yes")});
    QVERIFY2(down.code == 0, down.Text());
    QVERIFY(LocalCluster::WaitFor([&] { return ProcessesOf(home).isEmpty(); }, 10));
    QCOMPARE(SocketsIn(home), QStringList());
    QCOMPARE(MountsIn(home), QByteArrayList());
    // History and logs stay; the other user's job has noticed nothing.
    QVERIFY(QFile::exists(home + QStringLiteral("/clusters/t/n0/agent.log")));
    QVERIFY(second.GoesOn(kJob));
  }
};
TESSERA_TEST(E2eUsersTest)
#include "e2e_users_test.moc"
