// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <map>

#include "engine/lesson/lessons.h"
#include "ui/language.h"
#include "ui/lessons/lesson_files.h"
#include "ui/lessons/lesson_records.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

const std::vector<LessonEntry>& lessonEntries() {
  static std::map<QString, std::vector<LessonEntry>> entries;  // by language
  std::vector<LessonEntry>& list = entries[panelLanguage()];
  if (!list.empty()) return list;
  for (const std::string& name : engine::LessonFileNames()) {
    const auto text = lessonSource(QString::fromStdString(name));
    const auto lesson = text ? readLesson(*text) : text.error();
    if (!lesson) continue;
    list.push_back({QString::fromStdString(name), QString::fromStdString(lesson->title),
                    QString::fromStdString(lesson->summary),
                    static_cast<int>(lesson->steps.size())});
  }
  return list;
}

LessonList::LessonList(LessonRecords& records, QWidget* parent)
    : QWidget(parent), m_records(records), m_summary(new QLabel(this)) {
  setRole(m_summary, QStringLiteral("hint"));
  m_grid = new QGridLayout(this);
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(6);
  m_grid->setVerticalSpacing(0);
  m_grid->setColumnStretch(1, 1);
  m_grid->addWidget(m_summary, 0, 0, 1, 3);
  m_grid->setRowMinimumHeight(0, 26);
  connect(&m_records, &LessonRecords::changed, this, &LessonList::refresh);
}

void LessonList::build() {
  if (!m_rows.empty()) return;
  int number = 1;
  for (const LessonEntry& entry : lessonEntries()) {
    auto* digit = new QLabel(QString::number(number), this);
    setRole(digit, QStringLiteral("hint"));
    digit->setMinimumWidth(18);
    digit->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* button = new QPushButton(entry.title, this);
    button->setFlat(true);
    button->setStyleSheet(QStringLiteral("text-align: left;"));
    button->setToolTip(entry.summary);
    button->setStatusTip(entry.summary);
    auto* state = new QLabel(this);
    state->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_grid->addWidget(digit, number, 0);
    m_grid->addWidget(button, number, 1);
    m_grid->addWidget(state, number, 2);
    m_rows.push_back({button, state});
    connect(button, &QPushButton::clicked, this, [this, name = entry.name] { emit chosen(name); });
    ++number;
  }
  m_grid->setRowStretch(number, 1);
  refresh();
}

void LessonList::showEvent(QShowEvent* event) {
  build();
  QWidget::showEvent(event);
}

QString LessonList::textOf(std::size_t lesson) {
  build();
  return m_rows[lesson].state->text() + QLatin1Char(' ') + m_rows[lesson].button->text();
}

void LessonList::refresh() {
  const auto& entries = lessonEntries();
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const LessonRecord record = m_records.of(entries[i].name);
    QLabel* state = m_rows[i].state;
    const bool begun = record.furthest >= 0;
    setRole(state, record.finished ? QStringLiteral("ok") : QStringLiteral("hint"));
    state->setText(record.finished ? QStringLiteral("✓")
                   : begun         ? tr("%1 of %2").arg(record.furthest + 1).arg(entries[i].steps)
                                   : QString());
    m_rows[i].button->setAccessibleName(record.finished ? tr("%1, finished").arg(entries[i].title)
                                        : begun         ? tr("%1, step %2 of %3")
                                                      .arg(entries[i].title)
                                                      .arg(record.furthest + 1)
                                                      .arg(entries[i].steps)
                                                : entries[i].title);
  }
  m_summary->setText(
      tr("%1 of %2 finished").arg(m_records.numFinished()).arg(static_cast<int>(entries.size())));
}

}  // namespace tessera::ui
