// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the Plan menu.

#include <QInputDialog>
#include <QPointer>
#include <QPushButton>

#include "ui/actions/menus.h"
#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/pages/plan_panel.h"
#include "ui/window/draft_desk.h"
#include "ui/window/side_pane.h"

namespace tessera::ui {

void MainWindow::Impl::addPlanActions() {
  const QString planMenu = Menus::plan();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  actions->add({.id = id("plan.apply"),
                .menu = planMenu,
                .text = tr("&Apply…"),
                .statusTip = tr("Carry out the plan of the draft"),
                .icon = id("apply"),
                .shortcuts = Keys{keys("Ctrl+Return")},
                .blocked = [this] { return control.applyBlockedReason(); }},
               [this] { draftDesk->requestApply(); });
  const auto noDraft = [this] {
    return draft.isEmpty() ? tr("The draft is empty.") : control.editBlockedReason();
  };
  actions->add({.id = id("plan.discard"),
                .menu = planMenu,
                .text = tr("&Discard the Draft"),
                .statusTip = tr("Return to the live layout. Undo restores the draft"),
                .icon = id("close"),
                .shortcuts = Keys{keys("Ctrl+Backspace")},
                .blocked = noDraft},
               [this] { draftDesk->discard(); });
  actions->add({.id = id("plan.copy"),
                .menu = planMenu,
                .text = tr("&Copy as Command"),
                .statusTip = tr("Copy the command line for the same plan"),
                .icon = id("copy"),
                .shortcuts = Keys{keys("Ctrl+Shift+C")},
                .blocked = noDraft},
               [this] { side->plan()->copyButton()->click(); });
  actions->add({.id = id("plan.cancelMove"),
                .menu = planMenu,
                .text = tr("Cancel and &Roll Back"),
                .statusTip = tr("Cancel the change in progress. Before the commit nothing is lost"),
                .icon = id("stop"),
                .separatorBefore = true,
                .blocked = [this] { return cancelBlockedReason(); }},
               [this] { control.cancelMove(); });
  actions->add(
      {.id = id("plan.throttle"),
       .menu = planMenu,
       .text = tr("&Limit the Rate…"),
       .statusTip = tr("Limit what each node sends and receives for the change in progress"),
       .blocked = [this] { return cancelBlockedReason(); }},
      [this] { askThrottle(); });
}

QString MainWindow::Impl::cancelBlockedReason() const {
  const engine::TxnStatus* txn = model.runningTxn();
  if (txn == nullptr) return tr("No change is in progress.");
  if (txn->can_cancel) return control.lockReason();
  switch (txn->phase) {
    case engine::TxnPhase::kRollingBack:
      return tr("The change is already being rolled back.");
    case engine::TxnPhase::kNeedsDecision:
      return tr("The change waits for a decision.");
    case engine::TxnPhase::kInDoubt:
      return tr("The outcome of the change is not known yet.");
    default:
      return tr("The change is already committed.");
  }
}

void MainWindow::Impl::askThrottle() {
  constexpr int kMega = 1'000'000, kMostMega = 1'000'000;
  const engine::TxnStatus* txn = model.runningTxn();
  if (txn == nullptr) return;
  auto* dialog = new QInputDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Limit the rate"));
  dialog->setInputMode(QInputDialog::IntInput);
  dialog->setLabelText(tr("MB/s that each node sends and receives; 0: no limit"));
  dialog->setIntRange(0, kMostMega);
  dialog->setIntValue(static_cast<int>(txn->throttle / kMega));
  connect(dialog, &QInputDialog::intValueSelected, this, [this](int megabytes) {
    control.ask(ThrottleRequest{std::int64_t{megabytes} * kMega}, [self = QPointer<Impl>(this)](
                                                                      Result<Carried> answer) {
      if (self && !answer)
        self->showError(tr("The rate was not limited: %1.").arg(format::error(answer.error())));
    });
  });
  dialog->open();
}

}  // namespace tessera::ui
