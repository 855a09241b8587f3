// SPDX-License-Identifier: Apache-2.0
#include "agents/client/cluster_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <future>
#include <utility>

#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/copy/run_walker.h"
#include "engine/model/gpt.h"

namespace tessera::agents {
namespace {

/// Segments of one read over lanes: a cell of many short runs is read in several.
constexpr std::size_t kMostSegments = 16 * kMaxSegments;

Result<engine::ViewMemory> MapShare(const std::string& path, std::int64_t bytes,
                                    const engine::ViewStamp& stamp) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unavailable(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  auto memory = engine::ViewMemory::Map(fd, bytes, stamp);
  ::close(fd);
  return memory;
}

}  // namespace

/// A part of a cell that comes over lanes, a batch of segments after the other.
struct ClusterView::RemoteRead {
  const engine::ViewCell* cell = nullptr;
  engine::CellView source;  // without memory: where the bytes lie inside the cell
  engine::CellView target;
  std::int64_t done = 0;  // bytes requested so far
  std::optional<std::future<Status>> under_way = {};
};

Result<std::shared_ptr<LaneReader>> LaneReaders::Of(const std::vector<std::string>& endpoints,
                                                    const std::string& server_key) {
  const std::lock_guard lock(mutex_);
  if (is_cancelled_) return Cancelled("the lane readers are closed");
  const auto found = readers_.find(endpoints);
  if (found != readers_.end() && found->second.server_key == server_key) {
    return found->second.reader;
  }
  LaneReaderOptions options;
  options.keys = keys_;
  TESSERA_TRY(std::shared_ptr<LaneReader> reader,
              LaneReader::Open(context_, endpoints, server_key, std::move(options)));
  readers_.insert_or_assign(endpoints, Known{server_key, reader});
  return reader;
}

void LaneReaders::Cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  for (const auto& [endpoints, known] : readers_) known.reader->Cancel();
}

Result<engine::vfs::JobInfo> DecodeJobState(const wire::JobStateInfo& info) {
  if (info.epoch() < 0 || info.timeline() < 0 || info.step() < 0) {
    return InvalidArgument(fmt::format("job '{}': epoch {}, timeline {} or step {} is negative",
                                       info.name(), info.epoch(), info.timeline(), info.step()));
  }
  TESSERA_TRY(ptc::Layout layout,
              ptc::ParseLayout(info.layout()).Context("job '" + info.name() + "'"));
  // What a job reads decides nothing here but whether there is a folder for it.
  const auto settings = engine::ParseJobSettings(info.settings());
  return engine::vfs::JobInfo{info.name(),
                              info.epoch(),
                              info.timeline(),
                              info.step(),
                              std::move(layout),
                              info.settings(),
                              settings && !settings->program};
}

ClusterView::ClusterView(engine::vfs::JobInfo info, std::shared_ptr<LaneReaders> readers,
                         std::function<void()> released)
    : info_(std::move(info)), readers_(std::move(readers)), released_(std::move(released)) {}

ClusterView::~ClusterView() {
  if (released_) released_();
}

Result<std::shared_ptr<ClusterView>> ClusterView::Make(const wire::ViewReply& reply,
                                                       const std::string& machine,
                                                       std::shared_ptr<LaneReaders> readers,
                                                       std::function<void()> released) {
  TESSERA_TRY(engine::vfs::JobInfo info, DecodeJobState(reply.job()));
  std::shared_ptr<ClusterView> view(
      new ClusterView(std::move(info), std::move(readers), std::move(released)));
  view->id_ = reply.view();
  view->plan_ = std::make_shared<const engine::ViewPlan>(view->info_.layout);
  const auto& bytes_of_node = view->plan_->bytes_of_node();
  for (const wire::ViewShare& share : reply.shares()) {
    const auto bytes = bytes_of_node.find(share.node());
    if (bytes == bytes_of_node.end() || bytes->second != share.bytes()) {
      return InvalidArgument(fmt::format("n{} holds {} bytes of a view of '{}', expected {}",
                                         share.node(), share.bytes(), view->info_.name,
                                         bytes == bytes_of_node.end() ? 0 : bytes->second));
    }
    Share& own = view->shares_[share.node()];
    own.lanes.assign(share.lanes().begin(), share.lanes().end());
    own.public_key = share.public_key();
    if (machine.empty() || share.machine() != machine) continue;
    const engine::ViewStamp stamp{view->id_,        view->info_.epoch,         view->info_.timeline,
                                  view->info_.step, view->info_.layout.hash(), view->plan_->hash(),
                                  share.node()};
    // Another user's, or another container's: then the lanes serve.
    if (auto memory = MapShare(share.path(), share.bytes(), stamp)) {
      own.memory.emplace(std::move(*memory));
    }
  }
  if (view->shares_.size() != bytes_of_node.size()) {
    return InvalidArgument(fmt::format("a view of '{}' with shares of {} nodes, expected {}",
                                       view->info_.name, view->shares_.size(),
                                       bytes_of_node.size()));
  }
  return view;
}

Status ClusterView::Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const {
  const auto& tensors = info_.layout.collection().tensors();
  if (tensor < 0 || tensor >= std::ssize(tensors)) {
    return InvalidArgument(fmt::format("tensor {} of {}", tensor, tensors.size()));
  }
  const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(tensor)];
  const std::int64_t element = ptc::SizeBytes(spec.dtype);
  const auto whole = ptc::Box::Whole(spec.shape);
  if (!whole || box.rank() != whole->rank() || !Contains(*whole, box) ||
      std::ssize(out) != box.num_elements() * element) {
    return InvalidArgument(
        fmt::format("tensor '{}': {} bytes for {}", spec.name, out.size(), ToString(box)));
  }
  std::deque<RemoteRead> remote;  // lanes write through its elements: they stay where they are
  for (const engine::ViewCell& cell : plan_->CellsOf(tensor)) {
    const auto part = Intersect(cell.box, box);
    if (!part) continue;
    const engine::CellView target(box, *part, element, out.data());
    const Share& share = shares_.at(cell.device.node);
    if (share.memory) {
      engine::CopyCell(target, engine::CellView(cell.box, *part, element,
                                                share.memory->data(cell.offset_bytes)));
      continue;
    }
    RemoteRead& read = remote.emplace_back(
        RemoteRead{&cell, engine::CellView(cell.box, *part, element, nullptr), target});
    Begin(read);
  }
  // Each ends before this returns, also after an error: `out` is the caller's again then.
  std::optional<Error> first;
  for (RemoteRead& read : remote) {
    while (read.under_way) {
      const Status status = read.under_way->get();
      read.under_way.reset();
      if (!status && !first) first = Describe(status.error(), *read.cell);
      if (!first) Begin(read);
    }
  }
  if (first) return *first;
  return OkStatus();
}

void ClusterView::Begin(RemoteRead& read) const {
  if (read.done == read.source.size_bytes()) return;
  const std::int64_t number = read.cell - plan_->cells().data();
  engine::RunWalker walker(read.source, read.done);
  std::vector<LaneSegment> segments;
  std::int64_t bytes = 0;
  while (segments.size() < kMostSegments && walker.remaining() > 0) {
    const std::int64_t run = walker.remaining();
    segments.push_back({number, walker.piece_offset(), run});
    bytes += run;
    walker.Advance(run);
  }
  const Share& share = shares_.at(read.cell->device.node);
  const auto write = [&target = read.target, at = read.done](std::int64_t offset,
                                                             std::span<const std::byte> in) {
    target.Write(at + offset, in);
  };
  read.done += bytes;
  if (auto reader = readers_->Of(share.lanes, share.public_key)) {
    const LaneKey key{info_.name, static_cast<std::int64_t>(id_), kViewAttempt};
    read.under_way = (*reader)->Read(key, std::move(segments), write);
  } else {
    std::promise<Status> failed;
    failed.set_value(Status(reader.error()));
    read.under_way = failed.get_future();
  }
}

Error ClusterView::Describe(Error error, const engine::ViewCell& cell) const {
  if (const auto lost = fate_->lost(); lost && error.code != ErrorCode::kCancelled) error = *lost;
  // The node lives and knows nothing of the view: what it held is gone.
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kDataLoss;
  const auto& spec = info_.layout.collection().tensors()[static_cast<std::size_t>(cell.tensor)];
  return Status(std::move(error))
      .Context(fmt::format("tensor '{}' on n{}", spec.name, cell.device.node))
      .error();
}

}  // namespace tessera::agents
