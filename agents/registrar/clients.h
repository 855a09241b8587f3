// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The connections of panels and command lines, and the replies that they wait for.

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "agents/net/key_owner.h"
#include "agents/registrar/operator_lease.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class Clients : public RegistrarPart {
 public:
  Clients(const Common& common, const OperatorLease& lease)
      : RegistrarPart(common), lease_(lease) {}

  /// What identifies this life of the cluster to clients, as of HelloReply.
  void SetIncarnation(std::string incarnation) { incarnation_ = std::move(incarnation); }
  /// The reply to the request; nullptr if the request was made before, or if its owner may not make
  /// it. Its client then gets the same reply, or that it lacks the role.
  ReplyPtr Admit(const std::string& identity, const KeyOwner& owner, const wire::Request& request);
  void OnHello(const std::string& identity, const KeyOwner& owner, const wire::Hello& hello,
               const ReplyPtr& reply);
  /// Tells all clients that the cluster goes down, so that they do not wait for it.
  void SayGoodbye(const std::string& why) const;

 private:
  /// Of one key, so that no other key can push them out.
  struct Kept {
    std::map<std::string, ReplyPtr> replies;  // by request id
    std::deque<std::string> order;
  };
  const OperatorLease& lease_;
  std::map<std::string, Kept> kept_;            // by the name of the key
  std::map<std::string, std::string> clients_;  // what they claim, by identity of a connection
  std::deque<std::string> client_order_;
  std::string incarnation_;
};

}  // namespace tessera::agents
