// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/line_splitter.h"

#include <QTest>
#include <string>
#include <vector>

#include "tests/support/test_main.h"

using tessera::agents::LineSplitter;
using Lines = std::vector<std::string>;
using std::chrono::seconds;

namespace {
// One line per call, at a given time.
struct Sink {
  LineSplitter splitter;
  Lines lines;
  LineSplitter::Clock::time_point now{seconds(1000)};
  void Add(const std::string& bytes) {
    splitter.Add(bytes, now, [this](std::string line) { lines.push_back(std::move(line)); });
  }
  void Flush() {
    splitter.Flush([this](std::string line) { lines.push_back(std::move(line)); });
  }
};
}  // namespace

class LineSplitterTest : public QObject {
  Q_OBJECT
 private slots:
  void linesComeWhole() {
    Sink sink;
    sink.Add("one\ntw");
    QCOMPARE(sink.lines, (Lines{"one"}));
    sink.Add("o\r\n\nthree");
    QCOMPARE(sink.lines, (Lines{"one", "two", ""}));
    sink.Flush();
    QCOMPARE(sink.lines, (Lines{"one", "two", "", "three"}));
    sink.Flush();
    QCOMPARE(sink.lines.size(), 4U);
  }

  void longLinesAreCut() {
    Sink sink;
    for (int i = 0; i < 3; ++i) sink.Add(std::string(3000, 'x'));
    sink.Add("\nnext\n");
    QCOMPARE(sink.lines, (Lines{std::string(LineSplitter::kMaxLineBytes, 'x') + "…", "next"}));
  }

  void bytesBecomePrintable() {
    Sink sink;
    sink.Add(std::string("a\tb\x1b[1m\x00z \xc3\xa9 \xff\n", 14));
    sink.Add("\n");
    QCOMPARE(sink.lines.front(), std::string("a b?[1m?z \xc3\xa9 \xef\xbf\xbd"));
  }

  void aFloodIsCountedNotPassedOn() {
    Sink sink;
    for (int i = 0; i < LineSplitter::kBurst + 250; ++i) sink.Add("x\n");
    QCOMPARE(static_cast<int>(sink.lines.size()), LineSplitter::kBurst);
    sink.now += seconds(1);
    sink.Add("later\n");
    QCOMPARE(sink.lines[LineSplitter::kBurst], std::string("(250 lines dropped)"));
    QCOMPARE(sink.lines.back(), std::string("later"));
    for (int i = 0; i < 1000; ++i) sink.Add("y\n");
    QCOMPARE(static_cast<int>(sink.lines.size()),
             LineSplitter::kBurst + LineSplitter::kLinesPerSecond + 1);
    sink.Flush();
    QCOMPARE(sink.lines.back(), std::string("(901 lines dropped)"));
  }
};
TESSERA_TEST_APPLESS(LineSplitterTest)
#include "line_splitter_test.moc"
