// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the Edit menu.

#include "ui/actions/menus.h"
#include "ui/canvas/mesh_view.h"
#include "ui/main_window_impl.h"
#include "ui/window/draft_desk.h"
#include "ui/window/presenter.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

void MainWindow::Impl::addEditActions() {
  const QString edit = Menus::edit();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  const auto editBlocked = [this] { return draftDesk->editBlockedReason(); };
  const auto noSelection = [this] {
    return selection.devices().empty() && !mesh->current() ? tr("Select a GPU first.") : QString();
  };
  actions->add({.id = id("edit.undo"),
                .menu = edit,
                .text = tr("&Undo"),
                .statusTip = tr("Undo the last edit of the draft"),
                .icon = id("undo"),
                .shortcuts = Keys{keys("Ctrl+Z")},
                .blocked =
                    [this] {
                      if (!draftDesk->shown().undoStack()->canUndo()) {
                        return tr("There is nothing to undo.");
                      }
                      return presenter->isLesson() ? QString() : control.editBlockedReason();
                    }},
               [this] { draftDesk->undo(); });
  actions->add({.id = id("edit.redo"),
                .menu = edit,
                .text = tr("&Redo"),
                .statusTip = tr("Redo the edit that was undone"),
                .icon = id("redo"),
                .shortcuts = Keys{keys("Ctrl+Y"), keys("Ctrl+Shift+Z")},
                .blocked =
                    [this] {
                      if (!draftDesk->shown().undoStack()->canRedo()) {
                        return tr("There is nothing to redo.");
                      }
                      return presenter->isLesson() ? QString() : control.editBlockedReason();
                    }},
               [this] { draftDesk->redo(); });
  actions->add({.id = id("edit.toggle"),
                .menu = edit,
                .text = tr("&Add or Remove"),
                .statusTip = tr("Add the selected GPUs to the draft, or remove them"),
                .icon = id("move"),
                .shortcuts = Keys{keys("Space")},
                .canvasKey = true,
                .separatorBefore = true,
                .blocked =
                    [this, editBlocked, noSelection] {
                      const QString reason = noSelection();
                      return reason.isEmpty() ? editBlocked() : reason;
                    }},
               [this] {
                 const Devices& selected = selection.devices();
                 QList<ptc::DeviceId> devices(selected.begin(), selected.end());
                 if (devices.isEmpty() && mesh->current()) devices << *mesh->current();
                 draftDesk->edit(devices, std::nullopt);
               });
  actions->add(
      {.id = id("edit.cut"),
       .menu = edit,
       .text = tr("&Mark for a Swap"),
       .statusTip = tr("Mark the selected GPUs, to swap their places with those of others"),
       .shortcuts = Keys{keys("Ctrl+X")},
       .canvasKey = true,
       .blocked =
           [this, editBlocked, noSelection] {
             const QString reason = noSelection();
             return reason.isEmpty() ? editBlocked() : reason;
           }},
      [this] {
        mesh->cutSelection();
        actions->refresh();
      });
  actions->add({.id = id("edit.paste"),
                .menu = edit,
                .text = tr("S&wap with the Marked"),
                .statusTip = tr("Swap the places of the marked GPUs and of those selected now"),
                .shortcuts = Keys{keys("Ctrl+V")},
                .canvasKey = true,
                .blocked =
                    [this, editBlocked] {
                      return mesh->cut().empty() ? tr("Mark the GPUs to swap first, with Ctrl+X.")
                                                 : editBlocked();
                    }},
               [this] { mesh->pasteSwap(); });
  actions->add({.id = id("edit.selectNode"),
                .menu = edit,
                .text = tr("Select the &Node"),
                .statusTip = tr("Select all GPUs of the current GPU's node"),
                .shortcuts = Keys{keys("N")},
                .canvasKey = true,
                .blocked = noSelection},
               [this] {
                 std::set<ptc::DeviceId> devices;
                 const auto current = mesh->current();
                 const auto* node = presenter->shownModel().findNode(
                     current ? current->node : selection.devices().begin()->node);
                 if (node == nullptr) return;
                 for (const auto& device : node->devices) devices.insert(device.id);
                 selection.setDevices(devices);
               });
  actions->add({.id = id("edit.back"),
                .menu = edit,
                .text = tr("&Step Back"),
                .statusTip = tr("Stop the countdown, or clear the selection, or show Live. A "
                                "change in progress continues"),
                .icon = id("back"),
                .shortcuts = Keys{keys("Esc")}},
               [this] { stepBack(); });

  actions->add({.id = id("edit.goTo"),
                .menu = edit,
                .text = tr("&Go To…"),
                .statusTip = tr("Find an action, a GPU, a node, a job, a change or an event"),
                .shortcuts = Keys{keys("Ctrl+K")},
                .separatorBefore = true},
               [this] { dialogs->openPalette(); });
}

}  // namespace tessera::ui
