// SPDX-License-Identifier: Apache-2.0
// The Files view: what is chosen, where its bytes are, and the paths that it gives.
#include "ui/views/files_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/pages/file_details.h"
#include "ui/pages/file_tree_view.h"
#include "ui/theme.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/placement_strip.h"

using namespace tessera;

namespace {

const QString kModel = QStringLiteral("jobs/gpt-mini/full/model.safetensors");

/// The page, with the first file shown where there is one.
ui::FilesPage* openPage(test::Panel& panel) {
  panel.window->resize(1440, 900);
  panel.window->actions()->find(QStringLiteral("view.files"))->trigger();
  auto* page = panel.window->findChild<ui::FilesPage*>();
  const bool ready = QTest::qWaitFor(
      [&] {
        const bool words =
            !page->words().isEmpty() && !page->words().startsWith(QStringLiteral("Reading the list"));
        return words || page->details()->facts().bytes != nullptr;
      },
      20'000);
  if (!ready) qWarning("the page shows neither a file nor words");
  return page;
}

void choose(ui::FilesPage* page, const QString& path, const QString& tensor) {
  page->tree()->choose(path, tensor);
  QTRY_COMPARE(page->details()->facts().title, tensor);
}

QString clipboard() { return QGuiApplication::clipboard()->text(); }

}  // namespace

class FilesPageTest : public QObject {
  Q_OBJECT

 private slots:
  void theWholeModelIsShownFirst() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    QVERIFY(page->isVisible());
    QCOMPARE(page->words(), QString());
    QCOMPARE(page->details()->facts().path, kModel);
    QCOMPARE(page->tree()->currentIndex().data().toString(), QStringLiteral("model.safetensors"));
    QVERIFY(page->details()->strip()->isVisible());
    QVERIFY(!page->tree()->isExpanded(page->files().indexOf(kModel)));
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void aTensorHasABarACopy() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    choose(page, kModel, QStringLiteral("h.0.mlp.fc1.weight"));
    ui::PlacementStrip* strip = page->details()->strip();
    QCOMPARE(strip->bars(), 2);
    const auto left = strip->hitAt({2, 4}), right = strip->hitAt({strip->width() - 2.0, 4});
    const auto below = strip->hitAt({2, 32});
    QVERIFY(left && right && below);
    QCOMPARE(left->device, std::optional(ptc::DeviceId{0, 0}));
    QCOMPARE(right->device, std::optional(ptc::DeviceId{0, 1}));
    QCOMPARE(below->device, std::optional(ptc::DeviceId{0, 2}));
    QCOMPARE(left->run.end, right->run.begin);
    QVERIFY(strip->accessibleDescription().contains(QStringLiteral("n0g0")));
  }

  // In a file every row of the tensor is half n0g0's: each column shows both.
  void runsFinerThanAPixelShareItsColumn() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    choose(page, kModel, QStringLiteral("h.0.mlp.fc2.weight"));
    ui::PlacementStrip* strip = page->details()->strip();
    const double middle = strip->width() / 2.0;
    const auto above = strip->hitAt({middle, 3}), below = strip->hitAt({middle, 20});
    QVERIFY(above && below);
    QCOMPARE(above->device, std::optional(ptc::DeviceId{0, 0}));
    QCOMPARE(below->device, std::optional(ptc::DeviceId{0, 1}));
    QVERIFY(page->details()->moreText().contains(QStringLiteral("more ranges")));
  }

  void aClickOnBytesSelectsTheirGpu() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    choose(page, kModel, QStringLiteral("h.0.mlp.fc1.weight"));
    ui::PlacementStrip* strip = page->details()->strip();
    QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(strip->width() - 4, 10));
    QCOMPARE(panel.window->meshView()->selection(), (std::set<ptc::DeviceId>{{0, 1}}));
    page->details()->table()->selectRow(0);
    QCOMPARE(panel.window->meshView()->selection(), (std::set<ptc::DeviceId>{{0, 0}, {0, 2}}));
  }

  void pathsAreBelowTheMount() {
    test::FakeConnections here;
    here.now = QStringLiteral("lab-a");
    here.mounted = QStringLiteral("/mnt/state");
    test::Panel panel({.connections = &here});
    ui::FilesPage* page = openPage(panel);
    QVERIFY(page->mountText().contains(QStringLiteral("/mnt/state")));
    QVERIFY(!page->mountCommand()->isVisible());
    page->tree()->setFocus();
    QTest::keySequence(page->tree(), QKeySequence::Copy);
    QCOMPARE(clipboard(), QStringLiteral("/mnt/state/") + kModel);
    choose(page, kModel, QStringLiteral("ln_f.bias"));
    page->details()->pythonCopy()->copy();
    QCOMPARE(clipboard(), QStringLiteral("safetensors.safe_open(\"/mnt/state/%1\", "
                                         "framework=\"pt\").get_tensor(\"ln_f.bias\")")
                              .arg(kModel));
    QAction* action = panel.window->actions()->find(QStringLiteral("edit.copyPath"));
    QCOMPARE(page->copyBlockedReason(), QString());
    QVERIFY2(action->isEnabled(), qPrintable(action->toolTip()));
    action->trigger();
    QCOMPARE(clipboard(), QStringLiteral("/mnt/state/") + kModel);
  }

  void withoutAMountThePageSaysHowToMakeOne() {
    test::FakeConnections here;
    here.now = QStringLiteral("lab-a");
    test::Panel panel({.connections = &here});
    ui::FilesPage* page = openPage(panel);
    QVERIFY(page->mountText().startsWith(QStringLiteral("Not mounted on this machine")));
    page->mountCommand()->button()->click();
    QCOMPARE(clipboard(), QStringLiteral("tesseractl --cluster lab-a mount DIR"));
    page->details()->pathLine()->button()->click();
    QCOMPARE(clipboard(), kModel);  // as it will be below the mount
    here.mounted = QStringLiteral("/srv/x");
    QTRY_COMPARE_WITH_TIMEOUT(page->details()->path(), QStringLiteral("/srv/x/") + kModel, 10'000);
  }

  void theFilterIsReachedByItsKey() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    QAction* find = panel.window->actions()->find(QStringLiteral("view.find"));
    find->trigger();
    QVERIFY(page->filterEdit()->hasFocus());
    page->tree()->open(kModel);
    QTest::keyClicks(page->filterEdit(), QStringLiteral("ln_f"));
    const QModelIndex file = page->files().indexOf(kModel);
    QCOMPARE(page->files().rowCount(file), 2);
    QVERIFY(page->tree()->isExpanded(file));
    page->filterEdit()->clear();
    panel.window->actions()->find(QStringLiteral("view.mesh"))->trigger();
    find->trigger();
    QVERIFY(!page->filterEdit()->hasFocus());
  }

  void whatIsChosenStaysAcrossAChangeOfTheMesh() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    choose(page, kModel, QStringLiteral("h.0.mlp.fc1.weight"));
    panel.setSnapshot(test::PanelGrown());
    QTRY_COMPARE(page->details()->strip()->bars(), 4);
    QCOMPARE(page->details()->facts().title, QStringLiteral("h.0.mlp.fc1.weight"));
    QCOMPARE(page->details()->facts().placement, QStringLiteral("2 ranges, each on 4 GPUs."));
  }

  void aDraftHasNoFiles() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    emit panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QTRY_VERIFY(page->hintText().contains(QStringLiteral("live job")));
    choose(page, kModel, QStringLiteral("h.0.mlp.fc1.weight"));
    QCOMPARE(page->details()->strip()->bars(), 2);
  }

  void whatIsNotThereIsSaidInWords() {
    {
      test::Panel none({}, test::IdleCluster(2, 4));
      QVERIFY(openPage(none)->words().contains(QStringLiteral("No job is running")));
    }
    {
      test::Panel starting;
      starting.commands.jobStates = engine::vfs::Jobs();
      QVERIFY(openPage(starting)->words().contains(QStringLiteral("no layout yet")));
    }
    {
      test::Panel failing;
      failing.commands.jobStates = Unavailable("the registrar is busy");
      QVERIFY(openPage(failing)->words().contains(QStringLiteral("registrar is busy")));
    }
    test::Panel past;
    past.model.clear(QStringLiteral("/tmp/past.db"));
    QVERIFY(openPage(past)->words().contains(QStringLiteral("history file")));
  }

  void theLastKnownStaysWhileTheLinkIsLost() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    panel.model.setLink(ui::LinkState::Lost, {});
    panel.model.flush();
    QTRY_VERIFY_WITH_TIMEOUT(page->hintText().startsWith(QStringLiteral("as of")), 5000);
    QCOMPARE(page->words(), QString());
    QVERIFY(page->details()->facts().bytes != nullptr);
  }

  void everythingToUseHasAName() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    for (const QWidget* widget : page->findChildren<QWidget*>()) {
      if ((widget->focusPolicy() & Qt::TabFocus) == 0 || !widget->isVisible()) continue;
      if (widget->objectName().startsWith(QStringLiteral("qt_"))) continue;  // parts of Qt's own
      QVERIFY2(!widget->accessibleName().isEmpty() ||
                   qobject_cast<const QPushButton*>(widget) != nullptr,
               widget->metaObject()->className());
    }
  }

  void itFitsASmallWindow() {
    test::Panel panel;
    ui::FilesPage* page = openPage(panel);
    panel.window->resize(1024, 640);
    test::settle();
    QVERIFY(page->tree()->width() >= 150);
    const QRect area(QPoint(0, 0), page->size());
    for (QWidget* part :
         {static_cast<QWidget*>(page->tree()), static_cast<QWidget*>(page->filterEdit()),
          static_cast<QWidget*>(page->mountCommand())}) {
      QVERIFY(area.contains(QRect(part->mapTo(page, QPoint(0, 0)), part->size())));
    }
  }
};

TESSERA_THEMED_TEST(FilesPageTest)
#include "files_page_test.moc"
