// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which panel operates the cluster. A courtesy among operators: it is shown to all of them, and
/// refuses nobody. What protects a change is that it is bound to the plan that was seen.

#include <chrono>
#include <optional>
#include <string>

#include "agents/net/key_owner.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

class OperatorLease : public RegistrarPart {
 public:
  /// A lease ends if it is not renewed for this long.
  static constexpr std::chrono::seconds kTerm{15};

  explicit OperatorLease(const Common& common) : RegistrarPart(common) {}

  /// \param owner of the key of the panel, which has connected as `identity`
  /// \error kInvalidArgument for a panel without a name, or with one above 64 characters
  void OnOperate(const std::string& identity, const KeyOwner& owner,
                 const wire::OperateRequest& request, const ReplyPtr& reply);
  void OnTick();
  std::optional<engine::OperatorLease> current() const;
  /// Whose panel operates the cluster, if that is another connection than this one; else empty.
  std::string OtherThan(const std::string& identity) const;

 private:
  struct Holder {
    engine::OperatorLease lease;
    std::string key;       // its name
    std::string identity;  // of the connection that has renewed it
    Clock::time_point renewed;
  };
  std::optional<Holder> holder_;
};

}  // namespace tessera::agents
