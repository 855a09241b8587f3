// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/palette/window_items.h"

#include <QAction>
#include <QDateTime>
#include <QLocale>
#include <QPersistentModelIndex>
#include <QPointer>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/event_table_model.h"
#include "ui/models/history_table_model.h"

namespace tessera::ui {

WindowItems::WindowItems(Parts parts, Reactions reactions)
    : m_parts(parts), m_reactions(std::move(reactions)) {}

std::vector<PaletteItem> WindowItems::items(const engine::ClusterSnapshot& cluster) const {
  Items items;
  addActions(&items);
  addNodes(cluster, &items);
  addJobs(cluster, &items);
  addChanges(&items);
  addEvents(&items);
  return items;
}

void WindowItems::addActions(Items* items) const {
  m_parts.actions.refresh();
  for (QAction* action : m_parts.actions.all()) {
    if (action->objectName() == QLatin1String("edit.goTo")) continue;
    const QList<QKeySequence> keys = action->shortcuts();
    items->push_back(
        {PaletteItem::Kind::Action, action->text().remove(QLatin1Char('&')), action->statusTip(),
         keys.isEmpty() ? QString() : keys.first().toString(QKeySequence::NativeText),
         action->isEnabled() ? QString() : action->toolTip(), [action = QPointer<QAction>(action)] {
           if (action) action->trigger();
         }});
  }
}

void WindowItems::addNodes(const engine::ClusterSnapshot& cluster, Items* items) const {
  const auto chooses = [choose = m_reactions.chooseDevices](std::set<ptc::DeviceId> devices) {
    return [choose, devices = std::move(devices)] { choose(devices); };
  };
  int number = 0;  // GPUs are numbered across the cluster
  for (const engine::NodeStatus& node : cluster.nodes) {
    std::set<ptc::DeviceId> whole;
    Items gpus;
    for (const engine::DeviceStatus& device : node.devices) {
      whole.insert(device.id);
      QString detail = format::device(device.id);
      if (!device.job.empty()) {
        detail += tr(", rank %1 of %2")
                      .arg(device.rank.value_or(0))
                      .arg(QString::fromStdString(device.job));
      } else {
        detail += tr(", idle");
      }
      gpus.push_back({PaletteItem::Kind::Gpu,
                      tr("GPU %1").arg(number++),
                      detail,
                      {},
                      {},
                      chooses({device.id})});
    }
    items->push_back({PaletteItem::Kind::Node,
                      tr("Node %1").arg(format::node(node.node)),
                      tr("%1, %2").arg(format::gpus(static_cast<std::int64_t>(node.devices.size())),
                                       format::text(node.state)),
                      {},
                      {},
                      chooses(whole)});
    std::move(gpus.begin(), gpus.end(), std::back_inserter(*items));
  }
}

void WindowItems::addJobs(const engine::ClusterSnapshot& cluster, Items* items) const {
  for (const engine::JobStatus& job : cluster.jobs) {
    const QString name = QString::fromStdString(job.name);
    items->push_back({PaletteItem::Kind::Job,
                      name,
                      tr("%1, %2").arg(format::shape(job.mesh), format::text(job.state)),
                      {},
                      {},
                      [show = m_reactions.showJob, name] { show(name); }});
  }
}

void WindowItems::addChanges(Items* items) const {
  for (const engine::HistoryEntry& entry : m_parts.changes.entries()) {
    const auto id = entry.id;
    const auto started = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(entry.started * 1000));
    items->push_back(
        {PaletteItem::Kind::Change,
         tr("Change %1 of %2").arg(id).arg(QString::fromStdString(entry.job)),
         tr("%1, %2").arg(QLocale().toString(started, QLocale::ShortFormat), resultText(entry)),
         {},
         {},
         [show = m_reactions.showChange, id] { show(id); }});
  }
}

void WindowItems::addEvents(Items* items) const {
  const EventTableModel& events = m_parts.events;
  const int first = std::max(0, events.rowCount() - kEvents);
  for (int row = events.rowCount() - 1; row >= first; --row) {
    const QModelIndex index = events.index(row, EventTableModel::TextColumn);
    const QPersistentModelIndex keep(index);
    const QString source = index.data(EventTableModel::SourceRole).toString();
    const double time = events.event(row).time;
    items->push_back(
        {PaletteItem::Kind::Event,
         index.data().toString(),
         index.siblingAtColumn(EventTableModel::TimeColumn).data().toString(),
         {},
         {},
         [show = m_reactions.showEvent, keep, time, source] { show(keep, time, source); }});
  }
}

}  // namespace tessera::ui
