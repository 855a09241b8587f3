// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/test_main.h"

using namespace tessera;

/// The package checks metrics by the same rules as the rank library, also without it.
class MetricsPythonTest : public QObject {
  Q_OBJECT

 private slots:
  void namesAndNumbers() {
    const test::Python python = test::FindPython({QStringLiteral("numbers")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    const QString wrong =
        test::RunScript(python, QStringLiteral("metrics_judge.py"),
                        {QStringLiteral(TESSERA_SOURCE_DIR "/agents/python")});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
};

TESSERA_TEST(MetricsPythonTest)
#include "metrics_python_test.moc"
