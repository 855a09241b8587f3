// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_records.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace tessera::ui {
namespace {

constexpr int kRecordsVersion = 1;
constexpr int kMostSteps = 1000;  // of a lesson

QJsonArray arrayOf(const std::set<int>& steps) {
  QJsonArray array;
  for (const int step : steps) array.append(step);
  return array;
}

/// Nothing if `value` is not a list of steps.
std::optional<std::set<int>> stepsOf(const QJsonValue& value) {
  if (!value.isArray()) return {};
  std::set<int> steps;
  for (const QJsonValue each : value.toArray()) {
    const int step = each.toInt(-1);
    if (step < 0 || step >= kMostSteps) return {};
    steps.insert(step);
  }
  return steps;
}

std::optional<LessonRecord> recordOf(const QJsonValue& value) {
  const QJsonObject object = value.toObject();
  LessonRecord record;
  record.steps = object.value(QStringLiteral("steps")).toInt(-1);
  record.furthest = object.value(QStringLiteral("furthest")).toInt(-2);
  const auto right = stepsOf(object.value(QStringLiteral("right")));
  const auto wrong = stepsOf(object.value(QStringLiteral("wrong")));
  const auto done = stepsOf(object.value(QStringLiteral("done")));
  const bool inside = record.steps >= 0 && record.steps <= kMostSteps && record.furthest >= -1 &&
                      record.furthest < kMostSteps;
  if (!inside || !right || !wrong || !done) return {};
  record.right = *right;
  record.wrong = *wrong;
  record.done = *done;
  // Files of earlier versions have no such entry. There the last step was enough.
  record.finished = object.value(QStringLiteral("finished"))
                        .toBool(record.steps > 0 && record.furthest + 1 >= record.steps);
  return record;
}

std::optional<QMap<QString, LessonRecord>> recordsOf(const QByteArray& bytes) {
  const QJsonDocument document = QJsonDocument::fromJson(bytes);
  if (document.object().value(QStringLiteral("version")).toInt() != kRecordsVersion) return {};
  const QJsonObject lessons = document.object().value(QStringLiteral("lessons")).toObject();
  QMap<QString, LessonRecord> records;
  for (auto it = lessons.begin(); it != lessons.end(); ++it) {
    const auto record = recordOf(it.value());
    if (!record) return {};
    records[it.key()] = *record;
  }
  return records;
}

}  // namespace

LessonRecords::LessonRecords(QString file, QObject* parent)
    : QObject(parent), m_file(std::move(file)) {
  if (!m_file.isEmpty()) read();
}

void LessonRecords::read() {
  QFile file(m_file);
  if (!file.open(QIODevice::ReadOnly)) return;  // the first lesson makes it
  const QByteArray bytes = file.read(kMaxBytes + 1);
  file.close();
  auto records = bytes.size() > kMaxBytes ? std::nullopt : recordsOf(bytes);
  if (records) {
    m_records = *std::move(records);
    return;
  }
  const QString bad = m_file + QStringLiteral(".bad");
  QFile::remove(bad);
  QFile::rename(m_file, bad);
  m_notice = tr("The progress of the lessons could not be read. It begins again; the old file is "
                "%1.")
                 .arg(bad);
}

int LessonRecords::numFinished() const {
  return static_cast<int>(
      std::count_if(m_records.begin(), m_records.end(),
                    [](const LessonRecord& record) { return record.finished; }));
}

void LessonRecords::reach(const QString& lesson, int step, int steps) {
  LessonRecord record = of(lesson);
  record.steps = steps;
  record.furthest = std::max(record.furthest, step);
  set(lesson, record);
}

void LessonRecords::answer(const QString& lesson, int step, bool right) {
  LessonRecord record = of(lesson);
  if (record.right.contains(step) || record.wrong.contains(step)) return;
  (right ? record.right : record.wrong).insert(step);
  set(lesson, record);
}

void LessonRecords::finishTask(const QString& lesson, int step) {
  LessonRecord record = of(lesson);
  record.done.insert(step);
  set(lesson, record);
}

void LessonRecords::finish(const QString& lesson) {
  LessonRecord record = of(lesson);
  record.finished = true;
  set(lesson, record);
}

void LessonRecords::set(const QString& lesson, const LessonRecord& record) {
  if (m_records.contains(lesson) && m_records.value(lesson) == record) return;
  m_records[lesson] = record;
  save();
  emit changed();
}

// A new file beside the old one, then a rename. A file that cannot be written loses only progress;
// therefore nothing waits for the disk, as QSaveFile would: a busy one takes seconds.
void LessonRecords::save() {
  if (m_file.isEmpty()) return;
  QJsonObject lessons;
  for (auto it = m_records.cbegin(); it != m_records.cend(); ++it) {
    const LessonRecord& record = it.value();
    lessons[it.key()] = QJsonObject{{QStringLiteral("steps"), record.steps},
                                    {QStringLiteral("furthest"), record.furthest},
                                    {QStringLiteral("right"), arrayOf(record.right)},
                                    {QStringLiteral("wrong"), arrayOf(record.wrong)},
                                    {QStringLiteral("done"), arrayOf(record.done)},
                                    {QStringLiteral("finished"), record.finished}};
  }
  const QJsonDocument document(QJsonObject{{QStringLiteral("version"), kRecordsVersion},
                                           {QStringLiteral("lessons"), lessons}});
  QFile file(m_file + QStringLiteral("_new"));
  if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate)) return;
  const QByteArray bytes = document.toJson();
  const bool isWritten = file.write(bytes) == bytes.size() && file.flush();
  file.close();
  if (isWritten) {
    std::rename(qUtf8Printable(file.fileName()), qUtf8Printable(m_file));
  } else {
    file.remove();
  }
}

}  // namespace tessera::ui
