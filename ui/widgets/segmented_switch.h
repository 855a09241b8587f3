// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A row of segments, exactly one of which is selected: the source switch of the toolbar.

#include <QAbstractButton>
#include <QButtonGroup>
#include <QWidget>

namespace tessera::ui {

/// Keys: left and right select, as in any group of exclusive buttons.
class SegmentedSwitch : public QWidget {
  Q_OBJECT

 public:
  explicit SegmentedSwitch(QWidget* parent = nullptr);
  /// Adds a segment with this id.
  /// \pre `id` >= 0, not used before
  QAbstractButton* addSegment(int id, const QString& text, const QString& accessibleName);
  QAbstractButton* segment(int id) const { return m_group.button(id); }
  int current() const { return m_group.checkedId(); }
  void setCurrent(int id);

 signals:
  /// The user selected a segment. setCurrent() does not emit this.
  void chosen(int id);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QButtonGroup m_group;
};

}  // namespace tessera::ui
