// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The `?` sheet: every action with its keys, generated from the registry.

#include "ui/dialogs/dialog.h"

class QTreeWidget;

namespace tessera::ui {

class ActionRegistry;

class ShortcutSheet : public Dialog {
  Q_OBJECT

 public:
  ShortcutSheet(const ActionRegistry& actions, QWidget* parent);
  QTreeWidget* list() const { return m_list; }

 private:
  QTreeWidget* m_list;
};

}  // namespace tessera::ui
