// SPDX-License-Identifier: Apache-2.0
// Draws the Tensors and Links views in their states into PNG files, for eyes:
//   render_views DIRECTORY [WIDTH HEIGHT]
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLineEdit>
#include <QTest>
#include <cstdio>

#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/draft.h"
#include "ui/theme.h"
#include "ui/views/links_view.h"
#include "ui/views/model_map.h"
#include "ui/views/tensor_canvas.h"
#include "ui/views/tensors_view.h"

using namespace tessera;

namespace {

QString g_folder;
QSize g_window(1440, 900);

void save(test::Panel& panel, const QString& name) {
  panel.model.flush();
  QTest::qWait(400);
  const QString file = g_folder + QLatin1Char('/') + name + QLatin1String(".png");
  if (!panel.window->grabTo(file)) std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
}

std::unique_ptr<test::Panel> open(engine::ClusterSnapshot snapshot, const char* view) {
  auto panel =
      std::make_unique<test::Panel>(ui::WindowOptions{.operate = true}, std::move(snapshot));
  panel->window->resize(g_window);
  for (auto& event : test::PanelEvents()) panel->model.addEvent(event);
  panel->window->actions()->find(QString::fromLatin1(view))->trigger();
  QTest::qWait(400);
  return panel;
}

ui::TensorsView* tensors(test::Panel& panel) { return panel.window->findChild<ui::TensorsView*>(); }

void draftGrowth(test::Panel& panel) {
  emit panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
  panel.waitForPlan();
  QTest::qWait(400);
}

void renderTensors(const QString& theme) {
  {
    auto panel = open(test::PanelCluster(), "view.tensors");
    save(*panel, QStringLiteral("tensors-model") + theme);
    panel->window->meshView()->setSelection({{0, 2}});
    save(*panel, QStringLiteral("tensors-selected") + theme);
    panel->window->meshView()->setSelection({});
    tensors(*panel)->setScope(ui::TensorsView::Scope::Layer);
    save(*panel, QStringLiteral("tensors-layer") + theme);
    tensors(*panel)->openTensor(QStringLiteral("h.0.attn.qkv.weight"));
    save(*panel, QStringLiteral("tensors-one") + theme);
    draftGrowth(*panel);
    tensors(*panel)->openTensor(QStringLiteral("h.0.attn.qkv.weight"));
    save(*panel, QStringLiteral("tensors-draft") + theme);
    panel->window->draft()->pin(ptc::Axis::kTp, 4);
    panel->waitForPlan();
    QTest::qWait(500);
    tensors(*panel)->openTensor(QStringLiteral("h.0.attn.qkv.weight"));
    save(*panel, QStringLiteral("tensors-tp4") + theme);
    tensors(*panel)->openTensor(QStringLiteral("h.0.mlp.fc2.weight"));
    save(*panel, QStringLiteral("tensors-columns") + theme);
    tensors(*panel)->setScope(ui::TensorsView::Scope::Model);
    save(*panel, QStringLiteral("tensors-model-draft") + theme);
  }
  {
    auto panel = open(test::IdleCluster(2, 4), "view.tensors");
    save(*panel, QStringLiteral("tensors-no-job") + theme);
    auto* view = tensors(*panel);
    view->subject()->setCurrentText(QStringLiteral("llama-3-405b"));
    view->meshEdit()->setText(QStringLiteral("dp=8,tp=8,pp=16"));
    emit view->meshEdit()->editingFinished();
    QTest::qWait(4000);
    save(*panel, QStringLiteral("tensors-405b") + theme);
    std::fprintf(stderr, "405b picture: %.1f ms\n", view->map()->drawingTime());
    view->setScope(ui::TensorsView::Scope::Layer);
    save(*panel, QStringLiteral("tensors-405b-layer") + theme);
  }
}

void renderLesson(const QString& theme) {
  auto panel = open(test::PanelCluster(), "view.mesh");
  panel->window->openLesson(QStringLiteral("what-moves"), 1);
  save(*panel, QStringLiteral("lesson-question") + theme);
  panel->window->lessons().choose(2);
  save(*panel, QStringLiteral("lesson-answer") + theme);
  panel->window->lessons().showStep(3);
  save(*panel, QStringLiteral("lesson-links") + theme);
  panel->window->lessons().showStep(5);
  panel->window->lessons().edit({{1, 0}, {1, 1}}, true);
  save(*panel, QStringLiteral("lesson-task-open") + theme);
  panel->window->lessons().edit({{1, 2}, {1, 3}}, true);
  panel->window->lessons().draft().pin(ptc::Axis::kTp, 4);
  save(*panel, QStringLiteral("lesson-task-done") + theme);
  panel->window->openLesson(QStringLiteral("shards"), 1);
  QTest::qWait(600);
  save(*panel, QStringLiteral("lesson-tensor") + theme);
  panel->window->openLesson(QStringLiteral("replicas"), 2);
  save(*panel, QStringLiteral("lesson-loss") + theme);
  panel->window->actions()->find(QStringLiteral("view.projector"))->trigger();
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_PageDown);
  save(*panel, QStringLiteral("lesson-projector") + theme);
  panel->window->actions()->find(QStringLiteral("view.projector"))->trigger();
  panel->window->openLesson(QStringLiteral("own-cluster"), 4);
  save(*panel, QStringLiteral("lesson-own") + theme);
  panel->window->lessonPane()->showList();
  save(*panel, QStringLiteral("lesson-list") + theme);
}

void renderLinks(const QString& theme) {
  auto panel = open(test::PanelCluster(), "view.links");
  draftGrowth(*panel);
  save(*panel, QStringLiteral("links-draft") + theme);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: render_views DIRECTORY [WIDTH HEIGHT]\n");
    return 2;
  }
  QApplication application(argc, argv);
  g_folder = QString::fromLocal8Bit(argv[1]);
  if (argc > 3) g_window = QSize(atoi(argv[2]), atoi(argv[3]));
  QDir().mkpath(g_folder);
  for (const auto& [mode, suffix] : {std::pair(ui::ThemeMode::Light, QString()),
                                     std::pair(ui::ThemeMode::Dark, QStringLiteral("-dark"))}) {
    ui::applyTheme(application, mode);
    renderTensors(suffix);
    renderLinks(suffix);
    renderLesson(suffix);
  }
  return 0;
}
