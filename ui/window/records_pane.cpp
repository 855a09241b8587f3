// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/records_pane.h"

#include <QLayout>
#include <QSplitter>
#include <utility>

#include "ui/models/cluster_model.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/settings/settings.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/lesson_desk.h"

namespace tessera::ui {
namespace {

constexpr int kRecordsRow = 34;
constexpr int kRecordsLeast = 124;  // the tabs, and plots with their clock
constexpr int kRecordsWidth = 880, kEventsWidth = 560;

}  // namespace

RecordsPane::RecordsPane(Parts parts, QWidget* parent)
    : QStackedWidget(parent),
      m_parts(std::move(parts)),
      m_tabs(new TabbedPane(Surface::Tone::Panel, tr("Timeline and history"), kRecordsRow, this)),
      m_history(new HistoryPage(m_parts.commands, m_tabs)),
      m_timeline(new TimelinePage(m_parts.model, m_parts.commands, *m_history->model(), m_tabs)),
      m_flows(new FlowsPage(m_tabs)) {
  m_tabs->setObjectName(QStringLiteral("recordsPane"));
  m_tabs->layout()->setContentsMargins(0, 0, 0, 4);
  m_tabs->addPage(tr("Timeline"), m_timeline, m_timeline->corner());
  m_tabs->addPage(tr("History"), m_history, m_history->corner());
  m_tabs->addPage(tr("Flows"), m_flows, m_flows->corner());
  m_tabs->setTabVisible(m_flows, false);  // until a change runs
  setMinimumHeight(kRecordsLeast);
  connect(m_flows, &FlowsPage::hasFlowsChanged, this, [this](bool has) {
    m_tabs->setTabVisible(m_flows, has);
    m_parts.rulesChanged();
  });
  connect(m_history, &HistoryPage::loaded, this, [this] { m_parts.rulesChanged(); });
  connect(m_history, &HistoryPage::failed, this, m_parts.showError);
  connectTimeline();
  connectSelection();
}

void RecordsPane::addEvents() {
  m_events = new EventsPage(this);
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  splitter->setObjectName(QStringLiteral("recordsSplitter"));
  splitter->addWidget(m_tabs);
  splitter->addWidget(m_events);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({kRecordsWidth, kEventsWidth});
  addWidget(splitter);
  addWidget(LessonDesk::makeNoRecords(this));
  connect(m_events, &EventsPage::failed, this, m_parts.showError);
  connect(&m_parts.model, &ClusterModel::eventsAdded, m_events, &EventsPage::append);
  connect(&m_parts.model, &ClusterModel::eventsAdded, m_timeline, &TimelinePage::addEvents);
  connect(&m_parts.model, &ClusterModel::cleared, this, [this] {
    m_events->clear();
    m_history->clear();
    m_flows->clear();
    m_isLoaded = false;
  });
}

void RecordsPane::connectTimeline() {
  connect(m_timeline, &TimelinePage::failed, this, m_parts.showError);
  const QString curves = QStringLiteral("plots/curves");
  if (const QString keys = m_parts.settings.entry(curves); !keys.isEmpty())
    m_timeline->chooseCurves(parseCurves(keys));
  connect(m_timeline, &TimelinePage::curvesChosen, this,
          [this, curves](const QString& keys) { m_parts.settings.setEntry(curves, keys); });
}

void RecordsPane::connectSelection() {
  SelectionModel& selection = m_parts.selection;
  connect(&selection, &SelectionModel::devicesChanged, m_timeline, [this] {
    m_timeline->setDevices(m_parts.selection.devices());
    if (!m_parts.selection.devices().empty()) m_history->choose({});
  });
  connect(m_timeline, &TimelinePage::changeChosen, this,
          [this](qint64 txn) { m_parts.selection.setChange(txn); });
  connect(m_history, &HistoryPage::chosenChanged, this, [this] {
    const engine::HistoryEntry* entry = m_history->chosen();
    m_parts.selection.setChange(entry == nullptr ? std::nullopt : std::optional(entry->id));
    m_timeline->setSelected(m_parts.selection.change());
  });
  // Another view than the history chose a change.
  connect(&selection, &SelectionModel::changeChanged, this, [this] {
    const engine::HistoryEntry* entry = m_history->chosen();
    const auto known = entry == nullptr ? std::nullopt : std::optional(entry->id);
    if (known == m_parts.selection.change()) return;
    if (m_history->choose(m_parts.selection.change())) {
      m_parts.leaveDraft();
    } else {
      m_parts.selection.setChange(known);
    }
  });
}

void RecordsPane::showPage(QWidget* page) { m_tabs->setCurrent(page); }

void RecordsPane::resetWidths() {
  if (auto* splitter = findChild<QSplitter*>(QStringLiteral("recordsSplitter")))
    splitter->setSizes({kRecordsWidth, kEventsWidth});
}

void RecordsPane::followLink() {
  if (m_parts.model.link() != LinkState::Connected) {
    m_isLoaded = false;
  } else if (m_parts.model.hasSnapshot() && !std::exchange(m_isLoaded, true)) {
    m_history->reload();
  }
}

}  // namespace tessera::ui
