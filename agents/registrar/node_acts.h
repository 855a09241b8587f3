// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What users do to nodes and devices: kill, give up, fail, shut down.

#include <functional>
#include <string>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class NodeActs : public RegistrarPart {
 public:
  /// Gets the reason as a sentence for users.
  using BeforeShutdown = std::function<void(const std::string& why)>;
  /// \param before_shutdown writes what waits to be written, and says goodbye to clients
  NodeActs(const Common& common, BeforeShutdown before_shutdown)
      : RegistrarPart(common), before_shutdown_(std::move(before_shutdown)) {}

  /// Kills a node; with `give_up`, counts a silent node as lost.
  void OnKillNode(const wire::KillNodeRequest& request, const ReplyPtr& reply);
  void OnFailDevice(const wire::FailDeviceRequest& request, const ReplyPtr& reply);
  void OnShutdown(const ReplyPtr& reply);
  /// \error kFailedPrecondition if the cluster is real
  void OnSimulate(const wire::SimulateRequest& request, const ReplyPtr& reply);

 private:
  /// \error kFailedPrecondition if something may still be heard of the node
  Status GiveUp(Membership::Node& node, const ReplyPtr& reply) const;

  const BeforeShutdown before_shutdown_;
};

}  // namespace tessera::agents
