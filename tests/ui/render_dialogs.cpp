// SPDX-License-Identifier: Apache-2.0
// Draws dialogs, palette, guide and the pages without a cluster into PNG files, for eyes:
//   render_dialogs DIRECTORY
#include <QApplication>
#include <QDir>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <cstdio>

#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/sample_answers.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/connect_dialog.h"
#include "ui/dialogs/mount_dialog.h"
#include "ui/dialogs/profile_form.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/settings_page.h"
#include "ui/dialogs/shortcuts_page.h"
#include "ui/dialogs/start_job_dialog.h"
#include "ui/help/guide.h"
#include "ui/help/help_window.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/state_page.h"
#include "ui/palette/command_palette.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/segmented_switch.h"

using namespace tessera;

namespace {

QString g_directory;
QString g_suffix;

void save(QWidget& widget, const QString& name) {
  QTest::qWait(60);
  const QString file = g_directory + u'/' + name + g_suffix + QStringLiteral(".png");
  if (!widget.grab().save(file)) std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
}

test::FakeConnections someClusters() {
  test::FakeConnections connections;
  for (const char* name : {"lab-a", "lab-b", "local"}) {
    connections.known << test::FakeConnections::remote(QString::fromLatin1(name));
  }
  connections.known[0].keyFile = QStringLiteral("/home/op/.local/share/tessera/keys/lab-a.key");
  connections.known[2].registrar = QStringLiteral("tcp://127.0.0.1:40001");
  connections.known[2].folder = QStringLiteral("/home/op/.local/share/tessera/clusters/local");
  connections.known[2].isRunning = true;
  connections.now = QStringLiteral("local");
  return connections;
}

void renderConnect() {
  test::FakeConnections connections = someClusters();
  ui::Settings settings;
  ui::ProfileTag{QStringLiteral("red"), true}.store(settings, QStringLiteral("lab-a"));
  ui::ProfileTag{QStringLiteral("green"), false}.store(settings, QStringLiteral("local"));
  using enum ui::AgentTest::Verdict;
  {
    ui::ConnectDialog dialog(connections, settings);
    dialog.show();
    dialog.list()->setCurrentRow(0);
    dialog.testButton()->click();
    connections.row({QStringLiteral("registrar"),
                     Reached,
                     QStringLiteral("tcp://10.0.0.5:40001 in 12 ms"),
                     {}});
    connections.row({QStringLiteral("n0"),
                     Reached,
                     QStringLiteral("version 0.1.0, 4 GPUs, clock within 2 ms"),
                     {}});
    save(dialog, QStringLiteral("connect-testing"));
    connections.row({QStringLiteral("n1"), VersionMismatch,
                     QStringLiteral("version 0.0.9, this panel has 0.1.0"),
                     QStringLiteral("Install the same version of Tessera on n1 and here.")});
    connections.row({QStringLiteral("n2"), ClockSkew, QStringLiteral("its clock is 4.2 s ahead"),
                     QStringLiteral("Let the machines keep time: systemctl enable --now "
                                    "systemd-timesyncd")});
    connections.row({QStringLiteral("n3"), Unreachable, QStringLiteral("last seen 3 min ago"),
                     QStringLiteral("Look at its log: tesseractl logs n3")});
    std::exchange(connections.testDone, nullptr)(OkStatus());
    save(dialog, QStringLiteral("connect-tested"));
    dialog.list()->setCurrentRow(2);
    save(dialog, QStringLiteral("connect-local"));
    dialog.list()->setCurrentRow(1);
    dialog.forgetButton()->click();
    save(dialog, QStringLiteral("connect-forgotten"));
    dialog.addButton()->click();
    QTest::keyClicks(dialog.form()->edit(ui::ProfileForm::Name), QStringLiteral("Lab"));
    QTest::keyClicks(dialog.form()->edit(ui::ProfileForm::Registrar), QStringLiteral("10.0.0.5"));
    save(dialog, QStringLiteral("connect-add"));
  }
  test::FakeConnections none;
  ui::ConnectDialog dialog(none, settings);
  dialog.show();
  save(dialog, QStringLiteral("connect-empty"));
}

void renderStartJob() {
  ui::ClusterModel model;
  test::SpyCommands commands(model);
  ui::Draft draft(model);
  ui::DraftPlan plan(draft, model, commands);
  ui::MoveControl control(model, draft, plan, commands);
  engine::ClusterSnapshot cluster = test::IdleCluster(2, 4);
  cluster.cluster = "lab-a";
  model.setSnapshot(cluster);
  model.setLink(ui::LinkState::Connected, {});
  model.flush();
  control.setOperating(true);
  using namespace ui::start_field;
  ui::StartJobDialog dialog(model, control, commands, QStringLiteral("lab-a"));
  dialog.show();
  QTest::qWait(200);
  save(dialog, QStringLiteral("job-start"));
  const auto type = [&](const QString& key, const char* text) {
    dialog.field(key)->setValue(QString::fromLatin1(text));
    emit dialog.field(key)->edited();
    QTest::qWait(200);
  };
  dialog.moreButton()->click();
  type(QStringLiteral("dropout"), "2");
  save(dialog, QStringLiteral("job-start-more"));
  dialog.moreButton()->click();
  type(QStringLiteral("dropout"), "");
  type(kBatch, "0");
  type(kData, "texts; /data/books");
  control.setOperating(false);
  save(dialog, QStringLiteral("job-start-wrong"));
  control.setOperating(true);
  type(kBatch, "64");
  type(kData, "/data/books");
  type(kGpus, "6");
  commands.adjustStart = [](engine::Proposal proposal) -> Result<engine::Proposal> {
    for (engine::Candidate& each : proposal.candidates) each.peak_bytes *= 40;
    return proposal;
  };
  type(kGpus, "4");
  commands.startAnswer =
      Status(FailedPrecondition("data '/data/books': n1 has no file or folder of this name"));
  dialog.candidateTable()->selectRow(2);
  save(dialog, QStringLiteral("job-start-large"));
  commands.adjustStart = nullptr;
  type(kGpus, "3");
  type(kGpus, "4");
  dialog.startButton()->click();
  save(dialog, QStringLiteral("job-start-failed"));
  dialog.errorBar()->hide();
  dialog.programs()->segment(ui::StartQuestions::Own)->click();
  save(dialog, QStringLiteral("job-start-own"));
  type(ui::StartQuestions::kKind, "files");
  save(dialog, QStringLiteral("job-start-files"));
  type(ui::StartQuestions::kKind, "exec");
  save(dialog, QStringLiteral("job-start-exec"));
  commands.requestAnswer = test::SampleAnswer;
  ui::StartJobDialog stored(model, control, commands, QStringLiteral("lab-a"));
  stored.show();
  stored.programs()->segment(ui::StartQuestions::Stored)->click();
  stored.field(kCheckpoint)->setValue(QStringLiteral("/srv/checkpoints/gpt-mini-step-1200"));
  emit stored.field(kCheckpoint)->edited();
  QTest::qWait(200);
  save(stored, QStringLiteral("job-start-checkpoint"));
  stored.hide();
  cluster = test::PanelCluster();
  model.setSnapshot(cluster);
  model.flush();
  dialog.programs()->segment(0)->click();
  type(kGpus, "");
  save(dialog, QStringLiteral("job-start-busy"));
}

void renderMount() {
  ui::MountDialog dialog(QStringLiteral("lab-a"));
  dialog.show();
  save(dialog, QStringLiteral("mount"));
}

void renderPanel() {
  test::FakeConnections connections = someClusters();
  ui::Settings settings;
  ui::ProfileTag{QStringLiteral("green"), false}.store(settings, QStringLiteral("local"));
  settings.setEntry(QStringLiteral("shortcuts/plan.copy"), QStringLiteral("Ctrl+Alt+P"));
  engine::ClusterSnapshot cluster = test::PanelCluster();
  engine::JobStatus second = cluster.jobs.front();
  second.name = "probe-run";
  second.devices.clear();
  second.state = engine::JobState::kStopped;
  cluster.jobs.push_back(second);
  test::Panel panel({.settings = &settings,
                     .connections = &connections,
                     .places = {QStringLiteral("/usr/share/doc"), QStringLiteral("/no/mirrors")},
                     .version = QStringLiteral("0.1.0 (fc510e6)")},
                    cluster);
  for (auto& event : test::PanelEvents()) panel.model.addEvent(event);
  panel.model.flush();
  QTest::qWait(50);
  emit panel.window->findChild<ui::HeaderBar*>()->jobChosen(QStringLiteral("gpt-mini"));
  save(*panel.window, QStringLiteral("window"));
  const auto trigger = [&](const char* id) {
    panel.window->actions()->find(QString::fromLatin1(id))->trigger();
    QTest::qWait(20);
  };
  trigger("view.layoutTeach");
  save(*panel.window, QStringLiteral("layout-teach"));
  trigger("view.layoutReview");
  save(*panel.window, QStringLiteral("layout-review"));
  trigger("view.layoutOperate");

  trigger("edit.goTo");
  ui::CommandPalette* palette = panel.window->commandPalette();
  save(*palette, QStringLiteral("palette"));
  QTest::keyClicks(palette->edit(), QStringLiteral("ap"));
  save(*palette, QStringLiteral("palette-typed"));
  palette->edit()->clear();
  QTest::keyClicks(palette->edit(), QStringLiteral("g 5"));
  save(*palette, QStringLiteral("palette-gpu"));
  palette->hide();

  trigger("file.settings");
  auto* dialog = panel.window->findChild<ui::SettingsDialog*>();
  const char* const pages[] = {"general", "colours", "safety", "data", "shortcuts"};
  for (int i = 0; i < ui::SettingsDialog::NUM_PAGES; ++i) {
    dialog->showPage(static_cast<ui::SettingsDialog::Page>(i));
    save(*dialog, QStringLiteral("settings-") + QString::fromLatin1(pages[i]));
  }
  dialog->accept();
  trigger("help.about");
  auto* about = panel.window->findChild<ui::AboutDialog*>();
  save(*about, QStringLiteral("about"));
  about->accept();

  trigger("help.guide");
  for (const ui::GuidePage& page : ui::guidePages()) {
    panel.window->helpWindow()->showPage(page.name);
    save(*panel.window->helpWindow(), QStringLiteral("guide-") + page.name.chopped(3));
  }
}

void renderWithoutCluster() {
  test::FakeConnections connections;
  ui::ClusterModel model;
  test::SpyCommands commands(model);
  ui::MainWindow window(model, commands, {.connections = &connections});
  window.resize(1280, 720);
  window.show();
  model.flush();
  save(window, QStringLiteral("no-cluster"));
  window.findChild<ui::StatePage*>()->startButton()->click();
  connections.progress(QStringLiteral("1 of 2 agents started"));
  save(window, QStringLiteral("starting"));
  connections.startDone(Timeout("n1 did not answer within 20 s"));
  save(window, QStringLiteral("start-failed"));
  model.clear(QStringLiteral("/home/op/.local/share/tessera/mirrors/lab-a.db"));
  model.setLink(ui::LinkState::Connected, {});
  commands.entries = test::PanelHistory();
  engine::ClusterSnapshot file;
  file.cluster = "lab-a";
  file.jobs = test::PanelCluster().jobs;
  file.jobs.front().state = engine::JobState::kStopped;
  model.setSnapshot(file);
  for (auto& event : test::PanelEvents()) model.addEvent(event);
  model.flush();
  save(window, QStringLiteral("history-file"));
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: render_dialogs DIRECTORY\n");
    return 2;
  }
  g_directory = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(g_directory);
  for (const auto mode : {ui::ThemeMode::Light, ui::ThemeMode::Dark}) {
    g_suffix = mode == ui::ThemeMode::Dark ? QStringLiteral("-dark") : QString();
    ui::applyTheme(app, mode);
    renderConnect();
    renderStartJob();
  renderMount();
    renderPanel();
    renderWithoutCluster();
  }
  return 0;
}
