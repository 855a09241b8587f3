// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Sources that are read through a wrapper: a cache or read-ahead.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::agents {

/// Forwards to another source, except for reads.
class WrappedSource : public engine::ByteSource {
 public:
  const std::string& name() const final { return source_->name(); }
  std::int64_t size_bytes() const final { return source_->size_bytes(); }
  std::string version() const final { return source_->version(); }

 protected:
  explicit WrappedSource(engine::ByteSourcePtr source) : source_(std::move(source)) {}
  const engine::ByteSourcePtr& source() const { return source_; }

 private:
  const engine::ByteSourcePtr source_;
};

/// Forwards to another opener and wraps its sources.
class WrappedFiles : public engine::SourceOpener {
 public:
  bool Knows(const std::string& name) const final { return files_->Knows(name); }
  Result<engine::ByteSourcePtr> Open(const std::string& name) const final {
    TESSERA_TRY(engine::ByteSourcePtr source, files_->Open(name));
    return Wrap(std::move(source));
  }
  Result<std::vector<std::string>> List(const std::string& name) const final {
    return files_->List(name);
  }

 protected:
  explicit WrappedFiles(std::shared_ptr<const engine::SourceOpener> files)
      : files_(std::move(files)) {}

 private:
  virtual engine::ByteSourcePtr Wrap(engine::ByteSourcePtr source) const = 0;
  const std::shared_ptr<const engine::SourceOpener> files_;
};

}  // namespace tessera::agents
