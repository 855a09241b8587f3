// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trainer computes the same values as PyTorch: golden values of
/// tests/python/trainer_oracle.py, which has its own model, random stream and optimizer.

#include "tests/agents/trainer_oracle.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/folders.h"
#include "tests/support/test_main.h"

using namespace tessera;

class TrainerOracleTest : public QObject {
  Q_OBJECT

  static QString golden(const QString& name) {
    return QStringLiteral(TESSERA_SOURCE_DIR "/tests/agents/trainer_oracle/") + name + ".json";
  }

 private slots:
  void agreesWithPyTorch_data() {
    QTest::addColumn<QString>("name");
    for (const QString& name : test::OracleCases()) QTest::addRow("%s", qPrintable(name)) << name;
  }
  void agreesWithPyTorch() {
    QFETCH(QString, name);
    const QString wrong = test::CompareWithOracle(golden(name));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  // The comparison detects a change of each kind of value, and a trainer that computes another
  // model.
  void differencesAreFound_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("finds");
    const auto row = [](const char* name, const char* from, const char* to, const char* finds) {
      QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QString(finds);
    };
    row("another form of GELU", "\"tanh\"", "\"erf\"", "gradient");
    row("another head", "\"tied_head\":true", "\"tied_head\":false", "loss of step 1");
    row("another seed", "\"seed\":11", "\"seed\":12", "loss of step 1");
    row("another beta", "\"beta2\":0.95", "\"beta2\":0.9", "loss of step 3");
    row("no decay", "\"weight_decay\":0.1", "\"weight_decay\":0.0", "updated");
    row("another rate", "\"learning_rate\":0.001", "\"learning_rate\":0.00101", "updated");
  }
  void differencesAreFound() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, finds);
    QFile file(golden("tied"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray text = file.readAll();
    QCOMPARE(text.count(from), qsizetype{1});
    const QTemporaryDir folder;
    QFile changed(folder.filePath("changed.json"));
    QVERIFY(changed.open(QIODevice::WriteOnly));
    changed.write(text.replace(from, to));
    changed.close();
    const QString wrong = test::CompareWithOracle(changed.fileName());
    QVERIFY2(wrong.contains(finds), qPrintable(wrong));
  }
};
TESSERA_TEST(TrainerOracleTest)
#include "trainer_oracle_test.moc"
