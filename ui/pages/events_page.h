// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The list of events with severity, text, filter, and a switch to follow the newest event.

#include <QSortFilterProxyModel>

#include "ui/models/event_table_model.h"
#include "ui/widgets/surface.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QTableView;

namespace tessera::ui {

/// Passes rows of at least a severity whose text matches.
class EventFilter : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit EventFilter(QObject* parent = nullptr);
  void setSeverity(engine::Severity least);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  engine::Severity m_least = engine::Severity::kDebug;
};

class EventsPage : public Surface {
  Q_OBJECT

 public:
  explicit EventsPage(QWidget* parent = nullptr);
  void append(const std::vector<engine::Event>& events);
  void clear() { m_model.clear(); }
  /// Selects and shows a row of `model`. Clears the filters if they hide it.
  void reveal(const QModelIndex& row);
  EventTableModel* model() { return &m_model; }
  QTableView* table() const { return m_table; }
  QLineEdit* filterEdit() const { return m_filter; }
  QComboBox* severityBox() const { return m_severity; }
  QPushButton* exportButton() const { return m_export; }
  /// Returns the events that pass the filters, oldest first.
  std::vector<engine::Event> shown() const;
  /// Scrolling up stops following, scrolling to the end starts it again.
  bool isFollowing() const;

 signals:
  /// The user clicked an event of this time, wall clock of the cluster. sourceChosen() follows.
  void momentChosen(double time);
  /// The user clicked an event. `source` is "n0", a job, or "txn 3".
  void sourceChosen(const QString& source);
  /// The file could not be written. `message` is one sentence.
  void failed(const QString& message);

 private:
  void onScrolled(int value);
  void copySelected();
  void exportShown();

  EventTableModel m_model;
  EventFilter m_proxy;
  QTableView* m_table;
  QComboBox* m_severity;
  QPushButton* m_export;
  QLineEdit* m_filter;
  QCheckBox* m_follow;
};

}  // namespace tessera::ui
