// SPDX-License-Identifier: Apache-2.0
/// \file
/// `tesseractl data show`: what data sets hold and in which order they are read.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/commands/data.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"

class DataCliTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
  }

  void eachSampleComesOnceAPass() {
    write("a.txt", 1001);
    const QJsonObject shown =
        object({"--data", "a.txt", "--sequence", "10", "--limit", "200", "--seed", "5"});
    QCOMPARE(shown["samples"].toInt(), 100);
    QCOMPARE(shown["parts"].toArray().size(), 1);
    QCOMPARE(shown["parts"].toArray()[0].toObject()["format"].toString(), QStringLiteral("text"));
    std::map<int, std::set<qint64>> seen;
    std::vector<qint64> first, second;
    for (const QJsonValue& value : shown["order"].toArray()) {
      const QJsonObject sample = value.toObject();
      const int pass = sample["pass"].toInt();
      seen[pass].insert(sample["sample"].toInteger());
      (pass == 0 ? first : second).push_back(sample["sample"].toInteger());
    }
    QCOMPARE(seen[0].size(), std::size_t{100});
    QCOMPARE(seen[1].size(), std::size_t{100});
    QVERIFY(first != second);
    // Equal seeds give equal orders, and another seed gives another order.
    const QStringList again = {"--data", "a.txt", "--sequence", "10", "--limit", "200", "--seed"};
    QCOMPARE(object(again + QStringList{"5"}), shown);
    QVERIFY(object(again + QStringList{"6"}) != shown);
  }

  void weightsSayHowOftenAPartComes() {
    write("a.txt", 1001);
    write("b.txt", 501);
    const QJsonObject shown = object(
        {"--data", "0.75:a.txt", "--data", "0.25:b.txt", "--sequence", "10", "--limit", "400"});
    int ofB = 0;
    for (const QJsonValue& sample : shown["order"].toArray()) {
      ofB += sample.toObject()["part"].toInt();
    }
    QCOMPARE(ofB, 100);
    const QByteArray text =
        run({"--data", "0.75:a.txt", "--data", "0.25:b.txt", "--sequence", "10"}).output;
    QVERIFY2(text.contains("75.0 %") && text.contains("25.0 %"), text.constData());
  }

  void recordsThatDoNotFitAreCounted() {
    QFile file(m_home->filePath("a.tfrecord"));  // "hello" and "a much longer one"
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromHex("0500000000000000eab2043e68656c6c6fbb1f1c19"));
    file.write(
        QByteArray::fromHex("11000000000000009d6db52e61206d756368206c6f6e676572206f6e6588e8ae38"));
    file.close();
    const QStringList words = {"--data", "a.tfrecord", "--sequence", "9"};
    const QJsonObject part = object(words)["parts"].toArray()[0].toObject();
    QCOMPARE(part["cut"].toInt(), 1);
    QCOMPARE(part["padded"].toInt(), 1);
    const QByteArray text = run(words).output;
    QVERIFY2(text.contains("part 0: 1 records are longer than 10 tokens and are cut, 1 are shorter "
                           "and are padded with token 0"),
             text.constData());
  }

  void mistakesAreOneLine_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    QTest::newRow("no such file") << QStringList{"--data", "none.txt"} << 1
                                  << QStringLiteral("none.txt' does not exist");
    QTest::newRow("too little") << QStringList{"--data", "a.txt", "--sequence", "4096"} << 1
                                << QStringLiteral("1001 bytes, a sample needs 4097");
    QTest::newRow("a weight for one of two")
        << QStringList{"--data", "0.5:a.txt", "--data", "a.txt"} << 1
        << QStringLiteral("give one to all or to none");
    QTest::newRow("a weight below 0")
        << QStringList{"--data", "-1:a.txt"} << 1 << QStringLiteral("is not above 0");
    QTest::newRow("too many") << QStringList{"--data", "a.txt", "--limit", "2000000"} << 2
                              << QStringLiteral("--limit");
  }
  void mistakesAreOneLine() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, says);
    write("a.txt", 1001);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.output, QByteArray());
    QCOMPARE(outcome.errors.count('\n'), 1);
    QVERIFY2(QString::fromUtf8(outcome.errors).contains(says), outcome.errors.constData());
  }

  void nodesAreToldAbsolutePaths() {
    using tessera::app::absoluteData;
    const std::string here = QDir::currentPath().toStdString();
    QCOMPARE(absoluteData("a/../b.txt"), here + "/b.txt");
    QCOMPARE(absoluteData("0.7:b.txt"), "0.7:" + here + "/b.txt");
    QCOMPARE(absoluteData("/srv/b.txt"), "/srv/b.txt");
    QCOMPARE(absoluteData("https://a.org/b"), "https://a.org/b");
    QCOMPARE(absoluteData("2:https://a.org/b"), "2:https://a.org/b");
  }

 private:
  struct Outcome {
    int code = -1;
    QByteArray output, errors;
  };
  void write(const QString& name, int size) const {
    QFile file(m_home->filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QByteArray bytes;
    for (int i = 0; i < size; ++i) bytes.append(static_cast<char>('a' + i * 7 % 26));
    QCOMPARE(file.write(bytes), qint64{size});
  }
  Outcome run(const QStringList& words) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("TESSERA_HOME"), m_home->filePath(QStringLiteral("home")));
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(m_home->path());
    process.start(QStringLiteral(TESSERA_BIN_DIR "/tesseractl"),
                  QStringList{"data", "show"} + words);
    if (!process.waitForFinished(20'000) || process.exitStatus() != QProcess::NormalExit) return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
  }
  QJsonObject object(const QStringList& words) const {
    const Outcome outcome = run(words + QStringList{"--json"});
    if (outcome.code != 0) qWarning("%s", outcome.errors.constData());
    return QJsonDocument::fromJson(outcome.output).object();
  }

  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(DataCliTest)
#include "data_cli_test.moc"
