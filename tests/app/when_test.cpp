// SPDX-License-Identifier: Apache-2.0
#include "app/commands/when.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;

class WhenTest : public QObject {
  Q_OBJECT

 private slots:
  void durations_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<double>("seconds");  // 0: refused
    const auto row = [](const char* text, double seconds) {
      QTest::newRow(text) << QString::fromLatin1(text) << seconds;
    };
    row("90s", 90);
    row("10m", 600);
    row("2h", 7200);
    row("3d", 259200);
    row("1.5h", 5400);
    row("", 0);
    row("10", 0);
    row("m", 0);
    row("-1h", 0);
    row("0s", 0);
    row("10m5s", 0);
    row("1e9d", 0);
    row("nan", 0);
  }
  void durations() {
    QFETCH(QString, text);
    QFETCH(double, seconds);
    const auto parsed = app::parseDuration(text.toStdString());
    QCOMPARE(parsed.has_value(), seconds > 0);
    if (parsed)
      QCOMPARE(*parsed, seconds);
    else
      QVERIFY(parsed.error().message.find("'" + text.toStdString() + "'") != std::string::npos);
  }

  void times() {
    QCOMPARE(*app::parseWhen("2h", 10000), 2800.0);
    QCOMPARE(*app::parseWhen("2026-11-21T04:58:53Z", 0), 1795237133.0);
    QCOMPARE(*app::parseWhen("2026-11-21 04:58Z", 0), 1795237080.0);
    QCOMPARE(*app::parseWhen("2026-11-21Z", 0), 1795219200.0);
    const auto local = app::parseWhen("2026-11-21T04:58:53", 0);
    QVERIFY(local.has_value());
    QVERIFY(std::abs(*local - 1795237133) <= 14 * 3600);
    for (const char* text : {"yesterday", "2026-13-01", "2026-11-21T25:00", "2026-11-21T04:58x"})
      QVERIFY2(!app::parseWhen(text, 0), text);
  }
};

TESSERA_TEST_APPLESS(WhenTest)
#include "when_test.moc"
