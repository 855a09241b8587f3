// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of an open file. They do not change while it is open.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Consecutive bytes of a file, which may lie anywhere in memory.
using Fragments = std::vector<std::span<const std::byte>>;

/// The most fragments of a Read of up to 1 MiB. One writev(2) takes them and a header.
inline constexpr std::size_t kMaxFragments = 1000;

/// \threadsafety Any thread, several at once.
class Content {
 public:
  virtual ~Content() = default;
  virtual std::int64_t size() const = 0;
  /// Reads the bytes [offset, offset + room.size()) of the file, fewer at its end. Bytes that are
  /// not in memory yet are read into `room`. The fragments are valid as long as `room` and this
  /// object exist.
  /// \pre offset >= 0; room.size() <= 1 MiB, so that there are at most kMaxFragments
  /// \error that of StateView::Read
  virtual Result<Fragments> Read(std::int64_t offset, std::span<std::byte> room) const = 0;
};
using ContentPtr = std::shared_ptr<const Content>;

/// A file that lies in memory.
class TextContent final : public Content {
 public:
  explicit TextContent(std::string text) : text_(std::move(text)) {}
  std::int64_t size() const override { return std::ssize(text_); }
  Result<Fragments> Read(std::int64_t offset, std::span<std::byte> room) const override;
  const std::string& text() const { return text_; }

 private:
  const std::string text_;
};

/// A safetensors file that is assembled from a view during reads. A read requests only the elements
/// that it covers.
class StateContent final : public Content {
 public:
  /// \pre `plan` is of the view's job and layout
  /// \error that of FilePlan::Header
  static Result<ContentPtr> Make(std::shared_ptr<const FilePlan> plan, StateViewPtr view);
  std::int64_t size() const override { return plan_->size(); }
  Result<Fragments> Read(std::int64_t offset, std::span<std::byte> room) const override;

 private:
  StateContent(std::shared_ptr<const FilePlan> plan, StateViewPtr view, std::string header)
      : plan_(std::move(plan)), view_(std::move(view)), header_(std::move(header)) {}
  const std::shared_ptr<const FilePlan> plan_;
  const StateViewPtr view_;
  const std::string header_;
};

}  // namespace tessera::engine::vfs
