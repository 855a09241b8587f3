// SPDX-License-Identifier: Apache-2.0
#include "engine/data/index_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "engine/copy/checksum.h"
#include "engine/files/descriptor.h"
#include "engine/files/whole_file.h"

namespace tessera::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as they are");

constexpr std::array<char, 8> kMagic = {'T', 'S', 'R', 'I', 'N', 'D', 'E', 'X'};
constexpr std::uint64_t kVersion = 1;

/// FORMAT.md describes it.
struct IndexFileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint64_t version = kVersion;
  std::uint64_t format = 0;
  std::uint64_t content_key = 0;
  std::uint64_t num_files = 0;
  std::uint64_t entry_words = 0;
  std::uint64_t num_words = 0;  // of all entries
  std::uint64_t body_checksum = 0;
  friend bool operator==(const IndexFileHeader&, const IndexFileHeader&) = default;
};
static_assert(sizeof(IndexFileHeader) == 64);

Error BuildingCancelled() { return Cancelled("building the data index was cancelled"); }

std::int64_t BytesOf(std::span<const ByteSourcePtr> sources) {
  std::int64_t bytes = 0;
  for (const ByteSourcePtr& source : sources) bytes += source->size_bytes();
  return bytes;
}

/// Removes files of writers that were killed. A living writer changes its file all the time.
void RemoveAbandoned(const std::string& folder) {
  constexpr auto kAbandoned = std::chrono::hours(1);
  std::error_code error;
  const auto old = std::filesystem::file_time_type::clock::now() - kAbandoned;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;  // another process does the same
    if (it->path().extension() != ".new" || it->last_write_time(gone) > old || gone) continue;
    std::filesystem::remove(it->path(), gone);
  }
}

std::uint64_t BodyChecksum(std::span<const std::uint64_t> body) {
  return Checksum(std::as_bytes(body));
}

class BuiltIndex final : public RecordIndex {
 public:
  BuiltIndex(std::vector<std::uint64_t> body, std::size_t num_files, std::size_t entry_words)
      : body_(std::move(body)) {
    first_entries_ = std::span(body_).first(num_files + 1);
    words_ = std::span(body_).subspan(num_files + 1);
    entry_words_ = entry_words;
    checksum_ = BodyChecksum(body_);
  }
  std::span<const std::uint64_t> body() const { return body_; }

 private:
  const std::vector<std::uint64_t> body_;
};

class MappedIndex final : public RecordIndex {
 public:
  /// \return null if the file is missing or does not match `wanted`, apart from num_words and
  ///     body_checksum
  static RecordIndexPtr Open(const std::string& path, const IndexFileHeader& wanted) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (!file.ok() || ::fstat(file.get(), &status) != 0) return nullptr;
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size < sizeof(IndexFileHeader) || size % sizeof(std::uint64_t) != 0) return nullptr;
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) return nullptr;
    const std::shared_ptr<MappedIndex> index(new MappedIndex(memory, size));
    return index->Check(wanted) ? index : nullptr;
  }
  ~MappedIndex() override { ::munmap(memory_, size_); }
  MappedIndex(const MappedIndex&) = delete;
  MappedIndex& operator=(const MappedIndex&) = delete;

 private:
  MappedIndex(void* memory, std::size_t size) : memory_(memory), size_(size) {}

  bool Check(const IndexFileHeader& wanted) {
    IndexFileHeader header;
    std::memcpy(&header, memory_, sizeof header);
    const std::span all(static_cast<const std::uint64_t*>(memory_), size_ / sizeof(std::uint64_t));
    const auto body = all.subspan(sizeof header / sizeof(std::uint64_t));
    IndexFileHeader expected = wanted;
    expected.num_words = header.num_words;
    expected.body_checksum = header.body_checksum;
    const std::size_t table = static_cast<std::size_t>(wanted.num_files) + 1;
    if (header != expected || body.size() < table || body.size() - table != header.num_words ||
        header.num_words % wanted.entry_words != 0 || BodyChecksum(body) != header.body_checksum) {
      return false;
    }
    first_entries_ = body.first(table);
    words_ = body.subspan(table);
    entry_words_ = static_cast<std::size_t>(wanted.entry_words);
    checksum_ = header.body_checksum;
    return std::is_sorted(first_entries_.begin(), first_entries_.end()) &&
           first_entries_.front() == 0 &&
           first_entries_.back() == header.num_words / wanted.entry_words;
  }

  void* const memory_;
  const std::size_t size_;
};

/// Failing to keep an index does not prevent training.
void Keep(const std::string& path, const IndexFileHeader& header, const BuiltIndex& index,
          const IndexOptions& options) {
  std::string bytes(sizeof header + index.body().size_bytes(), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, index.body().data(), index.body().size_bytes());
  std::error_code ignored;  // the write then fails with a message
  std::filesystem::create_directories(options.folder, ignored);
  RemoveAbandoned(options.folder);
  const Status status = WriteWholeFile(path, bytes, 0644);
  if (!status && options.warn) {
    options.warn(fmt::format("the index of the data is not kept and will be built again: {}",
                             status.error().ToString()));
  }
}

}  // namespace

std::size_t RecordIndex::file_of(std::int64_t entry) const {
  const auto after = std::upper_bound(first_entries_.begin(), first_entries_.end(),
                                      static_cast<std::uint64_t>(entry));
  return static_cast<std::size_t>(after - first_entries_.begin()) - 1;
}

Status IndexBuilder::Passed(std::int64_t bytes) {
  constexpr std::int64_t kTellEvery = 256 << 10;  // the size of one read: the source may be slow
  done_bytes_ += bytes;
  if (options_.cancel.stop_requested()) return BuildingCancelled();
  if (options_.progress &&
      (done_bytes_ - told_bytes_ >= kTellEvery || done_bytes_ == total_bytes_)) {
    told_bytes_ = done_bytes_;
    options_.progress(done_bytes_, total_bytes_);
  }
  return OkStatus();
}

std::vector<std::uint64_t> IndexBuilder::TakeWords() {
  std::vector<std::uint64_t> body = std::move(first_entries_);
  body.push_back(words_.size() / entry_words_);
  body.insert(body.end(), words_.begin(), words_.end());
  words_ = {};
  return body;
}

Result<std::uint64_t> ContentKey(std::span<const ByteSourcePtr> sources,
                                 const IndexOptions& options) {
  constexpr std::size_t kSampled = 16;
  constexpr std::int64_t kBlock = 4096;
  const std::int64_t total = BytesOf(sources);
  std::string known;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const ByteSource& source = *sources[i];
    known += fmt::format("{}\n{}\n{}\n", source.name(), source.size_bytes(), source.version());
    if (i % ((sources.size() + kSampled - 1) / kSampled) != 0) continue;
    std::array<std::byte, kBlock> block{};
    const std::int64_t size = std::min(kBlock, source.size_bytes());
    for (const std::int64_t offset : {std::int64_t{0}, source.size_bytes() - size}) {
      const auto bytes = std::span(block).first(static_cast<std::size_t>(size));
      TESSERA_RETURN_IF_ERROR(source.ReadAt(offset, bytes));
      known += fmt::format("{:016x}\n", Checksum(bytes));
      if (options.cancel.stop_requested()) return BuildingCancelled();
      if (options.progress) options.progress(0, total);
    }
  }
  return Checksum(std::as_bytes(std::span(known)));
}

Result<RecordIndexPtr> OpenIndex(DataFormat format, std::size_t entry_words, std::size_t num_files,
                                 std::span<const ByteSourcePtr> sources,
                                 const IndexOptions& options,
                                 const std::function<Status(IndexBuilder&)>& scan) {
  IndexFileHeader header;
  std::string path;
  if (!options.folder.empty()) {
    TESSERA_TRY(header.content_key, ContentKey(sources, options));
    header.format = static_cast<std::uint64_t>(format);
    header.num_files = num_files;
    header.entry_words = entry_words;
    path = fmt::format("{}/{}-{:016x}.index", options.folder, ToString(format), header.content_key);
    if (RecordIndexPtr kept = MappedIndex::Open(path, header)) return kept;
  }
  IndexBuilder builder(entry_words, BytesOf(sources), options);
  TESSERA_RETURN_IF_ERROR(scan(builder));
  const auto built =
      std::make_shared<const BuiltIndex>(builder.TakeWords(), num_files, entry_words);
  if (options.folder.empty()) return built;
  header.num_words = built->body().size() - num_files - 1;
  header.body_checksum = built->checksum();
  Keep(path, header, *built, options);
  // From here on it is mapped, so that the processes of a machine share the memory.
  if (RecordIndexPtr kept = MappedIndex::Open(path, header)) return kept;
  return built;
}

}  // namespace tessera::engine
