// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// An editor with its name above and one line below it: a hint, or what is wrong with the value.

#include <QString>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace tessera::ui {

/// Either a line of text or a list of choices.
class LabelledField : public QWidget {
  Q_OBJECT

 public:
  explicit LabelledField(const QString& label, QWidget* parent = nullptr);
  /// Makes it a list: `add` appends a choice.
  void addChoice(const QString& value, const QString& text);
  /// Adds a button on the right of the editor.
  QPushButton* addButton(const QString& text, const QString& name);

  /// Empty for a line that has its default.
  QString value() const;
  /// Does not emit edited().
  void setValue(const QString& value);
  /// The default: a line that the user has not changed has it, and one that he has cleared gets it
  /// back when he leaves it.
  void setFallback(const QString& text);
  /// What an empty line means.
  void setPlaceholder(const QString& text);
  /// Shows an explanation while the pointer rests on the field, also to screen readers.
  void setHelp(const QString& text);
  void setHint(const QString& text);
  /// Replaces the hint; empty: the value is good.
  void setProblem(const QString& text);
  const QString& problem() const { return m_problem; }
  QString noteText() const;
  QString label() const;
  QLineEdit* edit() const { return m_edit; }
  QComboBox* list() const { return m_list; }

 signals:
  void edited();

 private:
  void refreshNote();

  QLabel* m_label;
  QLineEdit* m_edit;
  QComboBox* m_list = nullptr;
  QLabel* m_note;
  QString m_hint, m_problem, m_fallback;
  bool m_isChanged = false;  // by the user
};

}  // namespace tessera::ui
