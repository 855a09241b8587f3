// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_report.h"

#include "agents/node/node_views.h"
#include "agents/node/step_words.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

void NodeReport::FillRegister(const std::vector<std::string>& lanes, wire::Register* out) const {
  const AgentConfig& config = world_.config;
  const NodeFacts& facts = world_.machine.facts;
  out->set_major(kProtocolMajor);
  out->set_minor(kProtocolMinor);
  out->set_node(config.node);
  out->set_host(config.host);
  out->set_rack(config.rack);
  out->set_gpu(Utf8(facts.gpu));
  out->set_gpu_driver(Utf8(facts.gpu_driver));
  out->set_nccl(Utf8(facts.nccl));
  out->set_address(facts.address);
  out->set_public_key(Utf8(facts.public_key));
  for (const std::string& lane : lanes) out->add_lanes(lane);
  if (facts.lane_secret) out->set_lane_secret(ToBytes(*facts.lane_secret));
  out->set_version(TESSERA_VERSION);
  out->set_machine(Utf8(facts.machine));
  out->set_link_bytes_per_second(config.link_bytes_per_second);
  out->set_master_port(facts.master_port);
  out->set_keeper_pid(facts.keeper_pid);
  out->set_incarnation(facts.incarnation);
  out->set_kept_revision(world_.kept_rows.all().revision());
  FillDevices(out->mutable_devices());
  world_.links.views->Describe(out->mutable_snapshots());
  FillJobs(out->mutable_jobs());
  if (const NodeTransaction* txn = world_.transactions.current()) {
    out->set_transaction(txn->prepare().transaction());
    out->set_transaction_state(static_cast<std::uint32_t>(txn->state()));
    out->set_transaction_job(txn->prepare().job());
    out->set_transaction_slot(txn->prepare().slot());
  }
}

void NodeReport::FillHeartbeat(std::uint64_t last_order, wire::Heartbeat* out) const {
  FillJobs(out->mutable_jobs());
  FillDevices(out->mutable_devices());
  if (const NodeTransaction* txn = world_.transactions.current()) {
    out->set_transaction(txn->prepare().transaction());
  }
  out->set_view_bytes(world_.links.views->size_bytes());
  out->set_memory_available(world_.machine.memory_available());
  Encode(world_.machine.network_faults(), out->mutable_network());
  out->set_order(last_order);
  world_.links.views->Describe(out->mutable_snapshots());
}

void NodeReport::FillDevices(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const {
  for (const auto& [id, device] : world_.devices.devices()) {
    auto* row = out->Add();
    row->set_index(id.index);
    row->set_capacity(device.arena->capacity());
    row->set_failed(device.failed);
    row->set_arena_path(device.path);
    row->set_arena_token(device.arena->header().token.load());
    if (!device.table) continue;
    row->set_used(device.table->used_bytes());
    row->set_job(device.table->job());
    row->set_epoch(device.table->epoch());
    const engine::ArenaHeader& header = device.arena->header();
    row->set_end(static_cast<std::int64_t>(header.end.load()));
    row->set_begin(static_cast<std::int64_t>(header.begin.load()));
    row->set_grads_step(static_cast<std::int64_t>(header.grads_step.load()));
    Encode(header, row->mutable_decision());
    const RankTable::Rank* rank = world_.ranks.Find({device.table->job(), id});
    row->set_has_rank(rank != nullptr);
    if (rank) row->set_busy_seconds(RankTable::UsualBusySeconds(*rank));
  }
}

void NodeReport::FillJobs(google::protobuf::RepeatedPtrField<wire::NodeJob>* out) const {
  for (const auto& [name, job] : world_.jobs.jobs()) {
    auto* row = out->Add();
    row->set_job(name);
    row->set_epoch(job.row.epoch);
    row->set_origin(job.row.origin);
    row->set_ranks(world_.ranks.NumRunning(name));
    if (const auto all = world_.pauses.AllPaused(name)) {
      row->set_paused(true);
      row->set_step(all->step);
      row->set_request(all->request);
      row->set_reason(Utf8(all->reason));
    }
  }
}

}  // namespace tessera::agents
