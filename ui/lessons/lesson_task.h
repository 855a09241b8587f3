// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The task of a step: the degrees of the draft, and which conditions its plan meets.

#include <QWidget>
#include <array>
#include <vector>

#include "ptc/mesh.h"

class QCheckBox;
class QLabel;
class QSpinBox;
class QVBoxLayout;

namespace tessera::ui {

class LessonSession;

class LessonTaskCard : public QWidget {
  Q_OBJECT

 public:
  explicit LessonTaskCard(LessonSession& session, QWidget* parent = nullptr);
  /// Shows the task of the step; without one, the free draft of the student.
  void refresh();
  QSpinBox* axisBox(ptc::Axis axis) const { return m_boxes[static_cast<std::size_t>(axis)]; }
  QCheckBox* zeroBox() const { return m_zero; }
  /// The lines with the conditions, joined by line breaks.
  QString conditions() const;

 signals:
  void linkHovered(const QString& link);

 private:
  void refreshControls();
  void refreshConditions();

  LessonSession& m_session;
  QLabel *m_title, *m_text, *m_hint, *m_problem, *m_plan;
  std::array<QSpinBox*, ptc::kNumAxes> m_boxes{};
  std::array<QLabel*, ptc::kNumAxes> m_captions{};
  QSpinBox* m_microBatch;
  QCheckBox* m_zero;
  QVBoxLayout* m_rows;
  std::vector<QLabel*> m_conditions;
};

}  // namespace tessera::ui
