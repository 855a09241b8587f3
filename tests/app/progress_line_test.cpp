// SPDX-License-Identifier: Apache-2.0
// What a long wait writes where stderr is no terminal.
#include "app/commands/progress_line.h"

#include <unistd.h>

#include <QTemporaryFile>
#include <QTest>

#include "tests/support/test_main.h"

using tessera::app::ProgressLine;

class ProgressLineTest : public QObject {
  Q_OBJECT

  /// What `act` writes to stderr, which is a file meanwhile.
  template <typename Act>
  static QByteArray written(const Act& act) {
    QTemporaryFile file;
    if (!file.open()) return "no file";
    std::fflush(stderr);
    const int before = ::dup(STDERR_FILENO);
    ::dup2(file.handle(), STDERR_FILENO);
    act();
    std::fflush(stderr);
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    file.seek(0);
    return file.readAll();
  }

 private slots:
  void aLogGetsPlainLinesAndFewOfThem() {
    const QByteArray lines = written([] {
      ProgressLine line(false, ProgressLine::Elsewhere::kLines);
      line.show("opening data: n0 is finding its files");
      line.show("opening data: n0 1 %");  // within the pause between two lines
      line.clear();
    });
    QCOMPARE(lines, QByteArray("opening data: n0 is finding its files\n"));
  }

  void whatOnlyMovesIsForTerminals() {
    QCOMPARE(written([] { ProgressLine(false).show("making memory"); }), QByteArray());
  }

  void quietIsQuiet() {
    QCOMPARE(
        written([] { ProgressLine(true, ProgressLine::Elsewhere::kLines).show("opening data"); }),
        QByteArray());
  }
};

TESSERA_TEST_APPLESS(ProgressLineTest)
#include "progress_line_test.moc"
