// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A view of the job in the centre of the window: mesh, tensors, links, data, files. The window
/// keeps its views in one list (views.cpp) and generates tabs, menu entries, keys and the order of
/// F6 from it.

#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>

#include "ui/actions/action_registry.h"
#include "ui/views/shown_layout.h"

class QLineEdit;
class QWidget;

namespace tessera::ui {

class ClusterCommands;
class ClusterModel;
class Connections;
class HistoryTableModel;
class JobStates;
class SelectionModel;

/// What views are made of. All parts outlive the views.
struct ViewContext {
  ClusterModel& model;
  ClusterCommands& commands;
  Connections* connections;  // may be null
  JobStates& states;
  SelectionModel& selection;
  HistoryTableModel& history;
  std::function<void(const QString&)> say;        // a completed action, as one sentence
  std::function<void(const QString&)> showError;  // a problem, as one sentence
  std::function<void()> rulesChanged;             // the answer of an action's `blocked` may differ
};

class View {
 public:
  virtual ~View() = default;

  /// "mesh": the action "view.mesh" shows the view. Not translated.
  virtual QString id() const = 0;
  /// The text of its tab, and of its action with a mnemonic.
  virtual QString title() const = 0;
  virtual QString actionText() const = 0;
  virtual QString statusTip() const = 0;
  virtual QKeySequence key() const = 0;
  virtual QWidget* widget() = 0;
  /// What a picture of the view shows: it without the controls around it.
  virtual QWidget* picture() { return widget(); }
  /// Controls in the row of the tabs; null if there are none.
  virtual QWidget* corner() { return nullptr; }
  /// Whether the colours of the devices appear in it, so that the legend is shown.
  virtual bool usesColours() const { return true; }
  /// What gets the focus by F6 and when the view is chosen. It counts while it is visible.
  virtual QWidget* focusTarget() = 0;
  /// The field of Ctrl+F, while the view is shown; null if it has none.
  virtual QLineEdit* filter() { return nullptr; }
  /// Further commands, which the window registers.
  using Command = std::pair<ActionRegistry::Spec, std::function<void()>>;
  virtual QList<Command> commands() { return {}; }

  /// Shows a layout. Called with every change, also while the view is hidden; a hidden view stores
  /// the layout and draws when it is shown.
  virtual void showLayout(const ShownLayout& layout) = 0;
  /// `asOf` is "as of 14:02:31", empty while the data are current; `age` is in seconds, then 0.
  virtual void setStale(double age, const QString& asOf) = 0;
};

}  // namespace tessera::ui
