// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settings_dialog.h"

#include <QApplication>
#include <QKeySequenceEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTreeWidget>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/palette_preview.h"
#include "ui/dialogs/settings_page.h"
#include "ui/dialogs/shortcuts_page.h"
#include "ui/models/draft.h"
#include "ui/pages/apply_sheet.h"
#include "ui/settings/colour_vision.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/toggle_switch.h"

using namespace tessera;
using test::Panel;
using ui::ColourVision;
using ui::Setting;
using ui::Settings;
using ui::SettingsDialog;

class SettingsDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void themeHoldsAtOnce() {
    Settings settings;
    Panel panel({.settings = &settings});
    SettingsDialog& dialog = open(panel);
    auto* choice = dialog.page(SettingsDialog::General)->findChildren<ui::SegmentedSwitch*>()[1];
    choice->segment(2)->click();
    QCOMPARE(settings.text(Setting::Theme), QStringLiteral("dark"));
    QVERIFY(ui::Theme::current().isDark);
    QVERIFY(panel.window->actions()->find(QStringLiteral("view.themeDark"))->isChecked());
    dialog.resetButton()->click();
    QCOMPARE(settings.text(Setting::Theme), QStringLiteral("system"));
    QVERIFY(!ui::Theme::current().isDark);
  }

  void reduceMotionIsOneSetting() {
    Settings settings;
    Panel panel({.settings = &settings});
    SettingsDialog& dialog = open(panel);
    auto* toggle = dialog.page(SettingsDialog::General)->findChild<ui::ToggleSwitch*>();
    toggle->click();
    QAction* action = panel.window->actions()->find(QStringLiteral("view.reduceMotion"));
    QVERIFY(action->isChecked());
    action->trigger();
    QVERIFY(!toggle->isChecked());
  }

  void sizeNeedsARestart() {
    Settings settings;
    Panel panel({.settings = &settings});
    SettingsDialog& dialog = open(panel);
    QSignalSpy restart(panel.window.get(), &ui::MainWindow::restartRequested);
    auto* page = dialog.page(SettingsDialog::General);
    page->findChildren<ui::SegmentedSwitch*>().last()->segment(2)->click();
    QCOMPARE(settings.number(Setting::Scale), 150);
    QPushButton* again = page->findChild<QPushButton*>();
    QVERIFY(again->isVisible());
    again->click();
    QCOMPARE(restart.count(), 1);
  }

  void languageNeedsARestart() {
    Settings settings;
    Panel panel({.settings = &settings});
    auto* page = open(panel).page(SettingsDialog::General);
    auto* choice = page->findChildren<ui::SegmentedSwitch*>().first();
    auto* again = page->findChild<QPushButton*>();
    choice->segment(2)->click();
    QCOMPARE(settings.text(Setting::Language), QStringLiteral("de"));
    QVERIFY(again->isVisible());
    choice->segment(0)->click();
    QCOMPARE(settings.text(Setting::Language), QStringLiteral("system"));
    QVERIFY(!again->isVisible());
  }

  void safetyHolds() {
    Settings settings;
    settings.set(Setting::Confirm, QStringLiteral("large"));
    settings.set(Setting::ConfirmAbove, 1);
    Panel panel({.operate = true, .settings = &settings});
    QAction* apply = panel.window->actions()->find(QStringLiteral("plan.apply"));
    emitToggle(panel);
    QVERIFY(panel.waitForPlan());
    apply->trigger();
    QCOMPARE(panel.window->findChildren<ui::ApplySheet*>().size(), 1);  // 37 MiB are above 1
    panel.window->findChild<ui::ApplySheet*>()->reject();
    QCOMPARE(panel.commands.mutations(), 0);
    settings.set(Setting::ConfirmAbove, 1 << 20);
    apply->trigger();
    QCOMPARE(panel.commands.mutations(), 1);
  }

  void irreversibleMovesAlwaysAsk() {
    Settings settings;
    settings.set(Setting::Confirm, QStringLiteral("large"));
    settings.set(Setting::ConfirmAbove, 1 << 20);
    Panel panel({.operate = true, .settings = &settings});
    panel.commands.adjustPlan = [](engine::PlanSummary plan) {
      plan.rollback = false;
      return plan;
    };
    emitToggle(panel);
    QVERIFY(panel.waitForPlan());
    panel.window->actions()->find(QStringLiteral("plan.apply"))->trigger();
    QCOMPARE(panel.commands.mutations(), 0);
    QCOMPARE(panel.window->findChildren<ui::ApplySheet*>().size(), 1);
  }

  void numbersShowTheirLimits() {
    Settings settings;
    Panel panel({.settings = &settings});
    auto* box = open(panel).page(SettingsDialog::Safety)->findChild<QSpinBox*>();
    QCOMPARE(box->minimum(), 1);
    QCOMPARE(box->maximum(), 30);
    box->setValue(9);
    QCOMPARE(settings.number(Setting::Countdown), 9);
  }

  void shortcutsAreChecked() {
    Settings settings;
    Panel panel({.settings = &settings});
    SettingsDialog& dialog = open(panel);
    dialog.showPage(SettingsDialog::Shortcuts);
    auto* page = static_cast<ui::ShortcutsPage*>(dialog.page(SettingsDialog::Shortcuts));
    QAction* action = panel.window->actions()->find(QStringLiteral("plan.discard"));
    choose(page, action);
    page->editor()->setKeySequence(QKeySequence(QStringLiteral("Ctrl+Z")));
    QVERIFY2(page->problem().contains(QStringLiteral("Undo")), qPrintable(page->problem()));
    QVERIFY(!page->setButton()->isEnabled());
    page->editor()->setKeySequence(QKeySequence(QStringLiteral("Ctrl+Shift+D")));
    QVERIFY(page->problem().isEmpty());
    page->setButton()->click();
    QCOMPARE(action->shortcut(), QKeySequence(QStringLiteral("Ctrl+Shift+D")));
    QCOMPARE(settings.entry(QStringLiteral("shortcuts/plan.discard")),
             QStringLiteral("Ctrl+Shift+D"));
    page->clearButton()->click();
    QVERIFY(action->shortcuts().isEmpty());
    page->defaultButton()->click();
    QCOMPARE(action->shortcuts(),
             panel.window->actions()->defaultShortcuts(QStringLiteral("plan.discard")));
    QVERIFY(settings.keysBelow(QStringLiteral("shortcuts")).isEmpty());
    // Keys of the canvas are fixed.
    choose(page, panel.window->actions()->find(QStringLiteral("view.fit")));
    QVERIFY(!page->editor()->isEnabled());
  }

  /// PANEL.md §3.8: measured differences of the nine colours.
  void simulationAgreesWithTheMeasurement_data() {
    QTest::addColumn<ColourVision>("vision");
    QTest::addColumn<double>("least");
    QTest::newRow("normal") << ColourVision::Normal << 15.0;
    QTest::newRow("protan") << ColourVision::Protan << 11.8;
    QTest::newRow("deutan") << ColourVision::Deutan << 14.3;
    QTest::newRow("tritan") << ColourVision::Tritan << 11.5;
  }
  void simulationAgreesWithTheMeasurement() {
    QFETCH(ColourVision, vision);
    QFETCH(double, least);
    const double measured = ui::PalettePreview::smallestDifference(vision);
    QVERIFY2(std::abs(measured - least) < 0.11, qPrintable(QString::number(measured)));
  }

  void greysStayGrey() {
    for (const auto vision : {ColourVision::Deutan, ColourVision::Protan, ColourVision::Tritan}) {
      for (const int level : {0, 90, 200, 255}) {
        const QColor seen = ui::asSeen(QColor(level, level, level), vision);
        QVERIFY(std::abs(seen.red() - level) <= 1 && std::abs(seen.green() - level) <= 1 &&
                std::abs(seen.blue() - level) <= 1);
      }
    }
  }

  /// Pairs 1, 7 and 25 of Sharma, Wu, Dalal 2005 are in Lab; here two known sRGB pairs.
  void differencesAreKnown() {
    QCOMPARE(ui::colourDifference(Qt::red, Qt::red), 0.0);
    QVERIFY(std::abs(ui::colourDifference(Qt::black, Qt::white) - 100.0) < 0.01);
    QVERIFY(std::abs(ui::colourDifference(Qt::red, Qt::blue) - 52.88) < 0.05);
  }

  void everyControlHasAName() {
    Settings settings;
    Panel panel({.settings = &settings});
    SettingsDialog& dialog = open(panel);
    for (int i = 0; i < SettingsDialog::NUM_PAGES; ++i) {
      dialog.showPage(static_cast<SettingsDialog::Page>(i));
      for (auto* widget : dialog.findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisibleTo(&dialog)) continue;
        if (widget->objectName().startsWith(QLatin1String("qt_"))) continue;
        QVERIFY2(
            !widget->accessibleName().isEmpty() || !widget->property("text").toString().isEmpty(),
            widget->metaObject()->className());
      }
    }
  }

  void aboutNamesVersionsAndLicences() {
    const ui::AboutDialog about(QStringLiteral("0.1.0 (abc)"));
    for (const char* word : {"0.1.0 (abc)", "GPL-3.0-or-later", "Apache-2.0", "QCustomPlot"}) {
      QVERIFY2(about.asText().contains(QLatin1String(word)), word);
    }
    QVERIFY(about.asText().contains(QString::fromLatin1(qVersion())));
  }

 private:
  static SettingsDialog& open(Panel& panel) {
    panel.window->actions()->find(QStringLiteral("file.settings"))->trigger();
    return *panel.window->findChild<SettingsDialog*>();
  }
  static void choose(ui::ShortcutsPage* page, const QAction* action) {
    for (int i = 0; i < page->list()->topLevelItemCount(); ++i) {
      QTreeWidgetItem* item = page->list()->topLevelItem(i);
      if (item->data(0, Qt::UserRole).toString() == action->objectName()) {
        page->list()->setCurrentItem(item);
      }
    }
  }
  static void emitToggle(Panel& panel) {
    for (const std::int32_t index : {0, 1, 2, 3}) panel.window->draft()->add({{1, index}});
    panel.window->actions()->find(QStringLiteral("view.draft"))->trigger();
  }
};

TESSERA_THEMED_TEST(SettingsDialogTest)
#include "settings_dialog_test.moc"
