// SPDX-License-Identifier: Apache-2.0
// What the next `up` takes over from the folder of a stopped cluster.
#include "app/commands/kept_history.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "agents/registrar/measured_rows.h"
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
