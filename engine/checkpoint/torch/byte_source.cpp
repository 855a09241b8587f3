// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/byte_source.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tessera::checkpoint {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(FilePtr file, std::int64_t size)
      : ByteSource(file->path(), size), file_(std::move(file)) {}
  Status Read(std::int64_t offset, std::span<std::byte> out) const override {
    return file_->ReadAt(offset, out);
  }

 private:
  FilePtr file_;
};

class Memory final : public ByteSource {
 public:
  Memory(std::string name, std::string bytes)
      : ByteSource(std::move(name), static_cast<std::int64_t>(bytes.size())),
        bytes_(std::move(bytes)) {}
  Status Read(std::int64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }

 private:
  std::string bytes_;
};

}  // namespace

Result<ByteSourcePtr> ByteSource::OpenFile(const std::string& path) {
  TESSERA_TRY(FilePtr file, File::Open(path, File::Mode::kRead));
  return FromFile(std::move(file));
}

Result<ByteSourcePtr> ByteSource::FromFile(FilePtr file) {
  TESSERA_TRY(const std::int64_t size, file->Size());
  return std::make_shared<const FileBytes>(std::move(file), size);
}

ByteSourcePtr ByteSource::FromMemory(std::string name, std::string bytes) {
  return std::make_shared<const Memory>(std::move(name), std::move(bytes));
}

Error ErrorAt(std::string_view name, std::int64_t offset, std::string_view message) {
  return InvalidArgument(fmt::format("{}: byte {}: {}", name, offset, message));
}

Result<ByteWindow> ByteWindow::Make(ByteSourcePtr source, std::int64_t begin, std::int64_t size) {
  if (begin < 0 || size < 0 || begin > source->size() || size > source->size() - begin) {
    return ErrorAt(
        source->name(), begin,
        fmt::format("{} bytes from here do not lie in the file of {} bytes", size, source->size()));
  }
  return ByteWindow(std::move(source), begin, size);
}

Result<std::string> ByteWindow::Read(std::int64_t offset, std::int64_t size,
                                     std::string_view what) const {
  if (offset < 0 || size < 0 || offset > size_ || size > size_ - offset) {
    return At(offset, fmt::format("{} of {} bytes is cut short by the end at byte {}", what, size,
                                  begin_ + size_));
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  TESSERA_RETURN_IF_ERROR(source_->Read(begin_ + offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace tessera::checkpoint
