// SPDX-License-Identifier: Apache-2.0
#include "ui/settings/layout_keeper.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QTest>
#include <cstdlib>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"

using namespace tessera;
using test::Panel;
using ui::onScreen;
using ui::Setting;
using ui::Settings;

class LayoutKeeperTest : public QObject {
  Q_OBJECT

 private slots:
  void geometryIsCorrected_data() {
    QTest::addColumn<QRect>("wanted");
    QTest::addColumn<QRect>("got");
    QTest::newRow("inside") << QRect(10, 10, 800, 600) << QRect(10, 10, 800, 600);
    QTest::newRow("second screen") << QRect(2000, 50, 800, 600) << QRect(2000, 50, 800, 600);
    QTest::newRow("beyond the right") << QRect(2900, 10, 800, 600) << QRect(2400, 10, 800, 600);
    QTest::newRow("above") << QRect(10, -500, 800, 600) << QRect(10, 0, 800, 600);
    QTest::newRow("on no screen") << QRect(9000, 9000, 800, 600) << QRect(560, 220, 800, 600);
    QTest::newRow("too large") << QRect(-50, -50, 5000, 5000) << QRect(0, 0, 1920, 1040);
    QTest::newRow("too small") << QRect(10, 10, 5, 5) << QRect(10, 10, 400, 300);
  }
  void geometryIsCorrected() {
    QFETCH(QRect, wanted);
    const QList<QRect> screens{{0, 0, 1920, 1040}, {1920, 0, 1280, 1024}};
    QTEST(onScreen(wanted, screens, QSize(400, 300)), "got");
  }

  void layoutComesBack() {
    Settings settings;
    QByteArray columns;
    {
      Panel panel({.settings = &settings});
      panel.window->setGeometry(20, 30, 1024, 700);
      m_place = panel.window->pos();
      dock(panel, "navigator")->hide();
      auto* table = panel.window->findChild<QTableView*>(QStringLiteral("events"));
      table->horizontalHeader()->resizeSection(0, 133);
      columns = table->horizontalHeader()->saveState();
      auto* splitter = panel.window->findChild<QSplitter*>(QStringLiteral("recordsSplitter"));
      splitter->setSizes({600, 424});
      QCoreApplication::processEvents();
      m_sizes = splitter->sizes();
      QVERIFY(panel.window->close());
    }
    Panel panel({.settings = &settings});
    QVERIFY(panel.window->isPlaced());
    QCOMPARE(panel.window->size(), QSize(1024, 700));  // the offscreen screen is 800 wide
    QCOMPARE(panel.window->y(), m_place.y());
    QVERIFY(dock(panel, "navigator")->isHidden());
    QVERIFY(!panel.window->actions()->find(QStringLiteral("view.navigator"))->isChecked());
    auto* table = panel.window->findChild<QTableView*>(QStringLiteral("events"));
    QCOMPARE(table->horizontalHeader()->sectionSize(0), 133);
    auto* splitter = panel.window->findChild<QSplitter*>(QStringLiteral("recordsSplitter"));
    // The frame that the platform draws takes a pixel or two.
    QVERIFY2(std::abs(splitter->sizes().first() - m_sizes.first()) <= 4,
             qPrintable(QStringLiteral("%1, not %2").arg(splitter->sizes().first()).arg(m_sizes.first())));

    trigger(panel, "view.resetLayout");
    QVERIFY(dock(panel, "navigator")->isVisible());
  }

  void aWindowWithoutAStoredSizeFitsItsScreen() {
    const QSize least(1024, 640);
    QCOMPARE(ui::usualSize({2560, 1400}, least), QSize(1440, 900));
    // A panel at the top takes some of the height, and the window has a frame.
    const QSize small = ui::usualSize({1440, 873}, least);
    QVERIFY(small.width() <= 1440 && small.height() + 24 <= 873);
    QVERIFY(small.height() > 800);
    QCOMPARE(ui::usualSize({800, 600}, least), least);
  }

  void namedLayouts() {
    Settings settings;
    Panel panel({.settings = &settings});
    trigger(panel, "view.layoutTeach");
    QVERIFY(!dock(panel, "navigator")->isVisible());
    QVERIFY(!dock(panel, "records")->isVisible());
    QVERIFY(dock(panel, "side")->isVisible());
    trigger(panel, "view.layoutReview");
    QVERIFY(dock(panel, "records")->isVisible());
    QTRY_VERIFY(dock(panel, "records")->height() > panel.window->height() / 3);
    trigger(panel, "view.layoutOperate");
    for (const char* name : {"navigator", "side", "records"}) {
      QVERIFY(dock(panel, name)->isVisible());
    }
    QTRY_VERIFY(dock(panel, "records")->height() < panel.window->height() / 3);
  }

  void lastSourceComesBack() {
    Settings settings;
    {
      Panel panel({.settings = &settings});
      trigger(panel, "view.draft");
      QVERIFY(panel.window->close());
    }
    QCOMPARE(settings.text(Setting::Source), QStringLiteral("draft"));
    Panel panel({.settings = &settings});
    QVERIFY(panel.window->draft()->isEmpty());
    QCOMPARE(settings.text(Setting::Source), QStringLiteral("draft"));
  }

  void colouringComesBack() {
    Settings settings;
    const auto box = [](Panel& panel) {
      for (auto* each : panel.window->findChildren<QComboBox*>()) {
        if (each->accessibleName() == QLatin1String("Meaning of the colours"))
          return each;
      }
      return static_cast<QComboBox*>(nullptr);
    };
    {
      Panel panel({.settings = &settings});
      QCOMPARE(box(panel)->currentIndex(), static_cast<int>(ui::ColourBy::Piece));
      box(panel)->setCurrentIndex(static_cast<int>(ui::ColourBy::Memory));
      QVERIFY(panel.window->close());
    }
    QCOMPARE(settings.text(Setting::Colouring), QStringLiteral("memory"));
    {
      Panel panel({.settings = &settings});
      QCOMPARE(box(panel)->currentIndex(), static_cast<int>(ui::ColourBy::Memory));
      QVERIFY(panel.window->meshView()->scene().colourBy == ui::ColourBy::Memory);
    }
    // A window that keeps nothing neither takes it nor changes it.
    Panel picture({.settings = &settings, .keepLayout = false});
    QCOMPARE(box(picture)->currentIndex(), static_cast<int>(ui::ColourBy::Piece));
    box(picture)->setCurrentIndex(static_cast<int>(ui::ColourBy::Host));
    QCOMPARE(settings.text(Setting::Colouring), QStringLiteral("memory"));
    // As many names in the settings as there are colourings.
    QCOMPARE(Settings::specOf(Setting::Colouring).choices.size(), qsizetype{ui::kNumColourings});
  }

  void groupingComesBack() {
    Settings settings;
    {
      Panel panel({.settings = &settings});
      QVERIFY(panel.window->meshView()->scene().groupBy == ui::GroupBy::Node);
      QVERIFY(panel.window->actions()->find(QStringLiteral("view.groupNode"))->isChecked());
      trigger(panel, "view.groupStage");
      QVERIFY(panel.window->meshView()->scene().groupBy == ui::GroupBy::Stage);
      QVERIFY(!panel.window->actions()->find(QStringLiteral("view.groupNode"))->isChecked());
      QVERIFY(panel.window->close());
    }
    QCOMPARE(settings.text(Setting::Grouping), QStringLiteral("stage"));
    const Panel panel({.settings = &settings});
    QVERIFY(panel.window->meshView()->scene().groupBy == ui::GroupBy::Stage);
    QCOMPARE(Settings::specOf(Setting::Grouping).choices.size(), qsizetype{ui::kNumGroupings});
  }

  void damagedStatesDoNotHarm() {
    Settings settings;
    settings.setEntry(QStringLiteral("layout/window"), QStringLiteral("1,2,three"));
    settings.setEntry(QStringLiteral("layout/docks"), QStringLiteral("%%%"));
    settings.setEntry(QStringLiteral("layout/columns.events"), QStringLiteral("99:AAAA"));
    settings.setEntry(QStringLiteral("layout/splitter.recordsSplitter"), QStringLiteral("AAAA"));
    Panel panel({.settings = &settings});
    QVERIFY(!panel.window->isPlaced());
    QVERIFY(dock(panel, "records")->isVisible());
  }

  void shortcutsComeBack() {
    Settings settings;
    {
      Panel panel({.settings = &settings});
      panel.window->actions()->setShortcuts(QStringLiteral("plan.copy"),
                                            {QKeySequence(QStringLiteral("Ctrl+Alt+P"))});
      panel.window->actions()->storeShortcuts(settings);
    }
    // Another action's key is not taken over.
    settings.setEntry(QStringLiteral("shortcuts/history.reload"), QStringLiteral("F1"));
    Panel panel({.settings = &settings});
    QCOMPARE(panel.window->actions()->find(QStringLiteral("plan.copy"))->shortcut(),
             QKeySequence(QStringLiteral("Ctrl+Alt+P")));
    QVERIFY(panel.window->actions()->find(QStringLiteral("history.reload"))->shortcuts().isEmpty());
  }

 private:
  static QDockWidget* dock(const Panel& panel, const char* name) {
    return panel.window->findChild<QDockWidget*>(QString::fromLatin1(name));
  }
  static void trigger(const Panel& panel, const char* id) {
    panel.window->actions()->find(QString::fromLatin1(id))->trigger();
    QCoreApplication::processEvents();
  }

  QList<int> m_sizes;
  QPoint m_place;
};

TESSERA_THEMED_TEST(LayoutKeeperTest)
#include "layout_keeper_test.moc"
