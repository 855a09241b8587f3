// SPDX-License-Identifier: Apache-2.0
// Draws the whole panel in its states into PNG files, for eyes:
//   render_window DIRECTORY [WIDTH HEIGHT [files|past]]     only the Files view, or only the past
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <cstdio>

#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"
#include "ui/pages/file_tree_view.h"
#include "ui/pages/history_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/theme.h"
#include "ui/views/files_page.h"
#include "ui/widgets/tabbed_pane.h"

using namespace tessera;
using engine::TxnPhase;

namespace {

QString g_directory;
QSize g_size(1440, 900);
const char* g_only = "";

void save(test::Panel& panel, const QByteArray& name) {
  panel.model.flush();
  QTest::qWait(250);
  const QString file =
      g_directory + QLatin1Char('/') + QString::fromLatin1(name) + QLatin1String(".png");
  if (!panel.window->grabTo(file)) std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
}

/// The dialog that was opened last.
void saveDialog(test::Panel& panel, const QByteArray& name) {
  QTest::qWait(100);
  const auto dialogs = panel.window->findChildren<QDialog*>();
  if (dialogs.isEmpty()) return;
  dialogs.last()->grab().save(g_directory + QLatin1Char('/') + QString::fromLatin1(name) +
                              QLatin1String(".png"));
  dialogs.last()->reject();
  QTest::qWait(20);
}

std::unique_ptr<test::Panel> open(ui::WindowOptions options,
                                  engine::ClusterSnapshot snapshot = test::PanelCluster()) {
  auto panel = std::make_unique<test::Panel>(options, std::move(snapshot));
  panel->window->resize(g_size);
  for (auto& event : test::PanelEvents()) panel->model.addEvent(event);
  QTest::qWait(150);
  engine::Sample newest = test::PanelSamples().back();
  ++newest.step;
  newest.time += 0.4;
  panel->model.addSample(newest);
  return panel;
}

const ui::WindowOptions kArmed{.operate = true};
const ui::WindowOptions kLive{.operate = true, .live = true};
const std::vector<ptc::DeviceId> kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};

/// The past: a moment, within a change, while nothing was known of the memory, in each view, of a
/// file, and two changes beside each other.
void renderPast(const char* suffix) {
  const auto name = [&](const char* base) { return QByteArray(base) + suffix; };
  const auto trigger = [](test::Panel& panel, const char* id) {
    panel.window->actions()->find(QString::fromLatin1(id))->trigger();
  };
  {
    auto panel = open({.operate = true});
    auto* plots = panel->window->findChild<ui::JobPlots*>();
    plots->setPlayhead(1'750'000'200);
    save(*panel, name("past"));
    panel->window->meshView()->setSelection({{0, 1}});
    save(*panel, name("past-gpu"));
    panel->window->meshView()->setSelection({});
    plots->setPlayhead(1'750'000'249.35);
    save(*panel, name("past-change"));
    trigger(*panel, "view.tensors");
    save(*panel, name("past-tensors"));
    trigger(*panel, "view.links");
    save(*panel, name("past-links"));
    trigger(*panel, "view.data");
    save(*panel, name("past-data"));
    trigger(*panel, "view.files");
    save(*panel, name("past-files"));
    trigger(*panel, "view.mesh");
    panel->window->findChild<ui::HistoryPage*>()->choose(2);
    save(*panel, name("past-details"));
  }
  {
    auto panel = open({});
    auto* history = panel->window->findChild<ui::HistoryPage*>();
    panel->window->findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))->setCurrent(history);
    history->choose(2);
    history->addToChosen(3);
    save(*panel, name("compare"));
  }
  {
    auto panel = open({});
    panel->model.clear(QStringLiteral("/home/op/lab-a.db"));
    panel->model.setLink(ui::LinkState::Connected, QStringLiteral("/home/op/lab-a.db"));
    engine::ClusterSnapshot last;
    last.cluster = "lab-a";
    last.jobs.push_back(test::PanelCluster().jobs.front());
    panel->model.setSnapshot(last);
    save(*panel, name("file"));
    panel->window->findChild<ui::JobPlots*>()->setPlayhead(1'750'000'200);
    save(*panel, name("past-file"));
  }
}

/// The Files view: a file, a tensor that is cut along its columns, a rank's part, mounted, a draft.
void renderFiles(const char* suffix) {
  const auto name = [&](const char* base) { return QByteArray(base) + suffix; };
  const auto show = [](test::Panel& panel) {
    panel.window->actions()->find(QStringLiteral("view.files"))->trigger();
    QTest::qWait(300);
    return panel.window->findChild<ui::FilesPage*>();
  };
  const QString job = QStringLiteral("jobs/gpt-mini/");
  {
    auto panel = open({});
    ui::FilesPage* page = show(*panel);
    save(*panel, name("files"));
    page->tree()->open(job + QStringLiteral("full/model.safetensors"));
    page->tree()->choose(job + QStringLiteral("full/model.safetensors"),
                         QStringLiteral("h.0.attn.qkv.weight"));
    panel->window->meshView()->setSelection({{0, 2}});
    save(*panel, name("files-tensor"));
    page->tree()->choose(job + QStringLiteral("full/model.safetensors"),
                         QStringLiteral("h.0.mlp.fc2.weight"));
    save(*panel, name("files-columns"));
    page->tree()->choose(job + QStringLiteral("ranks/3"));
    page->filterEdit()->setText(QStringLiteral("mlp"));
    save(*panel, name("files-filter"));
    page->filterEdit()->clear();
    panel->model.setLink(ui::LinkState::Lost, QStringLiteral("Trying again in 4 s."));
    panel->model.flush();
    QTest::qWait(1500);
    save(*panel, name("files-lost"));
  }
  {
    test::FakeConnections here;
    here.now = QStringLiteral("lab-a");
    here.mounted = QStringLiteral("/mnt/state");
    here.here = {0};
    auto panel = open({.connections = &here});
    emit panel->window->meshView()->toggleRequested({kN1.begin(), kN1.end()});
    panel->waitForPlan();
    ui::FilesPage* page = show(*panel);
    page->tree()->open(job + QStringLiteral("ranks/1/optimizer.safetensors"));
    page->tree()->choose(job + QStringLiteral("ranks/1/optimizer.safetensors"),
                         QStringLiteral("h.0.attn.qkv.weight.exp_avg[128:256,0:256]"));
    save(*panel, name("files-draft"));
  }
  {
    auto cluster = test::LargeCluster(128, 8, 0, 0);
    auto panel = open({}, cluster);
    const auto big = test::BigState(500, cluster.jobs.front().mesh);
    panel->commands.jobStates = engine::vfs::Jobs{{big->info.name, big}};
    show(*panel);
    QTest::qWait(1000);
    save(*panel, name("files-large"));
  }
  {
    auto panel = open({}, test::IdleCluster(2, 4));
    show(*panel);
    save(*panel, name("files-no-job"));
  }
}

void renderAll(const char* suffix) {
  const auto name = [&](const char* base) { return QByteArray(base) + suffix; };
  {
    auto panel = open(kLive);
    panel->window->meshView()->setSelection({{0, 2}});
    save(*panel, name("live"));
  }
  {
    auto panel = open(kArmed);
    panel->window->meshView()->setSelection({kN1.begin(), kN1.end()});
    emit panel->window->meshView()->toggleRequested({kN1.begin(), kN1.end()});
    panel->waitForPlan();
    panel->window->meshView()->setSelection({});
    save(*panel, name("draft"));
    panel->window->planPanel()->applyButton()->click();
    saveDialog(*panel, name("sheet"));
    panel->window->actions()->find(QStringLiteral("help.shortcuts"))->trigger();
    saveDialog(*panel, name("shortcuts"));
    panel->model.setRecordProblem(QStringLiteral("lab-a.sqlite: database or disk is full"));
    panel->model.flush();
    panel->window->actions()->find(QStringLiteral("plan.apply"))->trigger();
    saveDialog(*panel, name("sheet-unrecorded"));
    save(*panel, name("unrecorded"));
    panel->commands.checks = std::vector<engine::Check>{
        {0, "clock", engine::Check::Verdict::kOk, "within 2 ms", ""},
        {0, "huge pages", engine::Check::Verdict::kSkipped, "not asked for", ""},
        {1, "clock", engine::Check::Verdict::kWarning, "4.2 s ahead of this machine",
         "let the machines keep time: systemctl enable --now systemd-timesyncd, then look at "
         "timedatectl"},
        {1, "/dev/fuse", engine::Check::Verdict::kFailed, "missing", "modprobe fuse"},
        {1, "BLAS", engine::Check::Verdict::kOk, "OpenBLAS 0.3.21, 1 thread a rank", ""}};
    panel->window->actions()->find(QStringLiteral("cluster.doctor"))->trigger();
    QTest::qWait(50);
    saveDialog(*panel, name("doctor"));
  }
  {
    auto panel = open({});
    emit panel->window->meshView()->toggleRequested({{1, 0}});
    panel->waitForPlan();
    save(*panel, name("draft-monitor-idle"));
  }
  {
    auto panel = open({});
    panel->window->findChild<ui::HistoryPage*>()->choose(3);
    save(*panel, name("history-details"));
    panel->window->findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))
        ->setCurrent(panel->window->findChild<ui::HistoryPage*>());
    panel->window->findChild<ui::HistoryPage*>()->choose(1);
    save(*panel, name("history-table"));
    auto* plots = panel->window->findChild<ui::JobPlots*>();
    panel->window->findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))
        ->setCurrent(panel->window->findChild<ui::TimelinePage*>());
    plots->setRange(1'750'000'236, 1'750'000'262);
    save(*panel, name("plots-zoomed"));
    plots->fit();
    plots->setPlayhead(1'750'000'200);
    save(*panel, name("playhead"));
  }
  {
    auto panel = open({});
    panel->window->actions()->find(QStringLiteral("view.data"))->trigger();
    save(*panel, name("data"));
    panel->window->findChild<ui::HistoryPage*>()->choose(3);
    save(*panel, name("data-change"));
  }
  {
    auto panel = open(kArmed);
    emit panel->window->meshView()->toggleRequested({kN1.begin(), kN1.end()});
    panel->waitForPlan();
    QTest::qWait(300);
    save(*panel, name("candidates"));
    panel->window->planPanel()->candidateTable()->selectRow(2);
    QTest::qWait(300);
    for (QScrollArea* area : panel->window->planPanel()->findChildren<QScrollArea*>()) {
      area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum());
    }
    save(*panel, name("candidates-chosen"));
  }
  {
    auto cluster = test::IdleCluster(2, 8);
    test::AddJob(&cluster, test::Shape(2, 2, 2));
    auto panel = open({}, cluster);
    panel->window->meshView()->setSelection({{0, 3}});
    save(*panel, name("pipeline"));
  }
  {
    auto panel = open(kArmed);
    emit panel->window->meshView()->toggleRequested({kN1.begin(), kN1.end()});
    panel->waitForPlan();
    panel->window->draft()->pin(ptc::Axis::kTp, 3);
    save(*panel, name("draft-invalid"));
  }
  {
    auto panel = open(kLive);
    emit panel->window->meshView()->toggleRequested({kN1.begin(), kN1.end()});
    panel->waitForPlan();
    save(*panel, name("countdown"));
  }
  {
    auto panel = open(kLive, test::PanelMove(TxnPhase::kPreparing, {0, 0, 0, 0}));
    panel->setSnapshot(test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    panel->window->meshView()->setSelection({{1, 0}});
    save(*panel, name("moving"));
    panel->setSnapshot(test::PanelGrown());
    save(*panel, name("done"));
  }
  {
    auto panel = open(kLive, test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    panel->setSnapshot(test::PanelMove(TxnPhase::kRollingBack, {62, 58, 64, 41}));
    auto back = test::PanelCluster();
    back.transaction = test::PanelMove(TxnPhase::kRolledBack, {62, 58, 64, 41}).transaction;
    back.transaction->reason = "n1 was lost while its GPUs were joining";
    back.nodes[1].state = engine::NodeState::kDead;
    back.nodes[1].last_seen = 12;
    panel->setSnapshot(back);
    save(*panel, name("rolled-back"));
  }
  {
    auto panel = open({});
    panel->model.setLink(ui::LinkState::Lost, QStringLiteral("Trying again in 4 s."));
    panel->model.flush();
    QTest::qWait(3500);
    save(*panel, name("lost"));
  }
  {
    auto cluster = test::PanelCluster();
    cluster.jobs.front().state = engine::JobState::kFailed;
    cluster.jobs.front().reason = "rank 2 on n0g2 ended with signal 9";
    auto panel = open({}, cluster);
    save(*panel, name("failed"));
  }
  {
    auto panel = open(kLive, test::PanelLost());
    panel->window->meshView()->setSelection({{1, 0}});
    save(*panel, name("lost-node"));
    auto cluster = test::PanelLostState();
    panel->setSnapshot(cluster);
    save(*panel, name("lost-steps"));
    cluster.jobs.front().decision->ways.clear();
    panel->setSnapshot(cluster);
    save(*panel, name("lost-state"));
  }
  {
    auto panel = open({}, test::IdleCluster(2, 4));
    save(*panel, name("no-job"));
  }
  {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {});
    window.resize(g_size);
    window.show();
    const auto shot = [&](const char* base) {
      model.flush();
      QTest::qWait(100);
      window.grabTo(g_directory + QLatin1Char('/') + QString::fromLatin1(name(base)) +
                    QLatin1String(".png"));
    };
    shot("empty");
    model.setLink(ui::LinkState::Connecting, QStringLiteral("local at tcp://127.0.0.1:40001"));
    shot("connecting");
    model.setLink(ui::LinkState::Refused, QStringLiteral("key of ~/.tessera/admin is not known"));
    shot("refused");
  }
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  if (argc != 2 && argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: render_window DIRECTORY [WIDTH HEIGHT [files|past]]\n");
    return 2;
  }
  g_directory = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(g_directory);
  if (argc >= 4) g_size = QSize(atoi(argv[2]), atoi(argv[3]));
  if (argc == 5) g_only = argv[4];
  const auto render = [](const char* suffix) {
    const QByteArray only(g_only);
    if (only.isEmpty() || only == "files") renderFiles(suffix);
    if (only.isEmpty() || only == "past") renderPast(suffix);
    if (only.isEmpty()) renderAll(suffix);
  };
  ui::applyTheme(app, ui::ThemeMode::Light);
  render("");
  ui::applyTheme(app, ui::ThemeMode::Dark);
  render("-dark");
  return 0;
}
