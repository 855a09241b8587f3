// SPDX-License-Identifier: Apache-2.0
// Translation finds every text of the panel: lupdate reads it, and the panel looks it up in the
// context under which lupdate files it.
#include <QAbstractButton>
#include <QAction>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>
#include <algorithm>

#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/linguist_tools.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"

using namespace tessera;

namespace {

const QChar kMark(0x00A4);  // begins every translated text

QString sourceFolder() { return QStringLiteral(TESSERA_SOURCE_DIR); }

QString contentOf(const QString& file) {
  QFile in(file);
  return in.open(QIODevice::ReadOnly) ? QString::fromUtf8(in.readAll()) : QString();
}

/// "12: QString tr(const char* text)": the places in a source file where lupdate would miss a text
/// or file it under a context that is not the one of the lookup.
QStringList hiddenTexts(const QString& source) {
  static const QRegularExpression anonymous(
      QStringLiteral("^namespace \\{$(.*?)^\\}  // namespace$"),
      QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
  static const QRegularExpression bareCall(QStringLiteral("(?<![:\\w])tr\\("));
  static const QRegularExpression ownTr(QStringLiteral("\\btr = \\[|QString tr\\(const char"));
  static const QRegularExpression alias(QStringLiteral("using (\\w+) = \\w+;"));
  QStringList found;
  const auto report = [&](qsizetype at) {
    const qsizetype end = source.indexOf(QLatin1Char('\n'), at);
    const qsizetype begin = source.lastIndexOf(QLatin1Char('\n'), at) + 1;
    found << QStringLiteral("%1: %2")
                 .arg(source.left(at).count(QLatin1Char('\n')) + 1)
                 .arg(source.mid(begin, end - begin).trimmed());
  };
  for (auto each = ownTr.globalMatch(source); each.hasNext();) report(each.next().capturedStart());
  for (auto block = anonymous.globalMatch(source); block.hasNext();) {
    const auto match = block.next();
    if (match.captured(1).contains(QStringLiteral("Q_OBJECT"))) continue;
    for (auto each = bareCall.globalMatch(match.captured(1)); each.hasNext();)
      report(match.capturedStart(1) + each.next().capturedStart());
  }
  for (auto each = alias.globalMatch(source); each.hasNext();) {
    const QString call = each.next().captured(1) + QStringLiteral("::tr(");
    if (const qsizetype at = source.indexOf(call); at >= 0) report(at);
  }
  return found;
}

/// "12: QString::number(x, 'f', 1)": the places in a source file that show what agents and engine
/// write without localized(), or a fraction in the form of the command line.
QStringList rawTexts(const QString& source) {
  static const QRegularExpression sentence(
      QStringLiteral("QString::from(?:StdString|Utf8)\\([^;]*?(?:\\.|->)(?:message|ToString\\(\\)|"
                     "reason|failure|why|problem|doing|detail|bandwidths_from)\\)"));
  static const QRegularExpression options(
      QStringLiteral("= engine::ToString\\([^;]*options\\)|"
                     "fromStdString\\(engine::ToString\\([^;]*options\\)"));
  static const QRegularExpression fraction(
      QStringLiteral("\\.arg\\([^;]*?, 0, '[efg]'|QString::number\\([^;]*?, '[efg]'"));
  QStringList found;
  const QStringList lines = source.split(u'\n');
  for (qsizetype i = 0; i < lines.size(); ++i) {
    const bool isLocalized = lines[i].contains(QStringLiteral("localized("));
    if ((!isLocalized && lines[i].contains(sentence)) || lines[i].contains(options) ||
        lines[i].contains(fraction))
      found << QStringLiteral("%1: %2").arg(i + 1).arg(lines[i].trimmed());
  }
  return found;
}

bool hasWords(const QString& text) {
  static const QRegularExpression word(QStringLiteral("[A-Za-z]{3}"));
  return text.contains(word);
}

}  // namespace

class TranslationTest : public QObject {
  Q_OBJECT

 private slots:
  void theRuleFindsHiddenTexts_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<int>("hidden");
    QTest::newRow("class") << "QString A::b() { return tr(\"x\"); }\n" << 0;
    QTest::newRow("qualified")
        << "namespace {\nQString b() { return A::tr(\"x\"); }\n}  // namespace\n"
        << 0;
    QTest::newRow("free") << "namespace {\nQString b() { return tr(\"x\"); }\n}  // namespace\n"
                          << 1;
    QTest::newRow("lambda") << "const auto tr = [](const char* t) { return A::tr(t); };\n" << 1;
    QTest::newRow("function") << "QString tr(const char* text) { return {}; }\n" << 1;
    QTest::newRow("alias") << "using B = Long;\nQString c() { return B::tr(\"x\"); }\n" << 1;
  }
  void theRuleFindsHiddenTexts() {
    QFETCH(QString, source);
    QFETCH(int, hidden);
    QCOMPARE(hiddenTexts(source).size(), hidden);
  }

  void noTextOfThePanelIsHidden() {
    QStringList found;
    int files = 0;
    for (const char* folder : {"/ui", "/app"}) {
      for (QDirIterator it(sourceFolder() + QLatin1String(folder),
                           {QStringLiteral("*.h"), QStringLiteral("*.cpp")}, QDir::Files,
                           QDirIterator::Subdirectories);
           it.hasNext(); ++files) {
        const QString file = it.next();
        for (const QString& each : hiddenTexts(contentOf(file))) found << file + u':' + each;
      }
    }
    QVERIFY(files > 150);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }

  void theRuleFindsRawTexts_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<int>("raw");
    QTest::newRow("error") << "fail(QString::fromStdString(applied.error().message));" << 1;
    QTest::newRow("reason") << "x += QString::fromStdString(row.failure);" << 1;
    QTest::newRow("options") << "const std::string options = engine::ToString(row.options);" << 1;
    QTest::newRow("argument") << "tr(\"%1 %\").arg(100 * x, 0, 'f', 0)" << 1;
    QTest::newRow("number") << "QString::number(x, 'g', 3)" << 1;
    QTest::newRow("localized") << "fail(localized(QString::fromStdString(a.message)));" << 0;
    QTest::newRow("name") << "QString::fromStdString(job.name)" << 0;
    QTest::newRow("locale") << "tr(\"%1 %\").arg(QLocale().toString(x, 'f', 0))" << 0;
    QTest::newRow("identifier") << "QString::number(entry.id)" << 0;
  }
  void theRuleFindsRawTexts() {
    QFETCH(QString, source);
    QFETCH(int, raw);
    QCOMPARE(rawTexts(source).size(), raw);
  }

  // What agents and engine write passes localized(), and numbers have the form of the language.
  void noTextOfTheClusterIsRaw() {
    // Exports and pictures have the form of the command line. The reasons of flows are kept in
    // English, for the export, and translated where the table shows them.
    const QStringList exempt{
        QStringLiteral("/models/change_diff.cpp"), QStringLiteral("/models/change_report.cpp"),
        QStringLiteral("/models/link_table_model.cpp"), QStringLiteral("/models/moment_diff.cpp")};
    QStringList found;
    int files = 0;
    for (QDirIterator it(sourceFolder() + QStringLiteral("/ui"), {QStringLiteral("*.cpp")},
                         QDir::Files, QDirIterator::Subdirectories);
         it.hasNext(); ++files) {
      const QString file = it.next();
      const bool isExempt =
          std::ranges::any_of(exempt, [&](const QString& end) { return file.endsWith(end); });
      if (isExempt) continue;
      for (const QString& each : rawTexts(contentOf(file))) found << file + u':' + each;
    }
    QVERIFY(files > 150);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }

  void lupdateFindsEveryText() {
    if (test::linguistTool(QStringLiteral("lupdate")).isEmpty())
      QSKIP("lupdate (qt6-l10n-tools) is missing");
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("panel.ts"));
    const QString report = test::extractTexts(file).trimmed();
    QVERIFY2(report.isEmpty(), qPrintable(report));
    QVERIFY(contentOf(file).count(QStringLiteral("<source>")) > 1000);
  }

  // A translation with a mark before each text: what lacks the mark was not looked up, or not under
  // the context under which lupdate files it.
  void everyTextIsLookedUpWhereItIsFiled() {
    const QString lrelease = test::linguistTool(QStringLiteral("lrelease"));
    if (test::linguistTool(QStringLiteral("lupdate")).isEmpty() || lrelease.isEmpty())
      QSKIP("lupdate and lrelease (qt6-l10n-tools) are missing");
    QTemporaryDir folder;
    const QString ts = folder.filePath(QStringLiteral("panel.ts"));
    const QString qm = folder.filePath(QStringLiteral("panel.qm"));
    test::extractTexts(ts);
    QString texts = contentOf(ts);
    static const QRegularExpression unfinished(
        QStringLiteral(
            "<source>([^<]*)</source>(\\s*<comment>[^<]*</comment>)?\\s*<translation "
            "type=\"unfinished\"></translation>"),
        QRegularExpression::DotMatchesEverythingOption);
    texts.replace(
        unfinished,
        QStringLiteral("<source>\\1</source>\\2<translation>%1\\1</translation>").arg(kMark));
    QFile out(ts);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(texts.toUtf8());
    out.close();
    const QString report =
        test::outputOf(lrelease, {QStringLiteral("-silent"), ts, QStringLiteral("-qm"), qm});
    QTranslator translator;
    QVERIFY2(translator.load(qm), qPrintable(report));
    QVERIFY(QCoreApplication::installTranslator(&translator));

    test::Panel panel({.operate = true});
    test::settle();
    QStringList missed;
    const auto check = [&](const QObject* object, const char* what, const QString& text) {
      // Qt's own parts of docks and tab bars are in Qt's translation.
      const QString name = object->objectName();
      if (name.startsWith(u"qt_") || name.startsWith(u"Scroll")) return;
      if (hasWords(text) && !text.contains(kMark))
        missed << QStringLiteral("%1 of %2 \"%3\": %4")
                      .arg(QLatin1String(what), QLatin1String(object->metaObject()->className()),
                           object->objectName(), text);
    };
    int actions = 0;
    for (const QAction* action : panel.window->findChildren<QAction*>()) {
      if (!action->data().isNull() || action->isSeparator()) continue;
      check(action, "text", action->text());
      check(action, "status tip", action->statusTip());
      ++actions;
    }
    QVERIFY(actions > 50);
    for (const QWidget* widget : panel.window->findChildren<QWidget*>()) {
      check(widget, "accessible name", widget->accessibleName());
      check(widget, "window title", widget->windowTitle());
      if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
        check(widget, "button text", button->text());
    }
    QCoreApplication::removeTranslator(&translator);
    QVERIFY2(missed.isEmpty(), qPrintable(missed.join(u'\n')));
  }
};

TESSERA_THEMED_TEST(TranslationTest)
#include "translation_test.moc"
