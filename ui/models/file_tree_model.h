// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tree of a mount, with the tensors below each safetensors file. Names and sizes come from
/// engine/vfs. A folder is listed when it is opened. The plan of a file is made on a thread,
/// because it takes tens of milliseconds for a large model.

#include <QAbstractItemModel>
#include <QThreadPool>
#include <memory>
#include <optional>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "engine/vfs/names.h"

namespace tessera::ui {

using FilePlanPtr = std::shared_ptr<const engine::vfs::FilePlan>;

class FileTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Columns { NameColumn, SizeColumn, NUM_COLUMNS };
  /// "bf16 [64, 16]" for a tensor, "n0g1" for a rank, "12 tensors" for a file.
  static constexpr int DetailRole = Qt::UserRole;

  /// One tensor in a file, or a box of it.
  struct Tensor {
    FilePlanPtr plan;
    std::size_t entry = 0;
  };

  explicit FileTreeModel(QObject* parent = nullptr);
  ~FileTreeModel() override;

  /// Keeps the rows if the layouts are the same; otherwise resets the model.
  void setJobs(engine::vfs::Jobs jobs);
  /// Shows only tensors whose name contains `text` or, if it is a number, node or device ("17",
  /// "n2", "n2g1"), only those ranks. Empty: shows all.
  void setFilter(const QString& text);
  const QString& filter() const { return m_filter; }
  /// Returns whether plans are being made.
  bool isBusy() const { return m_making > 0; }

  /// Returns the key of the row; for a tensor that of its file.
  /// \pre index.isValid()
  const engine::vfs::NodeKey& key(const QModelIndex& index) const;
  std::optional<Tensor> tensor(const QModelIndex& index) const;
  /// Returns the plan of a state file, or null until it is made.
  FilePlanPtr plan(const QModelIndex& index) const;
  /// Returns why a state file cannot be shown; empty otherwise.
  QString problem(const QModelIndex& index) const;
  /// Returns the facts of the row's job, or null above jobs/JOB.
  engine::vfs::JobFactsPtr facts(const QModelIndex& index) const;
  /// Returns "jobs/demo/full/model.safetensors"; for a tensor the path of its file.
  QString path(const QModelIndex& index) const;
  /// Returns the row of a path and lists the folders above it. Invalid if there is no such path.
  QModelIndex indexOf(const QString& path);
  /// Returns the row of a tensor below a file, if it is shown.
  QModelIndex indexOf(const QModelIndex& file, const QString& tensor) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 signals:
  /// The plan of a state file, or its problem, is available.
  void planMade(const QModelIndex& file);

 private:
  struct Node {
    engine::vfs::NodeKey key;
    QString name;
    Node* parent = nullptr;
    int place = 0;        // among the parent's children
    bool listed = false;  // the children of a folder, or the plan of a file, were requested
    std::vector<std::unique_ptr<Node>> children = {};
    FilePlanPtr plan = {};
    QString problem = {};
    std::vector<int> shown = {};  // children, or entries of the plan, that pass the filter
  };

  Node* nodeOf(const QModelIndex& index) const;  // null for a tensor
  QModelIndex indexOf(const Node* node, int column = NameColumn) const;
  const engine::vfs::JobFacts* factsOf(const engine::vfs::NodeKey& key) const;
  std::vector<engine::vfs::Child> childrenOf(const engine::vfs::NodeKey& key) const;
  void list(Node& folder);
  void makePlan(Node& file);
  void takePlan(const engine::vfs::NodeKey& key, std::uint64_t generation,
                const Result<FilePlanPtr>& plan);
  /// Returns the node of a key among the listed nodes.
  Node* find(const engine::vfs::NodeKey& key) const;
  std::vector<int> shownOf(const Node& node) const;
  void refilter(Node& node);
  /// Shows exactly these rows of a node.
  void show(Node& node, std::vector<int> shown);
  /// Returns whether the filter hides neither the node nor a folder above it.
  bool isShown(const Node* node) const;
  QVariant tensorData(const Node& file, int row, int column, int role) const;
  QString detailOf(const Node& node) const;
  std::optional<std::int64_t> sizeOf(const Node& node) const;

  engine::vfs::Jobs m_jobs;
  QString m_filter;
  std::unique_ptr<Node> m_root;
  std::uint64_t m_generation = 0;  // of the layouts
  int m_making = 0;
  QThreadPool m_pool;
};

}  // namespace tessera::ui
