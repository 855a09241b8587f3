// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/consistency_lesson.h"

#include <QButtonGroup>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSaveFile>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "engine/experiment/comparison.h"
#include "ui/dialogs/dialog.h"
#include "ui/format.h"
#include "ui/lessons/consistency_words.h"
#include "ui/plots/curve_plot.h"
#include "ui/sentences.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

constexpr int kTextWidth = 348;
constexpr QSize kPicture{920, 520};
constexpr double kLessonPictureScale = 2;
constexpr int kBarSteps = 1000;

}  // namespace

ConsistencyLesson::ConsistencyLesson(ConsistencyRunner& runner, QWidget* parent)
    : QWidget(parent, Qt::Window),
      m_runner(runner),
      m_result(runner.last()),
      m_number(wrappingLabel(QStringLiteral("caption"), this)),
      m_title(wrappingLabel(QStringLiteral("heading"), this)),
      m_text(wrappingLabel({}, this)),
      m_placeholder(wrappingLabel(QStringLiteral("hint"), this)),
      m_progressText(wrappingLabel(QStringLiteral("hint"), this)),
      m_note(wrappingLabel(QStringLiteral("caption"), this)),
      m_answers(new QButtonGroup(this)),
      m_question(new QWidget(this)),
      m_back(new QPushButton(tr("Back"), this)),
      m_next(new QPushButton(tr("Next"), this)),
      m_run(new QPushButton(this)),
      m_save(new QPushButton(tr("Save picture…"), this)),
      m_bar(new QProgressBar(this)),
      m_plot(new CurvePlot(tr("samples trained on"), tr("training loss (nats per token, smoothed)"),
                           this)),
      m_numbers(new KeyValues(this)) {
  setWindowTitle(tr("Lesson: keeping the position in the data"));
  if (m_result) m_state = State::Shown;
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins({});
  row->setSpacing(0);
  row->addWidget(buildText());
  row->addWidget(buildPicture(), 1);
  connect(m_back, &QPushButton::clicked, this, [this] { showStep(m_step - 1); });
  connect(m_next, &QPushButton::clicked, this, [this] { showStep(m_step + 1); });
  connect(m_run, &QPushButton::clicked, this, &ConsistencyLesson::start);
  connect(m_save, &QPushButton::clicked, this, &ConsistencyLesson::choosePicture);
  connect(m_answers, &QButtonGroup::idClicked, this, [this] { refresh(); });
  resize(1080, 660);
  refresh();
}

ConsistencyLesson::~ConsistencyLesson() { m_runner.cancel(); }

QWidget* ConsistencyLesson::buildText() {
  auto* side = new Surface(Surface::Tone::Panel, this);
  side->setEdge(Qt::RightEdge);
  side->setFixedWidth(kTextWidth);
  auto* question = new QVBoxLayout(m_question);
  question->setContentsMargins(0, 10, 0, 0);
  question->setSpacing(8);
  auto* asked = wrappingLabel(QStringLiteral("number"), m_question);
  asked->setText(consistency_words::question());
  question->addWidget(asked);
  int id = 0;
  for (const QString& answer : consistency_words::answers()) {
    auto* button = new QRadioButton(answer, m_question);
    m_answers->addButton(button, id++);
    question->addWidget(button);
  }
  m_text->setAccessibleName(tr("Text of the lesson"));
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_next->setProperty("primary", true);
  m_note->setText(
      tr("The runs use a temporary cluster on this machine. The cluster that you are connected to "
         "is not touched."));
  auto* steps = new QHBoxLayout;
  steps->addWidget(m_back);
  steps->addStretch();
  steps->addWidget(m_next);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(22, 20, 22, 18);
  column->setSpacing(8);
  column->addWidget(m_number);
  column->addWidget(m_title);
  column->addSpacing(4);
  column->addWidget(m_text);
  column->addWidget(m_question);
  column->addWidget(m_numbers);
  column->addStretch();
  column->addWidget(m_note);
  column->addSpacing(8);
  column->addLayout(steps);
  return side;
}

QWidget* ConsistencyLesson::buildPicture() {
  auto* side = new Surface(Surface::Tone::Canvas, this);
  auto* centre = new QWidget(side);
  m_stack = new QStackedLayout(centre);
  m_placeholder->setAlignment(Qt::AlignCenter);
  m_stack->addWidget(m_placeholder);
  m_stack->addWidget(m_plot);
  m_plot->setAccessibleName(tr("Training loss of the three runs over the samples trained on"));
  m_bar->setTextVisible(false);
  m_bar->setRange(0, kBarSteps);
  m_bar->setAccessibleName(tr("Progress of the runs"));
  m_run->setAccessibleDescription(tr("Trains the job three times on this machine"));
  auto* below = new QHBoxLayout;
  below->setSpacing(12);
  below->addWidget(m_run);
  below->addWidget(m_bar, 1);
  below->addWidget(m_progressText, 4);
  below->addWidget(m_save);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(20, 18, 20, 18);
  column->setSpacing(14);
  column->addWidget(centre, 1);
  column->addLayout(below);
  return side;
}

void ConsistencyLesson::showStep(int step) {
  if (step < 0 || step >= kNumSteps) return;
  if (step > Predict && !prediction()) step = Predict;
  m_step = step;
  refresh();
}

QString ConsistencyLesson::words() const { return m_text->text(); }
QString ConsistencyLesson::placeholder() const {
  return m_stack->currentWidget() == m_placeholder ? m_placeholder->text() : QString();
}
QString ConsistencyLesson::progressText() const { return m_progressText->text(); }

std::optional<int> ConsistencyLesson::prediction() const {
  const int id = m_answers->checkedId();
  return id < 0 ? std::nullopt : std::optional(id);
}

void ConsistencyLesson::predict(int answer) {
  if (auto* button = m_answers->button(answer)) button->click();
}

bool ConsistencyLesson::isRevealed() const { return m_step >= Watch && prediction(); }

void ConsistencyLesson::start() {
  if (m_state == State::Stopping) return;
  if (m_state == State::Running) {
    m_state = State::Stopping;
    m_runner.cancel();
    return refresh();
  }
  m_state = State::Running;
  m_problem.clear();
  m_progress = {};
  m_result.emplace();
  const QPointer<ConsistencyLesson> self(this);
  m_runner.start(
      [self](const LessonProgress& progress) {
        if (self) self->onProgress(progress);
      },
      [self](Result<engine::ConsistencyResult> result) {
        if (self) self->onDone(std::move(result));
      });
  refresh();
}

void ConsistencyLesson::onProgress(const LessonProgress& progress) {
  m_progress = progress;
  auto& runs = m_result->runs;
  const auto index = static_cast<std::size_t>(progress.run);
  if (index < static_cast<std::size_t>(progress.runs)) {
    if (runs.size() <= index) runs.resize(index + 1);
    auto points = std::move(runs[index].points);
    runs[index] = progress.present;
    runs[index].points = std::move(points);
    runs[index].points.insert(runs[index].points.end(), progress.fresh.begin(),
                              progress.fresh.end());
  }
  refresh();
}

void ConsistencyLesson::onDone(Result<engine::ConsistencyResult> result) {
  if (result) {
    m_result = std::move(*result);
    m_state = State::Shown;
  } else {
    const bool wasStopped = result.error().code == ErrorCode::kCancelled;
    m_problem = wasStopped ? QString() : localized(result.error().message);
    m_result = m_runner.last();
    m_state = !wasStopped ? State::Failed : m_result ? State::Shown : State::Empty;
  }
  refresh();
}

void ConsistencyLesson::refresh() {
  m_number->setText(tr("STEP %1 OF %2").arg(m_step + 1).arg(kNumSteps));
  m_title->setText(consistency_words::title(m_step));
  m_text->setText(textOf(m_step));
  m_question->setVisible(m_step == Predict);
  m_back->setEnabled(m_step > 0);
  m_next->setVisible(m_step + 1 < kNumSteps);
  const bool mustAnswer = m_step == Predict && !prediction();
  m_next->setEnabled(!mustAnswer);
  m_next->setToolTip(mustAnswer ? tr("Choose an answer first") : QString());

  const bool isBusy = m_state == State::Running || m_state == State::Stopping;
  m_run->setText(isBusy ? tr("Stop") : m_result ? tr("Run again") : tr("Run"));
  m_run->setEnabled(m_state != State::Stopping && (isBusy || prediction()));
  m_run->setToolTip(m_run->isEnabled() || isBusy ? QString() : tr("Answer the question first"));
  m_bar->setVisible(isBusy);
  const double part = m_progress.steps > 0 ? static_cast<double>(m_progress.step) /
                                                 static_cast<double>(m_progress.steps)
                                           : 0;
  const int runs = std::max(1, m_progress.runs);
  m_bar->setValue(static_cast<int>((m_progress.run + part) / runs * kBarSteps));

  QString text;
  switch (m_state) {
    case State::Empty:
      break;
    case State::Stopping:
      text = tr("stopping the cluster");
      break;
    case State::Failed:
      text = tr("The runs failed: %1").arg(m_problem);
      break;
    case State::Shown:
      text = isRevealed()
                 ? tr("run %1, in %2")
                       .arg(QLocale().toString(QDateTime::fromMSecsSinceEpoch(
                                                   static_cast<qint64>(m_result->time * 1000)),
                                               QLocale::ShortFormat),
                            format::seconds(m_result->seconds))
                 : QString();
      break;
    case State::Running:
      text = m_progress.doing == LessonProgress::Doing::Preparing ? tr("starting a cluster")
             : m_progress.doing == LessonProgress::Doing::Ending
                 ? tr("stopping the cluster")
                 : tr("%1 of %2: %3, step %4 of %5")
                       .arg(m_progress.run + 1)
                       .arg(m_progress.runs)
                       .arg(consistency_words::nameOf(m_progress.present))
                       .arg(m_progress.step)
                       .arg(m_progress.steps);
      if (m_progress.secondsLeft && m_progress.doing == LessonProgress::Doing::Training)
        text += tr(", ≈ %1 left").arg(format::wait(*m_progress.secondsLeft));
      break;
  }
  setRole(m_progressText,
          m_state == State::Failed ? QStringLiteral("bad") : QStringLiteral("hint"));
  m_progressText->setText(text);
  refreshCurves();
}

void ConsistencyLesson::refreshCurves() {
  std::vector<Curve> curves;
  std::optional<double> change;
  double right = 0;
  bool hasPoints = false;
  if (m_result) {
    for (const engine::ConsistencyRun& run : m_result->runs) {
      Curve curve{consistency_words::nameOf(run), {}};
      for (const engine::LossPoint& point : engine::SmoothCurve(run))
        if (std::isfinite(point.loss))
          curve.points.emplace_back(static_cast<double>(point.samples), point.loss);
      hasPoints = hasPoints || curve.points.size() > 1;
      if (!change && run.changed_after)
        change = static_cast<double>(*run.changed_after * run.batch_before);
      curves.push_back(std::move(curve));
    }
    if (m_state == State::Running && m_progress.steps > 0 && !m_result->runs.empty())
      right = static_cast<double>(m_progress.steps * m_result->runs.front().batch_before);
  }
  const bool isShown = isRevealed() && hasPoints;
  m_stack->setCurrentWidget(isShown ? static_cast<QWidget*>(m_plot) : m_placeholder);
  m_save->setVisible(isShown);
  m_save->setEnabled(isShown && m_state == State::Shown);
  m_placeholder->setText(m_state == State::Failed
                             ? tr("No curves: the runs failed. Run them again.")
                         : !prediction() ? tr("The curves appear here after you answer in step 3.")
                         : m_state == State::Running || m_state == State::Stopping
                             ? tr("The curves appear with the first training steps.")
                         : m_step < Watch ? tr("The curves appear in the next step.")
                                          : tr("Nothing has run yet. Press Run. It takes some "
                                               "minutes on all cores of this machine."));
  m_plot->setCurves(std::move(curves), right);
  m_plot->setMark(change, tr("change of GPUs"));

  std::vector<KeyValues::Row> rows;
  if (m_step == Seen && m_state == State::Shown && isShown) {
    for (const engine::ConsistencyRun& run : m_result->runs) {
      const engine::RunSummary summary = engine::Summarize(run, *m_result);
      QString value = QLocale().toString(summary.loss_end, 'f', 3);
      if (const auto heldOut = engine::HeldOutLoss(run))
        value += tr(", held out %1").arg(QLocale().toString(*heldOut, 'f', 3));
      rows.push_back({consistency_words::nameOf(run), value, {}, tr("loss at the end")});
    }
  }
  m_numbers->setVisible(!rows.empty());
  m_numbers->setRows(rows);
}

QString ConsistencyLesson::textOf(int step) const {
  if (step != Seen) return consistency_words::text(step);
  if (m_state != State::Shown)
    return tr("There are no results before the three runs have finished.");
  return consistency_words::comparison(prediction(), *m_result) + QStringLiteral("\n\n") +
         consistency_words::seen(*m_result);
}

bool ConsistencyLesson::savePicture(const QString& file) {
  const bool isSvg = file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
  QSaveFile out(file);
  const QByteArray bytes =
      isSvg ? m_plot->toSvg(kPicture) : m_plot->toPng(kPicture, kLessonPictureScale);
  const bool isWritten =
      out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit();
  setRole(m_progressText, isWritten ? QStringLiteral("hint") : QStringLiteral("bad"));
  m_progressText->setText(isWritten ? tr("saved as %1").arg(QFileInfo(file).fileName())
                                    : tr("The picture was not saved: %1").arg(out.errorString()));
  return isWritten;
}

void ConsistencyLesson::choosePicture() {
  const QString file =
      QFileDialog::getSaveFileName(this, tr("Save picture"), QStringLiteral("consistency.png"),
                                   tr("Pictures (*.png);;Vector pictures (*.svg)"));
  if (!file.isEmpty()) savePicture(file);
}

/// Esc closes this window. It must not reach the panel, where it has another meaning.
bool ConsistencyLesson::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  return QWidget::event(event);
}

void ConsistencyLesson::keyPressEvent(QKeyEvent* event) {
  if (pressFocusedButton(*this, *event)) return;
  if (event->key() == Qt::Key_Escape) {
    close();
  } else if (event->key() == Qt::Key_Right && m_next->isEnabled()) {
    showStep(m_step + 1);
  } else if (event->key() == Qt::Key_Left) {
    showStep(m_step - 1);
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace tessera::ui
