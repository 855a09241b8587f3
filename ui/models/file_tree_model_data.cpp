// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The texts of the rows in the file tree.
#include "ui/format.h"
#include "ui/models/file_tree_model.h"

namespace tessera::ui {

using engine::vfs::FilePlan;
using engine::vfs::JobFacts;
using engine::vfs::NodeKind;

std::optional<std::int64_t> FileTreeModel::sizeOf(const Node& node) const {
  if (node.plan) return node.plan->size();
  const JobFacts* facts = factsOf(node.key);
  const NodeKind kind = node.key.kind;
  const bool text = kind == NodeKind::kEpoch || kind == NodeKind::kStep || kind == NodeKind::kLayout;
  if (!text || facts == nullptr) return std::nullopt;
  return TextAt(kind, *facts)->size();
}

QString FileTreeModel::detailOf(const Node& node) const {
  if (!node.problem.isEmpty()) return node.problem;
  if (node.plan) {
    const auto all = static_cast<int>(node.plan->entries().size());
    const auto shown = static_cast<int>(node.shown.size());
    return shown == all ? (all == 1 ? tr("1 tensor") : tr("%1 tensors").arg(format::count(all)))
                        : tr("%1 of %2 tensors").arg(format::count(shown), format::count(all));
  }
  const JobFacts* facts = factsOf(node.key);
  if (facts == nullptr) return {};
  const auto& devices = facts->info.layout.mesh().devices();
  if (node.key.kind == NodeKind::kRank)
    return format::device(devices[static_cast<std::size_t>(*node.key.rank)]);
  if (node.key.kind == NodeKind::kRanks) return format::count(std::ssize(devices));
  return {};
}

QVariant FileTreeModel::tensorData(const Node& file, int row, int column, int role) const {
  const auto entry = static_cast<std::size_t>(file.shown[static_cast<std::size_t>(row)]);
  const FilePlan::Entry& bytes = file.plan->entries()[entry];
  const JobFacts* facts = factsOf(file.key);
  if (facts == nullptr) return {};
  const QString name = QString::fromStdString(file.plan->NameOf(entry));
  const auto& spec =
      facts->info.layout.collection().tensors()[static_cast<std::size_t>(bytes.tensor)];
  const ptc::Shape shape = bytes.held.boxes().empty() ? spec.shape : bytes.held.shape();
  const QString detail = QString::fromStdString(std::string(ptc::ToString(spec.dtype))) +
                         QLatin1Char(' ') + QString::fromStdString(ptc::ToString(shape));
  switch (role) {
    case Qt::DisplayRole:
      return column == NameColumn ? name : format::bytes(bytes.end - bytes.begin);
    case Qt::ToolTipRole:
      return tr("%1\n%2, %3 bytes").arg(name, detail, format::count(bytes.end - bytes.begin));
    case Qt::AccessibleTextRole:
      return column == NameColumn ? tr("tensor %1, %2").arg(name, detail) : QVariant();
    case DetailRole:
      return column == NameColumn ? detail : QVariant();
    default:
      return {};
  }
}

QVariant FileTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole) {
    return index.column() == SizeColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                        : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  }
  const Node* node = nodeOf(index);
  if (node == nullptr) {
    return tensorData(*static_cast<const Node*>(index.internalPointer()), index.row(),
                      index.column(), role);
  }
  const std::optional<std::int64_t> size = sizeOf(*node);
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == NameColumn) return node->name;
      if (size) return format::bytes(*size);
      if (IsFolder(node->key)) return {};
      return node->key.kind == NodeKind::kState && node->problem.isEmpty() ? QStringLiteral("…")
                                                                         : format::unknown();
    case Qt::ToolTipRole:
      return size ? tr("%1\n%2 bytes").arg(path(index), format::count(*size)) : path(index);
    case DetailRole:
      return index.column() == NameColumn ? detailOf(*node) : QVariant();
    default:
      return {};
  }
}

QVariant FileTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == NameColumn ? tr("name") : tr("size");
}

}  // namespace tessera::ui
