// SPDX-License-Identifier: Apache-2.0
// What the next `up` takes over from the folder of a stopped cluster.
#include "app/commands/kept_history.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "agents/registrar/measured_rows.h"
#include "app/commands/host_cluster.h"
#include "engine/history/journal.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
namespace fs = std::filesystem;

class KeptHistoryTest : public QObject {
  Q_OBJECT
 private slots:
  // They say nothing about jobs, whose rows must not come back.
  void measurementsOutliveTheCluster() {
    const QTemporaryDir folder;
    const fs::path cluster = folder.path().toStdString(), node = cluster / "n0";
    fs::create_directory(node);
    QVERIFY(app::keptMeasurements(cluster.string()).empty());
    {
      const auto journal = engine::Journal::Open((node / "registrar.db").string());
      VERIFY_OK(journal);
      VERIFY_OK((*journal)->Put(agents::kCalibrationRow, "c"));
      VERIFY_OK((*journal)->Put(agents::kLinksRow, "l"));
      VERIFY_OK((*journal)->Put("job/mini", "?"));
    }
    const auto kept = app::keptMeasurements(cluster.string());
    QCOMPARE(kept.size(), std::size_t{2});
    VERIFY_OK(app::clearClusterFolder(cluster.string(), false));
    QVERIFY(!fs::exists(node / "registrar.db"));
    fs::create_directory(node);
    VERIFY_OK(app::writeMeasurements(node.string(), kept));
    const auto next = engine::Journal::Open((node / "registrar.db").string());
    VERIFY_OK(next);
    const auto rows = (*next)->List("");
    VERIFY_OK(rows);
    QCOMPARE(*rows, (std::vector<std::pair<std::string, std::string>>{
                        {agents::kCalibrationRow, "c"}, {agents::kLinksRow, "l"}}));
  }

  // `down` has ended a cluster of `up --hosts`.
  void theHistoryOfOtherHostsIsNamed() {
    const QTemporaryDir home;
    qputenv("TESSERA_HOME", home.path().toLocal8Bit());
    const QString folder = home.filePath("clusters/lab");
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(!app::historyOnHost("lab"));
    const auto write = [&](const QByteArray& at) {
      QFile file(folder + "/hosts.last.json");
      QByteArray text =
          "{'ssh': 'ssh -p 22', 'hosts': [{'host': 'b', 'node': 1, 'folder': '/x', 'programs': "
          "'/opt'}, {'host': 'lena@a', 'node': 0, 'programs': '/opt', 'folder': '" +
          at + "'}]}";
      text.replace('\'', '"');
      return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    };
    QVERIFY(write("/home/lena/t/clusters/lab/n0"));
    QCOMPARE(app::historyOnHost("lab").value_or(""),
             std::string("its history is on host 'lena@a', in /home/lena/t/clusters/lab/n0: `ssh "
                         "-p 22 lena@a TESSERA_HOME=/home/lena/t /opt/tesseractl history "
                         "--cluster lab` reads it there"));
    QVERIFY(write("/scratch/lab/n0"));
    QCOMPARE(app::historyOnHost("lab").value_or(""),
             std::string("its history is on host 'lena@a', in /scratch/lab/n0: `tessera --history "
                         "/scratch/lab/n0/history.db` shows it there"));
    // The next `up` has another one.
    VERIFY_OK(app::clearClusterFolder(folder.toStdString(), false));
    QVERIFY(!app::historyOnHost("lab"));
  }

  void aDamagedJournalHasNone() {
    const QTemporaryDir folder;
    const fs::path node = fs::path(folder.path().toStdString()) / "n0";
    fs::create_directory(node);
    QFile file(QString::fromStdString((node / "registrar.db").string()));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no database") > 0);
    file.close();
    QVERIFY(app::keptMeasurements(folder.path().toStdString()).empty());
  }
};

TESSERA_TEST_APPLESS(KeptHistoryTest)
#include "kept_history_test.moc"
