// SPDX-License-Identifier: Apache-2.0
#include "app/commands/units.h"

#include <QTest>
#include <limits>

#include "app/commands/sample_text.h"
#include "engine/cluster/certificate.h"
#include "tests/support/test_main.h"

using namespace tessera::app;

class UnitsTest : public QObject {
  Q_OBJECT

 private slots:
  void memoryIsBinary_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("bytes");  // -1: refused
    QTest::newRow("bare") << "4096" << qint64{4096};
    QTest::newRow("K") << "64K" << qint64{65536};
    QTest::newRow("M") << "512M" << qint64{536870912};
    QTest::newRow("fraction") << "1.5G" << qint64{1610612736};
    QTest::newRow("MiB") << "2MiB" << qint64{2097152};
    QTest::newRow("decimal unit") << "512MB" << qint64{-1};
    QTest::newRow("no number") << "M" << qint64{-1};
    QTest::newRow("zero") << "0M" << qint64{-1};
    QTest::newRow("negative") << "-1M" << qint64{-1};
    QTest::newRow("blank") << "1 M" << qint64{-1};
    QTest::newRow("too much") << "99999999T" << qint64{-1};
    QTest::newRow("not a number") << "nanM" << qint64{-1};
    QTest::newRow("empty") << "" << qint64{-1};
  }
  void memoryIsBinary() {
    QFETCH(QString, text);
    QFETCH(qint64, bytes);
    const auto parsed = parseMemory(text.toStdString());
    QCOMPARE(parsed.has_value(), bytes >= 0);
    if (parsed) QCOMPARE(qint64{*parsed}, bytes);
    if (!parsed) QVERIFY(parsed.error().message.find("'" + text.toStdString() + "'") == 0);
  }

  void ratesAreDecimal() {
    QCOMPARE(*parseRate("100MB/s"), std::int64_t{100'000'000});
    QCOMPARE(*parseRate("1.5GB/s"), std::int64_t{1'500'000'000});
    QVERIFY(!parseRate("100M"));
    QVERIFY(!parseRate("100MiB/s"));
    QVERIFY(!parseRate("fast"));
  }

  void ratesAndCountsAreShort() {
    const auto rate = [](double value) { return QString::fromStdString(formatRate(value)); };
    QCOMPARE(rate(6e9), QStringLiteral("6 GB/s"));
    QCOMPARE(rate(1.25e10), QStringLiteral("12.5 GB/s"));
    QCOMPARE(rate(999), QStringLiteral("999 B/s"));
    const auto count = [](std::int64_t value) {
      return QString::fromStdString(formatCount(value));
    };
    QCOMPARE(count(812), QStringLiteral("812"));
    QCOMPARE(count(124'439'808), QStringLiteral("124.4 M"));
    QCOMPARE(count(405'853'388'800), QStringLiteral("405.9 B"));
  }

  void gapsAreSaidInPerCent() {
    tessera::engine::PlanCertificate certificate;
    certificate.direct_seconds = 10;
    certificate.port_seconds = 10.004;
    QCOMPARE(QString::fromStdString(tessera::engine::GapText(certificate)),
             QStringLiteral("bound"));
    certificate.port_seconds = 10.04;
    QCOMPARE(QString::fromStdString(tessera::engine::GapText(certificate)),
             QStringLiteral("bound +0.4 %"));
    // With relay a plan may be below the bound of plans without; then there is another.
    certificate.relayed_seconds = 4;
    certificate.port_seconds = 5;
    QCOMPARE(QString::fromStdString(tessera::engine::GapText(certificate)),
             QStringLiteral("relay bound +25.0 %"));
    certificate.port_seconds = 4.0001;
    QCOMPARE(QString::fromStdString(tessera::engine::GapText(certificate)),
             QStringLiteral("relay bound"));
  }

  void namesAreChecked_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("good");
    QTest::newRow("plain") << "local" << true;
    QTest::newRow("digits and dashes") << "3-gpt-mini" << true;
    QTest::newRow("63 letters") << QString(63, u'a') << true;
    QTest::newRow("64 letters") << QString(64, u'a') << false;
    QTest::newRow("leading dash") << "-a" << false;
    QTest::newRow("capital") << "Local" << false;
    QTest::newRow("a way out of the folder") << "../x" << false;
    QTest::newRow("empty") << "" << false;
  }
  void namesAreChecked() {
    QFETCH(QString, name);
    QFETCH(bool, good);
    QCOMPARE(checkName("job", name.toStdString()).has_value(), good);
  }

  void aNameThatIsNearlyOneIsSuggested_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("meant");
    QTest::newRow("underscore") << "megatron_files"
                                << "megatron-files";
    QTest::newRow("capitals") << "Lab A"
                              << "lab-a";
    QTest::newRow("point") << "v1.2"
                           << "v1-2";
    QTest::newRow("leading underscore") << "_x"
                                        << "";
    QTest::newRow("a way out of the folder") << "../x"
                                             << "";
    QTest::newRow("64 letters") << QString(64, u'A') << "";
    QTest::newRow("empty") << ""
                           << "";
  }
  void aNameThatIsNearlyOneIsSuggested() {
    QFETCH(QString, name);
    QFETCH(QString, meant);
    const auto refused = checkName("job", name.toStdString());
    QVERIFY(!refused);
    const QString text = QString::fromStdString(refused.error().message);
    QCOMPARE(text.section(QStringLiteral("; did you mean "), 1),
             meant.isEmpty() ? QString() : meant + u'?');
  }

  void sizesAndTimesAsText() {
    QCOMPARE(formatBytes(0), std::string("0 B"));
    QCOMPARE(formatBytes(1023), std::string("1023 B"));
    QCOMPARE(formatBytes(1536), std::string("1.5 KiB"));
    QCOMPARE(formatBytes(536870912), std::string("512.0 MiB"));
    QCOMPARE(formatSeconds(0.0124), std::string("12.4 ms"));
    QCOMPARE(formatSeconds(3.214), std::string("3.21 s"));
    QCOMPARE(formatSeconds(125), std::string("2 min 05 s"));
    QCOMPARE(formatSpan(0.4), std::string("0 s"));
    QCOMPARE(formatSpan(59.4), std::string("59 s"));
    QCOMPARE(formatSpan(125), std::string("2 min"));
    QCOMPARE(formatSpan(2 * 3600 + 300), std::string("2 h 05 min"));
    QCOMPARE(formatSpan(2 * 86400 + 4 * 3600), std::string("2 d 4 h"));
  }

  void aRateThatWasNotMeasuredIsADash() {
    tessera::engine::Sample sample;
    sample.step = 12;
    sample.loss = 2.314;
    sample.grad_norm = 0.812;
    sample.tokens_per_second = 5800;
    sample.metrics["accuracy"] = 0.5;
    const auto behind_the_time = [&] {
      const std::string line = sampleText(sample);
      return line.substr(line.find("  step"));
    };
    QCOMPARE(behind_the_time(),
             std::string("  step     12  loss  2.314000  grad norm  0.812000      5800 tokens/s  "
                         "accuracy 0.5"));
    sample.tokens_per_second = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(behind_the_time(),
             std::string("  step     12  loss  2.314000  grad norm  0.812000         - tokens/s  "
                         "accuracy 0.5"));
  }

  void tableColumnsAlign() {
    QCOMPARE(formatTable({{"name", "used"}, {"n0g0", "1 B"}, {"n0", "512 B"}, {"x"}}, {1}),
             std::string("name   used\n"
                         "n0g0    1 B\n"
                         "n0    512 B\n"
                         "x\n"));
  }
};

TESSERA_TEST_APPLESS(UnitsTest)
#include "units_test.moc"
