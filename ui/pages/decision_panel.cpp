// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/decision_panel.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <set>

#include "ui/format.h"
#include "ui/sentences.h"
#include "ui/theme.h"
#include "ui/widgets/button_row.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kWide = 780;          // of a card whose rows have one line
constexpr int kRemarkWidth = 1020;  // of a card with room for remarks
constexpr int kCostIndent = 24;     // below a name

const engine::DecisionStatus* decisionOf(const ClusterModel& model) {
  if (model.link() != LinkState::Connected || model.job() == nullptr) return nullptr;
  return model.job()->decision ? &*model.job()->decision : nullptr;
}

/// The nodes that may come back, ascending.
std::set<std::int32_t> awaitedNodes(const engine::DecisionStatus& decision) {
  std::set<std::int32_t> nodes;
  for (const ptc::DeviceId device : decision.awaited) nodes.insert(device.node);
  return nodes;
}

QString namesOf(const std::set<std::int32_t>& nodes) {
  QStringList names;
  for (const std::int32_t node : nodes) names << format::node(node);
  return names.join(QStringLiteral(", "));
}

/// "layers 1–2, 5, ln_f.weight"; the first ranges if no layer is known.
QString missingOf(const engine::DecisionStatus& decision) {
  QStringList parts, layers;
  for (const engine::LayerRange& range : decision.missing_layers) {
    layers << (range.first == range.last
                   ? format::count(range.first)
                   : format::count(range.first) + QChar(0x2013) + format::count(range.last));
  }
  if (!layers.isEmpty()) {
    const bool isOne = decision.missing_layers.size() == 1 &&
                       decision.missing_layers[0].first == decision.missing_layers[0].last;
    const QString numbers = layers.join(QStringLiteral(", "));
    parts << (isOne ? DecisionPanel::tr("layer %1").arg(numbers)
                    : DecisionPanel::tr("layers %1").arg(numbers));
  }
  for (const std::string& name : decision.missing_others) parts << QString::fromStdString(name);
  if (parts.isEmpty()) {
    for (const std::string& range : decision.missing) parts << QString::fromStdString(range);
  }
  return parts.join(QStringLiteral(", "));
}

bool isOffered(const LossDecision& choice, const engine::DecisionStatus& decision) {
  if (choice.choice == engine::LossChoice::kWait) return !decision.awaited.empty();
  return std::ranges::find(decision.ways, choice.source, [](const engine::RecoveryWay& way) {
           return std::optional(way.source);
         }) != decision.ways.end();
}

}  // namespace

DecisionPanel::DecisionPanel(ClusterModel& model, MoveControl& control, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_control(control),
      m_headline(new QLabel(this)),
      m_countdown(new QLabel(this)),
      m_sentence(new QLabel(this)),
      m_grid(new QGridLayout),
      m_bottom(new QBoxLayout(QBoxLayout::LeftToRight)),
      m_buttons(new ButtonRow(10, this)),
      m_startNodes(new QPushButton(this)),
      m_startOver(new QPushButton(tr("Start over…"), this)),
      m_stop(new QPushButton(tr("Stop the job…"), this)),
      m_act(new QPushButton(this)),
      m_later(new QComboBox(this)) {
  setRole(m_headline, QStringLiteral("heading"));
  setRole(m_countdown, QStringLiteral("warn"));
  setRole(m_sentence, QStringLiteral("hint"));
  m_headline->setWordWrap(true);
  m_sentence->setWordWrap(true);
  m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_act->setProperty("primary", true);
  for (QPushButton* button : {m_startNodes, m_startOver, m_stop, m_act})
    button->setAutoDefault(true);
  m_act->setAccessibleName(tr("Continue"));
  m_startNodes->setAccessibleName(tr("Start the lost nodes"));
  m_startOver->setAccessibleName(tr("Stop the job and start it from its first step"));
  m_stop->setAccessibleName(tr("Stop the job and free its state"));
  m_later->setProperty("flat", true);
  m_later->setAccessibleName(tr("What the job does at later losses"));
  m_later->view()->setAccessibleName(m_later->accessibleName());
  m_later->addItem(tr("ask"), static_cast<int>(engine::OnFailure::kAsk));
  m_later->addItem(tr("continue with what is left"), static_cast<int>(engine::OnFailure::kShrink));
  m_later->addItem(tr("wait"), static_cast<int>(engine::OnFailure::kWait));

  for (std::size_t i = 0; i < m_rows.size(); ++i) m_rows[i] = makeRow(i);
  layOut();
  hide();

  connect(&m_model, &ClusterModel::changed, this, &DecisionPanel::refresh);
  connect(&m_control, &MoveControl::changed, this, &DecisionPanel::refreshButtons);
  connect(m_act, &QPushButton::clicked, this, &DecisionPanel::act);
  connect(m_startNodes, &QPushButton::clicked, this, [this] {
    const engine::DecisionStatus* decision = decisionOf(m_model);
    if (decision == nullptr) return;
    const std::set<std::int32_t> nodes = awaitedNodes(*decision);
    emit startNodesRequested(QList<qint32>(nodes.begin(), nodes.end()));
  });
  connect(m_startOver, &QPushButton::clicked, this, &DecisionPanel::startOverRequested);
  connect(m_stop, &QPushButton::clicked, this, &DecisionPanel::stopRequested);
  connect(m_later, &QComboBox::activated, this, [this](int row) {
    m_control.setOnFailure(static_cast<engine::OnFailure>(m_later->itemData(row).toInt()));
  });
}

void DecisionPanel::layOut() {
  auto* top = new QHBoxLayout;
  top->addWidget(m_headline, 1);
  top->addWidget(m_countdown, 0, Qt::AlignTop);
  m_grid->setContentsMargins(0, 4, 0, 4);
  m_grid->setHorizontalSpacing(26);
  m_grid->setVerticalSpacing(3);
  m_grid->setColumnStretch(2, 1);
  auto* label = new QLabel(tr("At later losses:"), this);
  setRole(label, QStringLiteral("hint"));
  label->setBuddy(m_later);
  auto* later = new QHBoxLayout;
  later->setSpacing(10);
  later->addWidget(label);
  later->addWidget(m_later);
  later->addStretch();
  m_buttons->addStretch();
  for (QPushButton* button : {m_startNodes, m_startOver, m_stop, m_act}) m_buttons->add(button);
  m_bottom->setSpacing(6);
  m_bottom->addLayout(later);
  m_bottom->addWidget(m_buttons, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 11, 18, 11);
  column->setSpacing(5);
  column->addLayout(top);
  column->addWidget(m_sentence);
  column->addLayout(m_grid);
  column->addLayout(m_bottom);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  arrange();
}

DecisionPanel::Row DecisionPanel::makeRow(std::size_t index) {
  Row parts{new QRadioButton(this), new QLabel(this), new QLabel(this), new QLabel(this)};
  parts.name->setAccessibleName(tr("A way to continue"));
  setRole(parts.cost, QStringLiteral("hint"));
  setRole(parts.remark, QStringLiteral("caption"));
  QFont bold = parts.name->font();
  bold.setWeight(QFont::DemiBold);
  parts.name->setFont(bold);
  parts.cost->setWordWrap(true);
  // By the user: refresh() marks with setChecked().
  connect(parts.name, &QRadioButton::clicked, this, [this, index] {
    m_marked = m_rows[index].choice;
    refreshButtons();
  });
  return parts;
}

void DecisionPanel::arrange() {
  const bool isWide = width() >= kWide;
  if (m_isWide == isWide) return;
  m_isWide = isWide;
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const Row& row = m_rows[i];
    const int line = 2 * static_cast<int>(i);
    for (QWidget* part : {static_cast<QWidget*>(row.name), static_cast<QWidget*>(row.mesh),
                          static_cast<QWidget*>(row.cost), static_cast<QWidget*>(row.remark)}) {
      m_grid->removeWidget(part);
    }
    m_grid->addWidget(row.name, line, 0);
    m_grid->addWidget(row.mesh, line, 1);
    if (isWide) {
      m_grid->addWidget(row.cost, line, 2);
      m_grid->addWidget(row.remark, line, 3, Qt::AlignRight);
    } else {
      m_grid->addWidget(row.cost, line + 1, 0, 1, 3);
    }
    row.cost->setIndent(isWide ? 0 : kCostIndent);
  }
  m_bottom->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void DecisionPanel::setStartsNodes(bool can) {
  m_startsNodes = can;
  refreshButtons();
}

QString DecisionPanel::headline() const { return m_headline->text(); }
QString DecisionPanel::sentence() const { return m_sentence->text(); }
QString DecisionPanel::countdown() const { return m_countdown->text(); }

QList<QRadioButton*> DecisionPanel::rows() const {
  QList<QRadioButton*> buttons;
  for (std::size_t i = 0; i < m_shown; ++i) buttons << m_rows[i].name;
  return buttons;
}

QStringList DecisionPanel::choices() const {
  QStringList texts;
  for (std::size_t i = 0; i < m_shown; ++i) {
    const Row& row = m_rows[i];
    texts << QStringList{row.name->text(), row.mesh->text(), row.cost->text(), row.remark->text()}
                 .join(QStringLiteral(" | "));
  }
  return texts;
}

void DecisionPanel::refresh() {
  const engine::DecisionStatus* decision = decisionOf(m_model);
  setVisible(decision != nullptr);
  if (decision == nullptr) {
    m_marked.reset();
    return;
  }
  const engine::JobStatus& job = *m_model.job();
  // A mark is about one loss of one job, and about a choice that is still there.
  const std::string loss = job.name + ": " + decision->reason;
  if (loss != m_loss || (m_marked && !isOffered(*m_marked, *decision))) m_marked.reset();
  m_loss = loss;
  showLoss(job);
  showChoices(job);
  m_later->setCurrentIndex(m_later->findData(static_cast<int>(job.on_failure)));
  refreshButtons();
}

void DecisionPanel::showLoss(const engine::JobStatus& job) {
  const engine::DecisionStatus& decision = *job.decision;
  const QString name = QString::fromStdString(job.name);
  const QString reason = localized(decision.reason);
  if (decision.loss == engine::LossCase::kReplicasLive) {
    m_headline->setText(
        tr("%1. No state of %2 was lost: other GPUs hold a full copy.").arg(reason, name));
    m_sentence->setText(
        decision.can_continue()
            ? tr("The state after step %1 is complete in memory.").arg(format::count(job.step))
            : tr("The state after step %1 is complete in memory, but the job cannot continue: %2.")
                  .arg(format::count(job.step), localized(decision.why_not)));
  } else {
    m_headline->setText(tr("%1. %2 of %3 have no other copy in memory.")
                            .arg(reason, format::bytes(decision.missing_bytes), name));
    m_sentence->setText(tr("Missing: %1. The rest stays in memory.").arg(missingOf(decision)));
  }
  QString when;
  if (decision.chosen == engine::LossChoice::kWait) {
    when = tr("waits for the lost GPUs");
  } else if (decision.seconds_left) {
    when = tr("continues by itself in %1 s").arg(std::ceil(*decision.seconds_left));
  } else if (decision.chosen) {
    when = tr("continues");
  } else if (decision.can_continue()) {
    when = tr("waits for your choice");
  } else {
    when = tr("cannot continue");
  }
  m_countdown->setText(when);
}

void DecisionPanel::showChoices(const engine::JobStatus& job) {
  const engine::DecisionStatus& decision = *job.decision;
  m_shown = 0;
  for (const engine::RecoveryWay& way : decision.ways) {
    if (m_shown + 1 < m_rows.size()) showWay(m_rows[m_shown++], way, job);
  }
  if (!decision.awaited.empty()) showWait(m_rows[m_shown++], job);
  const bool waits = decision.chosen == engine::LossChoice::kWait;
  bool isMarked = false;
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const Row& row = m_rows[i];
    if (i >= m_shown || isMarked) continue;
    // Without a mark of the user: what happens by itself.
    isMarked = m_marked ? row.choice == *m_marked
                        : !waits || row.choice.choice == engine::LossChoice::kWait;
    if (isMarked) row.name->setChecked(true);
  }
  if (!isMarked && m_shown > 0) m_rows[0].name->setChecked(true);
  showRows();
}

void DecisionPanel::showRows() {
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const Row& row = m_rows[i];
    const bool isShown = i < m_shown;
    for (QWidget* part : {static_cast<QWidget*>(row.name), static_cast<QWidget*>(row.mesh),
                          static_cast<QWidget*>(row.cost)}) {
      part->setVisible(isShown);
    }
    row.remark->setVisible(isShown && width() >= kRemarkWidth);
  }
}

void DecisionPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
  showRows();
}

void DecisionPanel::showWay(Row& row, const engine::RecoveryWay& way,
                            const engine::JobStatus& job) {
  using enum engine::RecoverySource;
  row.choice = {engine::LossChoice::kContinue, way.source};
  const QString step = format::count(way.step);
  row.name->setText(way.source == kReplicas
                        ? tr("Continue with %1").arg(format::gpus(std::ssize(way.devices)))
                    : way.source == kSnapshot ? tr("Snapshot of step %1").arg(step)
                                              : tr("Checkpoint of step %1").arg(step));
  row.mesh->setText(format::shape(way.mesh));
  const QString moved = format::bytes(way.moved_bytes);
  const QString replicas = !way.survival                 ? format::unknown()
                           : way.survival->of_any_node() ? tr("kept")
                                                         : format::survival(*way.survival);
  row.cost->setText(
      QStringList{tr("%1 lost").arg(format::steps(way.steps_lost)),
                  way.source == kReplicas ? tr("moves %1").arg(moved) : tr("reads %1").arg(moved),
                  tr("replicas: %1").arg(replicas),
                  way.seconds ? tr("≈ %1").arg(format::seconds(*way.seconds))
                              : tr("time: %1").arg(format::unknown())}
          .join(QStringLiteral(" · ")));
  QString speed;
  if (way.step_seconds) {
    speed = tr("≈ %1 per step").arg(format::seconds(*way.step_seconds));
    if (job.step_seconds) speed = tr("%1, was %2").arg(speed, format::seconds(*job.step_seconds));
  }
  row.remark->setText(speed);
  const QString path = QString::fromStdString(way.checkpoint);
  QStringList tips{path, speed};
  tips.removeAll(QString());
  row.name->setToolTip(tips.join(u'\n'));
  row.name->setAccessibleDescription(row.cost->text());
}

void DecisionPanel::showWait(Row& row, const engine::JobStatus& job) {
  const engine::DecisionStatus& decision = *job.decision;
  row.choice = {engine::LossChoice::kWait, {}};
  row.name->setText(tr("Wait for %1").arg(namesOf(awaitedNodes(decision))));
  row.name->setToolTip({});
  row.mesh->setText(format::shape(job.mesh));
  row.cost->setText(decision.missing_bytes == 0
                        ? tr("0 steps lost · continues when its GPUs are back")
                        : tr("continues if its GPUs come back with their state"));
  row.remark->setText(decision.missing_bytes == 0 ? tr("the state stays in memory")
                                                  : tr("the rest stays in memory"));
  row.name->setAccessibleDescription(row.cost->text());
}

const DecisionPanel::Row* DecisionPanel::selected() const {
  for (std::size_t i = 0; i < m_shown; ++i) {
    if (m_rows[i].name->isChecked()) return &m_rows[i];
  }
  return nullptr;
}

const engine::RecoveryWay* DecisionPanel::wayOf(const Row& row,
                                                const engine::DecisionStatus& decision) {
  if (row.choice.choice == engine::LossChoice::kWait) return nullptr;
  const auto way =
      std::ranges::find(decision.ways, *row.choice.source, &engine::RecoveryWay::source);
  return way == decision.ways.end() ? nullptr : &*way;
}

void DecisionPanel::act() {
  const engine::DecisionStatus* decision = decisionOf(m_model);
  const Row* row = selected();
  if (decision == nullptr || row == nullptr) return;
  const engine::RecoveryWay* way = wayOf(*row, *decision);
  if (way != nullptr && way->steps_lost > 0) {
    emit goBackRequested(*way);
  } else {
    m_control.decide(row->choice);
  }
}

void DecisionPanel::refreshButtons() {
  const engine::DecisionStatus* decision = decisionOf(m_model);
  if (decision == nullptr) return;
  const QString locked = m_control.lockReason();
  const Row* row = selected();
  m_act->setVisible(row != nullptr);
  if (row != nullptr) {
    const engine::RecoveryWay* way = wayOf(*row, *decision);
    m_act->setText(way == nullptr         ? tr("Wait")
                   : way->steps_lost == 0 ? tr("Continue")
                                          : tr("Go back…"));
    m_act->setAccessibleName(m_act->text() + QStringLiteral(": ") + row->name->text());
    // What happens already needs no button.
    const bool happens = decision->chosen == row->choice.choice &&
                         (way == nullptr || way->source == decision->way().source);
    m_act->setEnabled(locked.isEmpty() && !happens);
  }
  const std::set<std::int32_t> awaited = awaitedNodes(*decision);
  const bool canStart = m_startsNodes || m_model.snapshot().simulation.has_value();
  m_startNodes->setVisible(canStart && !awaited.empty());
  m_startNodes->setText(tr("Start %1").arg(namesOf(awaited)));
  for (QWidget* widget : {static_cast<QWidget*>(m_startNodes), static_cast<QWidget*>(m_startOver),
                          static_cast<QWidget*>(m_stop), static_cast<QWidget*>(m_later)}) {
    widget->setEnabled(locked.isEmpty());
  }
  for (QWidget* widget : {static_cast<QWidget*>(m_act), static_cast<QWidget*>(m_startNodes),
                          static_cast<QWidget*>(m_startOver), static_cast<QWidget*>(m_stop),
                          static_cast<QWidget*>(m_later)}) {
    widget->setToolTip(locked);
  }
  if (locked.isEmpty()) m_startNodes->setToolTip(tr("The GPUs of the node are empty then."));
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
