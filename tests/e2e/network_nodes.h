// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Machines of a test: network namespaces on one bridge, which share nothing but files with each
/// other. Needs root. A namespace lives as long as the process that holds it, and that no longer
/// than the test: nothing is left behind, however the test ends.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

namespace tessera::test {

class NetworkNodes {
 public:
  /// Makes `count` machines with addresses 10.77.0.1 on, and one for the operator.
  explicit NetworkNodes(int count);
  /// Ends the namespaces with all that runs in them cut off.
  ~NetworkNodes();
  NetworkNodes(const NetworkNodes&) = delete;
  NetworkNodes& operator=(const NetworkNodes&) = delete;

  /// Why there are none; empty where they stand.
  const QString& problem() const { return problem_; }
  static QString Address(int node) { return QStringLiteral("10.77.0.%1").arg(node + 1); }
  /// `PROGRAM WORDS…` as run on machine `node`, -1: the operator's.
  QStringList On(int node, const QStringList& command) const;
  /// Takes a machine off the network, or puts it back. \return whether that worked
  bool SetLink(int node, bool up) const;

 private:
  /// Starts the process that holds a new namespace. \return whether it stands
  bool Hold();
  /// `ip WORDS` as on machine `node`. \return whether it succeeded
  bool Ip(int node, const QString& words) const;
  qint64 Pid(int node) const { return holders_[static_cast<std::size_t>(node + 1)]->processId(); }

  std::vector<std::unique_ptr<QProcess>> holders_;  // the operator's first
  QString problem_;
};

}  // namespace tessera::test
