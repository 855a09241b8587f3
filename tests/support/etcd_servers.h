// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An etcd cluster on the loopback, with TLS in both directions.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <memory>
#include <string>
#include <vector>

#include "agents/decision/etcd_place.h"

namespace tessera::test {

/// Its members end with the object, and with the process.
class EtcdServers {
 public:
  /// Why there can be none on this machine; empty: there can.
  static QString WhyNot();

  /// Starts the members and waits until they answer. `other`: their certificates are those of
  /// another cluster.
  /// \pre WhyNot() is empty
  explicit EtcdServers(int members, const EtcdServers* other = nullptr);
  ~EtcdServers();
  EtcdServers(const EtcdServers&) = delete;
  EtcdServers& operator=(const EtcdServers&) = delete;

  /// Whether Start succeeded; else `problem` says why not.
  bool is_up() const { return problem_.isEmpty(); }
  const QString& problem() const { return problem_; }
  /// With a client's certificate.
  agents::EtcdPlace place(const std::string& prefix = "/tessera/test") const;

  /// The words of `up` and `node setup` for a cluster that decides here.
  QStringList words() const;

  void Kill(int member);
  /// Starts a killed member again, with what it had.
  void Start(int member);
  /// Stops and continues its process: it accepts connections and does not answer.
  void Halt(int member);
  void Continue(int member);
  /// Waits until a majority answers.
  bool WaitUntilItAnswers() const;

 private:
  struct Member {
    int client_port = 0, peer_port = 0;
    std::unique_ptr<QProcess> process;
  };
  QString File(const QString& name) const { return folder_->filePath(name); }
  bool MakeCertificates();
  bool TakeCertificates(const EtcdServers& other);

  std::unique_ptr<QTemporaryDir> folder_;
  QString problem_;
  std::vector<Member> members_;
};

}  // namespace tessera::test
