// SPDX-License-Identifier: Apache-2.0
// What agents and engine write is German in a German panel: examples, and every event that the
// sources of the agents write.
#include "ui/sentences.h"

#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <algorithm>

#include "engine/lesson/lesson_names.h"
#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/support/work.h"
#include "tests/ui/linguist_tools.h"
#include "ui/language.h"
#include "ui/models/event_table_model.h"

using namespace tessera;

namespace {

/// The end of the call whose arguments begin at `at`. Brackets in texts do not count.
qsizetype endOfCall(const QString& source, qsizetype at) {
  int open = 1;
  bool quoted = false;
  for (; at < source.size() && open > 0; ++at) {
    const QChar c = source[at];
    if (quoted && c == u'\\') {
      ++at;
    } else if (c == u'"') {
      quoted = !quoted;
    } else if (!quoted) {
      open += c == u'(' ? 1 : c == u')' ? -1 : 0;
    }
  }
  return at;
}

/// The texts in quotes of an expression; adjacent ones are one text.
QStringList literalsIn(const QString& code) {
  static const QRegularExpression group(
      QStringLiteral("\"(?:[^\"\\\\]|\\\\.)*\"(?:\\s*\"(?:[^\"\\\\]|\\\\.)*\")*"));
  static const QRegularExpression seam(QStringLiteral("\"\\s*\""));
  QStringList texts;
  for (auto each = group.globalMatch(code); each.hasNext();) {
    QString text = each.next().captured();
    text = text.mid(1, text.size() - 2);
    texts << text.replace(seam, QString());
  }
  return texts;
}

/// The formats of the sentences in an expression: literals with more than one word.
QStringList sentenceFormats(const QString& code) {
  static const QRegularExpression field(QStringLiteral("\\{[^}]*\\}"));
  static const QRegularExpression sentence(QStringLiteral("[a-z]+[ :;,]+[a-z]{2,}|[a-z]+: "));
  QStringList formats;
  for (QString text : literalsIn(code)) {
    text.replace(QLatin1String("\\\""), QLatin1String("\""));
    text.replace(field, QStringLiteral("{}"));
    if (text.contains(sentence)) formats << text;
  }
  return formats;
}

/// The formats that a source file gives to functions; `call` ends behind the opening bracket.
QStringList formatsOfCalls(const QString& source, const QRegularExpression& call) {
  QStringList formats;
  for (auto each = call.globalMatch(source); each.hasNext();) {
    const qsizetype begin = each.next().capturedEnd();
    formats << sentenceFormats(source.mid(begin, endOfCall(source, begin) - begin));
  }
  return formats;
}

/// The formats of the events that a source file writes.
QStringList eventFormats(const QString& source) {
  static const QRegularExpression call(
      QStringLiteral("(?:AddEvent|ReportEvent|ReportNodeEvent|world_\\.note|world_\\.warn|"
                     "registrar_->Note)\\("));
  return formatsOfCalls(source, call);
}

QString sourceOf(const char* path) {
  QFile file(QStringLiteral(TESSERA_SOURCE_DIR "/") + QString::fromUtf8(path));
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Whether a known sentence has this format, or all of its words in their order, because the rest
/// is appended.
bool isKnownFormat(const QString& format) {
  QString filled = format;
  filled.replace(QLatin1String("{}"), QLatin1String("7"));
  for (const QString& each : {filled, filled + u'7', u'7' + filled}) {
    if (ui::localized(each) != each) return true;
  }
  const QStringList pieces = format.split(QStringLiteral("{}"), Qt::SkipEmptyParts);
  const auto sentences = ui::knownSentences();
  return std::ranges::any_of(sentences, [&](const char* known) {
    const QString text = QString::fromUtf8(known);
    qsizetype at = 0;
    for (const QString& piece : pieces) {
      at = text.indexOf(piece, at);
      if (at < 0) return false;
      at += piece.size();
    }
    return true;
  });
}

}  // namespace

class SentencesTest : public QObject {
  Q_OBJECT

 private slots:
  void sentencesAreGerman_data() {
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("german");
    const auto row = [](const char* english, const char* german) {
      QTest::newRow(english) << QString::fromUtf8(english) << QString::fromUtf8(german);
    };
    row("is back", "ist wieder da");
    row("joined with 4 GPUs", "ist mit 4 GPUs beigetreten");
    row("joined with 1 GPU", "ist mit 1 GPU beigetreten");
    row("stopped after step 12; its memory is free (ana)",
        "nach Schritt 12 beendet; sein Speicher ist frei (ana)");
    row("epoch 3 committed, digests equal, pause 0.31 s",
        "Epoche 3 festgeschrieben, Digests gleich, Pause 0,31 s");
    row("rolled back: n1 refused: device n1g0 failed; the old layout is whole",
        "zurückgerollt: n1 hat abgelehnt: GPU n1g0 ist ausgefallen; das alte Layout ist "
        "unversehrt");
    row("reconfigure gpt-mini dp=1,tp=2 → dp=2,tp=2, 18.7 MiB (tessera by ana)",
        "gpt-mini umstellen: dp=1,tp=2 → dp=2,tp=2, 18,7 MiB (tessera by ana)");
    row("suspended after step 9: n1 was lost; its nodes keep what they hold of it",
        "nach Schritt 9 ausgesetzt: n1 ging verloren; seine Knoten behalten, was sie von ihm "
        "halten");
    row("it continues on 2 GPUs as dp=1,tp=2, without losing a step",
        "er läuft auf 2 GPUs als dp=1,tp=2 weiter, ohne einen Schritt zu verlieren");
    row("dp=4,tp=2 is estimated 7 % faster than now and moves 18.7 MiB; next is dp=8, 4 % faster "
        "than now; n1g2 and n1g3 stay idle.",
        "dp=4,tp=2 ist geschätzt 7 % schneller als jetzt und bewegt 18,7 MiB; als Nächstes dp=8, "
        "4 % schneller als jetzt; n1g2 und n1g3 bleiben frei.");
    row("dp=3,tp=2 is estimated 25 % slower than now and moves 18.7 MiB; tp and pp stay; dp=7 "
        "would be 19 % slower than now but moves 40.1 MiB; n1g2 stays idle.",
        "dp=3,tp=2 ist geschätzt 25 % langsamer als jetzt und bewegt 18,7 MiB; tp und pp bleiben; "
        "dp=7 wäre 19 % langsamer als jetzt, bewegt aber 40,1 MiB; n1g2 bleibt frei.");
    row("dp=3,tp=2 stays: nothing moves; next is dp=6, 3 % slower.",
        "dp=3,tp=2 bleibt: Nichts bewegt sich; als Nächstes dp=6, 3 % langsamer.");
    row("no step lost: n2g1 failed", "kein Schritt verloren: n2g1 ist ausgefallen");
    row("has lost GPUs: n2g1 failed; it can continue on 2 GPUs as dp=1,tp=2, without losing a "
        "step, or wait",
        "hat GPUs verloren: n2g1 ist ausgefallen; er kann auf 2 GPUs als dp=1,tp=2 weiterlaufen, "
        "ohne einen Schritt zu verlieren, oder warten");
    row("job 'mine' is suspended: n1 was lost", "Job „mine“ ist ausgesetzt: n1 ging verloren");
    row("dp=9,tp=1,pp=1 needs 9 GPUs, the cluster has 8",
        "dp=9,tp=1,pp=1 braucht 9 GPUs, der Cluster hat 8");
    row("nothing has arrived for 4 s", "seit 4 s ist nichts angekommen");
    row("from n2 instead of n1: source tcp://10.0.0.1:7000 silent for 10 s",
        "von n2 an Stelle von n1: Quelle tcp://10.0.0.1:7000 still seit 10 s");
    row("4.2 s ahead of this machine", "geht 4,2 s vor, verglichen mit diesem Rechner");
    row("2.0 GiB of arenas, 0.4 GiB of memory are free",
        "2,0 GiB Arenen, 0,4 GiB Speicher sind frei");
    row("programs of operators, data below /srv, checkpoints anywhere",
        "Programme von Bedienern, Daten unterhalb von /srv, Checkpoints überall");
    // Of unknown ones nothing changes, not even what could be a number.
    row("something else, in 1.5 s", "something else, in 1.5 s");
    row("", "");
  }
  void sentencesAreGerman() {
    QFETCH(QString, english);
    QFETCH(QString, german);
    {
      const ui::Language language{QLocale(QLocale::German)};
      QCOMPARE(ui::localized(english), german);
      QCOMPARE(ui::localized(english), german);  // from the cache
    }
    const ui::Language language{QLocale(QLocale::English)};
    QCOMPARE(ui::localized(english), english);
  }

  void outputOfProgramsStays() {
    const ui::Language language{QLocale(QLocale::German)};
    QCOMPARE(ui::localizedText({1, 0, engine::Severity::kInfo, "mine n0g0", "is back"}),
             QStringLiteral("is back"));
    QCOMPARE(ui::localizedText({1, 0, engine::Severity::kInfo, "n0", "is back"}),
             QStringLiteral("ist wieder da"));
    ui::EventTableModel model;
    model.append({{1, 0, engine::Severity::kInfo, "n1", "joined with 4 GPUs"}});
    QCOMPARE(model.index(0, model.columnCount() - 1).data().toString(),
             QStringLiteral("n1 ist mit 4 GPUs beigetreten"));
  }

  void theJudgeReadsSources() {
    const QStringList found = eventFormats(QStringLiteral(
        "AddEvent(kInfo, fmt::format(\"n{}\", n), fmt::format(\"was seen (really) \"\n  \"{:.1f} "
        "times{}\", f(x), b ? \", twice as often\" : \"\"));\nPut(\"not an event\");"));
    QCOMPARE(found, (QStringList{QStringLiteral("was seen (really) {} times{}"),
                                 QStringLiteral(", twice as often")}));
    const ui::Language language{QLocale(QLocale::German)};
    QVERIFY(!isKnownFormat(found.front()));
    QVERIFY(isKnownFormat(QStringLiteral("paused after step {}{}")));
  }

  // A new event needs a line in ui/known_sentences.cpp and its translation.
  void everyEventIsKnown() {
    if (test::linguistTool(QStringLiteral("lrelease")).isEmpty())
      QSKIP("lrelease (qt6-l10n-tools) is missing");
    const ui::Language language{QLocale(QLocale::German)};
    QStringList unknown;
    int events = 0;
    for (QDirIterator it(QStringLiteral(TESSERA_SOURCE_DIR "/agents"), {QStringLiteral("*.cpp")},
                         QDir::Files, QDirIterator::Subdirectories);
         it.hasNext();) {
      QFile file(it.next());
      QVERIFY(file.open(QIODevice::ReadOnly));
      for (const QString& format : eventFormats(QString::fromUtf8(file.readAll()))) {
        ++events;
        if (!isKnownFormat(format)) unknown << file.fileName() + QStringLiteral(": ") + format;
      }
    }
    QVERIFY2(events > 60, qPrintable(QString::number(events)));
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
  }

  // A new reason needs a line in ui/known_sentences.cpp and its translation.
  void everyReasonOfAFlowIsKnown() {
    const ui::Language language{QLocale(QLocale::German)};
    static const QRegularExpression call(
        QStringLiteral("(?:note\\.Retry|note\\.Replace|notes_\\.push_back|reason = fmt::format|"
                       "is_corrupt|AskAgain|LeaveAll|Error why = FailedPrecondition)\\("));
    QStringList formats;
    for (const char* path : {"agents/move/mover_receive.cpp", "agents/net/lane_client.cpp",
                             "agents/registrar/transfer_count.cpp"}) {
      const QStringList found = formatsOfCalls(sourceOf(path), call);
      QVERIFY2(!found.isEmpty(), path);
      formats << found;
    }
    QVERIFY(formats.size() > 8);
    for (const QString& format : formats) QVERIFY2(isKnownFormat(format), qPrintable(format));
  }

  // So does a new check of `doctor`, and its name; what a shell runs stays.
  void everyFindingOfADoctorIsKnown() {
    const ui::Language language{QLocale(QLocale::German)};
    static const QRegularExpression lineOfComment(QStringLiteral("^ *//.*$"),
                                                  QRegularExpression::MultilineOption);
    static const QRegularExpression command(
        QStringLiteral("^(?:chmod|sysctl|apt-get|timedatectl) "));
    static const QRegularExpression name(
        QStringLiteral("(?:\\bOk\\(|Finding\\(\\s*Verdict::k\\w+,\\s*|\\.name = )\"([^\"]+)\""));
    static const QRegularExpression assigned(QStringLiteral("check\\.(?:value|remedy) =([^;]*);"));
    QString doctor = sourceOf("agents/node/doctor.cpp") + sourceOf("agents/node/doctor_gpu.cpp");
    doctor.remove(lineOfComment);
    const QString silent = sourceOf("agents/registrar/inquiries.cpp");
    QStringList formats = sentenceFormats(doctor);
    formats << sentenceFormats(sourceOf("agents/node/allow_list.cpp").remove(lineOfComment));
    for (const QString& source : {silent, sourceOf("app/commands/clock_skew.cpp")})
      for (auto each = assigned.globalMatch(source); each.hasNext();)
        formats << sentenceFormats(each.next().captured(1));
    QVERIFY2(formats.size() > 40, qPrintable(QString::number(formats.size())));

    QSet<QString> names, known;
    for (const QString& source : {doctor, silent})
      for (auto each = name.globalMatch(source); each.hasNext();) names << each.next().captured(1);
    for (const char* each : ui::knownChecks()) known << QString::fromUtf8(each);
    QVERIFY(names.size() > 12);
    QStringList unknown;
    for (const QString& each : names)
      if (!known.contains(each)) unknown << each;
    for (QString format : formats) {
      // The list has a sentence for each state of a node, and for both directions.
      format.replace(QLatin1String("is {}: silent"), QLatin1String("is dead: silent"));
      format.replace(QLatin1String("{} s {} this"), QLatin1String("{} s behind this"));
      if (!known.contains(format) && !format.contains(command) && !isKnownFormat(format))
        unknown << format;
    }
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
    QCOMPARE(ui::localizedCheck("key file"), QStringLiteral("Schlüsseldatei"));
  }

  // So does a new error that the panel itself makes, unless its text passes tr().
  void everyErrorOfThePanelIsKnown() {
    const ui::Language language{QLocale(QLocale::German)};
    static const QRegularExpression call(QStringLiteral(
        "\\b(?:Unavailable|DataLoss|Timeout|FailedPrecondition|PermissionDenied|NotFound|Internal|"
        "Cancelled|InvalidArgument|AlreadyExists|wrongLine)\\("));
    QStringList files;
    for (const char* name : {"bridge", "cluster_test", "connections", "requests"})
      files << QStringLiteral(TESSERA_SOURCE_DIR "/app/%1.cpp").arg(QString::fromUtf8(name));
    for (QDirIterator it(QStringLiteral(TESSERA_SOURCE_DIR "/ui"), {QStringLiteral("*.cpp")},
                         QDir::Files, QDirIterator::Subdirectories);
         it.hasNext();)
      files << it.next();
    QStringList unknown;
    int errors = 0;
    for (const QString& path : files) {
      QFile file(path);
      QVERIFY(file.open(QIODevice::ReadOnly));
      const QString source = QString::fromUtf8(file.readAll());
      for (auto each = call.globalMatch(source); each.hasNext();) {
        const qsizetype begin = each.next().capturedEnd();
        const QString code = source.mid(begin, endOfCall(source, begin) - begin);
        if (code.contains(QLatin1String("tr("))) continue;
        for (const QString& format : sentenceFormats(code)) {
          ++errors;
          if (!isKnownFormat(format))
            unknown << path.section(u'/', -1) + QStringLiteral(": ") + format;
        }
      }
    }
    QVERIFY2(errors > 25, qPrintable(QString::number(errors)));
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
  }

  // The German catalogue shows each error as the panel does.
  void errorsOfTheGermanCatalogueAreThoseOfThePanel() {
    const ui::Language language{QLocale(QLocale::German)};
    const auto entries =
        QJsonDocument::fromJson(sourceOf("resources/errors/catalogue.de.json").toUtf8()).array();
    QStringList wrong;
    int shown = 0;
    for (const QJsonValue& entry : entries) {
      const QString match = entry[QLatin1String("match")].toString();
      if (match.isEmpty()) continue;
      const QString english = QString(match).replace(QLatin1String("{}"), QStringLiteral("…"));
      const QString german = ui::localized(english);
      const QString wanted = german == english ? QString() : german;
      shown += !wanted.isEmpty();
      if (entry[QLatin1String("says")].toString() == wanted) continue;
      wrong << match;
      qInfo("{\"match\": \"%s\", \"says\": \"%s\"}", qPrintable(match), qPrintable(wanted));
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    QVERIFY(shown > 60);
  }

  // Errors that a panel can show; the others are of commands without a cluster.
  void errorsOfTheCatalogueAreKnown() {
    const ui::Language language{QLocale(QLocale::German)};
    const QStringList ofCommands{QStringLiteral("Rules and models"),
                                 QStringLiteral("Starting over ssh"),
                                 QStringLiteral("Checkpoints on disk"), QStringLiteral("Files"),
                                 QStringLiteral("Experiments")};
    QFile file(QStringLiteral(TESSERA_SOURCE_DIR "/resources/errors/catalogue.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray entries = QJsonDocument::fromJson(file.readAll()).array();
    QString topic;
    QStringList unknown;
    int errors = 0;
    for (const QJsonValue& entry : entries) {
      topic = entry[QLatin1String("topic")].toString(topic);
      const QString match = entry[QLatin1String("match")].toString();
      if (match.isEmpty() || ofCommands.contains(topic)) continue;
      ++errors;
      if (!isKnownFormat(match)) unknown << match;
    }
    QVERIFY(errors > 60);
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(u'\n')));
  }

  void valuesOfLessonsAreKnown() {
    const ui::Language language{QLocale(QLocale::German)};
    for (const engine::LessonName& name : engine::LessonNameTable()) {
      if (name.meaning == "ZeRO") continue;  // the same in German
      std::string expression(name.name);
      if (!name.arguments.empty() && name.arguments.front() != '[') expression += "(n0)";
      const std::string meaning = engine::LessonMeaning(expression);
      QVERIFY2(ui::localized(meaning) != QString::fromStdString(meaning), meaning.c_str());
    }
  }

  void tenThousandEventsAreQuick() {
    const ui::Language language{QLocale(QLocale::German)};
    const double units = test::UnitsOf(1, [](int) {
      for (int i = 0; i < 10'000; ++i) {
        ui::localized(QStringLiteral("stopped after step %1; its memory is free").arg(i));
      }
    });
    qInfo("10,000 different events: %.0f units of work", units);
    QVERIFY2(units < 5000, qPrintable(QString::number(units)));
  }
};

TESSERA_THEMED_TEST(SentencesTest)
#include "sentences_test.moc"
