// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/desktop_notices.h"

#include <QWidget>
#include <utility>

#include "engine/cluster/snapshot.h"
#include "ui/models/txn_view.h"
#include "ui/sentences.h"
#include "ui/settings/settings.h"

namespace tessera::ui {

DesktopNotices::DesktopNotices(QWidget* window, const Settings& settings, Show show)
    : m_window(window), m_settings(settings), m_show(show ? std::move(show) : notifyDesktop) {}

void DesktopNotices::tell(const DesktopNotice& notice) const {
  if (m_window->isActiveWindow() || !m_settings.flag(Setting::Notify)) return;
  m_show(m_window, notice);
}

void DesktopNotices::tellOutcome(const TxnView& outcome) {
  tell({outcome.headline, outcome.sentence, outcome.tone == TxnView::Tone::Bad});
}

void DesktopNotices::followJob(const engine::JobStatus* job) {
  const bool isAsked = job != nullptr && job->decision && !job->decision->chosen;
  const std::string loss = isAsked ? job->name + ": " + job->decision->reason : std::string();
  if (loss == m_told) return;
  m_told = loss;
  if (!isAsked) return;
  tell({tr("%1 needs a decision").arg(QString::fromStdString(job->name)),
        localized(job->decision->reason), true});
}

}  // namespace tessera::ui
