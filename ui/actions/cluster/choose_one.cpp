// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions/cluster/choose_one.h"

#include <QInputDialog>
#include <algorithm>
#include <utility>

namespace tessera::ui {
namespace {

/// `then` receives the index in `names`, of which `first` is offered.
void chooseName(const CommandContext& with, const QString& title, const QString& label,
                const QStringList& names, std::function<void(int)> then, qsizetype first = 0) {
  auto* dialog = new QInputDialog(with.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  with.closeWithCluster(dialog);
  dialog->setWindowTitle(title);
  dialog->setLabelText(label);
  dialog->setComboBoxItems(names);
  if (first < names.size()) dialog->setTextValue(names[first]);
  QObject::connect(dialog, &QInputDialog::textValueSelected, dialog,
                   [names, then = std::move(then)](const QString& text) {
                     if (const auto at = names.indexOf(text); at >= 0) then(static_cast<int>(at));
                   });
  dialog->open();
}

}  // namespace

void chooseNode(const CommandContext& with, const QString& title,
                std::function<void(std::int32_t)> then,
                const std::function<bool(const engine::NodeStatus&)>& isLikely) {
  qsizetype first = -1;
  QStringList names;
  std::vector<std::int32_t> nodes;
  for (const engine::NodeStatus& node : with.model.snapshot().nodes) {
    if (first < 0 && isLikely && isLikely(node)) first = names.size();
    names << format::node(node.node);
    nodes.push_back(node.node);
  }
  chooseName(
      with, title, ClusterMenu::tr("Node:"), names,
      [nodes, then = std::move(then)](int at) { then(nodes[static_cast<std::size_t>(at)]); },
      std::max<qsizetype>(first, 0));
}

void chooseGpu(const CommandContext& with, const QString& title, const QString& label,
               std::function<void(ptc::DeviceId)> then) {
  QStringList names;
  std::vector<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : with.model.snapshot().nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      names << format::device(device.id);
      devices.push_back(device.id);
    }
  }
  chooseName(with, title, label, names, [devices, then = std::move(then)](int at) {
    then(devices[static_cast<std::size_t>(at)]);
  });
}

}  // namespace tessera::ui
