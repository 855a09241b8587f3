// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/progress_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/theme.h"
#include "ui/widgets/alert_surface.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

/// Bars with names. A mark before the commit shows where a roll back becomes impossible.
class PhaseBar : public QWidget {
 public:
  explicit PhaseBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(kHeight);
  }

  void setView(const TxnView& view) {
    m_view = view;
    QStringList words;
    for (const int step : steps()) words << stepText(step);
    setAccessibleName(words.join(QStringLiteral(", ")));
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<int> all = steps();
    const double wide = (width() + kGap) / static_cast<double>(all.size());
    double left = -wide;
    for (const int step : all) {
      left += wide;
      const QRectF track(left, 7, wide - kGap, 8);
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.track);
      painter.drawRoundedRect(track, 4, 4);
      const bool done = step < m_view.step;
      const bool now = step == m_view.step && m_view.active;
      double filled = done ? 1.0 : 0.0;
      // A running step without a known progress is drawn half full.
      if (now) filled = m_view.progress.value_or(0.5);
      if (filled > 0) {
        const bool wayBack =
            m_view.tone == TxnView::Tone::Warning || m_view.tone == TxnView::Tone::Bad;
        painter.setBrush(wayBack ? theme.faint : done ? theme.ok : theme.accent);
        painter.setOpacity(now && !m_view.progress ? 0.55 : 1.0);
        painter.drawRoundedRect(
            QRectF(track.left(), track.top(), std::max(8.0, track.width() * filled), 8), 4, 4);
        painter.setOpacity(1.0);
      }
      if (step == TxnView::kCommit) {
        painter.setPen(QPen(theme.warn, 2.5, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(track.left() - kGap / 2.0, 1.5),
                         QPointF(track.left() - kGap / 2.0, 20.5));
      }
      painter.setFont(uiFont(12, now ? QFont::DemiBold : QFont::Normal));
      painter.setPen(done || now ? theme.text : theme.faint);
      painter.drawText(QRectF(track.left(), 20, track.width(), kHeight - 20),
                       Qt::AlignLeft | Qt::AlignVCenter, stepText(step));
    }
  }

 private:
  static constexpr int kGap = 8;
  static constexpr int kHeight = 38;

  std::vector<int> steps() const {
    std::vector<int> out;
    for (int step = 0; step < TxnView::kNumSteps; ++step) {
      if (step != TxnView::kCopy || m_view.copiesAhead) out.push_back(step);
    }
    return out;
  }
  QString stepText(int step) const {
    QString text = stepName(step);
    if (step < m_view.step) return text + QStringLiteral(" ✓");
    if (step == m_view.step && m_view.active && m_view.progress) {
      text += QStringLiteral("  ") + format::percent(*m_view.progress);
    }
    return text;
  }

  TxnView m_view;
};

ProgressPanel::ProgressPanel(ClusterModel& model, MoveControl& control, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_control(control),
      m_bar(new PhaseBar(this)),
      m_headline(new QLabel(this)),
      m_numbers(new QLabel(this)),
      m_sentence(new QLabel(this)),
      m_cancel(new QPushButton(tr("Cancel and roll back"), this)),
      m_follow(new QPushButton(this)),
      m_report(new QPushButton(tr("Save report…"), this)),
      m_close(new QPushButton(tr("Close"), this)) {
  setRole(m_headline, QStringLiteral("heading"));
  setRole(m_numbers, QStringLiteral("hint"));
  setRole(m_sentence, QStringLiteral("hint"));
  m_sentence->setWordWrap(true);
  m_cancel->setAccessibleName(m_cancel->text());
  m_follow->setAccessibleName(tr("Plan the next change"));
  m_report->setAccessibleName(tr("Save a report of the change"));
  m_close->setAccessibleName(tr("Close the outcome"));

  auto* top = new QHBoxLayout;
  top->addWidget(m_headline);
  top->addStretch();
  top->addWidget(m_numbers);
  auto* bottom = new QHBoxLayout;
  bottom->setSpacing(10);
  bottom->addWidget(m_sentence, 1);
  bottom->addWidget(m_follow);
  bottom->addWidget(m_report);
  bottom->addWidget(m_close);
  bottom->addWidget(m_cancel);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 9, 18, 9);
  column->setSpacing(5);
  column->addLayout(top);
  column->addWidget(m_bar);
  column->addLayout(bottom);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  hide();

  m_hide.setSingleShot(true);
  m_hide.setInterval(kOutcomeSeconds * 1000);
  connect(&m_hide, &QTimer::timeout, this, &ProgressPanel::dismiss);
  connect(m_close, &QPushButton::clicked, this, &ProgressPanel::dismiss);
  connect(m_report, &QPushButton::clicked, this, [this] {
    if (m_last) emit reportRequested(m_last->id);
  });
  connect(m_cancel, &QPushButton::clicked, &m_control, &MoveControl::cancelMove);
  connect(m_follow, &QPushButton::clicked, this, [this] {
    const bool committed = m_view && m_view->tone == TxnView::Tone::Good;
    dismiss();
    if (committed) {
      emit reverseRequested();
    } else {
      emit againRequested();
    }
  });
  connect(&m_control, &MoveControl::cancelRequested, this, [this] { m_rollBackClock.start(); });
  connect(&m_control, &MoveControl::changed, this, &ProgressPanel::refreshButtons);
  connect(&m_model, &ClusterModel::changed, this, &ProgressPanel::refresh);
  connect(&m_model, &ClusterModel::cleared, this, &ProgressPanel::forget);
  refresh();
}

QString ProgressPanel::headline() const { return m_headline->text(); }
QString ProgressPanel::sentence() const { return m_sentence->text(); }
QString ProgressPanel::numbers() const { return m_numbers->text(); }

std::optional<double> ProgressPanel::overall() const {
  if (!m_view || !m_last) return std::nullopt;
  if (m_view->tone == TxnView::Tone::Good) return 1.0;
  if (m_last->bytes_total <= 0) return 0.0;
  // 100 % is reserved for the commit.
  return std::min(
      0.99, static_cast<double>(m_memory.bytesDone) / static_cast<double>(m_last->bytes_total));
}

// Another cluster may give its changes the numbers of those seen here.
void ProgressPanel::forget() {
  dismiss();
  m_first = true;
  m_txn = m_dismissed = -1;
  m_last.reset();
  m_memory = {};
  m_rollBackClock.invalidate();
  m_transferClock.invalidate();
}

void ProgressPanel::refresh() {
  if (!m_model.hasSnapshot()) return;
  const bool first = std::exchange(m_first, false);
  const auto& txn = m_model.snapshot().transaction;
  if (!txn) {
    if (m_view && !m_view->ended) dismiss();
    return;
  }
  const bool isFinal = engine::IsFinal(txn->phase);
  if (txn->id != m_txn) {
    // Do not show the outcome of a transaction that ended before this panel connected.
    if (first && isFinal) m_dismissed = txn->id;
    m_txn = txn->id;
    m_memory = {};
    m_rollBackClock.invalidate();
    m_transferClock.invalidate();
    m_hide.stop();
  }
  if (txn->id == m_dismissed) return;

  const bool wasEnded = m_view && m_view->ended && m_last && m_last->id == txn->id;
  m_memory.reachedStep = std::max(m_memory.reachedStep, stepOf(txn->phase).value_or(0));
  m_memory.copiesAhead = m_memory.copiesAhead || txn->phase == engine::TxnPhase::kPrecopying ||
                         txn->gradients_done > 0;
  m_memory.bytesDone = std::max(m_memory.bytesDone, txn->bytes_done);
  if (txn->phase == engine::TxnPhase::kTransferring) {
    if (!m_transferClock.isValid()) m_transferClock.start();
    m_memory.transferAge = static_cast<double>(m_transferClock.elapsed()) / 1000.0;
  }
  if (txn->phase == engine::TxnPhase::kRollingBack && !m_rollBackClock.isValid()) {
    m_rollBackClock.start();
  }
  if (txn->phase == engine::TxnPhase::kRolledBack && !m_memory.rollBack &&
      m_rollBackClock.isValid()) {
    m_memory.rollBack = static_cast<double>(m_rollBackClock.elapsed()) / 1000.0;
  }
  m_last = *txn;
  const TxnView view = viewOf(*txn, m_model.findJob(txn->job), m_memory);
  if (!m_view || !(*m_view == view)) {
    m_view = view;
    m_headline->setText(view.headline);
    m_sentence->setText(view.sentence);
    m_numbers->setText(view.numbers);
    m_bar->setView(view);
    m_bar->setVisible(!view.ended || view.tone == TxnView::Tone::Good);
  }
  refreshButtons();
  const bool isNews = isHidden() || (view.ended && !wasEnded);
  show();
  if (isNews) announce(this, view.headline);
  emit viewChanged();
  if (view.ended && !wasEnded) {
    // A failure stays until it is closed.
    if (view.tone != TxnView::Tone::Bad) m_hide.start();
    emit ended();
  }
  // A change that was committed is old news where its job needs a decision now.
  const engine::JobStatus* job = m_model.findJob(txn->job);
  if (wasEnded && view.tone == TxnView::Tone::Good && job != nullptr && job->decision) dismiss();
}

void ProgressPanel::refreshButtons() {
  if (!m_view || !m_last) return;
  const QString lock = m_control.lockReason();
  m_cancel->setVisible(m_last->can_cancel && !m_view->ended);
  m_cancel->setEnabled(lock.isEmpty());
  m_cancel->setToolTip(lock);
  m_close->setVisible(m_view->ended);
  m_report->setVisible(m_view->ended);
  const bool committed = m_view->tone == TxnView::Tone::Good;
  m_follow->setText(committed ? tr("Plan an undo…") : tr("Plan again…"));
  m_follow->setAccessibleName(m_follow->text());
  // What was loaded, or left because it was lost, has no change that leads back.
  m_follow->setVisible(m_view->ended && undoBlockedReason(m_last->kind).isEmpty());
}

void ProgressPanel::dismiss() {
  m_hide.stop();
  m_dismissed = m_txn;
  m_view.reset();
  hide();
  emit viewChanged();
}

void ProgressPanel::mousePressEvent(QMouseEvent* event) {
  if (m_view && m_view->ended) return dismiss();
  QWidget::mousePressEvent(event);
}

void ProgressPanel::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor edge = theme.line;
  if (m_view && m_view->ended) {
    switch (m_view->tone) {
      case TxnView::Tone::Running:
        break;
      case TxnView::Tone::Good:
        edge = theme.ok;
        break;
      case TxnView::Tone::Warning:
        edge = theme.warn;
        break;
      case TxnView::Tone::Bad:
        edge = theme.bad;
        break;
    }
  }
  painter.setPen(edge);
  painter.setBrush(theme.panel);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10);
}

}  // namespace tessera::ui
