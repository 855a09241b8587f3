// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/chunk_locator.h"

#include <fmt/format.h>

#include "engine/checkpoint/torch/torch_file.h"

namespace tessera::checkpoint {

Result<StoredBox> ChunkLocator::Locate(const StoredTensor& tensor, const StoredBox& box) const {
  const std::pair key(box.file, box.offset);
  StoredBox found = box;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto place = places_.find(key); place != places_.end()) {
      found.offset = place->second.offset;
      found.strides = place->second.strides;
      found.archive_bytes = 0;
      return found;
    }
  }
  TESSERA_TRY(found, Look(tensor, box));
  const std::scoped_lock lock(mutex_);
  places_.emplace(key, Place{found.offset, found.strides});
  return found;
}

Result<StoredBox> ChunkLocator::Look(const StoredTensor& tensor, const StoredBox& box) const {
  TESSERA_TRY(FilePtr file, files_.Get(box.file));
  TESSERA_TRY(ByteSourcePtr source, ByteSource::FromFile(std::move(file)));
  TESSERA_TRY(ByteWindow window,
              ByteWindow::Make(std::move(source), box.offset, box.archive_bytes));
  TESSERA_TRY(const TorchFile archive, TorchFile::Open(std::move(window)));
  TESSERA_TRY(const auto saved, archive.FindTensor(archive.root()));
  if (!saved) {
    return archive.root().At(
        fmt::format("tensor '{}': the archive holds something else", tensor.name));
  }
  if (saved->dtype != tensor.dtype || saved->shape != box.box.shape()) {
    return archive.root().At(
        fmt::format("tensor '{}': the archive holds {} {}, .metadata says {} {}", tensor.name,
                    ptc::ToString(saved->dtype), ptc::ToString(saved->shape),
                    ptc::ToString(tensor.dtype), ptc::ToString(box.box.shape())));
  }
  StoredBox found = box;
  found.offset = saved->offset;
  found.strides = saved->strides;
  found.archive_bytes = 0;
  return found;
}

}  // namespace tessera::checkpoint
