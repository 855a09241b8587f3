// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the student has done so far in each lesson, stored in a small JSON file beside the
/// settings.

#include <QMap>
#include <QObject>
#include <QString>
#include <set>

#include "ptc/base/result.h"

namespace tessera::ui {

struct LessonRecord {
  int steps = 0;      // of the lesson when it was last open
  int furthest = -1;  // the last step shown; -1: none
  // Steps, counted from 0. A question counts by its first answer.
  std::set<int> right, wrong, done;
  bool finished = false;  // the last step was shown, its question answered and its task done
  friend bool operator==(const LessonRecord&, const LessonRecord&) = default;
};

class LessonRecords : public QObject {
  Q_OBJECT

 public:
  /// A longer file is not a file of records.
  static constexpr qint64 kMaxBytes = 1 << 20;

  /// Reads `file`; without a name nothing is stored. A damaged file is renamed to FILE.bad, the
  /// records begin empty, and notice() reports it.
  explicit LessonRecords(QString file = {}, QObject* parent = nullptr);

  LessonRecord of(const QString& lesson) const { return m_records.value(lesson); }
  int numFinished() const;
  /// The step was shown.
  void reach(const QString& lesson, int step, int steps);
  void answer(const QString& lesson, int step, bool right);
  void finishTask(const QString& lesson, int step);
  /// All that the last step asks for is done.
  void finish(const QString& lesson);
  /// The problem with the file as one sentence; empty if there was none.
  const QString& notice() const { return m_notice; }

 signals:
  void changed();

 private:
  void set(const QString& lesson, const LessonRecord& record);
  void read();
  void save();

  QString m_file;
  QString m_notice;
  QMap<QString, LessonRecord> m_records;
};

}  // namespace tessera::ui
