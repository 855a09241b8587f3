// SPDX-License-Identifier: Apache-2.0
#include "agents/train/solo.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "agents/data/job_data.h"
#include "agents/job/decision.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"

namespace tessera::agents::train {

Status RunSolo(const engine::JobSettings& settings, bool json, std::FILE* out) {
  TESSERA_TRY(auto data, OpenJobData(settings));
  TESSERA_TRY(const auto collection, engine::MakeCollection(settings, false));
  TESSERA_TRY(const auto mesh, ptc::DeviceMesh::Make({}, {ptc::DeviceId{}}));
  TESSERA_TRY(const auto layout, ptc::Layout::Make(mesh, collection));
  const PrivateState memory(layout, 0);
  TESSERA_TRY(const RankState state, BindState(memory.pieces()));
  Initialise(settings, state);
  Trainer trainer(settings, std::move(data));
  if (auto bound = trainer.Bind(memory.pieces(), SelfGroups(), 0); !bound) return bound.error();
  while (trainer.step() < settings.max_steps) {
    const auto start = std::chrono::steady_clock::now();
    TESSERA_TRY(const tessera_record record, trainer.ComputeGradients());
    const tessera_decision decision =
        Decide(trainer.step() + 1, std::span(&record, 1), settings.max_norm);
    TESSERA_RETURN_IF_ERROR(trainer.PrepareUpdate(decision.clip, decision.skip != 0));
    trainer.CommitUpdate();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double norm = std::sqrt(decision.norm2);
    if (json) {
      fmt::print(out, "{{\"step\":{},\"loss\":{:.17g},\"grad_norm\":{:.17g}}}\n", trainer.step(),
                 decision.loss, norm);
    } else {
      fmt::print(out,
                 "step {:5}  loss {:.4f}  grad norm {:.3f}  {:.0f} tokens/s  {:.3f} % waiting for "
                 "data\n",
                 trainer.step(), decision.loss, norm,
                 static_cast<double>(decision.tokens) / seconds.count(),
                 100 * trainer.data_wait() / seconds);
    }
    std::fflush(out);
  }
  return OkStatus();
}

}  // namespace tessera::agents::train
