// SPDX-License-Identifier: Apache-2.0
#include "engine/data/scan_reader.h"

#include <algorithm>

#include "engine/data/data_error.h"

namespace tessera::engine {

Result<std::span<const std::byte>> ScanReader::At(std::int64_t offset, std::int64_t size) {
  constexpr std::int64_t kNear = 4096, kWindow = 256 << 10;
  auto held = static_cast<std::int64_t>(window_.size());
  if (offset < begin_ || offset > begin_ + held || size > begin_ + held - offset) {
    const bool is_near = begin_ <= offset && offset - (begin_ + held) < kNear;
    const std::int64_t left = std::max<std::int64_t>(0, source_.size_bytes() - offset);
    const std::int64_t wanted = std::min(left, is_near ? kWindow : kNear);
    held = std::max(size, wanted);
    window_.resize(static_cast<std::size_t>(held));
    begin_ = offset;
    if (auto status = ReadChecked(source_, offset, window_); !status) {
      window_.clear();
      return std::move(status).error();
    }
  }
  return std::span<const std::byte>(window_).subspan(static_cast<std::size_t>(offset - begin_),
                                                     static_cast<std::size_t>(size));
}

}  // namespace tessera::engine
