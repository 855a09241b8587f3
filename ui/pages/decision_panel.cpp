// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/decision_panel.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/format.h"
#include "ui/sentences.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

const engine::DecisionStatus* decisionOf(const ClusterModel& model) {
  if (model.link() != LinkState::Connected || model.job() == nullptr) return nullptr;
  return model.job()->decision ? &*model.job()->decision : nullptr;
}

}  // namespace

DecisionPanel::DecisionPanel(ClusterModel& model, MoveControl& control, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_control(control),
      m_headline(new QLabel(this)),
      m_countdown(new QLabel(this)),
      m_sentence(new QLabel(this)),
      m_continue(new QPushButton(this)),
      m_wait(new QPushButton(tr("Wait"), this)),
      m_later(new QComboBox(this)) {
  setRole(m_headline, QStringLiteral("heading"));
  setRole(m_countdown, QStringLiteral("warn"));
  setRole(m_sentence, QStringLiteral("hint"));
  m_headline->setWordWrap(true);
  m_sentence->setWordWrap(true);
  m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_continue->setProperty("primary", true);
  m_continue->setAutoDefault(true);
  m_continue->setAccessibleName(tr("Continue without the lost GPUs"));
  m_wait->setAutoDefault(true);
  m_wait->setAccessibleName(tr("Wait for the lost GPUs"));
  m_later->setProperty("flat", true);
  m_later->setAccessibleName(tr("What the job does at later losses"));
  m_later->view()->setAccessibleName(m_later->accessibleName());
  m_later->addItem(tr("ask"), static_cast<int>(engine::OnFailure::kAsk));
  m_later->addItem(tr("continue with what is left"), static_cast<int>(engine::OnFailure::kShrink));
  m_later->addItem(tr("wait"), static_cast<int>(engine::OnFailure::kWait));

  auto* top = new QHBoxLayout;
  top->addWidget(m_headline, 1);
  top->addWidget(m_countdown, 0, Qt::AlignTop);
  auto* grid = new QGridLayout;
  grid->setContentsMargins(0, 4, 0, 4);
  grid->setHorizontalSpacing(26);
  grid->setVerticalSpacing(7);
  grid->setColumnStretch(2, 1);
  m_goOn = addRow(*grid, 0);
  m_stay = addRow(*grid, 1);
  auto* bottom = new QHBoxLayout;
  bottom->setSpacing(10);
  auto* later = new QLabel(tr("At later losses:"), this);
  setRole(later, QStringLiteral("hint"));
  later->setBuddy(m_later);
  bottom->addWidget(later);
  bottom->addWidget(m_later);
  bottom->addStretch();
  bottom->addWidget(m_wait);
  bottom->addWidget(m_continue);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 11, 18, 11);
  column->setSpacing(5);
  column->addLayout(top);
  column->addWidget(m_sentence);
  column->addLayout(grid);
  column->addLayout(bottom);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  hide();

  connect(&m_model, &ClusterModel::changed, this, &DecisionPanel::refresh);
  connect(&m_control, &MoveControl::changed, this, &DecisionPanel::refreshButtons);
  connect(m_continue, &QPushButton::clicked, this,
          [this] { m_control.decide(engine::LossChoice::kContinue); });
  connect(m_wait, &QPushButton::clicked, this,
          [this] { m_control.decide(engine::LossChoice::kWait); });
  connect(m_later, &QComboBox::activated, this, [this](int row) {
    m_control.setOnFailure(static_cast<engine::OnFailure>(m_later->itemData(row).toInt()));
  });
}

DecisionPanel::Row DecisionPanel::addRow(QGridLayout& grid, int row) {
  Row labels{new QLabel(this), new QLabel(this), new QLabel(this), new QLabel(this)};
  setRole(labels.cost, QStringLiteral("hint"));
  setRole(labels.remark, QStringLiteral("caption"));
  QFont bold = labels.name->font();
  bold.setWeight(QFont::DemiBold);
  labels.name->setFont(bold);
  labels.cost->setWordWrap(true);
  grid.addWidget(labels.name, row, 0);
  grid.addWidget(labels.mesh, row, 1);
  grid.addWidget(labels.cost, row, 2);
  grid.addWidget(labels.remark, row, 3, Qt::AlignRight);
  return labels;
}

QString DecisionPanel::headline() const { return m_headline->text(); }
QString DecisionPanel::sentence() const { return m_sentence->text(); }
QString DecisionPanel::countdown() const { return m_countdown->text(); }

QStringList DecisionPanel::choices() const {
  QStringList rows;
  for (const Row& row : {m_goOn, m_stay}) {
    if (row.name->isHidden()) continue;
    rows << QStringList{row.name->text(), row.mesh->text(), row.cost->text(), row.remark->text()}
                .join(QStringLiteral(" | "));
  }
  return rows;
}

void DecisionPanel::refresh() {
  const engine::DecisionStatus* decision = decisionOf(m_model);
  setVisible(decision != nullptr);
  if (decision == nullptr) return;
  const engine::JobStatus& job = *m_model.job();
  const QString name = QString::fromStdString(job.name);
  const QString reason = localized(decision->reason);
  if (decision->loss == engine::LossCase::kReplicasLive) {
    m_headline->setText(
        tr("%1. Nothing of %2 is: other GPUs hold all of its state.").arg(reason, name));
    m_sentence->setText(
        decision->can_continue()
            ? tr("The state after step %1 is complete in memory.").arg(format::count(job.step))
            : tr("The state after step %1 is complete in memory, but the job cannot continue: %2.")
                  .arg(format::count(job.step), localized(decision->why_not)));
  } else {
    m_headline->setText(tr("%1. %2 of %3 have no other copy in memory.")
                            .arg(reason, format::bytes(decision->missing_bytes), name));
    QStringList ranges;
    for (const std::string& range : decision->missing) ranges << QString::fromStdString(range);
    const QString missing = ranges.join(QStringLiteral(", "));
    const QString step = format::count(decision->snapshot_step);
    if (!decision->checkpoint.empty() && ranges.isEmpty()) {
      m_sentence->setText(tr("The checkpoint of step %1 is complete on disk: %2.")
                              .arg(step, QString::fromStdString(decision->checkpoint)));
    } else if (!decision->checkpoint.empty()) {
      m_sentence->setText(tr("Missing: %1. The checkpoint of step %2 is complete on disk: %3.")
                              .arg(missing, step, QString::fromStdString(decision->checkpoint)));
    } else if (decision->loss == engine::LossCase::kSnapshot) {
      m_sentence->setText(
          tr("Missing: %1. The snapshot of step %2 is complete in memory.").arg(missing, step));
    } else {
      m_sentence->setText(tr("Missing: %1. The rest stays in memory.").arg(missing));
    }
  }
  QString when;
  if (decision->chosen == engine::LossChoice::kWait) {
    when = tr("waits for the lost GPUs");
  } else if (decision->seconds_left) {
    when = tr("continues by itself in %1 s").arg(std::ceil(*decision->seconds_left));
  } else if (decision->chosen) {
    when = tr("continues");
  } else if (decision->can_continue()) {
    when = tr("waits for your choice");
  }
  m_countdown->setText(when);
  showChoices(job);
  m_later->setCurrentIndex(m_later->findData(static_cast<int>(job.on_failure)));
  refreshButtons();
}

void DecisionPanel::showChoices(const engine::JobStatus& job) {
  const engine::DecisionStatus& decision = *job.decision;
  for (QLabel* label : {m_goOn.name, m_goOn.mesh, m_goOn.cost, m_goOn.remark}) {
    label->setVisible(decision.can_continue());
  }
  if (decision.can_continue()) {
    const QString gpus = format::gpus(std::ssize(decision.devices));
    m_goOn.name->setText(tr("Continue with %1").arg(gpus));
    m_goOn.mesh->setText(format::shape(decision.mesh));
    const QString moved = format::bytes(decision.moved_bytes);
    m_goOn.cost->setText(decision.loss != engine::LossCase::kReplicasLive
                             ? tr("%1 lost, back to step %2 · reads %3")
                                   .arg(format::steps(decision.steps_lost),
                                        format::count(decision.snapshot_step), moved)
                             : tr("0 steps lost · moves %1").arg(moved));
    QString speed;
    if (decision.step_seconds) {
      speed = tr("≈ %1 per step").arg(format::seconds(*decision.step_seconds));
      if (job.step_seconds) speed = tr("%1, was %2").arg(speed, format::seconds(*job.step_seconds));
    }
    m_goOn.remark->setText(speed);
    m_continue->setText(
        decision.checkpoint.empty()
            ? tr("Continue with %1").arg(gpus)
            : tr("Restore checkpoint of step %1").arg(format::count(decision.snapshot_step)));
  }
  m_continue->setVisible(decision.can_continue());
  m_wait->setVisible(decision.can_continue());
  m_stay.name->setText(tr("Wait"));
  m_stay.mesh->setText(format::shape(job.mesh));
  m_stay.cost->setText(decision.loss == engine::LossCase::kReplicasLive
                           ? tr("0 steps lost · continues when its GPUs are back")
                           : tr("continues if its GPUs come back with their state"));
  m_stay.remark->setText(decision.missing_bytes == 0 ? tr("the state stays in memory")
                                                     : tr("the rest stays in memory"));
}

void DecisionPanel::refreshButtons() {
  const engine::DecisionStatus* decision = decisionOf(m_model);
  if (decision == nullptr) return;
  const QString locked = m_control.lockReason();
  m_continue->setEnabled(locked.isEmpty() && decision->can_continue() &&
                         decision->chosen != engine::LossChoice::kContinue);
  m_wait->setEnabled(locked.isEmpty() && decision->chosen != engine::LossChoice::kWait);
  m_later->setEnabled(locked.isEmpty());
  for (QWidget* widget : {static_cast<QWidget*>(m_continue), static_cast<QWidget*>(m_wait),
                          static_cast<QWidget*>(m_later)}) {
    widget->setToolTip(locked);
  }
}

void DecisionPanel::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.bad, 1.5));
  painter.setBrush(theme.frame);
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 10, 10);
}

}  // namespace tessera::ui
