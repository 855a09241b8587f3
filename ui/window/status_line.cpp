// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <algorithm>

#include "ui/format.h"
#include "ui/models/operator_seat.h"

namespace tessera::ui {
namespace {

constexpr int kProgressParts = 1000;

int aliveNodes(const engine::ClusterSnapshot& cluster) {
  return static_cast<int>(
      std::ranges::count(cluster.nodes, engine::NodeState::kAlive, &engine::NodeStatus::state));
}

}  // namespace

StatusLine::StatusLine(QStatusBar* bar)
    : m_dot(new StateDot(bar)),
      m_left(new QLabel(bar)),
      m_right(new QLabel(bar)),
      m_progress(new QProgressBar(bar)) {
  bar->setSizeGripEnabled(false);
  m_progress->setTextVisible(false);
  m_progress->setRange(0, kProgressParts);
  m_progress->setFixedWidth(160);
  m_progress->setAccessibleName(tr("Progress of the change"));
  auto* left = new QWidget(bar);
  auto* row = new QHBoxLayout(left);
  row->setContentsMargins(10, 0, 0, 0);
  row->setSpacing(7);
  row->addWidget(m_dot);
  row->addWidget(m_left);
  bar->addWidget(left);
  bar->addPermanentWidget(m_progress);
  bar->addPermanentWidget(m_right);
  m_right->setContentsMargins(8, 0, 10, 0);
}

void StatusLine::refresh(const StatusFacts& facts) {
  const Words now = words(facts);
  m_left->setText(now.left);
  m_right->setText(now.right);
  m_dot->setTone(now.tone);
  m_progress->setVisible(facts.moved.has_value());
  if (facts.moved) m_progress->setValue(static_cast<int>(*facts.moved * kProgressParts));
}

StatusLine::Words StatusLine::words(const StatusFacts& facts) {
  const ClusterModel& model = facts.model;
  const bool isWaiting = model.link() == LinkState::None || model.link() == LinkState::Connecting ||
                         model.link() == LinkState::Stopped || model.isFile() || facts.lesson;
  const bool isWhole =
      aliveNodes(model.snapshot()) == static_cast<int>(model.snapshot().nodes.size());
  return {linkText(facts), changeText(facts),
          isWaiting                              ? StateDot::Tone::Quiet
          : model.link() != LinkState::Connected ? StateDot::Tone::Bad
          : isWhole                              ? StateDot::Tone::Good
                                                 : StateDot::Tone::Warning};
}

QString StatusLine::linkText(const StatusFacts& facts) {
  const ClusterModel& model = facts.model;
  if (facts.lesson) return tr("simulated · %1").arg(format::nodes(facts.lesson->nodes));
  switch (model.link()) {
    case LinkState::None:
      return tr("no cluster");
    case LinkState::Connecting:
      return tr("connecting");
    case LinkState::Lost:
      return tr("connection lost");
    case LinkState::Refused:
      return tr("refused");
    case LinkState::Stopped:
      return tr("stopped at %1").arg(format::minuteClock(model.stopped()->time));
    case LinkState::Connected:
      break;
  }
  if (model.isFile()) return tr("history file");
  const int alive = aliveNodes(model.snapshot());
  const int nodes = static_cast<int>(model.snapshot().nodes.size());
  QString text =
      nodes == 1 ? tr("%1 of 1 agent").arg(alive) : tr("%1 of %2 agents").arg(alive).arg(nodes);
  if (facts.other != nullptr) text += tr(" · operated by %1").arg(leaseText(*facts.other));
  if (!model.viewerKey().isEmpty())
    text += tr(" · viewer's key '%1': changes need an operator's").arg(model.viewerKey());
  return text;
}

QString StatusLine::changeText(const StatusFacts& facts) {
  const ClusterModel& model = facts.model;
  const Draft& draft = facts.draft;
  if (facts.moved) {
    double rate = 0;
    for (const engine::FlowStatus& flow : model.snapshot().transaction->flows)
      rate += flow.bytes_per_second;
    const QString text = tr("moving %1").arg(format::percent(*facts.moved));
    return rate > 0 ? QString(text + QStringLiteral(" · ") + format::rate(rate)) : text;
  }
  if (const auto& lesson = facts.lesson) {
    return tr("step %1 of %2 · %3 of %4 lessons finished")
        .arg(lesson->step + 1)
        .arg(lesson->steps)
        .arg(lesson->finished)
        .arg(lesson->lessons);
  }
  if (!draft.edits().order.empty() && draft.edits().in.empty())
    return tr("draft: places swapped · Ctrl+Z undoes");
  if (!draft.isEmpty()) {
    return tr("draft: %1 added, %2 removed · Ctrl+Z undoes")
        .arg(draft.edits().in.size())
        .arg(draft.edits().out.size());
  }
  const engine::JobStatus* job = model.job();
  if (job != nullptr && job->state == engine::JobState::kWaitingDecision)
    return tr("a decision is needed");
  return model.hasSnapshot() ? tr("no change in progress") : QString();
}

}  // namespace tessera::ui
