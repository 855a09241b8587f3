// SPDX-License-Identifier: Apache-2.0
/// \file
/// The catalogue of errors speaks of messages that the programs print, and the guide's page is the
/// catalogue.

#include "app/commands/errors.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <set>

#include "tests/support/test_main.h"

using namespace tessera;

namespace {

QString Read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// All sources with string literals that the compiler joins joined.
QString Sources() {
  QString all;
  for (const char* folder : {"ptc", "engine", "agents", "app"}) {
    QDirIterator files(QStringLiteral(TESSERA_SOURCE_DIR) + u'/' + folder, {"*.cpp"}, QDir::Files,
                       QDirIterator::Subdirectories);
    while (files.hasNext()) all += Read(files.next());
  }
  static const QRegularExpression joint(QStringLiteral("\"\\s*\\n\\s*\""));
  return all.replace(joint, QString());
}

}  // namespace

class ErrorsTest : public QObject {
  Q_OBJECT
 private slots:
  void everyEntryIsAMessageOfTheProgram() {
    const QString sources = Sources();
    for (const app::KnownError& error : app::knownErrors()) {
      // Each literal part of the message, between the {}, is in the sources.
      for (const QString& part : QString::fromStdString(error.match).split(QStringLiteral("{}"))) {
        const QString literal = part.trimmed();
        if (literal.size() < 3) continue;
        QVERIFY2(sources.contains(literal), qPrintable(literal));
      }
      QVERIFY(!error.topic.empty() && error.means.ends_with('.') && error.remedy.ends_with('.'));
    }
  }

  void messagesFindTheirEntry_data() {
    QTest::addColumn<QString>("message");
    QTest::addColumn<QString>("match");
    QTest::newRow("device") << "device n0g1 needs 812 MiB during the move, it has 512 MiB"
                            << "device {} needs {} during the move, it has {}";
    QTest::newRow("with the program's name") << "tesseractl: port in use: tcp://127.0.0.1:40001"
                                             << "port in use: {}";
    QTest::newRow("the longer of two")
        << "device n9g0 does not exist: the cluster has 8 devices on 2 nodes"
        << "device {} does not exist: {}";
    QTest::newRow("heads") << "8 heads of gpt-mini are not divisible by tp = 3"
                           << "{} are not divisible by tp = {}";
    QTest::newRow("unknown") << "the moon is full"
                             << "";
  }
  void messagesFindTheirEntry() {
    QFETCH(QString, message);
    QFETCH(QString, match);
    const auto error = app::explain(message.toStdString());
    QCOMPARE(error ? QString::fromStdString(error->match) : QString(), match);
  }

  void noEntryComesTwice() {
    std::set<std::string> seen;
    for (const app::KnownError& error : app::knownErrors())
      QVERIFY2(seen.insert(error.match).second, error.match.c_str());
    QVERIFY(seen.size() > 20);
  }

  // `tesseractl explain > resources/guide/errors.md` makes it again.
  void pageOfTheGuideIsTheCatalogue() {
    QCOMPARE(Read(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/errors.md")),
             QString::fromStdString(app::errorsPage()));
  }
};
TESSERA_TEST_APPLESS(ErrorsTest)
#include "errors_test.moc"
