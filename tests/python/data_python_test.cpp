// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <random>

#include "engine/data/formats/open_data.h"
#include "engine/data/formats/share_file.h"
#include "engine/data/local_source.h"
#include "engine/files/whole_file.h"
#include "tests/engine/data/data_files.h"
#include "tests/python/python.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;

/// Data sets that Python's libraries write are read sample by sample, and records that we give are
/// read by those libraries.
class DataPythonTest : public QObject {
  Q_OBJECT

  static constexpr std::int64_t kSequence = 16;

  /// \returns what is wrong with a data set, empty if nothing is; its records go to `ours`.
  static QString Compare(const QJsonObject& wanted, const std::string& folder,
                         const std::string& ours) {
    const engine::LocalFiles local;
    const engine::SourceOpener* const openers[] = {&local};
    const std::string path = folder + "/" + wanted[QLatin1String("path")].toString().toStdString();
    const auto mix = engine::OpenData({path}, kSequence, openers, {});
    if (!mix) return QString::fromStdString(mix.error().ToString());
    const QJsonArray rows = wanted[QLatin1String("tokens")].toArray();
    if (mix->num_samples() != rows.size() || rows.isEmpty()) {
      return QStringLiteral("%1 samples for %2").arg(mix->num_samples()).arg(rows.size());
    }
    const engine::Dataset& data = *mix->parts()[0].data;
    std::string records;
    for (qsizetype i = 0; i < rows.size(); ++i) {
      std::vector<std::int32_t> tokens(kSequence + 1);
      if (const auto read = data.ReadTokens(i, tokens); !read) {
        return QString::fromStdString(read.error().ToString());
      }
      QJsonArray got;
      for (const std::int32_t token : tokens) got.append(token);
      if (got != rows[i].toArray()) return QStringLiteral("tokens of sample %1 differ").arg(i);
      const auto record = data.ReadRecord(i);
      if (!record) return QString::fromStdString(record.error().ToString());
      records += test::AsText(*record);
    }
    if (data.format() == engine::DataFormat::kTar) records += test::TarEnd();
    test::WriteBytes(ours, records);
    return WriteShare(*mix, ours);
  }

  /// Writes any samples, some of them twice in a row, as the files that a rank would read, and
  /// which they are to OURS.json. \returns what is wrong, empty if nothing is
  static QString WriteShare(const engine::DataMix& mix, const std::string& ours) {
    static std::mt19937_64 rng(test::Seed());
    std::vector<engine::SampleId> samples;
    QJsonArray order;
    for (int i = 0; i < 20; ++i) {
      const bool again = i > 0 && rng() % 4 == 0;
      samples.push_back(
          again ? samples.back()
                : engine::SampleId{0, static_cast<std::int64_t>(
                                          rng() % static_cast<std::uint64_t>(mix.num_samples()))});
      order.append(static_cast<qint64>(samples.back().sample));
    }
    for (const engine::ShareEnding ending : engine::ShareEndings(mix)) {
      const auto file = engine::MakeShareFile(mix, samples, ending);
      if (!file) return QString::fromStdString(file.error().ToString());
      test::WriteBytes(ours + "-share" + std::string(ToString(ending)), *file);
    }
    test::WriteBytes(ours + ".json", QJsonDocument(order).toJson().toStdString());
    return {};
  }

  static void RoundTrip(const test::Python& python, const QStringList& more) {
    const QString script = QStringLiteral("data_judge.py");
    const QTemporaryDir home;
    const QString folder = home.filePath(QStringLiteral("d"));
    const QString wrong =
        test::RunScript(python, script, QStringList{QStringLiteral("write"), folder} + more);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const auto text = engine::ReadWholeFile(folder.toStdString() + "/expected.json");
    QVERIFY(text.has_value());
    const QJsonArray sets = QJsonDocument::fromJson(QByteArray::fromStdString(*text)).array();
    QCOMPARE(sets.size(), qsizetype{10});
    for (qsizetype i = 0; i < sets.size(); ++i) {
      const QString differs = Compare(sets[i].toObject(), folder.toStdString(),
                                      folder.toStdString() + "/ours-" + std::to_string(i));
      QVERIFY2(differs.isEmpty(), qPrintable(sets[i].toObject()[QLatin1String("path")].toString() +
                                             QStringLiteral(": ") + differs));
    }
    const QString judged =
        test::RunScript(python, script, QStringList{QStringLiteral("check"), folder} + more);
    QVERIFY2(judged.isEmpty(), qPrintable(judged));
  }

 private slots:
  void numpyAndTarfile() {
    const test::Python python = test::FindPython({QStringLiteral("numpy")});
    if (python.program.isEmpty())
      QSKIP(qPrintable(python.why));
    RoundTrip(python, {});
  }
  void packageTfrecord() {
    const test::Python python =
        test::FindPython({QStringLiteral("numpy"), QStringLiteral("tfrecord")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    RoundTrip(python, {QStringLiteral("package")});
  }
};
TESSERA_TEST(DataPythonTest)
#include "data_python_test.moc"
