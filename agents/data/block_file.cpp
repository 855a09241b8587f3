// SPDX-License-Identifier: Apache-2.0
#include "agents/data/block_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "engine/copy/checksum.h"
#include "engine/files/descriptor.h"

namespace tessera::agents {
namespace {

using engine::Checksum;
using engine::Descriptor;

constexpr std::int64_t kChunk = 64 << 10;

struct Header {
  std::array<char, 8> magic = {'T', 'S', 'R', 'B', 'L', 'O', 'C', 'K'};
  std::uint64_t version = 1;
  std::uint64_t key = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t sums_checksum = 0;
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == 40);

std::size_t NumChunks(std::int64_t block_bytes) {
  return static_cast<std::size_t>((block_bytes + kChunk - 1) / kChunk);
}

std::span<const std::byte> Chunk(std::span<const std::byte> block, std::size_t i) {
  const std::size_t begin = i * kChunk;
  return block.subspan(begin, std::min<std::size_t>(kChunk, block.size() - begin));
}

/// Returns the checksums of the chunks, or none if header or table are damaged.
std::vector<std::uint64_t> ReadSums(const Descriptor& file, const Header& wanted) {
  const std::size_t count = NumChunks(static_cast<std::int64_t>(wanted.block_bytes));
  std::vector<std::byte> head(sizeof(Header) + 8 * count);
  if (file.ReadAt(0, head) != head.size()) return {};
  Header header;
  std::memcpy(&header, head.data(), sizeof header);
  Header expected = wanted;
  expected.sums_checksum = Checksum(std::span(head).subspan(sizeof header));
  if (header != expected) return {};
  std::vector<std::uint64_t> sums(count);
  std::memcpy(sums.data(), head.data() + sizeof header, 8 * count);
  return sums;
}

/// Stores the time of the last use of a block in its time of change, at most once a second.
void MarkUsed(const Descriptor& file) {
  struct stat status = {};
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (::fstat(file.get(), &status) == 0 && status.st_mtim.tv_sec < now.tv_sec) {
    ::futimens(file.get(), nullptr);
  }
}

bool ReadChunks(const Descriptor& file, const std::vector<std::uint64_t>& sums,
                std::int64_t block_bytes, std::int64_t begin, std::span<std::byte> out) {
  const auto data = static_cast<std::int64_t>(sizeof(Header) + 8 * sums.size());
  std::array<std::byte, kChunk> chunk;
  while (!out.empty()) {
    const std::int64_t i = begin / kChunk, skipped = begin % kChunk;
    const auto bytes = std::span(chunk).first(
        static_cast<std::size_t>(std::min(kChunk, block_bytes - i * kChunk)));
    if (file.ReadAt(data + i * kChunk, bytes) != bytes.size()) return false;
    if (Checksum(bytes) != sums[static_cast<std::size_t>(i)]) return false;
    const std::size_t count =
        std::min(out.size(), bytes.size() - static_cast<std::size_t>(skipped));
    std::memcpy(out.data(), bytes.data() + skipped, count);
    out = out.subspan(count);
    begin += static_cast<std::int64_t>(count);
  }
  return true;
}

bool WriteAll(const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool ReadBlockFile(const std::string& path, std::uint64_t key, std::int64_t block_bytes,
                   std::int64_t begin, std::span<std::byte> out) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return false;
  const auto sums =
      ReadSums(file, {.key = key, .block_bytes = static_cast<std::uint64_t>(block_bytes)});
  if (sums.empty() || !ReadChunks(file, sums, block_bytes, begin, out)) {
    ::unlink(path.c_str());
    return false;
  }
  MarkUsed(file);
  return true;
}

Status WriteBlockFile(const std::string& path, std::uint64_t key,
                      std::span<const std::byte> block) {
  std::vector<std::uint64_t> sums;
  for (std::size_t i = 0; i < NumChunks(std::ssize(block)); ++i) {
    sums.push_back(Checksum(Chunk(block, i)));
  }
  const Header header{.key = key,
                      .block_bytes = block.size(),
                      .sums_checksum = Checksum(std::as_bytes(std::span(sums)))};
  // A random name: containers that share the folder may have equal process ids.
  const std::string fresh =
      fmt::format("{}.{:08x}{:08x}.new", path, std::random_device{}(), std::random_device{}());
  const Descriptor file(::open(fresh.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
  const bool is_written = file.ok() && WriteAll(file, std::as_bytes(std::span(&header, 1))) &&
                          WriteAll(file, std::as_bytes(std::span(sums))) && WriteAll(file, block);
  // No fsync: a block that a loss of power cuts off fails its checksum and is fetched again.
  if (is_written && ::rename(fresh.c_str(), path.c_str()) == 0) return OkStatus();
  const int failure = errno;
  if (file.ok()) ::unlink(fresh.c_str());
  const std::string text = fmt::format("cannot write '{}': {}", path, std::strerror(failure));
  const bool is_full = failure == ENOSPC || failure == EDQUOT || failure == EFBIG;
  return is_full ? ResourceExhausted(text) : Unavailable(text);
}

}  // namespace tessera::agents
