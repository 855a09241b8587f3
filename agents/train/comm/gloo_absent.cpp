// SPDX-License-Identifier: Apache-2.0

/// \file
/// Stands in for gloo_group.cpp where libtorch comes without Gloo's headers (upstream's packages).

#include <fmt/format.h>

#include "agents/train/comm/gloo_group.h"

namespace tessera::agents::train {

Result<CollectivePtr> MakeGlooGroup(const GroupOptions& options, const std::string&,
                                    std::shared_ptr<Rendezvous>) {
  return Error{ErrorCode::kUnimplemented,
               fmt::format("group {} crosses hosts, and this build has no Gloo", options.name),
               {}};
}

}  // namespace tessera::agents::train
