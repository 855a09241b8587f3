// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/sums.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/torch/zip.h"
#include "ptc/base/check.h"
#include "ptc/base/utf8.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSha256Digits = 64;

/// Computes one of the two checksums over bytes that arrive in parts.
class Running {
 public:
  explicit Running(SumKind kind) {
    if (kind == SumKind::kSha256) {
      sha_.reset(EVP_MD_CTX_new());
      TESSERA_CHECK(sha_ && EVP_DigestInit_ex(sha_.get(), EVP_sha256(), nullptr) == 1);
    }
  }
  void Add(std::span<const std::byte> bytes) {
    if (sha_) {
      TESSERA_CHECK(EVP_DigestUpdate(sha_.get(), bytes.data(), bytes.size()) == 1);
    } else {
      crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    }
  }
  std::string Hex() {
    if (!sha_) return fmt::format("{:08x}", crc_);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    TESSERA_CHECK(EVP_DigestFinal_ex(sha_.get(), digest.data(), &size) == 1);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  uLong crc_ = 0;
  std::unique_ptr<EVP_MD_CTX, Free> sha_;
};

Status AddEntries(ByteWindow window, std::vector<StatedSum>& sums) {
  TESSERA_TRY(const ZipArchive archive, ZipArchive::Open(std::move(window)));
  for (const ZipEntry& entry : archive.entries()) {
    if (entry.crc == 0) continue;
    TESSERA_TRY(const std::int64_t offset, archive.PayloadOffset(entry));
    sums.push_back({SumKind::kCrc32, archive.window().name(), archive.window().begin() + offset,
                    entry.size, fmt::format("{:08x}", entry.crc), Escaped(entry.name)});
  }
  return OkStatus();
}

Status AddArchiveFile(const std::string& path, std::vector<StatedSum>& sums) {
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path));
  return AddEntries(ByteWindow(std::move(source)), sums);
}

/// Adds the entries of each archive that holds a box.
Status AddChunks(const Checkpoint& checkpoint, std::vector<StatedSum>& sums) {
  std::set<std::tuple<int, std::int64_t, std::int64_t>> archives;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    for (const StoredBox& box : tensor.boxes) {
      if (box.archive_bytes > 0) archives.emplace(box.file, box.offset, box.archive_bytes);
    }
  }
  const OpenFiles files(checkpoint.files());
  for (const auto& [file, offset, bytes] : archives) {
    TESSERA_TRY(FilePtr opened, files.Get(file));
    TESSERA_TRY(ByteSourcePtr source, ByteSource::FromFile(std::move(opened)));
    TESSERA_TRY(ByteWindow window, ByteWindow::Make(std::move(source), offset, bytes));
    TESSERA_RETURN_IF_ERROR(AddEntries(std::move(window), sums));
  }
  return OkStatus();
}

bool IsSha256(std::string_view text) {
  return text.size() == kSha256Digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Reads the object `files` of integrity.json.
Status AddFileSums(const fs::path& folder, JsonScanner& scan, std::vector<StatedSum>& sums) {
  std::set<std::string> names;
  return scan.Object([&](std::string key, std::size_t at) -> Status {
    const auto [name, added] = names.insert(std::move(key));
    if (!added) return scan.Wrong(at, fmt::format("file '{}' appears twice", Printable(*name)));
    const fs::path relative(*name);
    if (name->empty() || relative.is_absolute() ||
        std::ranges::any_of(relative, [](const fs::path& part) { return part == ".."; })) {
      return scan.Wrong(at, fmt::format("file '{}' lies outside the folder", Printable(*name)));
    }
    const std::size_t sum_at = scan.Position();
    TESSERA_TRY(std::string sum, scan.String());
    if (!IsSha256(sum)) {
      return scan.Wrong(sum_at,
                        fmt::format("the sum of '{}' is not 64 hex digits", Printable(*name)));
    }
    const std::string file = (folder / relative).string();
    TESSERA_TRY(const FilePtr opened, File::Open(file, File::Mode::kRead));
    TESSERA_TRY(const std::int64_t size, opened->Size());
    sums.push_back({SumKind::kSha256, file, 0, size, std::move(sum)});
    return OkStatus();
  });
}

Status AddIntegrity(const fs::path& folder, std::vector<StatedSum>& sums) {
  const std::string path = (folder / "integrity.json").string();
  TESSERA_TRY(const FilePtr file, File::Open(path, File::Mode::kRead));
  TESSERA_TRY(const std::string text,
              file->ReadAll(kMaxFolderJson, "if it is not of this checkpoint, move it away"));
  JsonScanner scan(text, path);
  bool has_algorithm = false;
  bool has_files = false;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](const std::string& key, std::size_t at) -> Status {
    if (key == "algorithm") {
      if (std::exchange(has_algorithm, true)) return scan.Wrong(at, "'algorithm' appears twice");
      const std::size_t value_at = scan.Position();
      TESSERA_TRY(const std::string algorithm, scan.String());
      if (algorithm == "sha256") return OkStatus();
      return scan.Wrong(value_at, fmt::format("algorithm '{}' is not 'sha256', the supported one",
                                              Printable(algorithm)));
    }
    if (key != "files") return scan.Skip();
    if (std::exchange(has_files, true)) return scan.Wrong(at, "'files' appears twice");
    return AddFileSums(folder, scan, sums);
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  if (!has_algorithm) return scan.Wrong(0, "there is no text 'algorithm'");
  if (!has_files) return scan.Wrong(0, "there is no object 'files'");
  return OkStatus();
}

}  // namespace

Result<std::vector<StatedSum>> StatedSums(const Checkpoint& checkpoint) {
  std::vector<StatedSum> sums;
  TESSERA_RETURN_IF_ERROR(AddChunks(checkpoint, sums));
  if (checkpoint.format() == Format::kTorchSave) {
    for (const std::string& file : checkpoint.files()) {
      TESSERA_RETURN_IF_ERROR(AddArchiveFile(file, sums));
    }
  }
  if (checkpoint.format() == Format::kMegatron) {
    const fs::path folder = checkpoint.path();
    std::error_code error;
    if (fs::exists(folder / "common.pt", error)) {
      TESSERA_RETURN_IF_ERROR(AddArchiveFile((folder / "common.pt").string(), sums));
    }
    if (fs::exists(folder / "integrity.json", error)) {
      TESSERA_RETURN_IF_ERROR(AddIntegrity(folder, sums));
    }
  }
  return sums;
}

Status CheckSum(const StatedSum& sum, std::span<std::byte> buffer,
                const std::function<bool(std::int64_t bytes)>& done) {
  TESSERA_TRY(const FilePtr file, File::Open(sum.file, File::Mode::kRead));
  Running running(sum.kind);
  for (std::int64_t at = 0; at < sum.size;) {
    const std::int64_t size = std::min<std::int64_t>(std::ssize(buffer), sum.size - at);
    const auto part = buffer.first(static_cast<std::size_t>(size));
    TESSERA_RETURN_IF_ERROR(file->ReadAt(sum.offset + at, part));
    running.Add(part);
    at += size;
    if (!done(size)) return Cancelled("interrupted");
  }
  const std::string found = running.Hex();
  if (found == sum.expected) return OkStatus();
  if (sum.kind == SumKind::kSha256) {
    return DataLoss(fmt::format("'{}' has SHA-256 {}, integrity.json states {}", sum.file, found,
                                sum.expected));
  }
  return DataLoss(fmt::format("'{}' at byte {}: entry '{}' has CRC-32 {}, its archive states {}",
                              sum.file, sum.offset, sum.of, found, sum.expected));
}

}  // namespace tessera::checkpoint
