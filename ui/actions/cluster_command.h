// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The commands of the Cluster menu: each is a value that one function in actions/cluster/ makes.
/// DESIGN.md describes how to add one.

#include <QCoreApplication>
#include <QPointer>
#include <QString>
#include <functional>
#include <initializer_list>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"

class QDialog;
class QWidget;

namespace tessera::ui {

class ClusterCommands;
class Connections;

struct ClusterCommand {
  ActionRegistry::Spec spec;
  std::function<void(bool checked)> run;
};

/// What the commands are made of, with the rules that several of them share. It outlives them.
class CommandContext {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::CommandContext)

 public:
  QWidget* window;
  ClusterModel& model;
  ClusterCommands& commands;
  MoveControl& control;
  Connections* connections;                       // may be null
  std::function<void(const QString&)> say;        // a completed action, as one sentence
  std::function<void(const QString&)> showError;  // a problem, as one sentence

  /// The name after --cluster: the profile, else the cluster's own name.
  QString cluster() const;
  /// The command line of tesseractl with these words, quoted for a shell: it names the cluster.
  QString commandLine(const QStringList& words) const;
  /// The job that is shown; empty: none.
  QString job() const;
  /// The context for callbacks: it is null once the window is closed.
  QPointer<QWidget> guard() const { return window; }
  /// Shows a dialog beside the window, which goes on. Deleted when it is closed.
  void open(QDialog* dialog) const;
  /// Rejects the dialog when another cluster is chosen: what it asks is about this one.
  void closeWithCluster(QDialog* dialog) const;

  // Why a command cannot run, as one sentence; empty if it can.
  /// The cluster cannot be asked.
  QString notConnected() const;
  /// There is no job, or the cluster cannot be asked.
  QString noJob() const;
  /// This panel may not change the cluster, or there is none.
  QString cannotAct() const;
  /// The job cannot be changed, or has none of the states.
  QString jobIsNot(std::initializer_list<engine::JobState> allowed, const QString& otherwise) const;
};

/// All of them, in the order of the menu: the list of actions/cluster_list.cpp.
std::vector<ClusterCommand> clusterMenu(const CommandContext& context);

}  // namespace tessera::ui
