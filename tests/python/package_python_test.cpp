// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/test_main.h"

using namespace tessera;

/// The unit tests of the package in tests/python/package.
class PackagePythonTest : public QObject {
  Q_OBJECT

 private slots:
  void unitTests() {
    const test::Python python =
        test::FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed.fsdp")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    const QString wrong = test::RunScript(python, QStringLiteral("package"),
                                          {QStringLiteral(TESSERA_SOURCE_DIR "/agents/python")});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
};

TESSERA_TEST(PackagePythonTest)
#include "package_python_test.moc"
