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
            "<source>([^<]*)</source>\\s*<translation type=\"unfinished\"></translation>"),
        QRegularExpression::DotMatchesEverythingOption);
    texts.replace(
        unfinished,
        QStringLiteral("<source>\\1</source><translation>%1\\1</translation>").arg(kMark));
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
