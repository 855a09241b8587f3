// SPDX-License-Identifier: Apache-2.0
// A module that is missing is a reason to skip a test. One that is installed and fails is not.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/python/python.h"
#include "tests/support/test_main.h"

using namespace tessera;

class FindPythonTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    qputenv("PYTHONPATH", m_dir.path().toUtf8());
    qputenv("PYTHONDONTWRITEBYTECODE", "1");  // the rows write one file after the other
    if (!test::FindPython({QStringLiteral("json")}).program.isEmpty()) return;
    QSKIP("no python3 that has json (packaging/test puts them into the system)");
  }
  void cleanupTestCase() {
    qunsetenv("PYTHONPATH");
    qunsetenv("PYTHONDONTWRITEBYTECODE");
  }

  void whatIsThereIsFound() {
    write("tessera_whole", "");
    const test::Python python = test::FindPython({QStringLiteral("json"),
                                                  QStringLiteral("tessera_whole")});
    QVERIFY2(!python.program.isEmpty(), qPrintable(python.why));
  }

  void whatIsMissingIsSaidToBe() {
    const test::Python python = test::FindPython({QStringLiteral("tessera_absent.part")});
    QVERIFY(python.program.isEmpty());
    QVERIFY2(python.why.startsWith(QStringLiteral("no python3 that has tessera_absent.part (")),
             qPrintable(python.why));
  }

  void whatFailsIsNotMissing_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("an error") << QByteArray("raise RuntimeError('libfoo.so is damaged')")
                              << QStringLiteral("RuntimeError: libfoo.so is damaged");
    QTest::newRow("a dependency") << QByteArray("import tessera_absent")
                                  << QStringLiteral("No module named 'tessera_absent'");
    QTest::newRow("a crash") << QByteArray("import os; os.abort()")
                             << QStringLiteral("it crashes or hangs");
  }
  void whatFailsIsNotMissing() {
    QFETCH(QByteArray, text);
    QFETCH(QString, says);
    write("tessera_broken", text);
    const test::Python python = test::FindPython({QStringLiteral("tessera_broken")});
    QVERIFY(python.program.isEmpty());
    QVERIFY2(python.why.contains(QStringLiteral(" has tessera_broken, but cannot import it: ")) &&
                 python.why.contains(says),
             qPrintable(python.why));
  }

 private:
  void write(const char* module, const QByteArray& text) {
    QFile file(m_dir.filePath(QString::fromLatin1(module) + QStringLiteral(".py")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }

  QTemporaryDir m_dir;
};

TESSERA_TEST(FindPythonTest)
#include "find_python_test.moc"
