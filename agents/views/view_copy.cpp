// SPDX-License-Identifier: Apache-2.0
#include "agents/views/view_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "engine/copy/device_memory.h"
#include "engine/files/available_memory.h"

namespace tessera::agents {
namespace {

/// How often a device that has not reached the step is checked.
constexpr auto kPoll = std::chrono::microseconds(300);

/// Copied between two looks at the stop token: the loop waits for a copy that it abandons.
constexpr std::size_t kBytesAtATime = std::size_t{64} << 20;

/// A view gets at most this fraction of the free memory, because ranks need memory too.
constexpr std::int64_t kShareOfFreeMemory = 2;

Status CheckMemory(std::int64_t bytes) {
  const auto available = engine::AvailableMemory();
  if (!available || bytes <= *available / kShareOfFreeMemory) return OkStatus();
  return ResourceExhausted(
      fmt::format("a view's {} bytes are more than half of the {} bytes of memory that are free",
                  bytes, *available));
}

/// Clears the hold of a device on destruction.
class Hold {
 public:
  explicit Hold(const ViewSource& source) : header_(&source.arena->header()) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { header_->hold.store(0); }

 private:
  engine::ArenaHeader* header_;
};

}  // namespace

std::optional<std::int64_t> HoldUpdatesAfter(std::int64_t step,
                                             const std::vector<ViewSource>& sources) {
  const auto last = static_cast<std::uint64_t>(step);
  std::optional<std::int64_t> begun;
  for (const ViewSource& source : sources) {
    engine::ArenaHeader& header = source.arena->header();
    header.hold.store(last + 1);
    // Read after the store of `hold`; both are sequentially consistent, see agents/job/FORMAT.md.
    const auto at = static_cast<std::int64_t>(header.begin.load());
    if (at > step) begun = std::max(begun.value_or(0), at);
  }
  if (begun) {
    for (const ViewSource& source : sources) source.arena->header().hold.store(0);
  }
  return begun;
}

ViewCopy::ViewCopy(ViewTask task, std::function<void(Result<engine::ViewMemory>)> done)
    : task_(std::move(task)) {
  thread_ = std::jthread(
      [this, done = std::move(done)](const std::stop_token& stop) { done(Run(stop)); });
}

ViewCopy::~ViewCopy() { thread_.request_stop(); }

Result<engine::ViewMemory> ViewCopy::Run(const std::stop_token& stop) {
  // Allocated while the ranks compute gradients, so that only the copy can delay an update.
  const std::int64_t bytes =
      task_.plan->bytes_of_node().at(static_cast<std::int32_t>(task_.stamp.node));
  auto memory = [&]() -> Result<engine::ViewMemory> {
    TESSERA_RETURN_IF_ERROR(CheckMemory(bytes));
    return engine::ViewMemory::Create(fmt::format("view {:016x}", task_.stamp.view), bytes, stop);
  }();
  std::vector<Status> results(task_.sources.size());
  {
    std::stop_source failed;
    const std::stop_callback forward(stop, [&failed] { failed.request_stop(); });
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < task_.sources.size(); ++i) {
      threads.emplace_back([&, i] {
        const Hold hold(task_.sources[i]);
        if (!memory) return;
        results[i] = CopyDevice(task_.sources[i], *memory, failed.get_token());
        if (!results[i]) failed.request_stop();
      });
    }
  }
  if (!memory) return memory;
  std::optional<Error>
      first;  // the first error that is not a cancellation, which is only its consequence
  for (const Status& result : results) {
    if (result) continue;
    if (!first || first->code == ErrorCode::kCancelled) first = result.error();
  }
  if (first) return *first;
  memory->Stamp(task_.stamp);
  return memory;
}

Status ViewCopy::WaitForStep(const ViewSource& source, const std::stop_token& stop) const {
  const auto step = static_cast<std::uint64_t>(task_.stamp.step);
  while (true) {
    const std::uint64_t end = source.arena->header().end.load(std::memory_order_acquire);
    if (end >= step) return OkStatus();
    if (stop.stop_requested()) return Cancelled("the view was abandoned");
    if (std::chrono::steady_clock::now() > task_.deadline) {
      return Timeout(fmt::format("{} of '{}' is after step {}: step {} did not end in time",
                                 ToString(source.id), task_.job, end, step));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Status ViewCopy::CopyDevice(const ViewSource& source, const engine::ViewMemory& memory,
                            const std::stop_token& stop) const {
  TESSERA_RETURN_IF_ERROR(WaitForStep(source, stop));
  const auto& tensors = task_.layout.collection().tensors();
  for (const engine::ViewCell& cell : task_.plan->cells()) {
    if (cell.device != source.id) continue;
    if (stop.stop_requested()) return Cancelled("the view was abandoned");
    const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(cell.tensor)];
    const engine::PieceEntry* piece = source.table.FindContaining(cell.tensor, cell.box);
    if (!piece) {
      return Internal(fmt::format("{} has no piece of tensor '{}' with {}", ToString(source.id),
                                  spec.name, ToString(cell.box)));
    }
    const engine::DeviceCell from =
        source.arena->CellAt(piece->offset_bytes, piece->box, cell.box, ptc::SizeBytes(spec.dtype));
    const std::span<std::byte> to(memory.data(cell.offset_bytes),
                                  static_cast<std::size_t>(from.size_bytes()));
    for (std::size_t at = 0; at < to.size(); at += kBytesAtATime) {
      if (stop.stop_requested()) return Cancelled("the view was abandoned");
      TESSERA_RETURN_IF_ERROR(from.Pack(static_cast<std::int64_t>(at),
                                        to.subspan(at, std::min(kBytesAtATime, to.size() - at))));
    }
  }
  // The copy is the state after the step only if the device did not change during it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const engine::ArenaHeader& header = source.arena->header();
  if (header.end.load() != static_cast<std::uint64_t>(task_.stamp.step) ||
      header.epoch.load() != static_cast<std::uint64_t>(task_.stamp.epoch)) {
    return DataLoss(fmt::format("{} of '{}' continued from step {} while it was copied",
                                ToString(source.id), task_.job, task_.stamp.step));
  }
  return OkStatus();
}

}  // namespace tessera::agents
