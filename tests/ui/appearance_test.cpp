// SPDX-License-Identifier: Apache-2.0
// What a user sees change: the mark of the focus, and every view in the other theme.
#include <QAbstractButton>
#include <QApplication>
#include <QLabel>
#include <QTest>
#include <functional>
#include <memory>
#include <set>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/dialogs/agent_tests.h"
#include "ui/theme.h"

using namespace tessera;
using test::Panel;

namespace {

/// How many points of two pictures differ clearly.
int differences(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return a.width() * a.height();
  int count = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      count += std::abs(qGray(a.pixel(x, y)) - qGray(b.pixel(x, y))) > 12 ? 1 : 0;
    }
  }
  return count;
}

/// The first difference between two palettes, empty without one.
QString difference(const QPalette& a, const QPalette& b) {
  for (const auto group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled}) {
    for (int role = 0; role < QPalette::NColorRoles; ++role) {
      const auto colour = static_cast<QPalette::ColorRole>(role);
      if (a.brush(group, colour) != b.brush(group, colour))
        return QStringLiteral("group %1 role %2: %3 and %4")
            .arg(QString::number(group), QString::number(role),
                 a.color(group, colour).name(QColor::HexArgb),
                 b.color(group, colour).name(QColor::HexArgb));
    }
  }
  return {};
}

void show(Panel& panel, const QString& view) {
  panel.window->resize(1440, 900);
  panel.window->actions()->find(view)->trigger();
  QTest::qWait(200);  // tensors and files are made on threads
  test::settle();
}

}  // namespace

class AppearanceTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { ui::applyTheme(*qApp, ui::ThemeMode::Light); }

  // Whoever follows the focus with the Tab key sees where it is.
  void theFocusIsVisibleWhereverTabLeads() {
    Panel panel({.operate = true});
    panel.window->resize(1440, 900);
    emit panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(panel.waitForPlan());
    test::settle();
    QStringList unmarked;
    std::set<QWidget*> reached;
    for (auto& event : test::PanelEvents()) panel.model.addEvent(event);
    panel.model.flush();
    // From where the mesh was not focused before: it shows the focus that a key brings.
    QTest::keyClick(panel.window.get(), Qt::Key_F6);
    for (int i = 0; i < 200; ++i) {
      QWidget* before = QApplication::focusWidget();
      QVERIFY(before != nullptr);
      if (!reached.insert(before).second) break;
      // A part draws nothing itself: the field of a spin box.
      QWidget* framed = before->focusProxy() != nullptr ? before->focusProxy() : before;
      test::settle();
      const QRect area(framed->mapTo(panel.window.get(), QPoint(-3, -3)),
                       framed->size() + QSize(6, 6));
      const QImage with = panel.window->grab(area).toImage();
      QTest::keyClick(before, Qt::Key_Tab);
      test::settle();
      const QImage without = panel.window->grab(area).toImage();
      if (QApplication::focusWidget() != before && differences(with, without) < 8) {
        unmarked << QStringLiteral("%1 '%2' \"%3\"")
                        .arg(QLatin1String(before->metaObject()->className()), before->objectName(),
                             before->accessibleName());
      }
    }
    QVERIFY2(reached.size() > 12, qPrintable(QString::number(reached.size())));
    QVERIFY2(unmarked.isEmpty(), qPrintable(unmarked.join(u'\n')));
  }

  void theOtherThemeReachesEveryView_data() {
    QTest::addColumn<QString>("view");
    for (const char* view :
         {"view.mesh", "view.tensors", "view.links", "view.data", "view.files"}) {
      QTest::newRow(view) << QString::fromLatin1(view);
    }
  }
  // A panel that was switched looks like one that was started in that theme.
  void theOtherThemeReachesEveryView() {
    QFETCH(QString, view);
    Panel switched({.operate = true});
    show(switched, view);
    const QImage light = switched.window->grab().toImage();
    switched.window->actions()->find(QStringLiteral("view.themeDark"))->trigger();
    QTest::qWait(100);
    test::settle();
    const QImage dark = switched.window->grab().toImage();
    QVERIFY(differences(light, dark) > light.width() * light.height() / 2);
    Panel started({.operate = true});
    show(started, view);
    const QImage expected = started.window->grab().toImage();
    const int wrong = differences(dark, expected);
    // A part that stayed light is larger; a line of a plot may be a point aside.
    QVERIFY2(wrong < dark.width() * dark.height() / 200,
             qPrintable(QStringLiteral("%1 points differ").arg(wrong)));
  }

  void linksAndMarksHaveTheOtherTheme() {
    using Part = std::unique_ptr<QWidget>;
    const auto link = []() -> Part {
      return std::make_unique<QLabel>(QStringLiteral("of <a href=\"n0g1\">n0g1</a>"));
    };
    const auto verdicts = []() -> Part {
      auto tests = std::make_unique<ui::AgentTests>();
      for (const auto verdict : {ui::AgentTest::Verdict::Reached, ui::AgentTest::Verdict::Warning,
                                 ui::AgentTest::Verdict::Unreachable}) {
        tests->add({.agent = QStringLiteral("n0"), .verdict = verdict, .found = {}, .fix = {}});
      }
      return tests;
    };
    for (const std::function<Part()>& make : {std::function<Part()>(link), {verdicts}}) {
      ui::applyTheme(*qApp, ui::ThemeMode::Light);
      const Part switched = make();
      switched->show();
      test::settle();
      ui::applyTheme(*qApp, ui::ThemeMode::Dark);
      QTRY_VERIFY(switched->updatesEnabled());
      const Part started = make();
      started->show();
      test::settle();
      QCOMPARE(switched->grab().toImage(), started->grab().toImage());
    }
  }

  // Also those that are hidden, in menus and dialogs.
  void theOtherThemeReachesEveryWidget() {
    Panel switched({.operate = true});
    show(switched, QStringLiteral("view.mesh"));
    switched.window->actions()->find(QStringLiteral("view.themeDark"))->trigger();
    QTest::qWait(200);
    Panel started({.operate = true});
    show(started, QStringLiteral("view.mesh"));
    const auto widgets = switched.window->findChildren<QWidget*>();
    const auto expected = started.window->findChildren<QWidget*>();
    QVERIFY(widgets.size() > 500);
    QCOMPARE(widgets.size(), expected.size());
    QStringList wrong;
    for (qsizetype i = 0; i < widgets.size(); ++i) {
      QString what = difference(widgets[i]->palette(), expected[i]->palette());
      // Qt gives the font of a dock widget to its buttons, which have no text, when it comes again.
      if (widgets[i]->isVisible() && widgets[i]->font() != expected[i]->font())
        what += QStringLiteral(" font");
      if (!what.isEmpty())
        wrong << QStringLiteral("%1 '%2' %3")
                     .arg(QLatin1String(widgets[i]->metaObject()->className()),
                          widgets[i]->objectName(), what);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
  }
};

TESSERA_THEMED_TEST(AppearanceTest)
#include "appearance_test.moc"
