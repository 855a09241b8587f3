// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/file_tree_model.h"

#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {

using engine::vfs::Child;
using engine::vfs::FilePlan;
using engine::vfs::JobFacts;
using engine::vfs::JobFactsPtr;
using engine::vfs::Jobs;
using engine::vfs::NodeKey;
using engine::vfs::NodeKind;

namespace {

/// Returns whether a filter refers to ranks instead of tensors.
bool namesRanks(const QString& filter) {
  static const QRegularExpression form(QStringLiteral("^(\\d+|n\\d+(g\\d*)?)$"));
  return form.match(filter).hasMatch();
}

bool isRank(const QString& filter, int rank, ptc::DeviceId device) {
  if (filter.startsWith(QLatin1Char('n'))) {
    return filter.contains(QLatin1Char('g')) ? format::device(device).startsWith(filter)
                                             : format::node(device.node) == filter;
  }
  return QString::number(rank).startsWith(filter);
}

bool sameLayouts(const Jobs& a, const Jobs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second->layout_hash == y.second->layout_hash &&
           x.second->info.epoch == y.second->info.epoch;
  });
}

}  // namespace

FileTreeModel::FileTreeModel(QObject* parent)
    : QAbstractItemModel(parent), m_root(std::make_unique<Node>()) {
  m_pool.setMaxThreadCount(1);
  list(*m_root);
}

// Jobs on the thread call back to this object, so wait for them.
FileTreeModel::~FileTreeModel() {
  m_pool.clear();
  m_pool.waitForDone();
}

void FileTreeModel::setJobs(Jobs jobs) {
  if (jobs == m_jobs) return;
  if (sameLayouts(m_jobs, jobs)) {
    m_jobs = std::move(jobs);
    // The texts may have changed.
    for (const auto& [name, facts] : m_jobs) {
      Node* job = find({NodeKind::kJob, name});
      if (job == nullptr || job->shown.empty()) continue;
      const QModelIndex folder = indexOf(job);
      emit dataChanged(index(0, SizeColumn, folder),
                       index(rowCount(folder) - 1, SizeColumn, folder));
    }
    return;
  }
  beginResetModel();
  m_jobs = std::move(jobs);
  ++m_generation;
  m_pool.clear();
  m_making = 0;
  m_root = std::make_unique<Node>();
  list(*m_root);
  endResetModel();
}

void FileTreeModel::setFilter(const QString& text) {
  const QString filter = text.trimmed().toLower();
  if (filter == m_filter) return;
  m_filter = filter;
  refilter(*m_root);
}

void FileTreeModel::refilter(Node& node) {
  show(node, shownOf(node));
  for (const auto& child : node.children) refilter(*child);
}

void FileTreeModel::show(Node& node, std::vector<int> shown) {
  if (shown == node.shown) return;
  if (!isShown(&node)) {
    node.shown = std::move(shown);
    return;
  }
  const QModelIndex at = indexOf(&node);
  if (!node.shown.empty()) {
    beginRemoveRows(at, 0, static_cast<int>(node.shown.size()) - 1);
    node.shown.clear();
    endRemoveRows();
  }
  if (!shown.empty()) {
    beginInsertRows(at, 0, static_cast<int>(shown.size()) - 1);
    node.shown = std::move(shown);
    endInsertRows();
  }
  if (at.isValid()) emit dataChanged(at, at.siblingAtColumn(SizeColumn));  // "3 of 12 tensors"
}

bool FileTreeModel::isShown(const Node* node) const {
  for (; node->parent != nullptr; node = node->parent) {
    if (!std::ranges::binary_search(node->parent->shown, node->place)) return false;
  }
  return true;
}

std::vector<int> FileTreeModel::shownOf(const Node& node) const {
  const std::size_t count = node.plan ? node.plan->entries().size() : node.children.size();
  std::vector<int> shown(count);
  std::iota(shown.begin(), shown.end(), 0);
  if (m_filter.isEmpty()) return shown;
  if (node.plan && !namesRanks(m_filter)) {
    std::erase_if(shown, [&](int entry) {
      const std::string& name = node.plan->NameOf(static_cast<std::size_t>(entry));
      return !QString::fromStdString(name).contains(m_filter, Qt::CaseInsensitive);
    });
  } else if (node.key.kind == NodeKind::kRanks && namesRanks(m_filter)) {
    const JobFacts* facts = factsOf(node.key);
    std::erase_if(shown, [&](int child) {
      const auto rank = node.children[static_cast<std::size_t>(child)]->key.rank;
      if (!rank || facts == nullptr) return false;
      const auto& devices = facts->info.layout.mesh().devices();
      return !isRank(m_filter, *rank, devices[static_cast<std::size_t>(*rank)]);
    });
  }
  return shown;
}

// --- nodes ---

const JobFacts* FileTreeModel::factsOf(const NodeKey& key) const {
  const auto found = m_jobs.find(key.job);
  return found == m_jobs.end() ? nullptr : found->second.get();
}

std::vector<Child> FileTreeModel::childrenOf(const NodeKey& key) const {
  if (key.kind != NodeKind::kJobs) return ChildrenOf(key, factsOf(key));
  std::vector<Child> jobs;
  for (const auto& [name, facts] : m_jobs) jobs.push_back({name, {NodeKind::kJob, name}});
  return jobs;
}

void FileTreeModel::list(Node& folder) {
  folder.listed = true;
  for (Child& child : childrenOf(folder.key)) {
    auto node = std::make_unique<Node>();
    node->key = std::move(child.key);
    node->name = QString::fromStdString(child.name);
    node->parent = &folder;
    node->place = static_cast<int>(folder.children.size());
    folder.children.push_back(std::move(node));
  }
  folder.shown = shownOf(folder);
  for (const auto& child : folder.children) {
    if (child->key.kind == NodeKind::kState) makePlan(*child);
  }
}

void FileTreeModel::makePlan(Node& file) {
  file.listed = true;
  const auto facts = m_jobs.find(file.key.job);
  if (facts == m_jobs.end()) return;
  ++m_making;
  m_pool.start([this, key = file.key, generation = m_generation, facts = facts->second] {
    auto made = FilePlan::Make(facts->info, key.rank, key.state_file);
    Result<FilePlanPtr> plan = made ? Result<FilePlanPtr>(std::make_shared<FilePlan>(*made))
                                    : Result<FilePlanPtr>(made.error());
    QMetaObject::invokeMethod(
        this, [this, key, generation, plan = std::move(plan)] { takePlan(key, generation, plan); },
        Qt::QueuedConnection);
  });
}

void FileTreeModel::takePlan(const NodeKey& key, std::uint64_t generation,
                             const Result<FilePlanPtr>& plan) {
  if (generation != m_generation) return;
  --m_making;
  Node* file = find(key);
  if (file == nullptr) return;
  if (plan) {
    file->plan = *plan;
    show(*file, shownOf(*file));
  } else {
    file->problem = format::error(plan.error());
  }
  if (!isShown(file)) return;
  emit dataChanged(indexOf(file), indexOf(file, SizeColumn));
  emit planMade(indexOf(file));
}

FileTreeModel::Node* FileTreeModel::find(const NodeKey& key) const {
  if (key.kind == NodeKind::kRoot) return m_root.get();
  const Node* parent = find(ParentOf(key));
  if (parent == nullptr) return nullptr;
  // Ranks are usually at the index of their number; a linear search over a thousand is slow.
  const auto guess = static_cast<std::size_t>(key.rank.value_or(0));
  if (guess < parent->children.size() && parent->children[guess]->key == key) {
    return parent->children[guess].get();
  }
  for (const auto& child : parent->children) {
    if (child->key == key) return child.get();
  }
  return nullptr;
}

FileTreeModel::Node* FileTreeModel::nodeOf(const QModelIndex& index) const {
  if (!index.isValid()) return m_root.get();
  const auto* parent = static_cast<Node*>(index.internalPointer());
  if (parent->children.empty()) return nullptr;
  const int place = parent->shown[static_cast<std::size_t>(index.row())];
  return parent->children[static_cast<std::size_t>(place)].get();
}

QModelIndex FileTreeModel::indexOf(const Node* node, int column) const {
  if (node == nullptr || node->parent == nullptr) return {};
  const auto& shown = node->parent->shown;
  const auto at = std::lower_bound(shown.begin(), shown.end(), node->place);
  if (at == shown.end() || *at != node->place) return {};
  return createIndex(static_cast<int>(at - shown.begin()), column, node->parent);
}

// --- what rows are ---

const NodeKey& FileTreeModel::key(const QModelIndex& index) const {
  const Node* node = nodeOf(index);
  return node != nullptr ? node->key : static_cast<const Node*>(index.internalPointer())->key;
}

std::optional<FileTreeModel::Tensor> FileTreeModel::tensor(const QModelIndex& index) const {
  if (!index.isValid() || nodeOf(index) != nullptr) return std::nullopt;
  const auto* file = static_cast<const Node*>(index.internalPointer());
  return Tensor{file->plan,
                static_cast<std::size_t>(file->shown[static_cast<std::size_t>(index.row())])};
}

FilePlanPtr FileTreeModel::plan(const QModelIndex& index) const {
  const Node* node = nodeOf(index);
  return node != nullptr ? node->plan : nullptr;
}

QString FileTreeModel::problem(const QModelIndex& index) const {
  const Node* node = nodeOf(index);
  return node != nullptr ? node->problem : QString();
}

JobFactsPtr FileTreeModel::facts(const QModelIndex& index) const {
  const auto found = m_jobs.find(key(index).job);
  return found == m_jobs.end() ? nullptr : found->second;
}

QString FileTreeModel::path(const QModelIndex& index) const {
  const Node* node = nodeOf(index);
  if (node == nullptr) node = static_cast<const Node*>(index.internalPointer());
  QString path;
  for (; node->parent != nullptr; node = node->parent) {
    path = path.isEmpty() ? node->name : node->name + QLatin1Char('/') + path;
  }
  return path;
}

QModelIndex FileTreeModel::indexOf(const QString& path) {
  Node* node = m_root.get();
  for (const QString& name : path.split(QLatin1Char('/'), Qt::SkipEmptyParts)) {
    if (const QModelIndex at = indexOf(node); canFetchMore(at)) fetchMore(at);
    const auto child = std::find_if(node->children.begin(), node->children.end(),
                                    [&](const auto& each) { return each->name == name; });
    if (child == node->children.end()) return {};
    node = child->get();
  }
  return indexOf(node);
}

QModelIndex FileTreeModel::indexOf(const QModelIndex& file, const QString& tensor) const {
  Node* node = nodeOf(file);
  if (node == nullptr || !node->plan) return {};
  const std::string name = tensor.toStdString();
  for (std::size_t row = 0; row < node->shown.size(); ++row) {
    if (node->plan->NameOf(static_cast<std::size_t>(node->shown[row])) == name) {
      return createIndex(static_cast<int>(row), NameColumn, node);
    }
  }
  return {};
}

// --- for Qt ---

QModelIndex FileTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, nodeOf(parent));
}

QModelIndex FileTreeModel::parent(const QModelIndex& child) const {
  return child.isValid() ? indexOf(static_cast<const Node*>(child.internalPointer()))
                         : QModelIndex();
}

int FileTreeModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  const Node* node = nodeOf(parent);
  return node == nullptr ? 0 : static_cast<int>(node->shown.size());
}

int FileTreeModel::columnCount(const QModelIndex&) const { return NUM_COLUMNS; }

bool FileTreeModel::hasChildren(const QModelIndex& parent) const {
  if (parent.column() > 0) return false;
  const Node* node = nodeOf(parent);
  if (node == nullptr) return false;
  if (IsFolder(node->key)) return !node->listed || !node->shown.empty();
  return node->key.kind == NodeKind::kState && !node->shown.empty();
}

bool FileTreeModel::canFetchMore(const QModelIndex& parent) const {
  const Node* node = nodeOf(parent);
  return node != nullptr && IsFolder(node->key) && !node->listed;
}

void FileTreeModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  Node& folder = *nodeOf(parent);
  list(folder);
  show(folder, std::exchange(folder.shown, {}));
}

}  // namespace tessera::ui
