// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lessons of the program with the progress of the student.

#include <QString>
#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;

namespace tessera::ui {

class LessonRecords;

/// A lesson of the program.
struct LessonEntry {
  QString name;
  QString title;
  QString summary;
  int steps = 0;
};
/// All lessons, in their order. Files that cannot be read are left out; a test reads them all.
const std::vector<LessonEntry>& lessonEntries();

class LessonList : public QWidget {
  Q_OBJECT

 public:
  explicit LessonList(LessonRecords& records, QWidget* parent = nullptr);
  /// "✓ 3 …" of a lesson; for tests.
  QString textOf(std::size_t lesson);

 signals:
  void chosen(const QString& name);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// Makes the rows when they are first shown, because most panels never show them.
  void build();
  void refresh();

  struct Row {
    QPushButton* button;
    QLabel* state;
  };
  LessonRecords& m_records;
  QLabel* m_summary;
  QGridLayout* m_grid = nullptr;
  std::vector<Row> m_rows;
};

}  // namespace tessera::ui
