// SPDX-License-Identifier: Apache-2.0
#include <QApplication>
#include <QLineEdit>
#include <QListView>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/cluster_tree_model.h"
#include "ui/models/draft.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/inspector.h"
#include "ui/palette/command_palette.h"
#include "ui/palette/fuzzy.h"
#include "ui/theme.h"

using namespace tessera;
using test::Panel;
using ui::CommandPalette;
using ui::fuzzyMatch;
using ui::PaletteItem;

class PaletteTest : public QObject {
  Q_OBJECT

 private slots:
  void matches_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QList<qsizetype>>("at");
    const auto row = [](const char* typed, const char* text, const QList<qsizetype>& at) {
      QTest::newRow(typed) << QString::fromLatin1(typed) << QString::fromLatin1(text) << at;
    };
    row("undo", "Undo", {0, 1, 2, 3});
    row("rl", "Reset Layout", {0, 6});  // starts of words before letters in a row
    row("lay", "Delay the Layout", {10, 11, 12});
    row("g1g3", "n1g1g3", {2, 3, 4, 5});
    row("xyz", "Reset Layout", {});
    row("undoundo", "Undo", {});
  }
  void matches() {
    QFETCH(QString, typed);
    QFETCH(QString, text);
    QFETCH(QList<qsizetype>, at);
    const auto match = fuzzyMatch(typed, text);
    QCOMPARE(match.has_value(), !at.isEmpty());
    if (match) QCOMPARE(match->at, at);
  }

  void betterFitsComeFirst() {
    const auto score = [](const char* typed, const char* text) {
      return fuzzyMatch(QString::fromLatin1(typed), QString::fromLatin1(text))->score;
    };
    QVERIFY(score("live", "Live") > score("live", "Live Moves"));
    QVERIFY(score("live", "Live Moves") > score("live", "Olive"));
    QVERIFY(score("sl", "Step Live") > score("sl", "Tensile"));
  }

  // One selection in mesh, navigator and inspector.
  void gpuByNumber() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("g 5"));
    QCOMPARE(palette.hits().front().item->title, QStringLiteral("GPU 5"));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    const std::set<ptc::DeviceId> wanted{{1, 1}};
    QVERIFY(!palette.isVisible());
    QCOMPARE(panel.window->meshView()->selection(), wanted);
    QCOMPARE(panel.window->findChild<ui::Inspector*>()->title(), QStringLiteral("n1g1"));
    auto* tree = panel.window->findChild<QTreeView*>(QStringLiteral("navigator"));
    const QModelIndexList rows = tree->selectionModel()->selectedRows();
    QCOMPARE(rows.size(), 1);
    QCOMPARE(rows.front().data().toString(), QStringLiteral("n1g1"));
  }

  void gpuByName() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("n1g3"));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QCOMPARE(panel.window->meshView()->selection(), (std::set<ptc::DeviceId>{{1, 3}}));
  }

  // An event has the name of the GPU in its text, which is a better match than that in the details.
  void objectsComeBeforeEvents() {
    Panel panel;
    panel.model.addEvent(
        {1, 1'750'000'000, engine::Severity::kWarning, "n1", "n1g3 answers late, 2.1 s"});
    panel.model.flush();
    ui::MeshView* mesh = panel.window->meshView();
    panel.window->actions()->find(QStringLiteral("view.links"))->trigger();
    QVERIFY(!mesh->isVisible());
    const double whole = mesh->zoom();
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("n1g3"));
    QCOMPARE(palette.hits().front().item->kind, PaletteItem::Kind::Gpu);
    QCOMPARE(palette.hits().back().item->kind, PaletteItem::Kind::Event);
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QCOMPARE(mesh->selection(), (std::set<ptc::DeviceId>{{1, 3}}));
    QVERIFY(mesh->isVisible());
    QVERIFY(mesh->zoom() > whole);
    QVERIFY(mesh->viewport()->rect().intersects(mesh->cellRect({1, 3})));
  }

  void nodeByNumber() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("n 1"));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QCOMPARE(panel.window->meshView()->selection(),
             (std::set<ptc::DeviceId>{{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
  }

  void arrowsChoose() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("g n0"));
    QTest::keyClick(palette.edit(), Qt::Key_Down);
    const QString title =
        palette.hits()[static_cast<std::size_t>(palette.list()->currentIndex().row())].item->title;
    QCOMPARE(palette.list()->currentIndex().row(), 1);
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QCOMPARE(title,
             QStringLiteral("GPU %1").arg(panel.window->meshView()->selection().begin()->index));
  }

  void actionsRun() {
    Panel panel({.operate = true});
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("a operate"));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QVERIFY(!panel.window->isOperating());
  }

  void everyActionIsThere() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("a "));
    QCOMPARE(
        static_cast<qsizetype>(palette.hits().size()),
        std::min<qsizetype>(panel.window->actions()->all().size() - 1, CommandPalette::kMaxHits));
  }

  void blockedActionsSayWhy() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("a apply"));
    QCOMPARE(palette.hits().front().item->title, QStringLiteral("Apply…"));
    QVERIFY(palette.hits().front().item->blocked.contains(QStringLiteral("Monitor")));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QVERIFY(palette.isVisible());
    QCOMPARE(panel.commands.mutations(), 0);
    QTest::keyClick(palette.edit(), Qt::Key_Escape);
    QVERIFY(!palette.isVisible());
  }

  void eventsAndChanges() {
    Panel panel;
    for (auto& event : test::PanelEvents()) panel.model.addEvent(event);
    panel.model.flush();
    QTRY_VERIFY(panel.commands.historyCalls > 0);
    test::settle();
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("e joined"));
    QVERIFY(palette.hits().front().item->title.contains(QStringLiteral("joined with 4 GPUs")));
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QCOMPARE(panel.window->meshView()->selection(),
             (std::set<ptc::DeviceId>{{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
    open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("h 2"));
    QCOMPARE(palette.hits().front().item->kind, PaletteItem::Kind::Change);
    QVERIFY(palette.hits().front().item->title.startsWith(QStringLiteral("Change 2 ")));
  }

  void nothingFits() {
    Panel panel;
    CommandPalette& palette = open(panel);
    QTest::keyClicks(palette.edit(), QStringLiteral("zzzzqqq"));
    QVERIFY(palette.hits().empty());
    QTest::keyClick(palette.edit(), Qt::Key_Return);
    QVERIFY(palette.isVisible());
  }

  void jobsAreChosen() {
    engine::ClusterSnapshot cluster = test::PanelCluster();
    engine::JobStatus second = cluster.jobs.front();
    second.name = "second";
    second.devices = {{1, 0}, {1, 1}};
    second.mesh = test::Shape(2, 1, 1);
    for (int i = 0; i < 2; ++i) {
      cluster.nodes[1].devices[static_cast<std::size_t>(i)].job = "second";
      cluster.nodes[1].devices[static_cast<std::size_t>(i)].rank = i;
    }
    cluster.jobs.push_back(second);
    Panel panel({}, cluster);
    auto* header = panel.window->findChild<ui::HeaderBar*>();
    QVERIFY(header->jobChooser()->isVisible());
    QVERIFY(header->jobText().contains(QStringLiteral("gpt-mini")));
    emit header->jobChosen(QStringLiteral("second"));
    QVERIFY(header->jobText().endsWith(QStringLiteral("second")));
    QCOMPARE(panel.window->draft()->job(), QStringLiteral("second"));
    // It stays as long as the cluster has it.
    panel.setSnapshot(cluster);
    QVERIFY(header->jobText().endsWith(QStringLiteral("second")));
    cluster.jobs.pop_back();
    panel.setSnapshot(cluster);
    QVERIFY(header->jobText().endsWith(QStringLiteral("gpt-mini")));
    QVERIFY(!header->jobChooser()->isVisible());
  }

 private:
  static CommandPalette& open(Panel& panel) {
    QTest::keyClick(panel.window.get(), Qt::Key_K, Qt::ControlModifier);
    if (panel.window->commandPalette() == nullptr) {
      panel.window->actions()->find(QStringLiteral("edit.goTo"))->trigger();
    }
    return *panel.window->commandPalette();
  }
};

TESSERA_THEMED_TEST(PaletteTest)
#include "palette_test.moc"
