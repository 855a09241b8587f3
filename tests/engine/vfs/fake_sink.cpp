// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/vfs/fake_sink.h"

#include <cstring>
#include <utility>

#include "tests/engine/vfs/fake_source.h"

namespace tessera::test {
namespace {

/// Calls `element` with the index in the uncut tensor and the index in memory of each element.
void Walk(const ptc::Shape& shape, const ptc::Box& box, const ptc::Box& memory, int dim,
          std::int64_t row, std::int64_t memory_row,
          const std::function<void(std::int64_t, std::int64_t)>& element) {
  if (dim == box.rank()) return element(row, memory_row);
  for (std::int64_t i = box[dim].begin; i < box[dim].end; ++i) {
    Walk(shape, box, memory, dim + 1, row * shape[static_cast<std::size_t>(dim)] + i,
         memory_row * memory[dim].size() + i - memory[dim].begin, element);
  }
}

std::string JudgeTensor(const engine::vfs::HandedState& state, int tensor) {
  const auto& spec = state.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
  const auto bytes = static_cast<std::size_t>(ptc::SizeBytes(spec.dtype));
  std::vector<bool> seen(static_cast<std::size_t>(*ptc::NumElements(spec.shape)));
  for (const auto& piece : state.tensors[static_cast<std::size_t>(tensor)]) {
    bool equal = true;
    const auto compare = [&](std::int64_t index, std::int64_t in_memory) {
      const std::uint64_t bits = ElementBits(tensor, index, state.step);
      const std::byte* at = piece.data + static_cast<std::size_t>(in_memory) * bytes;
      equal = equal && std::memcmp(at, &bits, bytes) == 0;
      seen[static_cast<std::size_t>(index)] = true;
    };
    Walk(spec.shape, piece.box, piece.memory, 0, 0, 0, compare);
    if (!equal) return "tensor '" + spec.name + "' has other elements";
  }
  for (const bool element : seen) {
    if (!element) return "tensor '" + spec.name + "' has a hole";
  }
  return {};
}

}  // namespace

void FakeSink::Fail(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}
void FakeSink::InNextTake(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  in_take_ = std::move(action);
}
std::vector<std::string> FakeSink::verdicts() const {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}
std::vector<engine::vfs::HandedStatePtr> FakeSink::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}
std::vector<std::string> FakeSink::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

Status FakeSink::Take(engine::vfs::HandedStatePtr state) {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    action = std::exchange(in_take_, nullptr);
  }
  if (action) action();
  std::string verdict;
  for (int t = 0; verdict.empty() && t < std::ssize(state->tensors); ++t) {
    verdict = JudgeTensor(*state, t);
  }
  const std::lock_guard lock(mutex_);
  if (error_) return *error_;
  verdicts_.push_back(std::move(verdict));
  taken_.push_back(std::move(state));
  return OkStatus();
}

void FakeSink::NoteRefused(const std::string& job, const std::string& why) {
  const std::lock_guard lock(mutex_);
  refusals_.push_back(job + ": " + why);
}

}  // namespace tessera::test
