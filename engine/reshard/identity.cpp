// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <system_error>

#include "engine/reshard/reshard_journal.h"

namespace tessera::reshard {
namespace {

std::uint64_t HashOfTables(const std::vector<checkpoint::StoredTensor>& tensors) {
  std::string text;
  for (const checkpoint::StoredTensor& tensor : tensors) {
    text += fmt::format("{}\n{} {}\n", tensor.name, ToString(tensor.dtype),
                        ptc::ToString(tensor.shape));
    for (const checkpoint::StoredBox& box : tensor.boxes) {
      text += fmt::format("{} {} {} {} {}\n", ToString(box.box), box.file, box.offset,
                          fmt::join(box.strides, ","), box.archive_bytes);
    }
  }
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace

Result<Identity> IdentityOf(const checkpoint::Checkpoint& source) {
  Identity identity;
  identity.source = source.path();
  for (const std::string& path : source.files()) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      return Unavailable(
          fmt::format("'{}' cannot be examined: {}", path, std::generic_category().message(errno)));
    }
    identity.files.push_back(
        {path, static_cast<std::int64_t>(status.st_size),
         std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  identity.tables = HashOfTables(source.tensors());
  return identity;
}

}  // namespace tessera::reshard
