// SPDX-License-Identifier: Apache-2.0
/// \file
/// The catalogue of errors speaks of messages that the programs print, its German texts fit it, and
/// the guide's pages are the catalogue.

#include "app/commands/errors.h"

#include <QCryptographicHash>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QRegularExpression>
#include <QTest>
#include <set>

#include "tests/folders.h"
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

const QString kCatalogue = QStringLiteral(TESSERA_SOURCE_DIR "/resources/errors/catalogue.json");
const QString kGermanCatalogue =
    QStringLiteral(TESSERA_SOURCE_DIR "/resources/errors/catalogue.de.json");

/// What packaging/guide-hash prints of a file.
QString HashOf(const QString& path) {
  return QString::fromLatin1(
      QCryptographicHash::hash(Read(path).toUtf8(), QCryptographicHash::Sha256).toHex().left(12));
}

/// Names of options, commands and files: what a translation keeps, sorted.
QStringList CodeOf(const QString& text) {
  static const QRegularExpression code(QStringLiteral("`[^`]+`"));
  QStringList found;
  for (auto it = code.globalMatch(text); it.hasNext();) found << it.next().captured();
  found.sort();
  return found;
}

/// What is wrong with the German texts of a catalogue; empty: nothing.
QStringList GermanProblems(const QJsonArray& english, const QJsonArray& german,
                           const QString& hash) {
  QStringList problems;
  QMap<QString, QJsonObject> texts;
  for (const QJsonValue& value : german) {
    const QJsonObject entry = value.toObject();
    const QString key =
        entry.contains(QStringLiteral("of"))
            ? QStringLiteral("of")
            : entry[entry.contains(QStringLiteral("topic")) ? QStringLiteral("topic")
                                                            : QStringLiteral("match")]
                  .toString();
    if (texts.contains(key)) problems << QStringLiteral("twice: ") + key;
    texts[key] = entry;
  }
  if (texts.take(QStringLiteral("of"))[QStringLiteral("of")].toString() !=
      QStringLiteral("catalogue.json ") + hash) {
    problems << QStringLiteral(
        "catalogue.json has changed: when its German texts fit, run "
        "packaging/guide-hash --write catalogue.json");
  }
  for (const QJsonValue& value : english) {
    const QJsonObject entry = value.toObject();
    const bool isTopic = entry.contains(QStringLiteral("topic"));
    const QString key =
        entry[isTopic ? QStringLiteral("topic") : QStringLiteral("match")].toString();
    if (!texts.contains(key)) {
      problems << QStringLiteral("no German text: ") + key;
      continue;
    }
    const QJsonObject text = texts.take(key);
    const auto both = [](const QJsonObject& each) {
      return QString(each[QStringLiteral("means")].toString() + u' ' +
                     each[QStringLiteral("do")].toString());
    };
    if (isTopic) {
      if (text[QStringLiteral("text")].toString().isEmpty())
        problems << QStringLiteral("empty: ") + key;
    } else if (!text[QStringLiteral("means")].toString().endsWith(u'.') ||
               !text[QStringLiteral("do")].toString().endsWith(u'.')) {
      problems << QStringLiteral("no sentence: ") + key;
    } else if (CodeOf(both(entry)) != CodeOf(both(text))) {
      problems << QStringLiteral("other names in `…`: ") + key;
    } else if (const QString says = text[QStringLiteral("says")].toString();
               !says.isEmpty() && says.count(u'…') != key.count(QStringLiteral("{}"))) {
      problems << QStringLiteral("other placeholders: ") + key;
    }
  }
  for (const QString& key : texts.keys()) problems << QStringLiteral("no such entry: ") + key;
  return problems;
}

QJsonArray ParseArray(const QByteArray& text) { return QJsonDocument::fromJson(text).array(); }

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
    QTest::newRow("of a node that has not returned yet")
        << "device n1g0 cannot be used yet: n1 has not registered since the registrar's agent "
           "started; try again when `tesseractl status` lists it as alive"
        << "device {} cannot be used yet: {} has not registered since the registrar's agent "
           "started";
    QTest::newRow("heads") << "8 heads of gpt-mini are not divisible by tp = 3"
                           << "{} are not divisible by tp = {}";
    QTest::newRow("of a German panel")
        << "GPU n0g1 braucht während der Änderung 812 MiB, sie hat 512 MiB"
        << "device {} needs {} during the move, it has {}";
    QTest::newRow("of a node that is away") << "cannot send to n1: no route to the peer"
                                            << "no route to the peer";
    QTest::newRow("of a lost state")
        << "n1 was lost; it cannot continue: 12 MiB of its state have no live copy, and there is "
           "no snapshot and no checkpoint; what is left of it is kept"
        << "{} of its state have no live copy, and there is no snapshot and no checkpoint";
    QTest::newRow("of a lost table")
        << "n0, n1 hold job 'nano' (epoch 2) that this registrar does not know: `tesseractl "
           "registrar rebuild` restores the job table from the nodes"
        << "job '{}' (epoch {}) that this registrar does not know: {}";
    QTest::newRow("of an old table")
        << "n0 holds job 'nano' at epoch 5, but this registrar has another or an older row, of "
           "epoch 3: `tesseractl registrar rebuild` restores the job table from the nodes"
        << "job '{}' at epoch {}, but this registrar has another or an older row, of epoch {}: {}";
    QTest::newRow("of a rebuild")
        << "not restored: n1 holds a part of job 'nano' and is not there: start it, or give it up "
           "with `tesseractl node give-up n1`, and rebuild again"
        << "n{} {} and is not there: start it, or give it up with `tesseractl node give-up n{}`, "
           "and rebuild again";
    QTest::newRow("of a rebuild, with another reason") << "not restored: journal: disk I/O error"
                                                       << "not restored: {}";
    QTest::newRow("of a deleted file")
        << "/t/registrar.db was deleted, and is lost when this agent ends"
        << "{} was deleted, and is lost when this agent ends";
    QTest::newRow("of a job that goes on") << "job 'nano' is running: there is nothing to decide"
                                           << "job '{}' is {}: there is nothing to decide";
    QTest::newRow("of a node that is there")
        << "node n1 is alive: only a node that has been silent for 10 s can be given up"
        << "node n{} is {}: only a node that has been silent for {} s can be given up";
    QTest::newRow("of a restored job") << "its ranks had ended when the job table was rebuilt"
                                       << "its ranks had ended when the job table was rebuilt";
    QTest::newRow("unknown") << "the moon is full"
                             << "";
  }
  void messagesFindTheirEntry() {
    QFETCH(QString, message);
    QFETCH(QString, match);
    const auto english = app::explain(message.toStdString());
    const auto error = english ? english : app::explain(message.toStdString(), "de");
    QCOMPARE(error ? QString::fromStdString(error->match) : QString(), match);
  }

  // Whoever reads them has lost the table for the first time.
  void messagesThatNameARebuildAreKnown() {
    static const QRegularExpression comment(QStringLiteral("^ *//.*$"),
                                            QRegularExpression::MultilineOption);
    static const QRegularExpression joint(QStringLiteral("\"\\s*\\n\\s*\""));
    static const QRegularExpression literal(QStringLiteral("\"((?:[^\"\\\\\\n]|\\\\.)*)\""));
    static const QRegularExpression field(QStringLiteral("\\{[^}]*\\}"));
    const QStringList remedies{
        QStringLiteral("`tesseractl registrar rebuild` restores the job table from the nodes"),
        QStringLiteral(
            "change nothing, restart the agent, and run `tesseractl registrar rebuild`"),
        QStringLiteral("start its nodes, and `tesseractl registrar rebuild` restores it; "
                       "`tesseractl job stop {}` forgets the row")};
    int found = 0;
    QStringList unknown;
    QDirIterator files(QStringLiteral(TESSERA_SOURCE_DIR "/agents/registrar"), {"*.cpp"},
                       QDir::Files);
    while (files.hasNext()) {
      const QString source = Read(files.next()).remove(comment).replace(joint, QString());
      for (auto each = literal.globalMatch(source); each.hasNext();) {
        QString text = each.next().captured(1);
        const bool names = text.contains(QLatin1String("registrar rebuild")) ||
                           text.contains(QLatin1String("rebuild again"));
        if (!names || remedies.contains(text)) continue;
        ++found;
        text.replace(field, QStringLiteral("7"));
        // What precedes it is in another literal.
        const QString whole = text.startsWith(u'.')
                                  ? QStringLiteral("a was damaged (b); it is kept as c") + text
                                  : text;
        if (!app::explain(whole.toStdString())) unknown << text;
      }
    }
    QVERIFY2(found > 7, qPrintable(QString::number(found)));
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
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

  void theJudgeFindsWhatIsNotGerman_data() {
    QTest::addColumn<QByteArray>("german");
    QTest::addColumn<QString>("problem");
    const QByteArray head =
        R"([{"of": "catalogue.json 0123"}, {"topic": "Files", "text": "Dateien"})";
    const QByteArray entry =
        R"(, {"match": "no {}", "says": "kein …", "means": "Fehlt.", "do": "`ls` hilft."})";
    const QByteArray right = head + entry + ']';
    const auto with = [&](const char* before, const char* after) {
      QByteArray text = right;
      return text.replace(before, after);
    };
    QTest::newRow("right") << right << QString();
    QTest::newRow("an entry less") << QByteArray(head + ']') << "no German text: no {}";
    QTest::newRow("an entry more")
        << with("}]", R"(}, {"match": "old", "means": "A.", "do": "B."}])") << "no such entry: old";
    QTest::newRow("an entry twice") << QByteArray(head + entry + entry + ']') << "twice: no {}";
    QTest::newRow("no remedy") << with("`ls` hilft.", "") << "no sentence: no {}";
    QTest::newRow("another name") << with("`ls`", "`cd`") << "other names in `…`: no {}";
    QTest::newRow("a placeholder less") << with(" …", "") << "other placeholders: no {}";
    QTest::newRow("of an older text") << with("0123", "4567")
                                      << "catalogue.json has changed: when its German texts fit, "
                                         "run packaging/guide-hash --write "
                                         "catalogue.json";
  }
  void theJudgeFindsWhatIsNotGerman() {
    QFETCH(QByteArray, german);
    QFETCH(QString, problem);
    const QJsonArray english = ParseArray(
        R"([{"topic": "Files"}, {"match": "no {}", "means": "It is missing.", "do": "Try `ls`."}])");
    QCOMPARE(GermanProblems(english, ParseArray(german), QStringLiteral("0123")).join(u'\n'),
             problem);
  }

  // A new or changed entry needs its German text in resources/errors/catalogue.de.json.
  void theGermanTextsFitTheCatalogue() {
    const QStringList problems =
        GermanProblems(ParseArray(Read(kCatalogue).toUtf8()),
                       ParseArray(Read(kGermanCatalogue).toUtf8()), HashOf(kCatalogue));
    QVERIFY2(problems.isEmpty(), qPrintable(problems.join(u'\n')));
  }

  // (packaging/guide-hash errors.md; echo; tesseractl explain --language de) >
  // resources/guide/de/errors.md makes it again.
  void germanPageOfTheGuideIsTheGermanCatalogue() {
    const QString guide = QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/");
    QCOMPARE(Read(guide + QStringLiteral("de/errors.md")),
             QStringLiteral("<!-- of errors.md %1 -->\n\n%2")
                 .arg(HashOf(guide + QStringLiteral("errors.md")),
                      QString::fromStdString(app::errorsPage("de"))));
  }
};
TESSERA_TEST_APPLESS(ErrorsTest)
#include "errors_test.moc"
