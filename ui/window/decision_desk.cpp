// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/decision_desk.h"

#include <QAction>

#include "ui/actions/action_registry.h"
#include "ui/actions/cluster/choose_one.h"
#include "ui/dialogs/start_job_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"
#include "ui/pages/decision_panel.h"

namespace tessera::ui {

DecisionDesk::DecisionDesk(const CommandContext& with, const ActionRegistry& actions,
                           const DecisionPanel& card)
    : m_with(with), m_actions(actions) {
  connect(&card, &DecisionPanel::goBackRequested, this, &DecisionDesk::goBack);
  connect(&card, &DecisionPanel::startNodesRequested, this, &DecisionDesk::startNodes);
  connect(&card, &DecisionPanel::startOverRequested, this, &DecisionDesk::startOver);
  connect(&card, &DecisionPanel::stopRequested, this, [this] { trigger("cluster.stopJob"); });
}

void DecisionDesk::trigger(const char* action) {
  m_actions.find(QString::fromLatin1(action))->trigger();
}

void DecisionDesk::goBack(const engine::RecoveryWay& way) {
  const engine::JobStatus* job = m_with.model.job();
  if (job == nullptr || !job->decision) return;
  const QString name = m_with.job();
  const QString step = format::count(way.step);
  const QString lost = format::steps(way.steps_lost);
  QStringList says{
      way.source == engine::RecoverySource::kSnapshot
          ? tr("%1 goes back to the snapshot of step %2. %3 are lost.").arg(name, step, lost)
          : tr("%1 goes back to the checkpoint of step %2. %3 are lost.").arg(name, step, lost)};
  if (!way.checkpoint.empty()) says << QString::fromStdString(way.checkpoint);
  if (job->decision->missing_bytes == 0) {
    says << tr("The state after step %1 is complete in memory. It is given up.")
                .arg(format::count(job->step));
  } else {
    says << tr("What is left of the newer state is given up.");
  }
  auto* ask = new TypedNameDialog(
      {.title = tr("Go back to step %1").arg(step),
       .says = says,
       .name = name,
       .button = tr("Go back to step %1").arg(step),
       .keep = tr("Keep the state"),
       .command = m_with.commandLine({QStringLiteral("txn"), QStringLiteral("decide"), name,
                                      QString::fromLatin1(engine::ToString(way.source).data())})},
      m_with.window);
  ask->setAttribute(Qt::WA_DeleteOnClose);
  m_with.closeWithCluster(ask);
  // Another job may be shown by then.
  connect(ask, &QDialog::accepted, this, [this, name, source = way.source] {
    if (m_with.job() == name)
      m_with.control.decide({engine::LossChoice::kContinue, source});
    else
      m_with.showError(tr("Nothing was decided: another job than %1 is shown now.").arg(name));
  });
  ask->open();
}

void DecisionDesk::startNodes(const QList<qint32>& nodes) {
  for (const qint32 node : nodes) {
    carryOutNow(m_with, NodeRequest{node, NodeRequest::Act::Start},
                tr("%1 is back, its GPUs are empty.").arg(format::node(node)));
  }
}

void DecisionDesk::startOver() {
  const engine::JobStatus* job = m_with.model.job();
  if (job == nullptr) return;
  const QString name = m_with.job();
  auto* ask = new TypedNameDialog(
      {.title = tr("Start %1 over").arg(name),
       .says = {tr("%1 is stopped first: its state in memory is lost, snapshots too. Checkpoints "
                   "stay.")
                    .arg(name),
                tr("Then you can start it from its first step, or from a checkpoint.")},
       .name = name,
       .button = tr("Stop %1 and start over").arg(name),
       .keep = tr("Keep the state"),
       .command = m_with.commandLine({QStringLiteral("job"), QStringLiteral("stop"), name})},
      m_with.window);
  ask->setAttribute(Qt::WA_DeleteOnClose);
  m_with.closeWithCluster(ask);
  connect(ask, &QDialog::accepted, this, [this, name, was = *job] {
    if (m_with.job() != name) {
      m_with.showError(tr("Nothing was stopped: another job than %1 is shown now.").arg(name));
      return;
    }
    m_with.control.act(JobAct::Stop);
    trigger("cluster.startJob");
    if (auto* start = m_with.window->findChild<StartJobDialog*>()) start->suggest(was);
  });
  ask->open();
}

}  // namespace tessera::ui
