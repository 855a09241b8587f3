// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The mesh and, while two moments are compared, the other mesh beside it. The earlier one is on
/// the left. Both have one cursor: selection, hover, zoom and scrolling are the same.

#include <QWidget>

#include "ui/views/shown_layout.h"

class QBoxLayout;

namespace tessera::ui {

class ElidedLabel;
class MeshView;
class SelectionModel;

class MeshPair : public QWidget {
  Q_OBJECT

 public:
  MeshPair(SelectionModel& selection, QWidget* parent);

  /// The mesh of the shown moment.
  MeshView* mesh() const { return m_mesh; }
  /// The mesh of the other moment. Null before the first comparison, hidden outside of one.
  MeshView* other() const { return m_other; }
  bool isComparing() const;
  void showLayout(const ShownLayout& layout);
  /// Of both: the age of the shown data in seconds.
  void setStale(double age);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addOther();
  void connectMesh(MeshView* mesh);
  void follow();

  SelectionModel& m_selection;
  MeshView *m_mesh, *m_other = nullptr;
  QBoxLayout* m_row;
  ElidedLabel *m_title, *m_otherTitle = nullptr;
};

}  // namespace tessera::ui
