// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The question of a step: choices or a number, and the answer once it is given.

#include <QFrame>
#include <vector>

class QButtonGroup;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace tessera::ui {

class LessonSession;

class LessonQuestionCard : public QFrame {
  Q_OBJECT

 public:
  explicit LessonQuestionCard(LessonSession& session, QWidget* parent = nullptr);
  /// Shows the question of the session's step from its start.
  /// \pre the step has a question
  void restart();
  void refresh();
  /// Whether something is chosen that can be checked.
  bool canCheck() const;
  void check();
  QButtonGroup* choices() const { return m_choices; }
  QDoubleSpinBox* entry() const { return m_entry; }
  QString verdict() const;

 signals:
  /// The student chose something.
  void touched();
  void linkHovered(const QString& link);

 protected:
  /// A click on the text of a choice chooses it.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void addChoice(int id, const QString& text);
  void clearChoices();

  LessonSession& m_session;
  QLabel *m_ask, *m_verdict, *m_explain;
  QGridLayout* m_grid;
  QButtonGroup* m_choices;
  std::vector<QLabel*> m_labels;  // of the choices
  QDoubleSpinBox* m_entry;
  bool m_isEntered = false;  // since the question was asked
  double m_unit = 1;  // of the entry, in units of the answer
};

}  // namespace tessera::ui
