// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The right pane in Live and in the past: the properties of the selected GPU, node or job.

#include <QPointer>
#include <optional>
#include <set>

#include "ui/models/cluster_model.h"
#include "ui/models/job_states.h"
#include "ui/views/chosen_link.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

class QLabel;

namespace tessera::ui {

class FlowBars;
class Meter;
class PipelineBox;
class StackedBar;

class Inspector : public Surface {
  Q_OBJECT

 public:
  explicit Inspector(const ClusterModel& model, QWidget* parent = nullptr);
  ~Inspector() override;
  /// From then on the inspector requests what jobs hold while it shows a GPU of one.
  void setStates(JobStates* states);
  /// Shows one GPU, one node, several GPUs or, without a selection, the cluster and its job.
  void setSelection(const std::set<ptc::DeviceId>& devices);
  /// Shows a link of the Links view while no GPU is selected.
  void setLink(const std::optional<ChosenLink>& link);
  /// Shows the cluster of `shown`, which outlives the inspector. Of the past some facts are
  /// unknown.
  void refresh(const ClusterModel& shown, bool past);
  QString title() const;
  KeyValues* facts() const { return m_facts; }
  Meter* memory() const { return m_memory; }
  PipelineBox* pipeline() const { return m_pipeline; }
  /// The parts of the memory of the selected GPUs.
  StackedBar* memoryParts() const { return m_memoryParts; }

 private:
  void refresh();
  std::vector<KeyValues::Row> deviceRows(ptc::DeviceId device) const;
  static void addStepRows(const engine::JobStatus& job, const engine::DeviceStatus& device,
                          std::vector<KeyValues::Row>* rows);
  /// The groups of a rank, with what each exchanges in a step.
  void addGroupRows(const engine::JobStatus& job, int rank,
                    std::vector<KeyValues::Row>* rows) const;
  /// The job that runs on the only selected GPU; null: there is none.
  const engine::JobStatus* selectedJob() const;
  engine::vfs::JobFactsPtr factsOf(const engine::JobStatus& job) const;
  void refreshMemory();
  static std::vector<KeyValues::Row> linkRows(const ChosenLink& link);
  std::vector<KeyValues::Row> selectionRows() const;
  std::vector<KeyValues::Row> clusterRows() const;
  std::vector<KeyValues::Row> nodeRows(const engine::NodeStatus& node) const;
  void addDeviceRows(const engine::NodeStatus& node, std::vector<KeyValues::Row>* rows) const;
  std::vector<KeyValues::Row> jobRows(const engine::JobStatus& job) const;
  KeyValues::Row snapshotRow(const engine::SnapshotStatus& snapshots) const;
  KeyValues::Row checkpointRow(const engine::CheckpointStatus& checkpoints) const;
  /// Returns the node whose devices are exactly the selected ones; null otherwise.
  const engine::NodeStatus* selectedNode() const;

  const ClusterModel* m_model;
  bool m_past = false;
  QPointer<JobStates> m_states;
  std::set<ptc::DeviceId> m_selection;
  std::optional<ChosenLink> m_link;
  QLabel* m_title;
  KeyValues* m_facts;
  Meter* m_memory;
  StackedBar* m_memoryParts;
  QWidget* m_jobGroup;
  QLabel* m_jobTitle;
  KeyValues* m_jobFacts;
  PipelineBox* m_pipeline;
  QWidget* m_flowGroup;
  FlowBars* m_flows;
  KeyValues* m_moveFacts;
  QLabel* m_hint;
};

}  // namespace tessera::ui
