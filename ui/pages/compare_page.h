// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The right pane while two changes of the history are selected, or a moment is compared: their
/// facts beside each other.

#include <optional>

#include "ui/models/diff_table_model.h"
#include "ui/models/moment_diff.h"
#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;
class QTableView;

namespace tessera::ui {

class ComparePage : public Surface {
  Q_OBJECT

 public:
  explicit ComparePage(QWidget* parent = nullptr);
  void setDiff(ChangeDiff diff);
  void setDiff(MomentDiff diff);
  /// Of the changes or moments that are compared; nothing if it is the other.
  const std::optional<ChangeDiff>& diff() const { return m_diff; }
  const std::optional<MomentDiff>& moments() const { return m_moments; }
  DiffTableModel* model() { return &m_rows; }
  /// Which GPUs joined, left, or hold another shard.
  QString devices() const;
  QPushButton* saveButton() const { return m_save; }
  QPushButton* closeButton() const { return m_close; }

 signals:
  void closeRequested();
  /// The file could not be written. `message` is one sentence.
  void failed(const QString& message);

 private:
  void save();
  void show(const QString& title, const QString& devices, std::vector<DiffRow> rows);

  std::optional<ChangeDiff> m_diff;
  std::optional<MomentDiff> m_moments;
  DiffTableModel m_rows;
  QLabel *m_title, *m_devices;
  QTableView* m_table;
  QPushButton *m_save, *m_close;
};

}  // namespace tessera::ui
