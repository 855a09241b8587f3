// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of a file that somebody opened. They do not change while it is open.

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

/// Bytes that follow each other in a file, wherever they lie in memory.
using Fragments = std::vector<std::span<const std::byte>>;

/// No Read gives more fragments, for requests of up to 1 MiB: what one writev(2) takes, with a
/// header.
inline constexpr std::size_t kMaxFragments = 1000;

/// \threadsafety Any thread, several at once.
class Content {
 public:
  virtual ~Content() = default;
  virtual std::int64_t size() const = 0;
  /// The bytes [offset, offset + room.size()) of the file, less beyond its end. Those that do not
  /// lie ready in memory come into `room`; fragments are good as long as both it and the content.
  /// \pre offset >= 0; room.size() <= 1 MiB for the limit of kMaxFragments to hold
  /// \error that of StateView::Read
  virtual Result<Fragments> Read(std::int64_t offset, std::span<std::byte> room) const = 0;
};
using ContentPtr = std::shared_ptr<const Content>;

/// A file that is there in memory.
class TextContent final : public Content {
 public:
  explicit TextContent(std::string text) : text_(std::move(text)) {}
  std::int64_t size() const override { return std::ssize(text_); }
  Result<Fragments> Read(std::int64_t offset, std::span<std::byte> room) const override;
  const std::string& text() const { return text_; }

 private:
  const std::string text_;
};

/// A safetensors file put together from a view as it is read: only the elements that a read covers
/// are asked for.
class StateContent final : public Content {
 public:
  /// \pre the plan was made of the view's job and layout
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
