// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The mesh of ranks that are threads of one process.

#include <cstdint>
#include <vector>

#include "agents/job/tessera_job.h"

namespace tessera::test {

/// A mesh of pp x dp x tp ranks as the rank library would show it, ranks spread evenly over
/// `hosts`.
class LocalMesh {
 public:
  LocalMesh(int dp, int tp, int hosts) : LocalMesh(1, dp, tp, hosts) {}
  LocalMesh(int pp, int dp, int tp, int hosts)
      : pp_(pp),
        dp_(dp),
        tp_(tp),
        hosts_(static_cast<std::size_t>(world())),
        addresses_(static_cast<std::size_t>(world()), "127.0.0.1") {
    for (int rank = 0; rank < world(); ++rank) {
      hosts_[static_cast<std::size_t>(rank)] = rank * hosts / world();
    }
  }
  int world() const { return pp_ * dp_ * tp_; }
  tessera_view View(int rank) const {
    tessera_view view{};
    view.epoch = 1;
    view.rank = rank;
    view.world = world();
    for (std::int64_t& size : view.axis_size) size = 1;
    view.axis_size[0] = pp_;
    view.axis_size[1] = dp_;
    view.axis_size[4] = tp_;
    view.axis_coord[0] = rank / (dp_ * tp_);
    view.axis_coord[1] = rank / tp_ % dp_;
    view.axis_coord[4] = rank % tp_;
    view.node_of_rank = view.host_of_rank = hosts_.data();
    view.address_of_rank = addresses_.data();
    return view;
  }

 private:
  int pp_, dp_, tp_;
  std::vector<std::int32_t> hosts_;
  std::vector<const char*> addresses_;
};

}  // namespace tessera::test
