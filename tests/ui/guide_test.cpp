// SPDX-License-Identifier: Apache-2.0
#include "ui/help/guide.h"

#include <QApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTreeWidget>
#include <QUrl>
#include <algorithm>
#include <map>

#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/help/help_window.h"
#include "ui/language.h"
#include "ui/theme.h"

using namespace tessera;

namespace {

const QString kGuide = QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/");

QByteArray bytesOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The first line that a German page must have: packaging/guide-hash prints it.
QString firstLineFor(const QString& page, const QByteArray& english) {
  const QByteArray hash = QCryptographicHash::hash(english, QCryptographicHash::Sha256).toHex();
  return QStringLiteral("<!-- of %1 %2 -->").arg(page, QString::fromLatin1(hash.left(12)));
}

/// What a translation keeps, in its order: levels of headings, items, rows of tables, pictures, and
/// lines of code; of comments in code only the mark.
QStringList outlineOf(const QString& markdown) {
  static const QRegularExpression heading(QStringLiteral("^(#+) "));
  static const QRegularExpression item(QStringLiteral("^ *(?:[-*]|\\d+\\.) "));
  static const QRegularExpression picture(
      QStringLiteral("^!\\[[^\\]]+\\]\\((?:\\.\\./)?(pictures/[^)]+)\\)"));
  QStringList outline;
  bool isFenced = false;
  for (const QString& line : markdown.split(u'\n')) {
    const bool isFence = line.startsWith(QLatin1String("```"));
    if (isFenced || isFence || line.startsWith(QLatin1String("    "))) {
      outline << (line.trimmed().startsWith(u'#') ? QStringLiteral("    #") : line);
    } else if (const auto level = heading.match(line); level.hasMatch()) {
      outline << level.captured(1);
    } else if (const auto shown = picture.match(line); shown.hasMatch()) {
      outline << shown.captured(1);
    } else if (line.startsWith(u'|')) {
      outline << QStringLiteral("| row of %1").arg(line.count(u'|') - 1);
    } else if (line.contains(item)) {
      outline << QStringLiteral("- item");
    }
    if (isFence) isFenced = !isFenced;
  }
  return outline;
}

/// Where the links of a page lead, sorted. An anchor is the number of its heading, because headings
/// are translated. `textOf` returns a page of the same language.
template <typename TextOf>
QStringList targetsOf(const QString& page, const QString& markdown, const TextOf& textOf) {
  static const QRegularExpression link(QStringLiteral("(?<!!)\\[[^\\]]*\\]\\(([^)]+)\\)"));
  static const QRegularExpression picture(QStringLiteral("!\\[[^\\]]*\\]\\([^)]+\\)"));
  QStringList targets;
  QString text = markdown;
  text.remove(picture);
  for (auto it = link.globalMatch(text); it.hasNext();) {
    const QUrl url(it.next().captured(1));
    if (!url.scheme().isEmpty() || !url.hasFragment()) {
      targets << url.toString();
      continue;
    }
    const QString name = url.path().isEmpty() ? page : url.path();
    targets << QStringLiteral("%1#%2").arg(name).arg(
        ui::guideAnchors(textOf(name)).indexOf(url.fragment(QUrl::FullyDecoded)));
  }
  targets.sort();
  return targets;
}

/// What is between backticks: commands, options, files, values. Keys have names in each language.
QStringList namesOf(const QString& markdown) {
  static const QRegularExpression span(QStringLiteral("`([^`\\n]+)`"));
  static const QRegularExpression key(
      QStringLiteral("^(?:(?:Ctrl|Shift|Alt)\\+)*(?:Ctrl|Shift|Alt|Space|Enter|Home|End|Page "
                     "(?:Up|Down)|[A-Z0-9])$"));
  QStringList names;
  for (auto it = span.globalMatch(markdown); it.hasNext();) {
    const QString name = it.next().captured(1);
    if (!name.contains(key) && !names.contains(name)) names << name;
  }
  names.sort();
  return names;
}

/// Where two lists differ first; empty if they are equal.
QString differenceOf(const QStringList& english, const QStringList& german) {
  for (qsizetype i = 0; i < std::max(english.size(), german.size()); ++i) {
    if (english.value(i) != german.value(i) || (i >= english.size()) != (i >= german.size()))
      return QStringLiteral("English: %1\nGerman:  %2").arg(english.value(i), german.value(i));
  }
  return {};
}

}  // namespace

class GuideTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QVERIFY(m_home.isValid());
    qputenv("TESSERA_HOME", m_home.path().toUtf8());
  }
  void everyPageIsThere_data() { languages(); }
  void everyPageIsThere() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    const QStringList files = QDir(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide"))
                                  .entryList({QStringLiteral("*.md")}, QDir::Files);
    const QList<ui::GuidePage> pages = ui::guidePages();
    QCOMPARE(pages.size(), files.size());
    QVERIFY(pages.size() >= 11);
    QCOMPARE(pages.first().name, QStringLiteral("index.md"));
    for (const ui::GuidePage& page : pages) {
      QVERIFY2(!page.title.isEmpty(), qPrintable(page.name));
    }
  }

  void everyPageLoads_data() { languages(); }
  void everyPageLoads() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    ui::HelpWindow window;
    window.show();
    for (const ui::GuidePage& page : ui::guidePages()) {
      window.showPage(page.name);
      QCOMPARE(window.page(), page.name);
      QVERIFY2(window.browser()->toPlainText().startsWith(page.title), qPrintable(page.name));
      QCOMPARE(window.contents()->currentItem()->text(0), page.title);
    }
  }

  void everyLinkLeadsSomewhere_data() { languages(); }
  void everyLinkLeadsSomewhere() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    static const QRegularExpression link(QStringLiteral("\\]\\(([^)]+)\\)"));
    for (const ui::GuidePage& page : ui::guidePages()) {
      const QString text = ui::guideText(page.name);
      QVERIFY2(!text.contains(QLatin1String("<!--")), qPrintable(page.name));
      for (auto it = link.globalMatch(text); it.hasNext();) {
        const QUrl url(it.next().captured(1));
        if (!url.scheme().isEmpty()) continue;
        if (url.path().endsWith(QLatin1String(".png"))) {
          QVERIFY2(!ui::guidePicture(url.path(), 1).isNull(),
                   qPrintable(page.name + QStringLiteral(": ") + url.toString()));
          continue;
        }
        const QString target = url.path().isEmpty() ? page.name : url.path();
        const QString markdown = ui::guideText(target);
        QVERIFY2(!markdown.isEmpty(),
                 qPrintable(page.name + QStringLiteral(": ") + url.toString()));
        if (url.hasFragment()) {
          QVERIFY2(ui::guideAnchors(markdown).contains(url.fragment(QUrl::FullyDecoded)),
                   qPrintable(page.name + QStringLiteral(": ") + url.toString()));
        }
      }
    }
  }

  /// They are those that Qt finds.
  void headingsAreFound_data() { languages(); }
  void headingsAreFound() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    for (const ui::GuidePage& page : ui::guidePages()) {
      const QString markdown = ui::guideText(page.name);
      QTextDocument document;
      document.setMarkdown(markdown);
      QStringList wanted;
      for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (const int level = block.blockFormat().headingLevel(); level > 0)
          wanted << QString::number(level) + QLatin1Char(' ') + block.text();
      }
      QStringList found;
      for (const ui::GuideHeading& heading : ui::guideHeadings(markdown))
        found << QString::number(heading.level) + QLatin1Char(' ') + heading.text;
      QVERIFY(found.size() >= 1);
      QCOMPARE(found, wanted);
    }
  }

  /// Pictures are as wide as the page at most, sharp on screens of high density, and all are shown.
  void everyPictureIsShown_data() { languages(); }
  void everyPictureIsShown() {
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    QStringList shown;
    static const QRegularExpression link(QStringLiteral("!\\[[^\\]]+\\]\\((pictures/[^)]+)\\)"));
    for (const ui::GuidePage& page : ui::guidePages())
      for (auto it = link.globalMatch(ui::guideText(page.name)); it.hasNext();)
        shown << it.next().captured(1);
    const QDir folder(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/pictures"));
    const QStringList files = folder.entryList({QStringLiteral("*.png")}, QDir::Files);
    QVERIFY(files.size() >= 6);
    QCOMPARE(shown.size(), files.size());
    ui::HelpWindow window;
    window.show();
    for (const QString& file : files) {
      QVERIFY2(shown.contains(QStringLiteral("pictures/") + file), qPrintable(file));
      const QImage plain = ui::guidePicture(QStringLiteral("pictures/") + file, 1);
      const QImage dense = ui::guidePicture(QStringLiteral("pictures/") + file, 1.5);
      QVERIFY(plain.width() <= window.browser()->viewport()->width() - 56);
      QCOMPARE(qRound(dense.width() / dense.devicePixelRatio()), plain.width());
      const int whole = QImage(folder.filePath(file)).width();
      QCOMPARE(dense.width(), std::min(whole, qRound(plain.width() * 1.5)));
    }
    window.showPage(QStringLiteral("tensors.md"));
    int drawn = 0;
    for (QTextBlock block = window.browser()->document()->begin(); block.isValid();
         block = block.next())
      for (auto it = block.begin(); !it.atEnd(); ++it) {
        const QTextCharFormat format = it.fragment().charFormat();
        if (!format.isImageFormat()) continue;
        const QVariant picture = window.browser()->document()->resource(
            QTextDocument::ImageResource, QUrl(format.toImageFormat().name()));
        QVERIFY(!picture.isNull());
        ++drawn;
      }
    QCOMPARE(drawn, 1);
  }

  /// Every command line of the guide: its verb exists, and so does each of its options.
  void everyCommandExists_data() {
    QTest::addColumn<QString>("line");
    int number = 0;
    for (const ui::GuidePage& page : ui::guidePages()) {
      for (const QString& line : ui::guideText(page.name).split(QLatin1Char('\n'))) {
        const QString trimmed = line.trimmed();
        if (!line.startsWith(QLatin1String("    ")) ||
            !(trimmed.startsWith(QLatin1String("tesseractl ")) ||
              trimmed.startsWith(QLatin1String("tessera ")))) {
          continue;
        }
        QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(page.name).arg(++number))) << trimmed;
      }
    }
  }
  void everyCommandExists() {
    QFETCH(QString, line);
    const QString program =
        QStringLiteral(TESSERA_BIN_DIR "/") + line.section(QLatin1Char(' '), 0, 0);
    if (!QFileInfo::exists(program)) QSKIP("the program is not built");
    const QStringList words = QProcess::splitCommand(line).mid(1);
    QStringList verb;
    for (const QString& word : words) {
      if (word.startsWith(QLatin1String("--"))) break;
      verb << word;
    }
    // A verb has one word or two; what follows are its arguments.
    QString help;
    for (qsizetype length = std::min<qsizetype>(2, verb.size()); length >= 0 && help.isEmpty();
         --length) {
      if (length == 0 && !line.startsWith(QLatin1String("tessera "))) break;
      help = helpOf(program, verb.mid(0, length));
    }
    QVERIFY2(!help.isEmpty(), qPrintable(line));
    for (const QString& word : words) {
      if (!word.startsWith(QLatin1String("--"))) continue;
      const QRegularExpression option(QRegularExpression::escape(word) + QStringLiteral("\\b"));
      QVERIFY2(help.contains(option), qPrintable(line + QStringLiteral(": no ") + word));
    }
  }

  void f1OpensIt() {
    test::Panel panel;
    panel.window->actions()->find(QStringLiteral("help.guide"))->trigger();
    QVERIFY(panel.window->helpWindow() != nullptr);
    QVERIFY(panel.window->helpWindow()->isVisible());
    panel.window->actions()->find(QStringLiteral("help.errors"))->trigger();
    QCOMPARE(panel.window->helpWindow()->page(), QStringLiteral("troubleshooting.md"));
  }

  // A German page is of the English page as it is now, and has the same parts. If the English page
  // has changed, change the German one, too; then packaging/guide-hash --write PAGE.
  void germanPagesFollowTheEnglishOnes_data() {
    QTest::addColumn<QString>("page");
    for (const QString& page :
         QDir(kGuide + QStringLiteral("de")).entryList({QStringLiteral("*.md")}, QDir::Files))
      QTest::newRow(qPrintable(page)) << page;
  }
  void germanPagesFollowTheEnglishOnes() {
    QFETCH(QString, page);
    const QByteArray english = bytesOf(kGuide + page);
    QVERIFY(!english.isEmpty());
    const auto germanOf = [](const QString& name) {
      return QString::fromUtf8(bytesOf(kGuide + QStringLiteral("de/") + name));
    };
    const auto englishOf = [](const QString& name) {
      return QString::fromUtf8(bytesOf(kGuide + name));
    };
    const QString german = germanOf(page);
    QCOMPARE(german.section(u'\n', 0, 0), firstLineFor(page, english));
    const QString outline = differenceOf(outlineOf(englishOf(page)), outlineOf(german));
    QVERIFY2(outline.isEmpty(), qPrintable(outline));
    const QString links = differenceOf(targetsOf(page, englishOf(page), englishOf),
                                       targetsOf(page, german, germanOf));
    QVERIFY2(links.isEmpty(), qPrintable(links));
    const QStringList named = namesOf(german);
    for (const QString& name : namesOf(englishOf(page)))
      QVERIFY2(named.contains(name), qPrintable(QStringLiteral("missing: ") + name));
  }

  void theJudgeSeesWhatATranslationLacks() {
    const QString english = QStringLiteral(
        "# One\n\nRun `ls`, press `Space`.\n\n![A](pictures/a.png)\n\n- an item, "
        "[there](#two)\n\n## Two\n\n    # say it\n    "
        "tesseractl up\n");
    const auto same = [&](const QString& german) {
      const auto itself = [](const QString& text) { return [&](const QString&) { return text; }; };
      return differenceOf(outlineOf(english), outlineOf(german)).isEmpty() &&
             differenceOf(targetsOf({}, english, itself(english)),
                          targetsOf({}, german, itself(german)))
                 .isEmpty();
    };
    QCOMPARE(namesOf(english), QStringList(QStringLiteral("ls")));
    const QString german = QStringLiteral(
        "# Eins\n\n`Leertaste` oder `ls`.\n\n![A](../pictures/a.png)\n\n- ein Punkt, "
        "[dort](#zwei)\n\n## Zwei\n\n    # sag "
        "es\n    tesseractl up\n");
    QVERIFY(same(german));
    for (const auto& [from, to] : {std::pair("## Zwei", "### Zwei"),
                                   {"a.png", "b.png"},
                                   {"- ein", "ein"},
                                   {"tesseractl up", "tesseractl down"},
                                   {"#zwei", "#eins"},
                                   {"#zwei", "#drei"},
                                   {"[dort](#zwei)", "dort"},
                                   {"    # sag es\n", ""}}) {
      QString worse = german;
      worse.replace(QLatin1String(from), QLatin1String(to));
      QVERIFY2(!same(worse), to);
    }
  }

  // A page that is not translated is shown in English, with a note.
  void aPageInEnglishSaysSo() {
    const auto hasNote = [](const QString& page) {
      ui::HelpWindow window;
      window.showPage(page);
      return window.findChild<QLabel*>(QStringLiteral("languageNote"))->isVisibleTo(&window);
    };
    const QString page = QStringLiteral("mesh.md");
    {
      const ui::Language english{QLocale(QLocale::English)};
      QVERIFY(!hasNote(page));
      QVERIFY(ui::guideText(page).startsWith(QLatin1String("# Reading the mesh")));
    }
    const ui::Language german{QLocale(QLocale::German)};
    QVERIFY(!hasNote(page));
    QVERIFY(ui::guideText(page).startsWith(QLatin1String("# Das Mesh lesen")));
    // Into a language that has no guide nothing is translated.
    QVERIFY(ui::isGuideTranslated(page, QStringLiteral("de")));
    QVERIFY(!ui::isGuideTranslated(page, QStringLiteral("fr")));
    QVERIFY(ui::guideText(page, QStringLiteral("fr")).startsWith(QLatin1String("# Reading")));
    QTest::ignoreMessage(QtWarningMsg, QRegularExpression(QStringLiteral("No document")));
    QVERIFY(hasNote(QStringLiteral("no-page.md")));
  }

  void searchHidesPages_data() {
    QTest::addColumn<QLocale>("locale");
    QTest::addColumn<QString>("text");
    QTest::newRow("English") << QLocale(QLocale::English) << "tessera_random_normal";
    QTest::newRow("German") << QLocale(QLocale::German) << "Gleiche Farben sind Replikate";
  }
  void searchHidesPages() {
    QFETCH(QLocale, locale);
    QFETCH(QString, text);
    const ui::Language language(locale);
    ui::HelpWindow window;
    window.searchEdit()->setText(text);
    int shown = 0;
    for (int i = 0; i < window.contents()->topLevelItemCount(); ++i) {
      shown += !window.contents()->topLevelItem(i)->isHidden();
    }
    QCOMPARE(shown, 1);
  }

  void anchorsFollowHeadings() {
    QCOMPARE(ui::guideAnchor(QStringLiteral("When something dies")),
             QStringLiteral("when-something-dies"));
    QCOMPARE(ui::guideAnchor(QStringLiteral("1. Install")), QStringLiteral("1-install"));
  }

 private:
  static void languages() {
    QTest::addColumn<QLocale>("locale");
    QTest::newRow("English") << QLocale(QLocale::English);
    QTest::newRow("German") << QLocale(QLocale::German);
  }

  QString helpOf(const QString& program, const QStringList& verb) {
    const QString key = program + QLatin1Char(' ') + verb.join(QLatin1Char(' '));
    if (const auto found = m_helps.find(key); found != m_helps.end()) return found->second;
    QProcess process;
    process.start(program, verb + QStringList{QStringLiteral("--help")});
    const bool ended = process.waitForFinished(10'000) && process.exitCode() == 0;
    return m_helps[key] = ended ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
  }

  QTemporaryDir m_home;
  std::map<QString, QString> m_helps;
};

TESSERA_THEMED_TEST(GuideTest)
#include "guide_test.moc"
