// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_pane.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_question.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_session.h"
#include "ui/lessons/lesson_steps.h"
#include "ui/lessons/lesson_task.h"
#include "ui/widgets/button_row.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pipeline_box.h"
#include "ui/widgets/scrolled.h"

namespace tessera::ui {
namespace {

// 1.25 times the sizes of the panel's style sheet, as setCanvasEnlarged() does with canvases.
constexpr const char* kEnlargedTexts =
    "QLabel, QRadioButton, QCheckBox, QPushButton, QSpinBox, QDoubleSpinBox { font-size: 11.7pt; } "
    "QLabel[role=\"title\"] { font-size: 14pt; } "
    "QLabel[role=\"hint\"] { font-size: 10.8pt; } "
    "QLabel[role=\"caption\"], QLabel[role=\"group\"] { font-size: 9.9pt; }";

}  // namespace

LessonPane::LessonPane(LessonSession& session, LessonRecords& records, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_session(session),
      m_stack(new QStackedWidget(this)),
      m_number(new QLabel(this)),
      m_title(new QLabel(this)),
      m_text(new QLabel(this)),
      m_problem(new QLabel(this)),
      m_notice(new QLabel(records.notice(), this)),
      m_steps(new LessonSteps(this)),
      m_question(new LessonQuestionCard(session, this)),
      m_task(new LessonTaskCard(session, this)),
      m_pipeline(new PipelineBox(this)),
      m_list(new LessonList(records, this)),
      m_all(new QPushButton(tr("All lessons"), this)),
      m_return(new QPushButton(tr("Return to the lesson"), this)),
      m_back(new QPushButton(tr("Back"), this)),
      m_startOver(new QPushButton(tr("Start over"), this)),
      m_next(new QPushButton(tr("Next"), this)),
      m_experiment(new QPushButton(tr("Open the experiment…"), this)) {
  m_stack->addWidget(buildLesson());
  m_stack->addWidget(buildList());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 16, 14);
  column->addWidget(m_stack);
  for (QPushButton* button : {m_return, m_back, m_startOver, m_next, m_experiment}) {
    button->setAccessibleName(button->text());
  }
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Lesson"));

  connect(m_all, &QPushButton::clicked, this, &LessonPane::showList);
  connect(m_return, &QPushButton::clicked, this,
          [this] { keepFocus([this] { m_stack->setCurrentIndex(0); }); });
  connect(m_back, &QPushButton::clicked, this, [this] { m_session.back(); });
  connect(m_startOver, &QPushButton::clicked, this, [this] { m_session.startOver(); });
  connect(m_next, &QPushButton::clicked, this, &LessonPane::goOn);
  connect(m_experiment, &QPushButton::clicked, this, [this] {
    emit experimentRequested(QString::fromStdString(m_session.state().experiment));
  });
  connect(m_list, &LessonList::chosen, this, &LessonPane::lessonChosen);
  connect(m_question, &LessonQuestionCard::touched, this, &LessonPane::refresh);
  connect(m_text, &QLabel::linkHovered, this, &LessonPane::hoverLink);
  connect(m_question, &LessonQuestionCard::linkHovered, this, &LessonPane::hoverLink);
  connect(m_task, &LessonTaskCard::linkHovered, this, &LessonPane::hoverLink);
  connect(&m_session, &LessonSession::stepShown, this, &LessonPane::restart);
  connect(&m_session, &LessonSession::changed, this, &LessonPane::refresh);
  showList();
}

QWidget* LessonPane::buildLesson() {
  setRole(m_number, QStringLiteral("hint"));
  setRole(m_title, QStringLiteral("title"));
  setRole(m_problem, QStringLiteral("bad"));
  for (QLabel* label : {m_title, m_text, m_problem}) label->setWordWrap(true);
  m_text->setTextFormat(Qt::MarkdownText);
  m_text->setAccessibleName(tr("Text of the step"));
  m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_all->setFlat(true);
  m_all->setAccessibleName(tr("Show the list of lessons"));
  m_next->setProperty("primary", true);
  m_next->setStatusTip(tr("Check the answer, or show the next step (Space, →, Page Down)"));
  m_back->setStatusTip(tr("Show the step before (←, Page Up)"));
  m_startOver->setStatusTip(tr("Show this step again, without your draft and your answer"));
  auto* top = new QHBoxLayout;
  top->addWidget(m_number);
  top->addStretch();
  top->addWidget(m_all);

  auto* body = new QWidget(this);
  auto* rows = new QVBoxLayout(body);
  rows->setContentsMargins(0, 0, 4, 0);
  rows->setSpacing(14);
  rows->addWidget(m_text);
  rows->addWidget(m_question);
  rows->addWidget(m_task);
  rows->addWidget(m_pipeline);
  rows->addWidget(m_experiment);
  rows->addStretch();
  m_scroll = scrolled(body, this);
  m_scroll->setAccessibleName(tr("The step of the lesson"));
  m_scroll->setFocusPolicy(Qt::NoFocus);

  m_next->setMinimumWidth(96);
  auto* buttons = new ButtonRow(8, this);
  buttons->add(m_back);
  buttons->add(m_startOver);
  buttons->addStretch();
  buttons->add(m_next);

  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addLayout(top);
  column->addWidget(m_title);
  column->addWidget(m_steps);
  column->addSpacing(4);
  column->addWidget(m_scroll, 1);
  column->addWidget(m_problem);
  column->addWidget(buttons);
  return page;
}

QWidget* LessonPane::buildList() {
  auto* heading = new QLabel(tr("Lessons"), this);
  setRole(heading, QStringLiteral("title"));
  m_return->setFlat(true);
  setRole(m_notice, QStringLiteral("warn"));
  m_notice->setWordWrap(true);
  m_notice->setVisible(!m_notice->text().isEmpty());
  auto* top = new QHBoxLayout;
  top->addWidget(heading);
  top->addStretch();
  top->addWidget(m_return);
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addLayout(top);
  column->addWidget(m_notice);
  column->addWidget(scrolled(m_list, page), 1);
  return page;
}

void LessonPane::showList() {
  keepFocus([this] {
    m_return->setVisible(m_session.isOpen());
    m_stack->setCurrentIndex(1);
  });
}

void LessonPane::setExperimentBlocked(const QString& reason) {
  m_experimentReason = reason;
  m_experiment->setEnabled(reason.isEmpty());
  m_experiment->setToolTip(reason);
}

void LessonPane::setEnlarged(bool enlarged) {
  setStyleSheet(enlarged ? QString::fromLatin1(kEnlargedTexts) : QString());
}

QString LessonPane::title() const { return m_title->text(); }
QString LessonPane::text() const { return m_text->text(); }
QString LessonPane::problem() const { return m_problem->text(); }

void LessonPane::goOn() {
  if (!m_session.isOpen()) return;
  if (m_session.script().predict && !m_session.given()) {
    m_question->check();
  } else if (m_session.step() + 1 < m_session.numSteps()) {
    m_session.next();
  } else {
    showList();
  }
}

// A widget that is disabled, hidden or deleted passes the focus on to any other of the window. The
// keys of the lesson would then go elsewhere.
void LessonPane::keepFocus(const std::function<void()>& change) {
  const auto hasFocus = [this] {
    const QWidget* focus = window()->focusWidget();
    return focus == this || isAncestorOf(focus);
  };
  const bool had = hasFocus();
  change();
  if (had && !hasFocus()) setFocus();
}

void LessonPane::restart() {
  keepFocus([this] { showFirst(); });
}

void LessonPane::showFirst() {
  m_stack->setCurrentIndex(0);
  if (m_session.script().predict) m_question->restart();
  m_scroll->verticalScrollBar()->setValue(0);
}

void LessonPane::refresh() {
  if (m_session.isOpen()) keepFocus([this] { showStep(); });
}

void LessonPane::showStep() {
  const auto& entries = lessonEntries();
  const auto entry = std::ranges::find(entries, m_session.name(), &LessonEntry::name);
  m_number->setText(entry == entries.end() ? tr("Lesson from a file")
                                           : tr("Lesson %1 of %2")
                                                 .arg(entry - entries.begin() + 1)
                                                 .arg(static_cast<int>(entries.size())));
  m_title->setText(QString::fromStdString(m_session.lesson().title));
  m_steps->setStep(m_session.step(), m_session.numSteps());
  m_text->setText(m_session.filled(m_session.script().text));
  const bool asks = m_session.script().predict.has_value();
  m_question->setVisible(asks);
  if (asks) m_question->refresh();
  const bool drafts = m_session.script().task || !m_session.draft().isEmpty();
  m_task->setVisible(drafts);
  if (drafts) m_task->refresh();
  const bool hasPipeline = m_session.state().has_pipeline;
  m_pipeline->setVisible(hasPipeline);
  if (hasPipeline) {
    m_pipeline->setInput(pipelineOfLesson(m_session.state().world->settings, m_session.drawnMesh(),
                                          m_session.drawnOptions()));
  }
  m_experiment->setVisible(!m_session.state().experiment.empty());
  m_problem->setText(m_session.fileProblem());
  m_problem->setVisible(!m_session.fileProblem().isEmpty());

  m_back->setEnabled(m_session.step() > 0);
  const bool open = asks && !m_session.given();
  const bool last = m_session.step() + 1 >= m_session.numSteps();
  m_next->setText(open ? tr("Check") : last ? tr("All lessons") : tr("Next"));
  m_next->setAccessibleName(m_next->text());
  m_next->setEnabled(!open || m_question->canCheck());
  m_next->setToolTip(open && !m_question->canCheck() ? tr("Choose an answer first.") : QString());
}

void LessonPane::hoverLink(const QString& link) {
  std::set<ptc::DeviceId> devices;
  if (m_session.isOpen() && link.startsWith(QLatin1String("gpu:"))) {
    if (const auto device = ptc::ParseDevice(link.mid(4).toStdString())) devices.insert(*device);
  } else if (m_session.isOpen() && link.startsWith(QLatin1String("node:n"))) {
    const int node = link.mid(6).toInt();
    for (const ptc::DeviceId device : m_session.state().world->devices) {
      if (device.node == node) devices.insert(device);
    }
  }
  emit devicesHovered(devices);
}

void LessonPane::keyPressEvent(QKeyEvent* event) {
  if (m_session.isOpen() && m_stack->currentIndex() == 0) {
    if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Right) return goOn();
    if (event->key() == Qt::Key_Left) return m_session.back();
  }
  Surface::keyPressEvent(event);
}

}  // namespace tessera::ui
