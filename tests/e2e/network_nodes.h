// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Machines for tests: network namespaces on one bridge, which share only files. Needs root. A
/// namespace exists as long as the process that holds it, which ends with the test in every case.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::test {

class NetworkNodes {
 public:
  /// Makes `count` machines with the addresses from 10.77.0.1, and one for the operator.
  explicit NetworkNodes(int count);
  /// Ends the namespaces.
  ~NetworkNodes();
  NetworkNodes(const NetworkNodes&) = delete;
  NetworkNodes& operator=(const NetworkNodes&) = delete;

  /// Why there are no machines; empty if there are.
  const QString& problem() const { return problem_; }
  static QString Address(int node) { return QStringLiteral("10.77.0.%1").arg(node + 1); }
  /// The command that runs `PROGRAM WORDS…` on machine `node`; -1: the operator's.
  QStringList On(int node, const QStringList& command) const;
  /// Disconnects a machine from the network, or connects it again.
  /// \return whether that succeeded
  bool SetLink(int node, bool up) const;
  /// What a machine's interface has carried, without the headers of Ethernet, IP and TCP.
  struct Carried {
    std::int64_t received = 0, sent = 0;  // bytes
  };
  /// \return nullopt if the kernel does not say
  std::optional<Carried> CarriedBy(int node) const;

 private:
  /// Starts the process that holds a new namespace.
  /// \return whether it runs
  bool Hold();
  /// Runs `ip WORDS` on machine `node`.
  /// \return whether it succeeded
  bool Ip(int node, const QString& words) const;
  qint64 Pid(int node) const { return holders_[static_cast<std::size_t>(node + 1)]->processId(); }

  std::vector<std::unique_ptr<QProcess>> holders_;  // the operator's first
  QString problem_;
};

}  // namespace tessera::test
