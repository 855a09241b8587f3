// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/centre_pane.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/models/cluster_model.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/progress_panel.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/views/views.h"
#include "ui/widgets/alert_surface.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/cluster_state.h"

namespace tessera::ui {
namespace {

constexpr int kViewsRow = 38;
constexpr int kSourceMark = 3;

}  // namespace

CentrePane::CentrePane(const Parts& parts, QWidget* parent)
    : Surface(Surface::Tone::Canvas, parent),
      m_model(parts.model),
      m_notices({parts.model, parts.control, parts.seat, parts.commandLine}, this),
      m_countdown(new CountdownBar(parts.control, this)),
      m_decision(new DecisionPanel(parts.model, parts.control, this)),
      m_progress(new ProgressPanel(parts.model, parts.control, this)),
      m_tabs(new TabbedPane(Surface::Tone::Canvas, tr("Views of the job"), kViewsRow, this)) {
  m_tabs->setObjectName(QStringLiteral("views"));
  m_tabs->addNotice(new Rule(m_tabs));
  for (NoticeBar* notice : m_notices.bars()) m_tabs->addNotice(notice);
  m_tabs->addNotice(m_countdown);

  auto* card = new QVBoxLayout;
  card->setContentsMargins(14, 0, 14, 8);
  card->addWidget(m_decision);
  card->addWidget(m_progress);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_tabs, 1);
  column->addLayout(card);
}

CentrePane::~CentrePane() { release(); }

void CentrePane::addViews(const ViewContext& context) {
  m_colours = new ColourBar(m_tabs);
  m_tabs->addCommonCorner(m_colours);
  m_views = makeViews(context, m_tabs);
  for (View* view : m_views) m_tabs->addPage(view->title(), view->widget(), view->corner());
  m_meshPage = m_tabs->findChild<MeshPage*>();
  connect(m_tabs, &TabbedPane::currentChanged, this, &CentrePane::followTab);
}

void CentrePane::release() {
  m_tabs->disconnect(this);
  m_views.clear();
}

void CentrePane::followTab() {
  for (View* view : m_views) {
    if (view->widget() == m_tabs->current()) m_colours->setVisible(view->usesColours());
  }
  m_colours->setGroupingShown(m_tabs->current() == static_cast<QWidget*>(m_meshPage));
}

MeshView* CentrePane::mesh() const { return m_meshPage->mesh(); }

bool CentrePane::isShown(const QString& view) const {
  return std::ranges::any_of(m_views, [&](View* each) {
    return each->id() == view && each->widget() == m_tabs->current();
  });
}

SceneLooks CentrePane::looks() const {
  return {.colouring = m_colours->colouring(),
          .grouping = m_colours->grouping(),
          .isolated = m_colours->isolated()};
}

std::optional<double> CentrePane::moved() const {
  const auto& view = m_progress->view();
  return view && !view->ended ? m_progress->overall() : std::nullopt;
}

void CentrePane::showLayout(const ShownLayout& layout) {
  for (View* view : m_views) view->showLayout(layout);
}

void CentrePane::setStale(double age, const QString& asOf) {
  for (View* view : m_views) view->setStale(age, asOf);
}

void CentrePane::announceDecision() {
  const engine::JobStatus* job = m_decision->isHidden() ? nullptr : m_model.job();
  const QString asking = job == nullptr ? QString() : QString::fromStdString(job->name);
  if (asking == m_asking) return;
  m_asking = asking;
  if (!asking.isEmpty()) announce(m_decision, tr("%1 needs a decision").arg(asking));
}

void CentrePane::refresh(NoticeFacts facts, bool canConnect, const StoppedCluster* stopped) {
  facts.countsDown = !m_countdown->isHidden();
  m_notices.refresh(facts);
  announceDecision();
  m_meshPage->setClusterShown(isClusterDrawn(m_model) || facts.moment ||
                              facts.source == LayoutSource::Lesson);
  showClusterState(m_meshPage->state(), m_model,
                   {.starting = facts.starting, .canConnect = canConnect, .stopped = stopped});
  const bool isPast = facts.moment || facts.compared != nullptr;
  setMark(facts.source == LayoutSource::Live && !isPast ? 0 : kSourceMark,
          isPast ? Surface::Tone::Past : Surface::Tone::Accent);
}

}  // namespace tessera::ui
