// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/countdown_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <algorithm>

#include "ui/widgets/key_values.h"

namespace tessera::ui {

CountdownBar::CountdownBar(MoveControl& control, QWidget* parent)
    : AlertSurface(Tone::Warning, parent),
      m_control(control),
      m_text(new QLabel(this)),
      m_bar(new QProgressBar(this)),
      m_stop(new QPushButton(tr("Stop"), this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 2, 12, 2);
  row->setSpacing(14);
  setRole(m_text, QStringLiteral("warn"));
  m_bar->setTextVisible(false);
  m_bar->setFixedWidth(160);
  m_bar->setAccessibleName(tr("Time until the change starts"));
  m_stop->setFlat(true);
  m_stop->setFocusPolicy(Qt::TabFocus);
  m_stop->setAccessibleName(tr("Stop the countdown"));
  row->addWidget(m_text, 1);
  row->addWidget(m_bar);
  row->addWidget(m_stop);
  setMinimumHeight(30);
  m_tick.setInterval(50);
  connect(&m_tick, &QTimer::timeout, this, &CountdownBar::refresh);
  connect(&m_control, &MoveControl::changed, this, &CountdownBar::refresh);
  connect(m_stop, &QPushButton::clicked, this, [this] { m_control.stopCountdown(); });
  refresh();
}

QString CountdownBar::text() const { return m_text->text(); }

void CountdownBar::refresh() {
  const bool counting = m_control.isCountingDown();
  const bool isNews = counting && !m_tick.isActive();
  setVisible(counting || m_control.isWaitingForPlan());
  if (!counting) {
    m_tick.stop();
    m_text->setText(tr("Planning the change. Esc stops it."));
    m_bar->setRange(0, 1);
    m_bar->setValue(0);
    return;
  }
  m_tick.start();
  const int total = std::max(1, m_control.countdownMs());
  const int left = std::clamp(m_control.countdownLeftMs(), 0, total);
  m_text->setText(tr("The change starts in %1 s. Esc stops it.").arg((left + 999) / 1000));
  setAccessibleName(m_text->text());
  if (isNews) announce(this, m_text->text());
  m_bar->setRange(0, total);
  m_bar->setValue(total - left);
}

}  // namespace tessera::ui
