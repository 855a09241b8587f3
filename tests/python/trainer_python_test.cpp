// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trainer computes what the installed PyTorch computes now.

#include <QTemporaryDir>
#include <QTest>

#include "tests/agents/trainer_oracle.h"
#include "tests/python/python.h"
#include "tests/support/test_main.h"

using namespace tessera;

class TrainerPythonTest : public QObject {
  Q_OBJECT

 private slots:
  void agreesWithPyTorch() {
    const test::Python python =
        test::FindPython({QStringLiteral("numpy"), QStringLiteral("torch")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    const QTemporaryDir folder;
    const QString failed =
        test::RunScript(python, QStringLiteral("trainer_oracle.py"), {folder.path()});
    QVERIFY2(failed.isEmpty(), qPrintable(failed));
    for (const QString& name : test::OracleCases()) {
      const QString wrong = test::CompareWithOracle(folder.filePath(name + ".json"));
      QVERIFY2(wrong.isEmpty(), qPrintable(name + ": " + wrong));
    }
  }
};
TESSERA_TEST(TrainerPythonTest)
#include "trainer_python_test.moc"
