// SPDX-License-Identifier: Apache-2.0
#include "agents/views/share_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <utility>

#include "agents/net/lane_ticket.h"
#include "agents/wire/tessera/wire/view.pb.h"
#include "engine/copy/cell_view.h"
#include "engine/store/sealed_memory.h"

namespace tessera::agents {
namespace {

Result<engine::ViewMemory> MapShare(const std::string& path, std::int64_t bytes,
                                    const engine::ViewStamp& stamp) {
  TESSERA_TRY(const int fd, engine::OpenSealedMemory(path));
  auto memory = engine::ViewMemory::Map(fd, bytes, stamp);
  ::close(fd);
  return memory;
}

}  // namespace

/// A part of a cell that comes over lanes. The source packs it.
struct ShareReader::RemoteRead {
  const engine::ViewCell* cell = nullptr;
  engine::CellView target;
  std::future<Status> done = {};
};

void Encode(const SharedState& state, wire::JobStateInfo* out) {
  out->set_name(state.job);
  out->set_epoch(state.epoch);
  out->set_timeline(state.timeline);
  out->set_step(state.step);
  out->set_layout(ptc::ToJson(state.layout));
  if (state.guest) out->set_guest(*state.guest);
  out->set_origin(state.origin);
}

Result<SharedState> DecodeSharedState(const wire::JobStateInfo& info) {
  if (info.epoch() < 0 || info.timeline() < 0 || info.step() < 0) {
    return InvalidArgument(fmt::format("job '{}': epoch {}, timeline {} or step {} is negative",
                                       info.name(), info.epoch(), info.timeline(), info.step()));
  }
  TESSERA_TRY(ptc::Layout layout,
              ptc::ParseLayout(info.layout()).Context("job '" + info.name() + "'"));
  SharedState state{info.name(), info.epoch(), info.timeline(), info.step(), std::move(layout)};
  if (info.has_guest()) state.guest = info.guest();
  state.origin = info.origin();
  return state;
}

ShareReader::ShareReader(SharedState state, std::shared_ptr<const engine::ViewPlan> plan,
                         std::shared_ptr<LaneReaders> readers, Options options)
    : state_(std::move(state)),
      plan_(std::move(plan)),
      readers_(std::move(readers)),
      options_(std::move(options)) {}

Result<ShareReader> ShareReader::Make(const wire::ViewReply& shares, SharedState state,
                                      std::shared_ptr<LaneReaders> readers, Options options) {
  auto plan = std::make_shared<const engine::ViewPlan>(
      options.is_snapshot ? engine::ViewPlan::OfSnapshot(state.layout, state.guest)
                          : engine::ViewPlan(state.layout));
  ShareReader reader(std::move(state), std::move(plan), std::move(readers), std::move(options));
  TESSERA_RETURN_IF_ERROR(reader.TakeShares(shares));
  TESSERA_RETURN_IF_ERROR(reader.ChooseCopies());
  return reader;
}

Status ShareReader::TakeShares(const wire::ViewReply& shares) {
  id_ = shares.view();
  const auto& bytes_of_node = plan_->bytes_of_node();
  for (const wire::ViewShare& share : shares.shares()) {
    const auto bytes = bytes_of_node.find(share.node());
    if (bytes == bytes_of_node.end() || bytes->second != share.bytes()) {
      return InvalidArgument(fmt::format("n{} holds {} bytes of a view of '{}', expected {}",
                                         share.node(), share.bytes(), state_.job,
                                         bytes == bytes_of_node.end() ? 0 : bytes->second));
    }
    Share& own = shares_[share.node()];
    own.lanes.assign(share.lanes().begin(), share.lanes().end());
    own.public_key = share.public_key();
    own.tickets = TicketsFrom(share.lane_tickets());
    if (options_.machine.empty() || share.machine() != options_.machine) continue;
    const engine::ViewStamp stamp{id_,         state_.epoch,         state_.timeline,
                                  state_.step, state_.layout.hash(), plan_->hash(),
                                  share.node()};
    // Another user's, or another container's: then the lanes serve.
    if (auto memory = MapShare(share.path(), share.bytes(), stamp)) {
      own.memory.emplace(std::move(*memory));
    }
  }
  if (options_.is_snapshot || shares_.size() == bytes_of_node.size()) return OkStatus();
  return InvalidArgument(fmt::format("a view of '{}' with shares of {} nodes, expected {}",
                                     state_.job, shares_.size(), bytes_of_node.size()));
}

Status ShareReader::ChooseCopies() {
  const auto& cells = plan_->cells();
  copies_.resize(cells.size(), nullptr);
  const auto share_of = [&](const engine::ViewCell& cell) -> const Share* {
    const auto share = shares_.find(cell.device.node);
    const bool has = share != shares_.end() && !(options_.only_copied && cell.is_fetched());
    return has ? &share->second : nullptr;
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].is_second) continue;
    const bool has_second = i + 1 < cells.size() && cells[i + 1].is_second;
    const Share* first = share_of(cells[i]);
    const Share* second = has_second ? share_of(cells[i + 1]) : nullptr;
    const bool use_second = second && (!first || (!first->memory && second->memory));
    copies_[i] = use_second ? &cells[i + 1] : &cells[i];
    if (first || second) continue;
    const auto& tensors = state_.layout.collection().tensors();
    return DataLoss(fmt::format("tensor '{}' {}: no node that is left holds it",
                                tensors[static_cast<std::size_t>(cells[i].tensor)].name,
                                ToString(cells[i].box)));
  }
  return OkStatus();
}

Status ShareReader::Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const {
  const Part part{tensor, box, out};
  return ReadAll({&part, 1});
}

Status ShareReader::CheckPart(const Part& part) const {
  const auto& tensors = state_.layout.collection().tensors();
  if (part.tensor < 0 || part.tensor >= std::ssize(tensors)) {
    return InvalidArgument(fmt::format("tensor {} of {}", part.tensor, tensors.size()));
  }
  const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(part.tensor)];
  const std::int64_t element = ptc::SizeBytes(spec.dtype);
  const auto whole = ptc::Box::Whole(spec.shape);
  if (!whole || part.box.rank() != whole->rank() || !Contains(*whole, part.box) ||
      std::ssize(part.out) != part.box.num_elements() * element) {
    return InvalidArgument(fmt::format("tensor '{}': {} bytes for {}", spec.name, part.out.size(),
                                       ToString(part.box)));
  }
  return OkStatus();
}

Status ShareReader::ReadAll(std::span<const Part> parts) const {
  for (const Part& part : parts) TESSERA_RETURN_IF_ERROR(CheckPart(part));
  std::deque<RemoteRead> remote;  // lanes write through its elements: they stay where they are
  for (const Part& part : parts) BeginPart(part, remote);
  // Each ends before this returns, also after an error: `out` is the caller's again then.
  std::optional<Error> first;
  for (RemoteRead& read : remote) {
    const Status status = read.done.get();
    if (!status && !first) first = Describe(status.error(), *read.cell);
  }
  if (first) return *first;
  return OkStatus();
}

void ShareReader::BeginPart(const Part& part, std::deque<RemoteRead>& remote) const {
  const auto& tensors = state_.layout.collection().tensors();
  const std::int64_t element = ptc::SizeBytes(tensors[static_cast<std::size_t>(part.tensor)].dtype);
  for (const engine::ViewCell& place : plan_->CellsOf(part.tensor)) {
    if (place.is_second) continue;
    const auto cut = Intersect(place.box, part.box);
    if (!cut) continue;
    const engine::ViewCell& cell =
        *copies_[static_cast<std::size_t>(&place - plan_->cells().data())];
    const engine::CellView target(part.box, *cut, element, part.out.data());
    const Share& share = shares_.at(cell.device.node);
    if (share.memory) {
      engine::CopyCell(
          target, engine::CellView(cell.box, *cut, element, share.memory->data(cell.offset_bytes)));
      continue;
    }
    Begin(remote.emplace_back(RemoteRead{&cell, target}), *cut);
  }
}

void ShareReader::Begin(RemoteRead& read, const ptc::Box& part) const {
  const Share& share = shares_.at(read.cell->device.node);
  if (auto reader = readers_->Of(share.lanes, share.public_key, !share.tickets.empty())) {
    const LaneKey key{state_.job, static_cast<std::int64_t>(id_), kViewAttempt};
    const LaneCell cell{0, read.cell->tensor, part};
    read.done = (*reader)->Read(
        key, {{cell, 0, read.target.size_bytes()}},
        [&target = read.target](std::int64_t offset, std::span<const std::byte> in) {
          target.Write(offset, in);
        },
        share.tickets);
  } else {
    std::promise<Status> failed;
    failed.set_value(Status(reader.error()));
    read.done = failed.get_future();
  }
}

Error ShareReader::Describe(Error error, const engine::ViewCell& cell) const {
  if (options_.explain) error = options_.explain(std::move(error));
  // The node lives and knows nothing of the share: what it held is gone.
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kDataLoss;
  const auto& spec = state_.layout.collection().tensors()[static_cast<std::size_t>(cell.tensor)];
  return Status(std::move(error))
      .Context(fmt::format("tensor '{}' on n{}", spec.name, cell.device.node))
      .error();
}

}  // namespace tessera::agents
