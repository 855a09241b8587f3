// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A job that does not exist yet, and the command line that starts it.

#include <QString>
#include <QStringList>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "engine/cluster/step_options.h"
#include "ptc/mesh.h"

namespace tessera::ui {

struct StartRequest {
  struct BuiltIn {
    QString model;
    friend bool operator==(const BuiltIn&, const BuiltIn&) = default;
  };
  /// A program in Python that uses the package `tessera`.
  struct Script {
    QString path;
    QStringList arguments = {};
    QString python = {};           // empty: of the virtual environment, else python3
    QString directory = {};        // in which it runs; empty: that of the panel
    QStringList environment = {};  // "NAME=VALUE"
    friend bool operator==(const Script&, const Script&) = default;
  };
  /// A program of any framework that loads and saves its state in files.
  struct Files {
    Script program;
    QString tensors, rules;  // files
    friend bool operator==(const Files&, const Files&) = default;
  };
  /// A program that uses the rank library.
  struct Exec {
    QString command;         // for a shell on each node
    QString tensors, rules;  // files
    bool finishesUpdates = false;
    friend bool operator==(const Exec&, const Exec&) = default;
  };
  /// The model of `checkpoint`, with its settings.
  struct Stored {
    friend bool operator==(const Stored&, const Stored&) = default;
  };
  /// A state to begin with.
  struct Checkpoint {
    QString path;  // folder on the nodes, or URL
    bool parametersOnly = false;
    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
  };

  std::variant<BuiltIn, Script, Files, Exec, Stored> program;
  QString name;  // empty: that of the job in the checkpoint
  std::optional<Checkpoint> checkpoint = {};
  QStringList data = {};                     // paths on the nodes; empty: text found there
  std::vector<ptc::DeviceId> devices = {};   // empty: idle ones
  std::optional<ptc::MeshShape> mesh = {};   // empty: chosen by the cluster
  engine::StepOptions options = {};          // with `mesh`
  std::map<QString, QString> values = {};    // of other options of `job start`: "seed" -> "2"
  std::map<QString, QString> settings = {};  // of its option --set
  friend bool operator==(const StartRequest&, const StartRequest&) = default;
};

/// The words after `tesseractl job start`.
QStringList startWords(const StartRequest& request);
/// The whole command line for a POSIX shell. It always names the cluster, if there is a name.
QString startCommand(const QString& cluster, const StartRequest& request);
/// The name of a job that is given none: that of the model, or of the file without its ending;
/// empty for a command and for a checkpoint.
QString usualName(const StartRequest& request);

}  // namespace tessera::ui
