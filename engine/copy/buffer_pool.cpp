// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/buffer_pool.h"

#include <utility>

namespace tessera::engine {

Result<HostBuffer> BufferPool::Take(std::size_t size) {
  HostBuffer buffer;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  // Nearly all requests are for a frame. A buffer that is too small for one is freed.
  if (buffer.bytes.size() < size) {
    TESSERA_TRY(buffer, make_(size));
  }
  const std::span<std::byte> bytes = buffer.bytes.first(size);
  // Only the bytes that are used are somebody's: the whole buffer goes back.
  auto* const held = new HostBuffer(std::move(buffer));
  return HostBuffer{bytes, std::shared_ptr<void>(held, [pool = shared_from_this()](void* used) {
                      const std::unique_ptr<HostBuffer> back(static_cast<HostBuffer*>(used));
                      pool->Put(std::move(*back));
                    })};
}

void BufferPool::Put(HostBuffer buffer) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < kKept) free_.push_back(std::move(buffer));
}

}  // namespace tessera::engine
