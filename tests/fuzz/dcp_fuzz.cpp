// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "engine/checkpoint/torch/dcp.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/memory_folder.h"

using namespace tessera;

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::int64_t kMostElements = std::int64_t{1} << 16;

/// A folder that is removed when the process exits.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::path(test::MemoryFolder()) /
              ("tessera_dcp_fuzz." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void Write(const char* name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

/// The input is the length of `.metadata` as a little-endian u32, `.metadata`, and the one file of
/// archives, `__0_0.distcp`. Every tensor of a folder that opens is read.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ScratchFolder folder;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes && i < size; ++i) {
    length |= std::size_t{data[i]} << (8 * i);
  }
  std::string_view rest = fuzz::Text(data, size);
  rest.remove_prefix(std::min(size, kLengthBytes));
  folder.Write(".metadata", rest.substr(0, length));
  folder.Write("__0_0.distcp", rest.substr(std::min(length, rest.size())));

  auto contents = checkpoint::ReadDcpFolder(folder.path());
  if (!contents) {
    fuzz::CheckError(contents.error());
    return 0;
  }
  const auto opened = checkpoint::Checkpoint::Make(*std::move(contents));
  if (!opened) {
    fuzz::CheckError(opened.error());
    return 0;
  }
  const auto& tensors = (*opened)->tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const auto whole = ptc::Box::Whole(tensors[t].shape);
    if (!whole || whole->num_elements() > kMostElements) continue;
    std::vector<std::byte> out(
        static_cast<std::size_t>(whole->num_elements() * ptc::SizeBytes(tensors[t].dtype)));
    const Status read = (*opened)->Read(static_cast<int>(t), *whole, out);
    if (!read) fuzz::CheckError(read.error(), {": byte ", "at byte "});
  }
  return 0;
}
