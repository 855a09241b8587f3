// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the panel may ask about clusters that it is not connected to: profiles, tests of them, a
/// local cluster, files of history. The panel knows no agent: app/connections implements this.

#include <QList>
#include <QString>
#include <functional>
#include <optional>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::ui {

/// A cluster that is known here.
struct ProfileInfo {
  QString name;            // [a-z0-9][a-z0-9-]{0,62}
  QString registrar;       // tcp://HOST:PORT
  QString events;          // tcp://HOST:PORT
  QString serverKey;       // public key of the cluster, 40 characters of Z85
  QString keyFile;         // the user's own key pair
  QString folder = {};     // of a cluster on this machine; empty for others
  bool isRunning = false;  // of a cluster on this machine
  QString problem = {};    // why the profile cannot be read; then only `name` is known
  friend bool operator==(const ProfileInfo&, const ProfileInfo&) = default;
};

/// What a test found about one agent, or about the registrar.
struct AgentTest {
  enum class Verdict {
    Reached,
    VersionMismatch,
    KeyRefused,
    ClockSkew,
    Unreachable,
    Warning,  // reached, but something about the machine wants a look
  };
  QString agent;  // "registrar", "n0"
  Verdict verdict = Verdict::Reached;
  QString found = {};  // "version 0.1.0, 4 GPUs, 0.4 ms"
  QString fix = {};    // what to do; empty where nothing is to be done
  friend bool operator==(const AgentTest&, const AgentTest&) = default;
};

/// Lives on the GUI thread. Calls with a callback return at once; the callback runs later on the
/// GUI thread, exactly once where it is called `done`. It may come after the caller is gone, which
/// the caller guards against.
class Connections {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  virtual ~Connections() = default;

  /// Sorted by name.
  virtual QList<ProfileInfo> profiles() = 0;
  /// Name of the profile that the window is connected to, or tries to; empty: none.
  virtual QString current() const = 0;
  /// Takes the text of a profile file apart, without keeping it. \error naming line or key
  virtual Result<ProfileInfo> parse(const QString& text) = 0;
  /// Keeps a profile. \error kAlreadyExists naming it; kInvalidArgument naming field and value
  virtual Status add(const ProfileInfo& profile) = 0;
  /// Takes the profile away; the cluster and its keys stay. \error kFailedPrecondition for a
  /// cluster that runs on this machine: stop it first
  virtual Status forget(const QString& name) = 0;
  /// Brings the profile back that was forgotten last.
  virtual Status restore() = 0;

  /// Asks every agent of a cluster. `row` runs once an agent, the registrar first.
  virtual void test(const QString& name, std::function<void(AgentTest)> row, Done<void> done) = 0;
  /// Ends the test that runs; its `done` comes with kCancelled.
  virtual void cancelTest() = 0;

  /// The folder on which the cluster that is shown is mounted on this machine for this user; none.
  virtual std::optional<QString> mountPoint() = 0;
  /// Whether the agent of a node of that cluster runs on this machine.
  virtual bool isHere(const engine::NodeStatus& node) = 0;

  /// Leaves the present cluster for this one. The cluster model tells how it goes.
  virtual Status connectTo(const QString& name) = 0;
  /// Starts a cluster of emulated GPUs on this machine and answers its profile's name; `progress`
  /// says in a few words what is being done.
  virtual void startLocal(int nodes, int gpus, std::function<void(QString)> progress,
                          Done<QString> done) = 0;
  /// Shows what a history file holds instead of a cluster. The file is only read. \error naming it
  virtual Status openHistory(const QString& file) = 0;
  /// Back to the cluster from before the file.
  virtual void closeHistory() = 0;
};

}  // namespace tessera::ui
