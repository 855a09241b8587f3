// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Hosts that are reached over ssh, all of them this machine: an sshd of its own, with its keys, as
/// the user of the test.

#include <QProcess>
#include <QString>
#include <QTemporaryDir>

#include "tests/support/home_guard.h"

namespace tessera::test {

/// Listens on a port of the loopback.
/// \return the descriptor, which the caller closes; -1 if the port is in use
int ListenOn(int port);

/// Any name is a host, with these exceptions. `gone`: nothing listens there. `bare`: no programs.
/// `old`: programs of another version. `late`: as `gone` while a file of that name is in folder().
///
/// Sessions have home() as their TESSERA_HOME, as on machines that share the home folders.
class SshHosts {
 public:
  /// Starts the sshd, if there is one.
  SshHosts();
  ~SshHosts();

  /// Why there are no hosts; empty: there are.
  const QString& problem() const { return problem_; }
  /// For `up --ssh`.
  QString command() const { return folder() + QStringLiteral("/ssh"); }
  QString folder() const { return folder_.path(); }
  QString home() const { return folder() + QStringLiteral("/home"); }
  /// The first of kNumPorts ports that were free.
  int port() const { return port_ + 1; }
  static constexpr int kNumPorts = 18;

 private:
  bool Write(const QString& name, const QString& text, bool is_program = false) const;
  bool MakeKey(const QString& name) const;

  QTemporaryDir folder_{QStringLiteral("/tmp/tss.XXXXXX")};  // short: paths of sockets
  HomeGuard guard_{folder_.path() + QStringLiteral("/home")};
  QString problem_;
  int port_ = 0;  // of sshd
  QProcess sshd_;
};

}  // namespace tessera::test
