// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Access to clusters that the panel is not connected to: profiles and their tests, local clusters,
/// and history files. app/connections implements it, because ui does not know the agents.

#include <QList>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::ui {

/// The profile of a known cluster.
struct ProfileInfo {
  QString name;            // [a-z0-9][a-z0-9-]{0,62}
  QString registrar;       // tcp://HOST:PORT
  QString events;          // tcp://HOST:PORT
  QString serverKey;       // public key of the cluster, 40 characters of Z85
  QString keyFile;         // the user's own key pair
  QString folder = {};     // of a cluster on this machine; else empty
  bool isRunning = false;  // only for a cluster on this machine
  QString cluster = {};    // its name where that is not `name`; else empty
  QString problem = {};    // why the profile cannot be read; only `name` is valid then
  friend bool operator==(const ProfileInfo&, const ProfileInfo&) = default;
};

/// The result of a connection test for one agent or for the registrar.
struct AgentTest {
  enum class Verdict {
    Reached,
    VersionMismatch,
    KeyRefused,
    ClockSkew,
    Unreachable,
    Warning,  // reached, with warnings about the machine
  };
  QString agent;  // "registrar", "n0"
  Verdict verdict = Verdict::Reached;
  QString found = {};  // "version 0.1.0, 4 GPUs, 0.4 ms"
  QString fix = {};    // what to do; may be empty
  friend bool operator==(const AgentTest&, const AgentTest&) = default;
};

/// A key file of this user on this machine.
struct KeyInfo {
  QString file;
  bool isPair = false;  // with the secret key
  QString role;         // "operator", "viewer", "node 1"; empty: the file does not say
  QString publicKey;    // 40 characters of Z85
  QString note = {};    // a problem with the file; may be empty
  friend bool operator==(const KeyInfo&, const KeyInfo&) = default;
};

/// A cluster of emulated GPUs on this machine.
struct LocalChoice {
  int nodes = 2, gpus = 4;              // GPUs per node
  std::int64_t linkBytesPerSecond = 0;  // of the port of a node; 0: no limit
  friend bool operator==(const LocalChoice&, const LocalChoice&) = default;
};

/// The size of a simulated cluster.
struct SimulationChoice {
  int nodes = 2, gpus = 4;  // GPUs per node
  QString hardware = {};    // "h100"
  bool demo = false;        // its job grows and shrinks by itself, and moves take seconds
  friend bool operator==(const SimulationChoice&, const SimulationChoice&) = default;
};

/// What can be done with a cluster that a user has stopped.
struct StoppedCluster {
  QString name;
  bool canStart = false;  // it ran on this machine, so that it can be started as it was
  QString history = {};   // file with its history; empty: there is none here
  friend bool operator==(const StoppedCluster&, const StoppedCluster&) = default;
};

/// Lives on the GUI thread. Calls with a callback return at once; the callback runs later on the
/// GUI thread, exactly once if it is named `done`. It may run after the caller was destroyed; the
/// caller guards against that.
class Connections {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  virtual ~Connections() = default;

  /// Returns the known profiles, sorted by name.
  virtual QList<ProfileInfo> profiles() = 0;
  /// Returns the profile to which the panel is connected or connecting; empty if none.
  virtual QString current() const = 0;
  /// Parses the text of a profile file without storing it.
  /// \error kInvalidArgument naming the line or the key
  virtual Result<ProfileInfo> parse(const QString& text) = 0;
  /// Stores a profile.
  /// \error kAlreadyExists naming the profile
  /// \error kInvalidArgument naming field and value
  virtual Status add(const ProfileInfo& profile) = 0;
  /// Deletes the profile. The cluster and its keys are kept.
  /// \error kFailedPrecondition if the cluster runs on this machine
  virtual Status forget(const QString& name) = 0;
  /// Restores the profile that was forgotten last.
  virtual Status restore() = 0;

  /// Tests every agent of a cluster. `row` runs once per agent, the registrar first.
  virtual void test(const QString& name, std::function<void(AgentTest)> row, Done<void> done) = 0;
  /// Cancels the running test; its `done` receives kCancelled.
  virtual void cancelTest() = 0;

  /// Returns the folder on which this user mounted the shown cluster on this machine, if any.
  virtual std::optional<QString> mountPoint() = 0;
  /// Shows the state of the jobs of the shown cluster as files in an empty folder. A server process
  /// does that, which outlives the panel.
  /// \error those of `tesseractl mount`
  virtual void mount(const QString& folder, bool readOnly, Done<void> done) = 0;
  /// Ends the mount on this folder.
  /// \error those of `tesseractl unmount`
  virtual void unmount(const QString& folder, Done<void> done) = 0;
  /// Returns whether the agent of this node runs on this machine.
  virtual bool isHere(const engine::NodeStatus& node) = 0;

  /// Disconnects and connects to this cluster. The cluster model reports the progress.
  virtual Status connectTo(const QString& name) = 0;
  /// Closes the connection and shows no cluster.
  virtual void closeConnection() = 0;
  /// Starts a cluster of emulated GPUs on this machine and returns the name of its profile.
  /// `progress` receives the current activity in a few words.
  virtual void startLocal(const LocalChoice& choice, std::function<void(QString)> progress,
                          Done<QString> done) = 0;
  /// The hardware that can be simulated: names with descriptions.
  virtual QList<std::pair<QString, QString>> simulatedHardware() = 0;
  /// Starts a simulated cluster with a job that trains, as startLocal.
  virtual void startSimulated(const SimulationChoice& choice, std::function<void(QString)> progress,
                              Done<QString> done) = 0;
  /// Stops a cluster that was started on this machine, with all its processes. The state of its
  /// jobs is lost; history and logs stay. If it is the shown one, its link is then Stopped.
  virtual void stopLocal(const QString& name, Done<void> done) = 0;

  /// Returns what can be done with the cluster of this name, which was stopped.
  virtual StoppedCluster stoppedCluster(const QString& name) = 0;
  /// Starts a stopped cluster of this machine with the nodes and GPUs that it had, as startLocal.
  /// \error kNotFound if what it had is not known
  virtual void startAgain(const QString& name, std::function<void(QString)> progress,
                          Done<QString> done) = 0;

  /// The folder with this user's keys.
  virtual QString keyFolder() = 0;
  /// Returns the key files in it, by name.
  virtual Result<QList<KeyInfo>> keys() = 0;
  /// Makes a key pair there: NAME.key and NAME.pub.
  /// \param role "operator", "viewer" or "node N"
  /// \error kAlreadyExists naming the file; kInvalidArgument naming the name or role
  virtual Result<KeyInfo> makeKey(const QString& name, const QString& role) = 0;
  /// Removes the public key with this name from a node's folder of accepted keys, so that the node
  /// refuses it. Returns the removed files.
  virtual Result<QStringList> revokeKey(const QString& name, const QString& allowedFolder) = 0;

  /// Reads a history file and then shows it instead of a cluster. The file is not changed.
  /// \error naming the file; kCancelled if something else was chosen before it was read
  virtual void openHistory(const QString& file, Done<void> done) = 0;
  /// Closes the history file and returns to the cluster shown before.
  virtual void closeHistory() = 0;
};

}  // namespace tessera::ui
