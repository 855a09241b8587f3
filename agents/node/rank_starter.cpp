// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_starter.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "agents/job/rank_environment.h"
#include "agents/keeper/keeper_link.h"
#include "agents/node/job_files.h"
#include "agents/node/peers.h"
#include "agents/node/rank_tag.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

Status RankStarter::Start(const Launch& launch, int rank) {
  const std::vector<ptc::DeviceId>& devices = launch.layout.mesh().devices();
  const ptc::DeviceId device = devices[static_cast<std::size_t>(rank)];
  TESSERA_RETURN_IF_ERROR(ranks_.CheckFree(device));
  const RankId id{launch.job, device};
  RankEnvironmentSpec spec;
  spec.base = world_.environment();
  spec.socket = world_.facts.rank_socket;
  spec.id = id;
  spec.settings_file = SettingsPath(config_.directory, launch.job);
  spec.layout_file = LayoutPath(config_.directory, launch.job);
  spec.initialise = launch.initialise;
  spec.view =
      ViewOf(launch.layout, rank, launch.epoch, launch.attempt, launch.micro_batch, launch.peers);
  TESSERA_TRY(spec.view_file, world_.write_view_file(launch.job, device.index, spec.view));
  TESSERA_TRY(const engine::JobSettings settings, engine::ParseJobSettings(launch.settings));
  TESSERA_RETURN_IF_ERROR(CheckLimits(config_.jobs, config_.node, settings));
  TESSERA_RETURN_IF_ERROR(CheckTrainer(world_.facts.has_gpus, device, settings));
  if (!config_.cuda_devices.empty()) {
    spec.cuda_device = config_.cuda_devices[static_cast<std::size_t>(device.index)];
  }
  spec.collective_timeout = settings.collective_timeout;
  KeeperLink::SpawnRequest request;
  request.argv = settings.program
                     ? std::vector<std::string>{"/bin/sh", "-c", settings.program->command}
                     : std::vector<std::string>{world_.trainer_path()};
  spec.finish_update = launch.finish_update;
  if (launch.finish_update && !settings.program) request.argv.emplace_back("--finish-update");
  request.environment = RankEnvironment(spec);
  if (const wire::Peer* first = FindPeer(launch.peers, devices.front().node)) {
    for (std::string& entry :
         TorchrunEnvironment(spec.view, first->address(), first->master_port())) {
      request.environment.push_back(std::move(entry));
    }
  }
  request.device = device.index;
  const Attempt started{launch.epoch, launch.attempt};
  request.tag = TagOf(id, started);
  TESSERA_TRY(const std::int64_t pid, links_.keeper->Spawn(request));
  ranks_.Add(id, pid, started);
  return OkStatus();
}

}  // namespace tessera::agents
