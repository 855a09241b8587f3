// SPDX-License-Identifier: Apache-2.0
#include "ui/help/guide.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTreeWidget>
#include <QUrl>
#include <algorithm>
#include <map>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/help/help_window.h"
#include "ui/language.h"
#include "ui/theme.h"

using namespace tessera;

class GuideTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QVERIFY(m_home.isValid());
    qputenv("TESSERA_HOME", m_home.path().toUtf8());
  }
  void init() {
    // What the offscreen platform cannot do is no fault of the panel.
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
  }

  void everyPageIsThere() {
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

  void everyPageLoads() {
    ui::HelpWindow window;
    window.show();
    for (const ui::GuidePage& page : ui::guidePages()) {
      window.showPage(page.name);
      QCOMPARE(window.page(), page.name);
      QVERIFY2(window.browser()->toPlainText().startsWith(page.title), qPrintable(page.name));
      QCOMPARE(window.contents()->currentItem()->text(0), page.title);
    }
  }

  void everyLinkLeadsSomewhere() {
    static const QRegularExpression link(QStringLiteral("\\]\\(([^)]+)\\)"));
    for (const ui::GuidePage& page : ui::guidePages()) {
      const QString text = ui::guideText(page.name);
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
          QVERIFY2(ui::guideAnchors(markdown).contains(url.fragment()),
                   qPrintable(page.name + QStringLiteral(": ") + url.toString()));
        }
      }
    }
  }

  /// Pictures are as wide as the page at most, sharp on screens of high density, and all are shown.
  void everyPictureIsShown() {
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

  // A panel in another language says that its guide is not.
  void theLanguageOfTheGuideIsSaid() {
    const auto note = [] {
      ui::HelpWindow window;
      const auto* label = window.findChild<QLabel*>(QStringLiteral("languageNote"));
      return label == nullptr ? QString() : label->text();
    };
    {
      const ui::Language english{QLocale(QLocale::English)};
      QCOMPARE(note(), QString());
    }
    const ui::Language german{QLocale(QLocale::German)};
    QCOMPARE(note(), QStringLiteral("Das Handbuch ist englisch."));
  }

  void searchHidesPages() {
    ui::HelpWindow window;
    window.searchEdit()->setText(QStringLiteral("tessera_random_normal"));
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
