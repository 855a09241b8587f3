// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The right pane while a past transaction is selected: the change, the time of each phase, and
/// planned against actual values.

#include <optional>

#include "engine/cluster/snapshot.h"
#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;

namespace tessera::ui {

class FlowBars;
class KeyValues;
class PhaseTimesBar;
class StackedBar;

class ChangeDetails : public Surface {
  Q_OBJECT

 public:
  explicit ChangeDetails(QWidget* parent = nullptr);
  void setEntry(const engine::HistoryEntry& entry);
  const std::optional<engine::HistoryEntry>& entry() const { return m_entry; }
  /// Sets why an undo of the change cannot be drafted; empty if it can.
  void setReverseBlocked(const QString& reason);

  KeyValues* facts() const { return m_facts; }
  KeyValues* comparison() const { return m_comparison; }
  PhaseTimesBar* phases() const { return m_phases; }
  QPushButton* reverseButton() const { return m_reverse; }
  QPushButton* closeButton() const { return m_close; }
  QPushButton* reportButton() const { return m_report; }
  QPushButton* momentButton() const { return m_moment; }

 signals:
  void reverseRequested(const tessera::engine::HistoryEntry& entry);
  void closeRequested();
  void reportRequested(const tessera::engine::HistoryEntry& entry);
  /// The user requests to see the cluster at the time of the change.
  void momentRequested(const tessera::engine::HistoryEntry& entry);

 private:
  std::optional<engine::HistoryEntry> m_entry;
  QLabel *m_title, *m_result, *m_reason;
  KeyValues* m_facts;
  QLabel* m_phaseTitle;
  PhaseTimesBar* m_phases;
  QLabel* m_bytesTitle;
  StackedBar* m_bytes;
  KeyValues* m_comparison;
  QLabel* m_flowTitle;
  FlowBars* m_flows;
  QPushButton *m_reverse, *m_close, *m_moment, *m_report;
};

}  // namespace tessera::ui
