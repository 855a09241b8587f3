// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/operator_seat.h"

#include <QDateTime>
#include <QLocale>
#include <QPointer>
#include <QUuid>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {

QString leaseText(const engine::OperatorLease& lease) {
  const auto since = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(lease.since * 1000));
  const QString who = format::requester(lease.who);
  return OperatorSeat::tr("%1, since %2")
      .arg(who, QLocale().toString(since.time(), QLocale::ShortFormat));
}

namespace {
QString takenOver(const engine::OperatorLease& lease) {
  return OperatorSeat::tr("Taken over by %1. This panel is in Monitor.").arg(leaseText(lease));
}
}  // namespace

OperatorSeat::OperatorSeat(ClusterModel& model, MoveControl& control, ClusterCommands& commands,
                           QObject* parent)
    : QObject(parent),
      m_model(model),
      m_control(control),
      m_commands(commands),
      m_panel(QUuid::createUuid().toString(QUuid::WithoutBraces)) {
  connect(&m_renew, &QTimer::timeout, this, [this] { send(OperateAct::Take); });
  connect(&m_control, &MoveControl::changed, this, &OperatorSeat::follow);
  connect(&m_model, &ClusterModel::changed, this, &OperatorSeat::followSnapshot);
  connect(&m_model, &ClusterModel::cleared, this, [this] {
    ++m_cluster;
    m_held = m_asked = false;
    m_renew.stop();
    m_notice.clear();
  });
  follow();
}

const engine::OperatorLease* OperatorSeat::other() const {
  const auto& lease = m_model.snapshot().lease;
  return lease && QString::fromStdString(lease->panel) != m_panel ? &*lease : nullptr;
}

QString OperatorSeat::notice() const { return other() == nullptr ? QString() : m_notice; }

void OperatorSeat::takeOver() {
  m_takesOver = true;
  m_notice.clear();
  if (m_control.isOperating()) follow();
  m_control.setOperating(true);
  m_takesOver = m_takesOver && m_control.isOperating();
}

void OperatorSeat::follow() {
  const bool wants =
      m_control.isOperating() && m_model.link() == LinkState::Connected && m_model.hasSnapshot();
  if (wants && !m_held && !m_asked && !m_renew.isActive()) {
    send(std::exchange(m_takesOver, false) ? OperateAct::TakeOver : OperateAct::Take);
    m_renew.start(kRenewMs);
  } else if (!m_control.isOperating()) {
    m_renew.stop();
    m_takesOver = false;
    if (std::exchange(m_held, false)) send(OperateAct::Release);
  }
}

void OperatorSeat::followSnapshot() {
  follow();
  if (!m_held || m_model.link() != LinkState::Connected) return;
  // What was published before the lease was granted still names the other panel.
  m_seen = m_seen || (m_model.snapshot().lease && other() == nullptr);
  if (const engine::OperatorLease* lease = other(); lease != nullptr && m_seen) {
    giveWay(takenOver(*lease));
  }
}

void OperatorSeat::send(OperateAct act) {
  if (act != OperateAct::Release && m_model.link() != LinkState::Connected) return;
  m_asked = act != OperateAct::Release;
  m_commands.operate(m_panel, act,
                     [self = QPointer<OperatorSeat>(this), act,
                      cluster = m_cluster](Result<OperateAnswer> answer) {
                       if (self && self->m_cluster == cluster) self->onAnswer(act, answer);
                     });
}

void OperatorSeat::onAnswer(OperateAct act, const Result<OperateAnswer>& answer) {
  if (act == OperateAct::Release) return;
  m_asked = false;
  if (!m_control.isOperating()) {
    // It was left meanwhile.
    if (answer && answer->granted) send(OperateAct::Release);
    return;
  }
  if (!m_renew.isActive()) m_renew.start(kRenewMs);
  if (!answer) return;  // with the next renewal
  if (answer->granted) {
    m_seen = m_seen && m_held;
    m_held = true;
    m_notice.clear();
    emit changed();
  } else if (std::exchange(m_takesOver, false)) {
    send(OperateAct::TakeOver);
  } else if (answer->lease) {
    giveWay(m_held ? takenOver(*answer->lease)
                   : tr("This cluster is operated by %1. This panel is in Monitor.")
                         .arg(leaseText(*answer->lease)));
  }
}

void OperatorSeat::giveWay(const QString& notice) {
  m_held = false;
  m_notice = notice;
  m_control.setOperating(false);
  emit changed();
}

}  // namespace tessera::ui
