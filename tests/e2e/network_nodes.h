// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Machines of a test: network namespaces on one bridge, which share nothing but files with each
/// other. Needs root.

#include <QString>
#include <QStringList>
#include <optional>

#include "tests/support/local_cluster.h"

namespace tessera::test {

class NetworkNodes {
 public:
  /// Makes `count` machines with addresses 10.77.0.1 on, and one for the operator.
  explicit NetworkNodes(int count);
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
  QString Name(int node) const;
  bool Ip(const QStringList& words) const;

  const int count_;
  const QString prefix_;
  QString problem_;
};

}  // namespace tessera::test
