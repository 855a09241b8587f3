// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The virtual machine of pickles: a stack, marks and a memo.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/checkpoint/torch/byte_source.h"
#include "engine/checkpoint/torch/pickle.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Executes the opcodes of a pickle as described in Python's pickletools.py, section "The pickle
/// machine". Values refer to each other by index, so nothing here recurses.
class PickleReader {
 public:
  explicit PickleReader(Pickle& pickle) : pickle_(pickle), bytes_(pickle.bytes_) {}

  Status Run();

 private:
  /// The result of a step. kStop: the pickle has ended.
  enum class Next : std::uint8_t { kContinue, kStop };

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
  /// Pushes the next `size` bytes as text.
  Status PushText(Pickle::Kind kind, std::uint64_t size);
  Status PushLong(std::uint64_t size);
  Status PushInteger(std::int64_t value) {
    return Push(Pickle::Kind::kInteger, static_cast<std::uint64_t>(value));
  }
  Status PushGlobal(std::string_view module, std::string_view name);

  /// The number of values above the topmost mark. Only these may be popped.
  std::size_t Poppable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  Result<std::uint32_t> Pop();
  /// Pops the last `count` values.
  Result<std::vector<std::uint32_t>> PopMany(std::size_t count);
  /// Pops the values above the topmost mark, and the mark.
  Result<std::vector<std::uint32_t>> PopToMark();
  /// Adds items to the container on top of the stack.
  Status AddTo(Pickle::Kind kind, const std::vector<std::uint32_t>& items);
  Status Put(std::uint64_t index);
  Status Get(std::uint64_t index);
  /// Adds a global that is not known. Returns its number.
  Result<std::uint64_t> AddUnknown(std::string_view module, std::string_view name);
  /// The items of a dict that is made from a list of pairs, as Python 2 writes an OrderedDict.
  Result<std::vector<std::uint32_t>> ItemsOfPairs(std::uint32_t arguments) const;
  /// The only argument, if it has that kind.
  std::optional<std::uint32_t> Only(std::uint32_t arguments, Pickle::Kind kind) const;
  Status Call(std::uint32_t callable, std::uint32_t arguments);
  Status Build(std::uint32_t state);

  const Pickle::Node& Look(std::uint32_t id) const { return pickle_.nodes_[id]; }
  std::span<const std::uint32_t> ItemsOf(std::uint32_t id) const {
    const Pickle::Node& node = Look(id);
    if (node.extra == Pickle::kNoItems) return {};
    return pickle_.lists_[node.extra];
  }
  std::string_view TextOf(const Pickle::Node& node) const {
    return bytes_.substr(node.payload, node.extra);
  }

  static constexpr std::uint32_t kNoValue = UINT32_MAX;
  static constexpr std::size_t kMaxMarks = std::size_t{1} << 16;

  Pickle& pickle_;
  std::string_view bytes_;
  std::size_t at_ = 0;     // the next byte to read
  std::size_t start_ = 0;  // the byte of the current opcode
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;  // size of the stack at each mark
  std::vector<std::uint32_t> memo_;
};

}  // namespace tessera::checkpoint
