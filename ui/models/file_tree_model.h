// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tree that a mount shows, with the tensors below each safetensors file. Names and sizes are
/// those of engine/vfs. Folders are listed when they are opened; the plan of a file, which takes
/// tens of milliseconds for a large model, is made on a thread.

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
  /// "bf16 [64, 16]" of a tensor, "n0g1" of a rank, "12 tensors" of a file.
  static constexpr int DetailRole = Qt::UserRole;

  /// One tensor, or box of one, of a file.
  struct Tensor {
    FilePlanPtr plan;
    std::size_t entry = 0;
  };

  explicit FileTreeModel(QObject* parent = nullptr);
  ~FileTreeModel() override;

  /// Rows stay where the layouts are the same; otherwise the model is reset.
  void setJobs(engine::vfs::Jobs jobs);
  /// Tensors whose name contains `text`; or, for a number or a device ("17", "n2", "n2g1"), the
  /// ranks that it names. Empty: all.
  void setFilter(const QString& text);
  const QString& filter() const { return m_filter; }
  /// Whether plans are being made.
  bool isBusy() const { return m_making > 0; }

  /// What the row is; of a tensor the file that it stands in. \pre index.isValid()
  const engine::vfs::NodeKey& key(const QModelIndex& index) const;
  std::optional<Tensor> tensor(const QModelIndex& index) const;
  /// Of a state file, once it is made.
  FilePlanPtr plan(const QModelIndex& index) const;
  /// Why a state file cannot be shown; empty otherwise.
  QString problem(const QModelIndex& index) const;
  /// Of the job that the row belongs to, or null above jobs/JOB.
  engine::vfs::JobFactsPtr facts(const QModelIndex& index) const;
  /// "jobs/demo/full/model.safetensors", of a tensor that of its file.
  QString path(const QModelIndex& index) const;
  /// The row of a path; folders on the way are listed. Invalid where there is none.
  QModelIndex indexOf(const QString& path);
  /// The row of a tensor below a file, where it is shown.
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
  /// The plan of a state file is there, or its problem.
  void planMade(const QModelIndex& file);

 private:
  struct Node {
    engine::vfs::NodeKey key;
    QString name;
    Node* parent = nullptr;
    int place = 0;        // among the parent's children
    bool listed = false;  // a folder's children, or a file's plan, were asked for
    std::vector<std::unique_ptr<Node>> children = {};
    FilePlanPtr plan = {};
    QString problem = {};
    std::vector<int> shown = {};  // children, or entries of the plan, that the filter lets through
  };

  Node* nodeOf(const QModelIndex& index) const;  // null for a tensor
  QModelIndex indexOf(const Node* node, int column = NameColumn) const;
  const engine::vfs::JobFacts* factsOf(const engine::vfs::NodeKey& key) const;
  std::vector<engine::vfs::Child> childrenOf(const engine::vfs::NodeKey& key) const;
  void list(Node& folder);
  void makePlan(Node& file);
  void takePlan(const engine::vfs::NodeKey& key, std::uint64_t generation,
                const Result<FilePlanPtr>& plan);
  /// The node of a key, among those that were listed.
  Node* find(const engine::vfs::NodeKey& key) const;
  std::vector<int> shownOf(const Node& node) const;
  void refilter(Node& node);
  /// Lets just these rows of a node be shown.
  void show(Node& node, std::vector<int> shown);
  /// Whether no filter hides it or a folder above it.
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
