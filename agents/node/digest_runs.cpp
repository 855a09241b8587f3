// SPDX-License-Identifier: Apache-2.0
#include "agents/node/digest_runs.h"

#include <utility>

#include "agents/move/digest_wire.h"
#include "agents/move/move_context.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

void DigestRuns::Start(const wire::TakeDigests& message) {
  const HeldJobs::Job* job = jobs_.Find(message.job());
  if (!job) return;
  auto context = std::make_shared<MoveContext>(
      MoveContext{{message.job(), static_cast<std::int64_t>(message.number()), 0},
                  job->row.layout,
                  job->row.layout,
                  std::make_shared<const ptc::DeviceMoves>(),
                  {},
                  jobs_.node(),
                  {},
                  {}});
  for (const ptc::DeviceId id : devices_.Of(message.job())) {
    const DeviceStore::Device* device = devices_.Find(id);
    context->local.emplace(id,
                           MoveContext::Local{device->arena.get(), *device->table, *device->table});
  }
  const std::uint64_t run = next_run_++;
  runs_[run] = world_.start_move(
      std::move(context), MoveMode::kDigests,
      [this, run, name = message.job(), number = message.number()](const MoveResult& result) {
        wire::FromNode reply;
        auto* out = reply.mutable_digests();
        out->set_job(name);
        out->set_number(number);
        if (!result.status) out->set_error(result.status.error().ToString());
        EncodeDigests(result.before, out->mutable_devices());
        uplink_.Send(std::move(reply));
        runs_.erase(run);
      });
}

}  // namespace tessera::agents
