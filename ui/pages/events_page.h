// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The list of events: severity, text, a filter, and whether it follows the newest.

#include <QSortFilterProxyModel>

#include "ui/models/event_table_model.h"
#include "ui/widgets/surface.h"

class QCheckBox;
class QLineEdit;
class QTableView;

namespace tessera::ui {

class EventsPage : public Surface {
  Q_OBJECT

 public:
  explicit EventsPage(QWidget* parent = nullptr);
  void append(const std::vector<engine::Event>& events);
  EventTableModel* model() { return &m_model; }
  QTableView* table() const { return m_table; }
  QLineEdit* filterEdit() const { return m_filter; }
  /// Scrolling up stops following, scrolling to the end starts it again.
  bool isFollowing() const;

 signals:
  /// The user clicked an event: its source is "n0", a job, "txn 3".
  void sourceChosen(const QString& source);

 private:
  void onScrolled(int value);
  void copySelected();

  EventTableModel m_model;
  QSortFilterProxyModel m_proxy;
  QTableView* m_table;
  QLineEdit* m_filter;
  QCheckBox* m_follow;
};

}  // namespace tessera::ui
