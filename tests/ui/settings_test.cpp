// SPDX-License-Identifier: Apache-2.0
#include "ui/settings/settings.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <memory>
#include <set>

#include "tests/support/test_main.h"

using namespace tessera;
using ui::Setting;
using ui::Settings;

class SettingsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_file = m_folder->filePath(QStringLiteral("panel.ini"));
  }

  void tableIsInOrder() {
    std::set<QString> keys;
    for (std::size_t i = 0; i < ui::settingTable().size(); ++i) {
      const ui::SettingSpec& spec = ui::settingTable()[i];
      QCOMPARE(static_cast<std::size_t>(spec.setting), i);
      QVERIFY2(keys.insert(spec.key).second, qPrintable(spec.key));
      QVERIFY2(spec.key.count(QLatin1Char('/')) == 1, qPrintable(spec.key));
      if (spec.fallback.typeId() == QMetaType::Int) {
        QVERIFY(spec.least <= spec.fallback.toInt() && spec.fallback.toInt() <= spec.most);
      } else if (spec.fallback.typeId() == QMetaType::QString) {
        QVERIFY(spec.choices.contains(spec.fallback.toString()));
      }
    }
  }

  void valuesSurviveARestart() {
    {
      Settings settings(m_file);
      QVERIFY(settings.notice().isEmpty());
      settings.set(Setting::Theme, QStringLiteral("dark"));
      settings.set(Setting::Countdown, 7);
      settings.set(Setting::ReduceMotion, true);
      settings.setEntry(QStringLiteral("shortcuts/plan.apply"),
                        QStringLiteral("Ctrl+\\; two\nlines\r"));
      settings.setBlob(QStringLiteral("layout/docks"), QByteArray("\0\xff\n", 3));
    }
    const Settings settings(m_file);
    QCOMPARE(settings.text(Setting::Theme), QStringLiteral("dark"));
    QCOMPARE(settings.number(Setting::Countdown), 7);
    QVERIFY(settings.flag(Setting::ReduceMotion));
    QCOMPARE(settings.entry(QStringLiteral("shortcuts/plan.apply")),
             QStringLiteral("Ctrl+\\; two\nlines\r"));
    QCOMPARE(settings.blob(QStringLiteral("layout/docks")), QByteArray("\0\xff\n", 3));
    QCOMPARE(QFile(m_file).permissions() & (QFile::ReadGroup | QFile::ReadOther),
             QFile::Permissions());
  }

  void limitsHold() {
    Settings settings;
    QSignalSpy changed(&settings, &Settings::changed);
    settings.set(Setting::Countdown, 1000);
    QCOMPARE(settings.number(Setting::Countdown), 30);
    settings.set(Setting::Countdown, -5);
    QCOMPARE(settings.number(Setting::Countdown), 1);
    settings.set(Setting::Theme, QStringLiteral("pink"));
    QCOMPARE(settings.text(Setting::Theme), QStringLiteral("system"));
    QCOMPARE(changed.count(), 2);
    settings.set(Setting::Countdown, 1);
    QCOMPARE(changed.count(), 2);
    settings.reset(Setting::Countdown);
    QCOMPARE(settings.number(Setting::Countdown), 3);
  }

  void valuesByHandAreRead_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("countdown");
    QTest::newRow("good") << QByteArray("countdown_seconds=9") << 9;
    QTest::newRow("beyond the limit") << QByteArray("countdown_seconds=99") << 30;
    QTest::newRow("no number") << QByteArray("countdown_seconds=soon") << 3;
    QTest::newRow("empty") << QByteArray("countdown_seconds=") << 3;
    QTest::newRow("beyond int") << QByteArray("countdown_seconds=99999999999") << 3;
  }
  void valuesByHandAreRead() {
    QFETCH(QByteArray, line);
    write("; tessera panel settings 1\n[safety]\n" + line + "\n[end]\n");
    const Settings settings(m_file);
    QVERIFY(settings.notice().isEmpty());
    QTEST(settings.number(Setting::Countdown), "countdown");
    QTEST(Settings::peek(m_file, Setting::Countdown).toInt(), "countdown");
  }

  void damagedFilesAreKept_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
    const QByteArray first = "; tessera panel settings 1\n";
    QTest::newRow("empty") << QByteArray() << QStringLiteral("line 1");
    QTest::newRow("other text") << QByteArray("hello\n") << QStringLiteral("line 1");
    QTest::newRow("newer") << QByteArray("; tessera panel settings 2\n[end]\n")
                           << QStringLiteral("line 1");
    QTest::newRow("cut at a line") << first + "[a]\nb=c\n" << QStringLiteral("is incomplete");
    QTest::newRow("cut in a line") << first + "[a]\nb" << QStringLiteral("line 3");
    QTest::newRow("no section") << first + "b=c\n[end]\n" << QStringLiteral("line 2");
    QTest::newRow("bad escape") << first + "[a]\nb=\\x\n[end]\n" << QStringLiteral("line 3");
    QTest::newRow("not text") << first + QByteArray("[a]\nb=\xff\xfe\n[end]\n")
                              << QStringLiteral("UTF-8");
    QTest::newRow("large") << first + QByteArray(Settings::kMaxBytes, ';')
                           << QStringLiteral("1 MiB");
  }
  void damagedFilesAreKept() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    write(bytes);
    Settings settings(m_file);
    QVERIFY2(settings.notice().contains(words), qPrintable(settings.notice()));
    QVERIFY(settings.notice().contains(m_file + QStringLiteral(".bad")));
    QCOMPARE(settings.number(Setting::Countdown), 3);
    QFile bad(m_file + QStringLiteral(".bad"));
    QVERIFY(bad.open(QIODevice::ReadOnly));
    QCOMPARE(bad.readAll(), bytes);
    // The next start is an ordinary one.
    settings.set(Setting::Countdown, 4);
    QVERIFY(settings.save());
    const Settings again(m_file);
    QVERIFY(again.notice().isEmpty());
    QCOMPARE(again.number(Setting::Countdown), 4);
  }

  /// Every cut of a good file is noticed.
  void everyCutIsNoticed() {
    const QByteArray whole = ui::printSettings(
        {{QStringLiteral("a/b"), QStringLiteral("c")}, {QStringLiteral("d/e"), QString()}});
    for (qsizetype length = 0; length + 1 < whole.size(); ++length) {
      QVERIFY2(!ui::parseSettings(whole.left(length)), whole.left(length).constData());
    }
    QVERIFY(ui::parseSettings(whole));
  }

  void changesAreOnDiskAfterTwoSeconds() {
    Settings settings(m_file);
    settings.set(Setting::Countdown, 5);
    QTest::qWait(Settings::kSaveDelayMs / 2);
    QTimer fromTheSecond;
    fromTheSecond.setSingleShot(true);
    fromTheSecond.start(Settings::kSaveDelayMs);
    settings.set(Setting::Relock, 12);  // does not delay the save
    QVERIFY(!settings.isSaved());
    QTRY_VERIFY_WITH_TIMEOUT(settings.isSaved(), 10 * Settings::kSaveDelayMs);
    QVERIFY(fromTheSecond.isActive());
    QCOMPARE(Settings::peek(m_file, Setting::Countdown).toInt(), 5);
    QCOMPARE(Settings::peek(m_file, Setting::Relock).toInt(), 12);
  }

  /// A process that is killed while it writes leaves the old file or the new one.
  void killDuringSaveLeavesAWholeFile() {
    {
      Settings settings(m_file);
      settings.setEntry(QStringLiteral("layout/docks"), QString(20'000, QLatin1Char('x')));
      settings.set(Setting::Relock, 77);
    }
    for (int round = 0; round < 25; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        Settings settings(m_file);
        for (int i = 0;; ++i) {
          settings.set(Setting::Countdown, 1 + i % 30);
          (void)settings.save();
        }
      }
      QVERIFY(child > 0);
      QTest::qSleep(2 + round);
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      const Settings settings(m_file);
      QVERIFY2(settings.notice().isEmpty(), qPrintable(settings.notice()));
      QCOMPARE(settings.number(Setting::Relock), 77);
    }
  }

  void aFolderThatCannotBeWrittenIsSaid() {
    Settings settings(QStringLiteral("/proc/no/such/panel.ini"));
    settings.set(Setting::Countdown, 5);
    const auto status = settings.save();
    QVERIFY(!status);
    QVERIFY(status.error().message.find("/proc/no/such/panel.ini") != std::string::npos);
  }

 private:
  void write(const QByteArray& bytes) {
    QFile file(m_file);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  QString m_file;
};

TESSERA_TEST(SettingsTest)
#include "settings_test.moc"
