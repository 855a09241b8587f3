// SPDX-License-Identifier: Apache-2.0
#include "agents/node/prepared_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agents/net/lane_ticket.h"
#include "agents/node/peers.h"
#include "agents/wire/convert.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/search/rounds.h"
#include "engine/store/allocate.h"
#include "ptc/layout_pair.h"
#include "ptc/plan/refill.h"

namespace tessera::agents {

Status PreparedChange::Build(PlanMemo& memo) {
  const wire::Prepare& p = prepare_;
  TESSERA_TRY(auto layouts, memo.ParsePair(p.from_layout(), p.to_layout()));
  auto& [from, to] = layouts;
  TESSERA_TRY(lost_, DecodeAll<ptc::DeviceId>(p.lost()));
  TESSERA_TRY(remains_, RemainsOf(p));
  // Its hash is that of the plan, so equal messages have equal outlines.
  const std::string key = fmt::format("{:x} {:x} {:x} {} {}", p.from_hash(), p.to_hash(),
                                      p.plan_hash(), p.relay(), p.has_hand_in());
  if (remains_) {
    TESSERA_TRY(const ptc::Topology topology, TopologyOf(p));
    TESSERA_TRY(mixed_plan_, ptc::MakeMixedPlan(remains_->where, to, topology,
                                                {.lost = lost_, .with_figures = false}));
  }
  const auto outline = [&]() -> Result<ptc::Outline> {
    if (p.has_hand_in()) return ptc::RefillOutline(to);
    TESSERA_TRY(const ptc::Topology topology, TopologyOf(p));
    const auto relaying = p.relay() ? ptc::Relaying::kAlways : ptc::Relaying::kNever;
    return ptc::MakeOutline(from, to, topology,
                            {.lost = lost_, .relaying = relaying, .with_figures = false});
  };
  if (!remains_) {
    TESSERA_TRY(plan_, memo.Outline(key, outline));
  }
  from_ = std::move(from);
  to_ = std::move(to);
  const auto check = [](const char* what, std::uint64_t mine, std::uint64_t theirs) -> Status {
    if (mine == theirs) return OkStatus();
    return FailedPrecondition(fmt::format("stale plan: {} is {} here, {} at the registrar", what,
                                          ptc::Hex16(mine), ptc::Hex16(theirs)));
  };
  TESSERA_RETURN_IF_ERROR(check("the old layout", from_->hash(), p.from_hash()));
  TESSERA_RETURN_IF_ERROR(check("the new layout", to_->hash(), p.to_hash()));
  TESSERA_RETURN_IF_ERROR(
      check("the plan", remains_ ? mixed_plan_->hash : plan_->hash, p.plan_hash()));
  TESSERA_RETURN_IF_ERROR(CheckParts(p.legs(), "legs copy"));
  TESSERA_RETURN_IF_ERROR(CheckParts(p.rounds(), "rounds move"));
  return BuildRounds();
}

Status PreparedChange::CheckParts(const google::protobuf::RepeatedPtrField<wire::MoveRound>& parts,
                                  std::string_view what) const {
  const std::size_t num_tensors = to_->collection().tensors().size();
  std::set<std::size_t> in_parts;
  for (const wire::MoveRound& part : parts) {
    for (const int tensor : part.tensors()) {
      const auto number = static_cast<std::size_t>(tensor);
      if (tensor >= 0 && number < num_tensors && in_parts.insert(number).second) continue;
      return FailedPrecondition(
          fmt::format("stale plan: its {} tensor {} twice, or it is none of the {}", what, tensor,
                      num_tensors));
    }
  }
  if (parts.empty() || in_parts.size() == num_tensors) return OkStatus();
  return FailedPrecondition(
      fmt::format("stale plan: its {} {} of {} tensors", what, in_parts.size(), num_tensors));
}

Status PreparedChange::BuildRounds() {
  const wire::Prepare& p = prepare_;
  rounds_.clear();
  bool has_begun = false;
  for (int r = 1; r <= rounds(); ++r) {
    const auto& tensors = p.rounds(r - 1).tensors();
    engine::Round round{
        {tensors.begin(), tensors.end()},
        r == rounds(),
        r == rounds() ? p.to_hash() : engine::MixedHash(held_hash(), p.to_hash(), r)};
    std::sort(round.tensors.begin(), round.tensors.end());
    has_begun = has_begun || !round.tensors.empty();
    round.packs = !has_begun && !round.is_last;
    rounds_.push_back(std::move(round));
    if (r < 2) continue;
    rounds_[rounds_.size() - 2].next_tensors = rounds_.back().tensors;
    rounds_[rounds_.size() - 2].next_is_last = rounds_.back().is_last;
  }
  if (rounds() == 0 && remains_) {
    return FailedPrecondition("stale plan: what a move in rounds has left moves in rounds");
  }
  return OkStatus();
}

bool PreparedChange::Joins(const RankId& id) const {
  return from_ && to_ && prepare_.job() == id.job && to_->mesh().RankOf(id.device) &&
         (prepare_.recovery() || !from_->mesh().RankOf(id.device));
}

std::set<std::int32_t> PreparedChange::Participants() const {
  std::set<std::int32_t> nodes;
  if (!from_ || !to_) return nodes;
  for (const ptc::DeviceId id : to_->mesh().devices()) nodes.insert(id.node);
  for (const ptc::DeviceId id : remains_ ? remains_->where.devices() : from_->mesh().devices()) {
    if (!IsLost(id)) nodes.insert(id.node);
  }
  return nodes;
}

bool PreparedChange::IsSource(ptc::DeviceId id) const { return Held(id) && !IsLost(id); }

Status PreparedChange::CheckDevice(const DeviceStore::Device& device, bool is_listed) const {
  const wire::Prepare& p = prepare_;
  const ptc::DeviceId id = device.id;
  if (device.failed) return FailedPrecondition(fmt::format("device {} failed", ToString(id)));
  if (IsSource(id) &&
      ((!is_listed && !remains_) || !device.table || device.table->job() != p.job() ||
       device.table->epoch() != first_epoch() || device.table->layout_hash() != held_hash())) {
    return FailedPrecondition(fmt::format("stale plan: device {} does not hold epoch {} of '{}'",
                                          ToString(id), first_epoch(), p.job()));
  }
  if (!IsSource(id) && device.table) {
    return FailedPrecondition(
        fmt::format("device {} is in job '{}'", ToString(id), device.table->job()));
  }
  return OkStatus();
}

Status PreparedChange::Allocate(DeviceStore& devices, bool is_listed, PlanMemo& memo) {
  const wire::Prepare& p = prepare_;
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(p.settings()));
  TESSERA_RETURN_IF_ERROR(engine::CheckRunnable(settings, *to_));
  ExpandMoves(devices);
  for (auto& [id, device] : devices.devices()) {
    const bool is_source = IsSource(id);
    // Nobody can use what a lost device holds, what is left of an earlier epoch, or a table without
    // pieces that a move in rounds has left, and the space is needed.
    const bool is_its = device.table && device.table->job() == p.job();
    const bool is_of_use = is_source || !(IsLost(id) || remains_);
    if (is_its && !remains_ && device.table->epoch() > first_epoch()) {
      return FailedPrecondition(fmt::format(
          "device {} holds epoch {} of '{}', but the change begins at epoch {}: the job "
          "table of the registrar is older than this state",
          ToString(id), device.table->epoch(), p.job(), first_epoch()));
    }
    if (is_its && (!is_of_use || device.table->epoch() < first_epoch())) devices.Free(device);
    if (!is_source && !to_->mesh().RankOf(id)) continue;
    TESSERA_RETURN_IF_ERROR(CheckDevice(device, is_listed));
  }
  if (rounds() > 0) {
    TESSERA_RETURN_IF_ERROR(AllocateRounds(devices));
    return WriteNext(devices);
  }
  if (p.precopy()) gradients_ = engine::OldGradients::kKept;
  Status allocated = AllocateAll(devices);
  if (!allocated && keeps_gradients() && allocated.error().code == ErrorCode::kResourceExhausted) {
    gradients_ = engine::OldGradients::kFree;
    why_plain_ = allocated.error().message;
    allocated = AllocateAll(devices);
  }
  TESSERA_RETURN_IF_ERROR(allocated);
  for (auto& [id, next] : next_) memo.ShareEntries(next);
  AllocateSaved(devices);
  return WriteNext(devices);
}

void PreparedChange::AllocateSaved(const DeviceStore& devices) {
  if (!keeps_gradients() || legs() == 1) return;
  for (const int tensor : TensorsOfLegs(1, legs() - 1)) {
    const auto& spec = to_->collection().tensors()[static_cast<std::size_t>(tensor)];
    if (spec.role == ptc::TensorRole::kParam) follows_.push_back(tensor);
  }
  for (const auto& [id, next] : next_) {
    const engine::Arena& arena = *devices.devices().at(id).arena;
    // The update of copies is made by the host.
    if (!arena.memory().IsHostAccessible()) {
      why_one_leg_ = fmt::format("the host cannot use the memory of {}", ToString(id));
      return;
    }
    if (!IsSource(id)) continue;
    auto saved = engine::AllocateSaved(old_.at(id), next, follows_, id, arena.capacity());
    if (!saved) {
      why_one_leg_ = saved.error().message;
      return;
    }
    saved_.emplace(id, std::move(*saved));
  }
}

std::vector<int> PreparedChange::TensorsOfLegs(int first, int last) const {
  std::vector<int> out;
  for (int leg = first; leg <= last; ++leg) {
    const auto& tensors = prepare_.legs(leg - 1).tensors();
    out.insert(out.end(), tensors.begin(), tensors.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Status PreparedChange::WriteNext(DeviceStore& devices) const {
  for (const auto& [id, next] : next_) {
    TESSERA_RETURN_IF_ERROR(
        next.Write(*devices.Find(id)->arena, engine::PieceTable::SlotOf(next.epoch())));
  }
  return OkStatus();
}

Result<engine::PieceTable> PreparedChange::FirstTable(const DeviceStore::Device& device) const {
  if (IsSource(device.id)) return *device.table;
  return engine::PieceTable::Make(first_epoch(), held_hash(), prepare_.job(), {},
                                  device.arena->capacity());
}

// Whether all pieces find gaps is known before anything is freed.
Status PreparedChange::AllocateRounds(const DeviceStore& devices) {
  old_.clear();
  next_.clear();
  for (const auto& [id, device] : devices.devices()) {
    if (!IsSource(id) && !to_->mesh().RankOf(id)) continue;
    TESSERA_TRY(engine::PieceTable table, FirstTable(device));
    old_.emplace(id, table);
    for (const engine::Round& round : rounds_) {
      TESSERA_TRY(table, engine::AllocateRound(table, *to_, id, moves_->moves,
                                               device.arena->capacity(), round, BudgetOf(id)));
      next_.emplace(id, table);  // of the first round
    }
  }
  TakeMovesOf(1);
  return OkStatus();
}

Status PreparedChange::AdvanceTo(DeviceStore& devices, int round, std::int64_t step) {
  const std::int64_t epoch = first_epoch() + round - 1;  // of the table after the round before
  for (auto& [id, device] : devices.devices()) {
    const auto held = old_.find(id);
    if (held == old_.end() && !IsSource(id) && !to_->mesh().RankOf(id)) continue;
    if (held == old_.end()) {
      return FailedPrecondition(
          fmt::format("{} has lost the state of '{}'", ToString(id), prepare_.job()));
    }
    if (round > 1) {
      TESSERA_RETURN_IF_ERROR(FlipTo(devices, device, held->second, round - 1, step));
    }
    if (held->second.epoch() != epoch) {
      return FailedPrecondition(fmt::format("{} holds epoch {} of '{}', round {} needs {}",
                                            ToString(id), held->second.epoch(), prepare_.job(),
                                            round, epoch));
    }
    TESSERA_TRY(
        engine::PieceTable next,
        engine::AllocateRound(held->second, *to_, id, moves_->moves, device.arena->capacity(),
                              rounds_[static_cast<std::size_t>(round - 1)], BudgetOf(id)));
    std::int64_t& extra = extra_[id];
    extra = std::max(extra, engine::BytesBeside(held->second, next));
    next_.insert_or_assign(id, std::move(next));
  }
  TakeMovesOf(round);
  return WriteNext(devices);
}

Status PreparedChange::FlipTo(DeviceStore& devices, DeviceStore::Device& device,
                              engine::PieceTable& held, int round, std::int64_t step) const {
  const std::int64_t epoch = EpochAfter(round);
  if (held.epoch() != epoch - 1) return OkStatus();
  TESSERA_TRY(const engine::PieceTable next,
              engine::PieceTable::Read(*device.arena, engine::PieceTable::SlotOf(epoch))
                  .Context(ToString(device.id)));
  const engine::Round& moved = rounds_[static_cast<std::size_t>(round - 1)];
  if (next.epoch() != epoch || next.layout_hash() != moved.layout_hash) return OkStatus();
  devices.FlipRound(device, next, prepare_.timeline(), step);
  held = next;
  return OkStatus();
}

Status PreparedChange::Settle(DeviceStore& devices, int rounds, std::int64_t step) {
  for (auto& [id, held] : old_) {
    DeviceStore::Device& device = *devices.Find(id);
    if (rounds > 0) TESSERA_RETURN_IF_ERROR(FlipTo(devices, device, held, rounds, step));
    if (held.epoch() == EpochAfter(rounds)) continue;
    return FailedPrecondition(fmt::format("{} holds epoch {} of '{}', not {}, which is left of it",
                                          ToString(id), held.epoch(), prepare_.job(),
                                          EpochAfter(rounds)));
  }
  return OkStatus();
}

void PreparedChange::TakeMovesOf(int round) {
  const std::vector<int>& tensors = rounds_[static_cast<std::size_t>(round - 1)].tensors;
  auto now = std::make_shared<ptc::DeviceMoves>();
  for (const ptc::Move& move : moves_->moves) {
    const int tensor = std::visit([](const auto& m) { return m.tensor; }, move);
    if (std::binary_search(tensors.begin(), tensors.end(), tensor)) now->moves.push_back(move);
  }
  for (const auto& [id, next] : next_) {
    for (const engine::PieceEntry& entry : next.entries()) {
      if (entry.kind != engine::PieceEntry::kState) continue;
      if (std::binary_search(tensors.begin(), tensors.end(), entry.tensor)) continue;
      const engine::PieceEntry* const before =
          old_.at(id).Find(entry.kind, entry.tensor, entry.box);
      if (!before || before->offset_bytes == entry.offset_bytes) continue;
      now->moves.push_back(ptc::LocalCopy{id, entry.tensor, entry.box, entry.box, entry.box});
    }
  }
  moves_now_ = std::move(now);
}

std::int64_t PreparedChange::BudgetOf(ptc::DeviceId id) const {
  for (const wire::DeviceExtra& extra : prepare_.extra()) {
    const auto device = Decode(extra.device());
    if (device && *device == id) return extra.bytes();
  }
  return 0;
}

void PreparedChange::SetPeers(const google::protobuf::RepeatedPtrField<wire::Peer>& peers) {
  // A registrar that has restarted knows only the nodes that have come back to it.
  for (const wire::Peer& peer : peers) {
    auto& known = *prepare_.mutable_peers();
    const auto found = std::find_if(known.begin(), known.end(), [&](const wire::Peer& other) {
      return other.node() == peer.node();
    });
    *(found == known.end() ? known.Add() : &*found) = peer;
  }
}

Status PreparedChange::AllocateAll(const DeviceStore& devices) {
  const wire::Prepare& p = prepare_;
  old_.clear();
  next_.clear();
  for (const auto& [id, device] : devices.devices()) {
    const bool is_source = IsSource(id);
    if (!is_source && !to_->mesh().RankOf(id)) continue;
    const std::int64_t capacity = device.arena->capacity();
    TESSERA_TRY(const engine::PieceTable nothing,
                engine::PieceTable::Make(p.epoch() - 1, p.from_hash(), p.job(), {}, capacity));
    const engine::PieceTable& old_table = is_source ? *device.table : nothing;
    TESSERA_TRY(engine::PieceTable next, engine::AllocateNext(old_table, *from_, *to_, id,
                                                              moves_->moves, capacity, gradients_));
    old_.emplace(id, old_table);
    next_.emplace(id, std::move(next));
  }
  return OkStatus();
}

void PreparedChange::ExpandMoves(const DeviceStore& devices) {
  std::vector<ptc::DeviceId> own;
  for (const auto& [id, device] : devices.devices()) own.push_back(id);
  ptc::DeviceMoves moves = prepare_.has_hand_in() ? ptc::RefillMoves(*to_, own)
                           : remains_ ? ptc::MovesOf(*mixed_plan_, remains_->where, *to_, own)
                                      : ptc::MovesOf(*plan_, *from_, *to_, own);
  moves.moves.shrink_to_fit();
  moves_ = moves_now_ = std::make_shared<const ptc::DeviceMoves>(std::move(moves));
  if (prepare_.exchange()) ExpandOutgoing(devices);
  plan_.reset();
  mixed_plan_.reset();
}

// One device at a time: all moves of a large change may be more than memory has.
void PreparedChange::ExpandOutgoing(const DeviceStore& devices) {
  const ptc::Topology topology = TopologyOf(prepare_.peers());
  auto outgoing = std::make_shared<std::vector<ptc::RemoteCopy>>();
  for (const ptc::DeviceId device : to_->mesh().devices()) {
    if (devices.devices().contains(device)) continue;
    const ptc::DeviceMoves moves = ptc::MovesOf(*plan_, *from_, *to_, {&device, 1});
    for (const ptc::Move& move : moves.moves) {
      const auto* const copy = std::get_if<ptc::RemoteCopy>(&move);
      const bool is_ours = copy != nullptr && devices.devices().contains(copy->source);
      if (is_ours && ptc::CrossesHosts(*copy, topology)) outgoing->push_back(*copy);
    }
  }
  outgoing_ = std::move(outgoing);
}

std::vector<ptc::DeviceId> PreparedChange::ExchangeMembers() const {
  if (!prepare_.exchange() || !from_) return {};
  std::vector<ptc::DeviceId> out = ptc::DevicesOf(*from_, *to_);
  std::erase_if(out, [this](ptc::DeviceId device) { return IsLost(device); });
  return out;
}

std::vector<engine::ExchangeEnds> PreparedChange::ExchangeFlows() const {
  const ptc::Topology topology = TopologyOf(prepare_.peers());
  std::set<engine::ExchangeEnds> flows;
  for (const ptc::Move& move : moves_->moves) {
    const auto* const copy = std::get_if<ptc::RemoteCopy>(&move);
    if (copy != nullptr && ptc::CrossesHosts(*copy, topology)) {
      flows.emplace(copy->source, copy->device);
    }
  }
  if (outgoing_) {
    for (const ptc::RemoteCopy& copy : *outgoing_) flows.emplace(copy.source, copy.device);
  }
  return {flows.begin(), flows.end()};
}

std::string PreparedChange::TakeText() {
  std::string text = prepare_.SerializeAsString();
  DropTexts();
  return text;
}

void PreparedChange::DropTexts() {
  std::string().swap(*prepare_.mutable_from_layout());  // clear would keep the memory
  std::string().swap(*prepare_.mutable_to_layout());
  prepare_.clear_parts();
}

void PreparedChange::Recover(const DeviceStore& devices) {
  DropTexts();
  if (rounds() > 0) ExpandMoves(devices);
  for (const auto& [id, device] : devices.devices()) {
    const bool is_its = device.table && device.table->job() == prepare_.job();
    if (rounds() > 0 && (IsSource(id) || to_->mesh().RankOf(id)) && (is_its || !IsSource(id))) {
      const auto table = is_its ? Result<engine::PieceTable>(*device.table) : FirstTable(device);
      if (table) old_.emplace(id, *table);
    }
    const auto next =
        engine::PieceTable::Read(*device.arena, engine::PieceTable::SlotOf(prepare_.epoch()));
    if (next && next->epoch() == prepare_.epoch() && next->job() == prepare_.job() &&
        next->layout_hash() == prepare_.to_hash()) {
      next_.emplace(id, *next);
    }
  }
}

Status PreparedChange::CheckStep(const DeviceStore& devices, std::int64_t step) const {
  for (const auto& [id, table] : old_) {
    if (!IsSource(id)) continue;
    const engine::ArenaHeader& header = devices.devices().at(id).arena->header();
    const std::uint64_t begin = header.begin.load(), end = header.end.load();
    if (begin == end && end == static_cast<std::uint64_t>(step)) continue;
    return Internal(fmt::format("device {} is at update {} of {}, not after step {}", ToString(id),
                                begin, end, step));
  }
  return OkStatus();
}

std::shared_ptr<const MoveContext> PreparedChange::MakeContext(const DeviceStore& devices,
                                                               std::int32_t node,
                                                               const std::string& machine,
                                                               const OpenCheckpoint& open) const {
  const wire::Prepare& p = prepare_;
  auto context = std::make_shared<MoveContext>(MoveContext{{p.job(), p.transaction(), p.attempt()},
                                                           *from_,
                                                           *to_,
                                                           moves_now_,
                                                           TopologyOf(p.peers()),
                                                           node,
                                                           {},
                                                           {}});
  context->lost = lost_;
  context->is_round = rounds() > 0;
  if (remains_) context->mixed = std::make_shared<const ptc::MixedLayout>(remains_->where);
  context->outgoing = outgoing_;
  context->lane_use = {p.lane_use().lanes(), p.lane_use().frame_bytes()};
  for (const auto& [id, table] : next_) {
    const engine::Arena* arena = devices.devices().at(id).arena.get();
    const auto saved = saved_.find(id);
    context->local.emplace(
        id,
        MoveContext::Local{arena, old_.at(id), table,
                           saved == saved_.end() ? std::nullopt : std::optional(saved->second)});
  }
  if (can_follow()) context->follows = follows_;
  for (const wire::Peer& peer : p.peers()) {
    context->nodes[peer.node()] = {{peer.lanes().begin(), peer.lanes().end()},
                                   peer.public_key(),
                                   {peer.arena_paths().begin(), peer.arena_paths().end()},
                                   {peer.arena_tokens().begin(), peer.arena_tokens().end()},
                                   TicketsFrom(peer.lane_tickets())};
  }
  if (p.has_checkpoint()) {
    const auto settings = engine::ParseJobSettings(p.settings());
    context->open_checkpoint = [collection = to_->collection_ptr(), open,
                                choice = StoredTensors::Choice{p.checkpoint().path(),
                                                               p.checkpoint().parameters_only(),
                                                               settings ? settings->seed : 0}] {
      return StoredTensors::Open(choice, *collection, open);
    };
  } else if (p.has_snapshot()) {
    context->snapshot = {p.snapshot(), machine};
  } else if (p.has_hand_in()) {
    const wire::HandInSource& source = p.hand_in();
    context->hand_in = {static_cast<std::int64_t>(source.hand_in()),
                        {source.lanes().begin(), source.lanes().end()},
                        source.public_key()};
  }
  return context;
}

}  // namespace tessera::agents
