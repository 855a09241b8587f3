// SPDX-License-Identifier: Apache-2.0
// The samples of a job as files of a real mount: whole batches on any mesh, and errors for missing
// data. Skipped if this user may not mount.
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("reads");
constexpr qsizetype kSequence = 64;  // gpt-nano's
constexpr int kBatch = 50;
}  // namespace

class E2eSamplesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.devices = 2;
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome mounted = m_cluster->Run({"mount", m_mount.path()});
    if (mounted.code != 0) QSKIP(mounted.Text());
    m_mounted = true;
    // Windows of it all differ: each holds a number of its own.
    for (int i = 0; m_text.size() < 60 * kSequence + 1; ++i) {
      m_text += QByteArray::number(i).rightJustified(8, '.');
    }
    QFile file(m_file);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(m_text) == m_text.size());
    file.close();
    const Outcome started = m_cluster->Run(
        {"job", "start", "gpt-nano", "--name", kJob, "--mesh", "dp=3", "--devices",
         "n0g0,n0g1,n1g0", "--global-batch", QString::number(kBatch), "--data", m_file},
        160);
    QVERIFY2(started.code == 0, started.Text());
  }
  void cleanupTestCase() {
    if (m_mounted) QVERIFY(m_cluster->Run({"unmount", m_mount.path()}).code == 0);
    m_cluster.reset();
  }

  void theComingStepsAreListed() {
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    QCOMPARE(ranks(), (QStringList{"0", "1", "2"}));
    const qint64 before = m_cluster->Step(kJob);
    const QStringList names = QDir(path("data/1")).entryList(QDir::Files, QDir::Name);
    const qint64 after = m_cluster->Step(kJob);
    QCOMPARE(names.size(), qsizetype{64});
    const qint64 first = names.first().chopped(4).toLongLong();
    // What the tree knows of steps may be a moment old.
    QVERIFY2(before - 50 <= first && first <= after, qPrintable(names.first()));
  }

  // A pass is 60 samples, so that a batch of 50 begins in one pass and ends in the next.
  void aBatchIsTheSameOnEveryMesh() {
    QList<QByteArray> batches;
    for (int step = 1000; step < 1012; ++step) batches.append(batchOf(step));
    for (int step = 0; step < 12; ++step) {
      QCOMPARE(batches[step].size(), kBatch * (kSequence + 1));
      QCOMPARE(QFile(name(0, 1000 + step)).size(), 17 * (kSequence + 1));
      QCOMPARE(QFile(name(2, 1000 + step)).size(), 16 * (kSequence + 1));
    }
    QVERIFY(eachOnceAPass(batches));

    const QString open = name(2, 1000);
    QFile held(open);
    QVERIFY(held.open(QIODevice::ReadOnly));
    const auto done =
        m_cluster->Apply(kJob, QStringLiteral("dp=2,tp=2"), QStringLiteral("n0g0,n0g1,n1g0,n1g1"));
    QVERIFY(!done.is_null());
    QTRY_COMPARE_WITH_TIMEOUT(ranks(), (QStringList{"0", "1"}), 5000);
    for (int step = 0; step < 12; ++step) QCOMPARE(batchOf(1000 + step), batches[step]);
    QCOMPARE(QFile(name(0, 1000)).size(), 25 * (kSequence + 1));
    QVERIFY(!QFile::exists(open));
    QCOMPARE(held.readAll(), batches[0].last(16 * (kSequence + 1)));
  }

  void dataThatAreGoneAreErrorsOfTheirFilesOnly() {
    QVERIFY(QFile::resize(m_file, 10));
    QFile samples(name(0, 2000));
    QVERIFY(!samples.open(QIODevice::ReadOnly));
    QVERIFY2(samples.errorString().contains("nput/output error"),
             qPrintable(samples.errorString()));
    QFile step(path("step"));
    QVERIFY(step.open(QIODevice::ReadOnly));
    QVERIFY(step.readAll().toInt() > 0);
    const QDir logs(m_cluster->home() + "/mounts");
    QFile log(logs.filePath(logs.entryList({"*.log"}, QDir::Files).value(0)));
    QVERIFY(log.open(QIODevice::ReadOnly));
    const QByteArray lines = log.readAll();
    QVERIFY2(lines.contains("data file '" + m_file.toUtf8() + "' at byte "), lines);
  }

 private:
  QString path(const QString& name) const { return m_mount.path() + "/jobs/" + kJob + "/" + name; }
  QString name(int rank, int step) const {
    return path(QStringLiteral("data/%1/%2.txt").arg(rank).arg(step, 8, 10, QLatin1Char('0')));
  }
  QStringList ranks() const {
    return QDir(path("data")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  }
  /// The samples of all ranks in a step.
  QByteArray batchOf(int step) const {
    QByteArray all;
    for (const QString& rank : ranks()) {
      QFile file(name(rank.toInt(), step));
      if (!file.open(QIODevice::ReadOnly)) return file.errorString().toUtf8();
      all += file.readAll();
    }
    return all;
  }
  /// Whether the windows are those of the text, each once per pass.
  bool eachOnceAPass(const QList<QByteArray>& batches) const {
    const QByteArray all = batches.join();
    const qint64 passed = 1000 * kBatch % 60;  // of the pass in which the first begins
    std::set<qsizetype> pass;
    for (qsizetype i = 0; i < all.size() / (kSequence + 1); ++i) {
      if ((passed + i) % 60 == 0) pass.clear();
      const qsizetype at = m_text.indexOf(all.mid(i * (kSequence + 1), kSequence + 1));
      if (at < 0 || at % kSequence != 0 || !pass.insert(at).second) return false;
    }
    return true;
  }

  QTemporaryDir m_folder;
  QTemporaryDir m_mount;
  const QString m_file = m_folder.filePath("text");
  QByteArray m_text;
  std::unique_ptr<LocalCluster> m_cluster;
  bool m_mounted = false;
};

TESSERA_TEST(E2eSamplesTest)
#include "e2e_samples_test.moc"
