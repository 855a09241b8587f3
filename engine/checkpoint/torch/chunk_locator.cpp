// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/chunk_locator.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::checkpoint {

Result<StoredBox> ChunkLocator::Locate(const StoredTensor& tensor, const StoredBox& box) const {
  const ArchiveKey key(box.file, box.offset, box.archive_bytes);
  std::optional<SavedTensor> saved;
  bool known = false;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = opened_.find(key); found != opened_.end()) {
      saved = found->second;
      known = true;
    }
  }
  if (!known) {
    TESSERA_TRY(saved, Open(box));
    const std::scoped_lock lock(mutex_);
    opened_.emplace(key, saved);
  }
  const auto wrong = [&](std::string_view what) {
    return ErrorAt(paths_[static_cast<std::size_t>(box.file)], box.offset,
                   fmt::format("tensor '{}': {}", tensor.name, what));
  };
  if (!saved) return wrong("the archive holds no tensor");
  if (saved->dtype != tensor.dtype || saved->shape != box.box.shape()) {
    return wrong(fmt::format("the archive holds {} {}, .metadata has {} {}",
                             ptc::ToString(saved->dtype), ptc::ToString(saved->shape),
                             ptc::ToString(tensor.dtype), ptc::ToString(box.box.shape())));
  }
  StoredBox located = box;
  located.offset = saved->offset;
  located.strides = std::move(saved->strides);
  located.archive_bytes = 0;
  return located;
}

Result<std::optional<SavedTensor>> ChunkLocator::Open(const StoredBox& box) const {
  TESSERA_TRY(FilePtr file, files_.Get(box.file));
  TESSERA_TRY(ByteSourcePtr source, ByteSource::FromFile(std::move(file)));
  TESSERA_TRY(ByteWindow window,
              ByteWindow::Make(std::move(source), box.offset, box.archive_bytes));
  TESSERA_TRY(const TorchFile archive, TorchFile::Open(std::move(window)));
  return archive.FindTensor(archive.root());
}

}  // namespace tessera::checkpoint
