// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The machine that reads a pickle: its stack, its marks and its memo.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/checkpoint/torch/byte_source.h"
#include "engine/checkpoint/torch/pickle.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// The machine of Python's pickletools.py, section "The pickle machine": a stack, marks in it, and
/// a memo. Values refer to each other by their index, so nothing here recurses.
class PickleReader {
 public:
  explicit PickleReader(Pickle& pickle) : pickle_(pickle), bytes_(pickle.bytes_) {}

  Status Run();

 private:
  /// What a step says instead of an error: go on, or the pickle is at its end.
  enum class Next : std::uint8_t { kGoOn, kStop };

  Result<Next> Step(unsigned char opcode);
  Status StepConstant(unsigned char opcode);
  Status StepText(unsigned char opcode);
  Status StepContainer(unsigned char opcode);
  Status StepMemo(unsigned char opcode);
  Status StepObject(unsigned char opcode);

  Error At(std::string_view message) const {
    return ErrorAt(pickle_.name_, pickle_.begin_ + static_cast<std::int64_t>(start_), message);
  }
  Result<std::string_view> Take(std::uint64_t size);
  Result<std::uint64_t> TakeUnsigned(std::size_t num_bytes);
  Result<std::string_view> TakeLine();

  Status Push(std::uint32_t id);
  Status Push(Pickle::Kind kind, std::uint64_t payload = 0, std::uint32_t extra = 0);
  Status PushItems(Pickle::Kind kind, std::vector<std::uint32_t> items);
  /// A text of `size` bytes that starts where reading stands.
  Status PushText(Pickle::Kind kind, std::uint64_t size);
  Status PushLong(std::uint64_t size);
  Status PushInteger(std::int64_t value) {
    return Push(Pickle::Kind::kInteger, static_cast<std::uint64_t>(value));
  }
  Status PushGlobal(std::string_view module, std::string_view name);

  /// How much of the stack may be popped: what lies above the topmost mark.
  std::size_t Poppable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  Result<std::uint32_t> Pop();
  /// The last `count` values.
  Result<std::vector<std::uint32_t>> PopMany(std::size_t count);
  /// The values above the topmost mark, which goes too.
  Result<std::vector<std::uint32_t>> PopToMark();
  /// Adds to the container on top of the stack.
  Status AddTo(Pickle::Kind kind, const std::vector<std::uint32_t>& items);
  Status Put(std::uint64_t index);
  Status Get(std::uint64_t index);
  Status Call(std::uint32_t callable, std::uint32_t arguments);
  Status Build(std::uint32_t state);

  const Pickle::Node& Look(std::uint32_t id) const { return pickle_.nodes_[id]; }
  std::string_view TextOf(const Pickle::Node& node) const {
    return bytes_.substr(node.payload, node.extra);
  }

  static constexpr std::uint32_t kNoValue = UINT32_MAX;
  static constexpr std::size_t kMaxMarks = std::size_t{1} << 16;

  Pickle& pickle_;
  std::string_view bytes_;
  std::size_t at_ = 0;     // where reading stands
  std::size_t start_ = 0;  // of the current opcode
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack when they were set
  std::vector<std::uint32_t> memo_;
};

}  // namespace tessera::checkpoint
