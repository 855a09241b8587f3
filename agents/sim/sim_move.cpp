// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "ptc/base/overloaded.h"
#include "ptc/digest.h"

namespace tessera::agents::sim {
namespace {

/// The devices whose old pieces `device` reads, itself or through a relay of its node.
std::set<ptc::DeviceId> SourcesOf(const ptc::DeviceMoves& plan, ptc::DeviceId device) {
  std::set<ptc::DeviceId> out, relays;
  for (const ptc::Move& move : plan.moves) {
    std::visit(Overloaded{
                   [&](const ptc::RemoteCopy& m) {
                     if (m.device == device) (m.forwarded ? relays : out).insert(m.source);
                   },
                   [&](const ptc::Drop&) {},
                   [&](const auto& m) {
                     if (m.device == device) out.insert(device);
                   },
               },
               move);
  }
  if (relays.empty()) return out;
  for (const ptc::Move& move : plan.moves) {
    const auto* const m = std::get_if<ptc::RemoteCopy>(&move);
    if (m && !m->forwarded && relays.contains(m->device)) out.insert(m->source);
  }
  return out;
}

/// The versions of the shares of a snapshot, or the reason why one cannot be read.
Result<std::set<std::int64_t>> VersionsOf(const wire::ViewReply& snapshot,
                                          const ShareOf& share_of) {
  std::set<std::int64_t> out;
  for (const wire::ViewShare& share : snapshot.shares()) {
    const auto version = share_of(share.node(), snapshot.view());
    if (!version) return Unavailable(fmt::format("n{} has no share", share.node()));
    out.insert(*version);
  }
  return out;
}

/// Gradients stand for the step that the control page names.
Status CheckGradients(const MoveContext& c, const MemoryOf& memory_of) {
  for (const auto& [device, local] : c.local) {
    for (const ptc::DeviceId source : SourcesOf(*c.plan, device)) {
      DeviceMemory* const memory = memory_of(source);
      if (!memory) return Unavailable(fmt::format("{} cannot be read", ToString(source)));
      const std::int64_t version = memory->VersionOf(c.key.job, local.next_table.epoch() - 1);
      if (c.is_saved) {
        if (memory->saved_step == version) continue;
        return Internal(fmt::format("{} keeps gradients of step {} beside the state of step {}",
                                    ToString(source), memory->saved_step, version));
      }
      const auto step = static_cast<std::int64_t>(memory->header().grads_step.load());
      if (step != version + 1) {
        return Internal(fmt::format("{} has gradients of step {} beside the state of step {}",
                                    ToString(source), step, version));
      }
    }
  }
  return OkStatus();
}

}  // namespace

std::int64_t StoredBytes(const MoveContext& context) {
  std::int64_t bytes = 0;
  std::set<std::tuple<ptc::DeviceId, int, ptc::Box>> pieces;  // several reads may be of one
  for (const ptc::StorageRead& read : context.plan->reads) {
    if (!context.local.contains(read.device)) continue;
    if (!pieces.emplace(read.device, read.tensor, read.piece).second) continue;
    bytes += read.piece.num_elements() * ptc::SizeBytes(context.SpecOf(read.tensor).dtype);
  }
  return bytes;
}

SimMove::SimMove(const MoveContext& context) : stored_bytes_(StoredBytes(context)) {
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, MoveFlow*> known;
  for (const ptc::Move& move : context.plan->moves) {
    const auto* const copy = std::get_if<ptc::RemoteCopy>(&move);
    if (!copy || !context.local.contains(copy->device)) continue;
    MoveFlow*& flow = known[{copy->source, copy->device}];
    if (!flow) {
      flow = flows_.emplace_back(std::make_unique<MoveFlow>()).get();
      flow->source = copy->source;
      flow->destination = copy->device;
    }
    flow->total += copy->cell.num_elements() * ptc::SizeBytes(context.TypeOf(copy->tensor));
  }
}

void SimMove::Start(Timers& timers, std::function<void(bool is_cancelled)> finish) {
  run_->timers = &timers;
  run_->finish = std::move(finish);
}

std::function<void()> SimMove::ended() const {
  return [weak = std::weak_ptr(run_), stored = stored_bytes_] {
    const auto run = weak.lock();
    if (!run || !run->finish) return;
    run->stored = stored;
    End(run, false);
  };
}

void SimMove::Cancel() {
  if (run_->finish) End(run_, true);
}

// Not inside the call: the agent may destroy the move then.
void SimMove::End(const std::shared_ptr<Run>& run, bool is_cancelled) {
  run->transfer.reset();
  run->timers->Post(
      [finish = std::exchange(run->finish, {}), is_cancelled] { finish(is_cancelled); });
}

std::uint64_t DigestOf(std::int64_t version, int tensor, std::int64_t elements,
                       ptc::DeviceId device) {
  std::uint64_t key = ptc::Mix(static_cast<std::uint64_t>(version) + 1000);
  if (version < 0)
    key = ptc::Mix(key + static_cast<std::uint64_t>(64 * device.node + device.index) + 1);
  return ptc::Mix(key + static_cast<std::uint64_t>(tensor)) * static_cast<std::uint64_t>(elements);
}

std::vector<DeviceDigests> DigestsOf(const MoveContext& c, const ptc::DeviceCells& cells,
                                     const VersionOf& version_of) {
  std::vector<DeviceDigests> out;
  for (const auto& [device, local] : c.local) {
    const std::vector<ptc::DeviceCells::Entry> entries = cells.Of(device);
    if (entries.empty()) continue;
    const std::int64_t version = version_of(device);
    DeviceDigests& digests = out.emplace_back(DeviceDigests{device, {}});
    for (const ptc::DeviceCells::Entry& cell : entries) {
      digests.digests.push_back(DigestOf(version, cell.tensor, cell.box->num_elements(), device));
    }
  }
  return out;
}

Status Save(const MoveContext& c, const MemoryOf& memory_of) {
  for (const auto& [device, local] : c.local) {
    if (!local.saved) continue;
    DeviceMemory& memory = *memory_of(device);
    memory.saved_step = static_cast<std::int64_t>(memory.header().grads_step.load());
  }
  return OkStatus();
}

// A piece that stays has the update from its rank, those that were copied from this one.
Status Update(const MoveContext& c, const StepUpdate& update, const MemoryOf& memory_of) {
  for (const auto& [device, local] : c.local) {
    if (SourcesOf(*c.plan, device).empty()) continue;
    Content& content = memory_of(device)->at(local.next_table.epoch());
    content.version = content.version == update.step - 1 ? update.step : Content::kRubbish;
  }
  return OkStatus();
}

MoveResult CopyAndDigest(const MoveContext& c, MoveMode mode, const MemoryOf& memory_of,
                         const ShareOf& share_of, bool damages) {
  MoveResult result;
  if (c.kind == engine::PieceEntry::kGradient) {
    result.status =
        damages ? DataLoss("a gradient is not that of its source") : CheckGradients(c, memory_of);
    return result;
  }
  const auto old_version = [&](ptc::DeviceId device) {
    const std::int64_t epoch = c.local.at(device).old_table.epoch();
    return memory_of(device)->VersionOf(c.key.job, epoch);
  };
  if (mode != MoveMode::kVerifyMoved && !c.snapshot) {
    const ptc::DeviceCells cells(c.from, c.to, ptc::CellOwners::kHolders, c.lost);
    result.before = DigestsOf(c, cells, old_version);
    std::erase_if(result.before, [&](const DeviceDigests& device) {
      return std::find(c.lost.begin(), c.lost.end(), device.device) != c.lost.end();
    });
    if (mode == MoveMode::kDigests) return result;
    result.digests.has_before = true;
    if (mode == MoveMode::kReplicas) {
      result.digests.before = SummarizeDropped(cells, DroppedReplicasOf(c, cells), result.before);
      return result;
    }
    result.digests.before = Summarize(cells, result.before);
  }
  const auto new_version = [&](ptc::DeviceId device) {
    return memory_of(device)->at(c.local.at(device).next_table.epoch()).version;
  };
  for (const auto& [device, local] : c.local) {
    if (!c.is_round && !c.to.mesh().RankOf(device)) continue;
    const std::int64_t epoch = local.next_table.epoch();
    Content& content = memory_of(device)->at(epoch);
    if (c.leg == 1) content = {c.key.job, epoch, Content::kNothing, false};
    std::set<std::int64_t> versions;
    // What a round does not move stays.
    if (c.is_round && !local.old_table.entries().empty()) versions.insert(old_version(device));
    if (c.snapshot) {
      auto shares = VersionsOf(c.snapshot->shares, share_of);
      if (!shares) {
        result.status = shares.error();
        return result;
      }
      versions = std::move(*shares);
    }
    for (const ptc::DeviceId source : SourcesOf(*c.plan, device)) {
      DeviceMemory* const memory = memory_of(source);
      if (!memory) {
        result.status = Unavailable(fmt::format("{} cannot be read", ToString(source)));
        return result;
      }
      const std::int64_t held = memory->VersionOf(c.key.job, epoch - 1);
      // A node that has lost its memory serves nothing of the transaction, and its arenas have
      // other tokens.
      if (held == Content::kNothing) {
        result.status = Unavailable(fmt::format("{} does not hold it", ToString(source)));
        return result;
      }
      versions.insert(held);
    }
    const bool is_damaged = std::exchange(damages, false);
    std::int64_t version = Content::kRubbish;
    if (versions.size() == 1 && !is_damaged) version = *versions.begin();
    if (versions.empty() && c.is_round) version = Content::kNothing;
    if (c.leg > 0 && !is_damaged) {
      // What was copied before is one update behind, until that is made.
      if (versions.empty()) continue;
      const bool follows = content.version != Content::kNothing;
      if (follows) version = content.version == version - 1 ? content.version : Content::kRubbish;
    }
    content = {c.key.job, epoch, version, false};
    // The node compares what has moved with its sources. A snapshot has no digests of cells, so the
    // registrar finds the difference.
    if (is_damaged && !c.snapshot) {
      result.status =
          DataLoss(fmt::format("a digest on {} is not that of its source", ToString(device)));
      return result;
    }
  }
  if (mode == MoveMode::kVerifyMoved && !c.snapshot) return result;
  const ptc::DeviceCells cells(c.from, c.to, ptc::CellOwners::kNeeders);
  result.after = DigestsOf(c, cells, new_version);
  result.digests.has_after = true;
  result.digests.after = Summarize(cells, result.after);
  return result;
}

}  // namespace tessera::agents::sim
