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
    QString python = {};     // empty: of the virtual environment, else python3
    QString directory = {};  // in which it runs; empty: that of the panel
    friend bool operator==(const Script&, const Script&) = default;
  };

  std::variant<BuiltIn, Script> program;
  QString name;
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
/// The name of a job that is given none: that of the model, or of the file without .py.
QString usualName(const StartRequest& request);

}  // namespace tessera::ui
