// SPDX-License-Identifier: Apache-2.0
// The German texts of the panel are complete, fit their sources, and are what a German panel shows.
#include <QDialogButtonBox>
#include <QFile>
#include <QLibraryInfo>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <map>
#include <optional>

#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/linguist_tools.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"
#include "ui/language.h"
#include "ui/models/start_form.h"
#include "ui/pages/notice_bar.h"
#include "ui/sentences.h"

using namespace tessera;
using test::TranslatedText;

namespace {

const QString kGermanFile =
    QStringLiteral(TESSERA_SOURCE_DIR "/resources/translations/tessera_de.ts");

/// What is wrong with the state of a text in its file.
QString unfinishedIn(const TranslatedText& text) {
  if (!text.type.isEmpty()) return text.type;
  if (text.translations.size() != (text.hasForms ? 2 : 1)) return QStringLiteral("missing form");
  for (const QString& each : text.translations) {
    if (each.isEmpty()) return QStringLiteral("empty");
  }
  return {};
}

/// What a text must keep in each language, sorted: placeholders, mnemonics, file patterns, line
/// ends, markup and an ellipsis.
QStringList keptParts(const QString& text) {
  static const QRegularExpression part(
      QStringLiteral("%L?[0-9]|%n|&(?!&)|\\*\\.[a-z]+|;;|\\n|\\*\\*|</?[a-z]+>|…$|^ | $"));
  QStringList parts;
  for (auto each = part.globalMatch(text); each.hasNext();) parts << each.next().captured();
  parts.sort();
  return parts;
}

/// The letters after & of the entries of a menu or menu bar that occur twice, below `where`.
void collectDoubled(const QString& where, const QList<QAction*>& actions, QStringList* found) {
  static const QRegularExpression mnemonic(QStringLiteral("&([^&])"));
  std::map<QString, QString> taken;
  for (const QAction* action : actions) {
    if (action->isSeparator()) continue;
    if (const auto match = mnemonic.match(action->text()); match.hasMatch()) {
      const auto [at, isNew] = taken.emplace(match.captured(1).toUpper(), action->text());
      if (!isNew) *found << QStringLiteral("%1: %2, %3").arg(where, at->second, action->text());
    }
    if (action->menu() != nullptr) {
      collectDoubled(action->text(), action->menu()->actions(), found);
    }
  }
}

}  // namespace

class GermanTest : public QObject {
  Q_OBJECT

 private slots:
  void theJudgesFindWhatIsWrong() {
    const QString text = QStringLiteral("text");
    QCOMPARE(unfinishedIn({{}, text, {text}, {}, false}), QString());
    QVERIFY(!unfinishedIn({{}, text, {QString()}, {}, false}).isEmpty());
    QVERIFY(!unfinishedIn({{}, text, {text}, {}, true}).isEmpty());
    QVERIFY(!unfinishedIn({{}, text, {text}, QStringLiteral("vanished"), false}).isEmpty());
    QCOMPARE(keptParts(QStringLiteral("Save %1 to %2")), keptParts(QStringLiteral("%2: %1")));
    for (const char* worse : {"Save %1", "&Save %1 to %2", "Save %1 to %2…", "Save %1 to %2 "}) {
      QVERIFY2(keptParts(QStringLiteral("Save %1 to %2")) != keptParts(QString::fromUtf8(worse)),
               worse);
    }
    QMenu menu;
    menu.addAction(QStringLiteral("&Apply"));
    menu.addAction(QStringLiteral("Le&ave"));
    QStringList doubled;
    collectDoubled(QString(), menu.actions(), &doubled);
    QCOMPARE(doubled.size(), 1);
  }

  // A text that is new in the panel is missing here. packaging/update-translations adds it.
  void everyTextIsTranslated() {
    QString file = kGermanFile;
    QTemporaryDir folder;
    if (!test::linguistTool(QStringLiteral("lupdate")).isEmpty()) {
      file = folder.filePath(QStringLiteral("tessera_de.ts"));
      QVERIFY(QFile::copy(kGermanFile, file));
      const QString report = test::extractTexts(file).trimmed();
      QVERIFY2(report.isEmpty(), qPrintable(report));
    }
    const auto texts = test::translatedTexts(file);
    QVERIFY(texts.size() > 1500);
    QStringList wrong;
    for (const TranslatedText& text : texts) {
      if (const QString what = unfinishedIn(text); !what.isEmpty()) {
        wrong << QStringLiteral("%1: %2: %3").arg(what, text.context, text.source);
      }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
  }

  void translationsKeepTheirParts() {
    QStringList wrong;
    for (const TranslatedText& text : test::translatedTexts(kGermanFile)) {
      for (const QString& each : text.translations) {
        if (keptParts(each) != keptParts(text.source))
          wrong << QStringLiteral("%1 → %2").arg(text.source, each);
      }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
  }

  void menusAreGerman() {
    const ui::Language german{QLocale(QLocale::German)};
    test::Panel panel({.operate = true});
    QStringList titles;
    for (QAction* menu : panel.window->menuBar()->actions()) {
      titles << menu->text().remove(QLatin1Char('&'));
    }
    QCOMPARE(titles.join(u' '),
             QStringLiteral("Datei Bearbeiten Ansicht Cluster Plan Verlauf Lernen Hilfe"));
    QCOMPARE(panel.window->actions()->find(QStringLiteral("plan.discard"))->text(),
             QStringLiteral("Entwurf &verwerfen"));
  }

  void mnemonicsAreUnique_data() {
    QTest::addColumn<QLocale>("locale");
    QTest::newRow("English") << QLocale(QLocale::English);
    QTest::newRow("German") << QLocale(QLocale::German);
  }
  void mnemonicsAreUnique() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    test::Panel panel({.operate = true});
    QStringList doubled;
    collectDoubled(QStringLiteral("menu bar"), panel.window->menuBar()->actions(), &doubled);
    QVERIFY2(doubled.isEmpty(), qPrintable(doubled.join(u'\n')));
  }

  void numbersFollowTheLanguage() {
    {
      const ui::Language german{QLocale(QLocale::German)};
      QCOMPARE(ui::format::bytes(3LL << 19), QStringLiteral("1,5 MiB"));
      QCOMPARE(ui::format::gpus(4), QStringLiteral("4 GPUs"));
      QCOMPARE(ui::format::steps(2), QStringLiteral("2 Schritte"));
    }
    const ui::Language english{QLocale(QLocale::English)};
    QCOMPARE(ui::format::bytes(3LL << 19), QStringLiteral("1.5 MiB"));
    QCOMPARE(ui::format::steps(2), QStringLiteral("2 steps"));
  }

  void numbersAreReadAsTheLanguageWritesThem() {
    const QString dropout = QStringLiteral("dropout");
    ui::StartForm form{.model = QStringLiteral("gpt-mini")};
    const auto read = [&](const char* typed) {
      form.values[dropout] = QString::fromLatin1(typed);
      const ui::StartCheck check = ui::checkStart(form, test::IdleCluster(2, 4));
      if (check.problems.contains(dropout)) return check.problems.at(dropout);
      return check.request.values.contains(dropout) ? check.request.values.at(dropout) : QString();
    };
    {
      const ui::Language german{QLocale(QLocale::German)};
      QCOMPARE(read("0,25"), QStringLiteral("0.25"));
      QCOMPARE(read("0.25"), QStringLiteral("0.25"));
      QCOMPARE(read("2,5"), QStringLiteral("2,5 ist keine Zahl von 0 bis 0,95."));
    }
    const ui::Language english{QLocale(QLocale::English)};
    QCOMPARE(read("0,25"), QStringLiteral("0,25 is not a number from 0 to 0.95."));
  }

  // A fraction where a whole number is wanted, and a problem that the engine finds.
  void problemsOfAStartAreGerman() {
    const ui::Language german{QLocale(QLocale::German)};
    const QString model = QStringLiteral("gpt-mini");
    const auto settings = engine::SettingsOf(ui::StartForm::settingsOf(model));
    const auto whole = std::ranges::find(settings, "warmup_steps", &engine::JobSetting::name);
    QVERIFY(whole != settings.end() && whole->is_integer);
    const QString key = QString::fromStdString(whole->name);
    const QString typed = QStringLiteral("%1,5").arg(static_cast<qlonglong>(whole->least));
    ui::StartForm form{.model = model};
    form.values[key] = typed;
    form.values[ui::start_field::kData] = QStringLiteral("0:/srv/text");
    const auto problems = ui::checkStart(form, test::IdleCluster(2, 4)).problems;
    QVERIFY2(problems.at(key).startsWith(typed + QStringLiteral(" ist keine ganze Zahl von ")),
             qPrintable(problems.at(key)));
    QCOMPARE(problems.at(ui::start_field::kData),
             QStringLiteral("das Gewicht der Daten „0:/srv/text“ ist nicht größer als 0"));
  }

  void aTuningIsGerman() {
    const ui::Language german{QLocale(QLocale::German)};
    test::Panel panel({.operate = true});
    panel.window->actions()->refresh();
    panel.window->actions()->find(QStringLiteral("cluster.tuneJob"))->trigger();
    auto* dialog = panel.window->findChild<ui::AnswerDialog*>();
    QVERIFY(dialog != nullptr);
    dialog->againButton()->click();
    ui::TuneRow row{test::Shape(2, 2, 1), {}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 0.4, 0.32, ""};
    ui::TuneAnswer part;
    part.doing = {2, 4, row};
    panel.commands.heldProgress(part);
    QCOMPARE(dialog->words(), QStringLiteral("2 von 4: 2 × 2 × 1 auf n0g0–n0g3"));
    QStringList notices;
    for (const ui::NoticeBar* each : panel.window->findChildren<ui::NoticeBar*>())
      notices << each->text();
    QVERIFY2(notices.contains(
                 QStringLiteral("gpt-mini wird abgestimmt: 2 von 4: 2 × 2 × 1 auf n0g0–n0g3.")),
             qPrintable(notices.join(u'\n')));

    ui::TuneRow failed = row;
    failed.options.zero = true;
    failed.measured = 0;
    failed.failure = "transaction 7 was rolled back: n1 was lost";
    ui::TuneAnswer end;
    end.rows = {row, failed};
    end.kept = row;
    panel.commands.heldRequest(ui::Answer(end));
    QTRY_COMPARE(dialog->words(), QStringLiteral("gpt-mini läuft mit 2 × 2 × 1 auf n0g0–n0g3."));
    QCOMPARE(dialog->model().index(1, 0).data().toString(),
             QStringLiteral("2 × 2 × 1, ZeRO ein: Änderung 7 wurde zurückgerollt: "
                            "n1 ging verloren"));
  }

  void portsAndTheirSpeedsAreGerman() {
    const ui::Language german{QLocale(QLocale::German)};
    QCOMPARE(ui::format::port("n0 out"), QStringLiteral("Ausgang von n0"));
    QCOMPARE(ui::format::port("n1g2 in"), QStringLiteral("Eingang von n1g2"));
    QCOMPARE(ui::format::port("n0"), QStringLiteral("n0"));
    QCOMPARE(ui::localized(std::string_view("assumed")), QStringLiteral("angenommen"));
    QCOMPARE(ui::localized(
                 QStringLiteral("measured 2026-11-20 10:11 UTC on n0, n1; the network is assumed")),
             QStringLiteral("gemessen 2026-11-20 10:11 UTC auf n0, n1; das Netzwerk ist "
                            "angenommen"));
  }

  void standardButtonsAreGerman() {
    const QString folder = QLibraryInfo::path(QLibraryInfo::TranslationsPath);
    if (!QFile::exists(folder + QStringLiteral("/qtbase_de.qm"))) {
      QSKIP("Qt's translations (qt6-translations-l10n) are missing");
    }
    const ui::Language german{QLocale(QLocale::German)};
    QDialogButtonBox box(QDialogButtonBox::Cancel);
    QCOMPARE(box.button(QDialogButtonBox::Cancel)->text(), QStringLiteral("Abbrechen"));
  }

  void languagesAreChosen_data() {
    QTest::addColumn<QStringList>("languages");
    QTest::addColumn<QString>("translation");
    QTest::newRow("German") << QStringList{QStringLiteral("de-DE"), QStringLiteral("de")}
                            << QStringLiteral("de");
    QTest::newRow("Swiss German") << QStringList{QStringLiteral("de-CH")} << QStringLiteral("de");
    QTest::newRow("English first")
        << QStringList{QStringLiteral("en-GB"), QStringLiteral("de")} << QString();
    QTest::newRow("neither first")
        << QStringList{QStringLiteral("fr-FR"), QStringLiteral("de")} << QStringLiteral("de");
    QTest::newRow("neither") << QStringList{QStringLiteral("fr-FR")} << QString();
    QTest::newRow("no language") << QStringList{QStringLiteral("C")} << QString();
  }
  void languagesAreChosen() {
    QFETCH(QStringList, languages);
    QTEST(ui::translationFor(languages), "translation");
  }

  void regionsAreKept() {
    const QLocale swiss(QLocale::German, QLocale::Switzerland);
    const QLocale british(QLocale::English, QLocale::UnitedKingdom);
    QCOMPARE(ui::localeOf(QStringLiteral("system"), swiss), swiss);
    QCOMPARE(ui::localeOf(QStringLiteral("de"), swiss), swiss);
    QCOMPARE(ui::localeOf(QStringLiteral("de"), british).language(), QLocale::German);
    QCOMPARE(ui::localeOf(QStringLiteral("en"), british), british);
  }
};

TESSERA_THEMED_TEST(GermanTest)
#include "german_test.moc"
