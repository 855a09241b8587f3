// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/reshard_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/json_reader.h"
#include "ptc/layout.h"

namespace tessera::reshard {
namespace {

constexpr int kJournalVersion = 2;

std::string JournalLine(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json ToJson(const Identity& identity) {
  nlohmann::json files = nlohmann::json::array();
  for (const SourceFile& file : identity.files) {
    files.push_back({{"path", file.path}, {"size", file.size}, {"mtime_ns", file.mtime_ns}});
  }
  return {{"tessera_reshard", kJournalVersion},
          {"source", identity.source},
          {"files", std::move(files)},
          {"tables", ptc::Hex16(identity.tables)},
          {"options", nlohmann::json(identity.options)},
          {"plan", ptc::Hex16(identity.plan)}};
}

Result<std::uint64_t> ReadHex16(const JsonReader& reader, const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kText) {
    if (const auto number = ptc::ParseHex16(value.text)) return *number;
  }
  return reader.Expected(value, "a text of 16 hex digits");
}

Result<std::uint64_t> ReadHex16(const JsonReader& reader, std::string_view key) {
  TESSERA_TRY(const JsonValue* value, reader.Member(key));
  return ReadHex16(reader, *value);
}

Result<Identity> ReadIdentity(const NamedText& line, const JsonValue& json) {
  TESSERA_TRY(const auto reader, JsonReader::Make(line, json, "an identity",
                                                  {"tessera_reshard", "source", "files", "tables",
                                                   "options", "plan"}));
  TESSERA_RETURN_IF_ERROR(reader.Integer("tessera_reshard", kJournalVersion, kJournalVersion));
  Identity identity;
  TESSERA_TRY(identity.source, reader.Text("source"));
  TESSERA_TRY(const auto* files, reader.List("files"));
  for (const JsonValue& item : *files) {
    TESSERA_TRY(const auto file,
                JsonReader::Make(line, item, "a file", {"path", "size", "mtime_ns"}));
    SourceFile source;
    TESSERA_TRY(source.path, file.Text("path"));
    TESSERA_TRY(source.size, file.Integer("size"));
    TESSERA_TRY(source.mtime_ns, file.Integer("mtime_ns"));
    identity.files.push_back(std::move(source));
  }
  TESSERA_TRY(identity.tables, ReadHex16(reader, "tables"));
  TESSERA_TRY(const JsonValue* options, reader.Member("options"));
  if (options->kind != JsonValue::Kind::kObject) return reader.Expected(*options, "an object");
  for (const JsonValue& option : options->items) {
    if (option.kind != JsonValue::Kind::kText) return reader.Expected(option, "a text");
    identity.options.emplace(option.key, option.text);
  }
  TESSERA_TRY(identity.plan, ReadHex16(reader, "plan"));
  return identity;
}

Result<DoneTile> ReadDoneTile(const NamedText& line, const JsonValue& json) {
  TESSERA_TRY(const auto reader,
              JsonReader::Make(line, json, "a tile", {"tile", "read", "written"}));
  DoneTile done;
  TESSERA_TRY(done.tile, reader.Integer("tile"));
  TESSERA_TRY(done.source_digest, ReadHex16(reader, "read"));
  TESSERA_TRY(const auto* written, reader.List("written"));
  for (const JsonValue& item : *written) {
    TESSERA_TRY(const std::uint64_t digest, ReadHex16(reader, item));
    done.digests.push_back(digest);
  }
  return done;
}

/// An unsigned number of 64 bits, as some file systems have them for inodes. JsonValue keeps those
/// above int64 as text.
Result<std::uint64_t> ReadUnsigned(const JsonReader& reader, const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kInteger && value.integer >= 0) {
    return static_cast<std::uint64_t>(value.integer);
  }
  std::uint64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind != JsonValue::Kind::kNumber || error != std::errc() || stop != end) {
    return reader.Expected(value, "a whole number from 0");
  }
  return number;
}

Result<NodeId> ReadRenaming(const NamedText& line, const JsonValue& json) {
  TESSERA_TRY(const auto reader, JsonReader::Make(line, json, "a rename", {"placing"}));
  TESSERA_TRY(const auto* numbers, reader.List("placing"));
  if (numbers->size() != 2) return reader.At("'placing' must be a device and an inode");
  NodeId node;
  TESSERA_TRY(node.device, ReadUnsigned(reader, numbers->front()));
  TESSERA_TRY(node.inode, ReadUnsigned(reader, numbers->back()));
  return node;
}

Status ReadJournalLine(const NamedText& line, ReshardJournal::Content& content) {
  TESSERA_TRY(const JsonValue json, ParseJson(line));
  if (!content.identity) {
    TESSERA_TRY(content.identity, ReadIdentity(line, json));
  } else if (json.Find("placing") != nullptr) {
    TESSERA_TRY(content.renaming, ReadRenaming(line, json));
  } else {
    TESSERA_TRY(DoneTile done, ReadDoneTile(line, json));
    content.tiles.push_back(std::move(done));
  }
  return OkStatus();
}

}  // namespace

std::string Difference(const Identity& then, const Identity& now) {
  if (then.source != now.source) {
    return fmt::format("it reads '{}', not '{}'", then.source, now.source);
  }
  std::map<std::string, std::string> options = then.options;
  options.insert(now.options.begin(), now.options.end());
  for (const auto& entry : options) {
    const auto text = [&](const Identity& identity) -> std::string {
      const auto at = identity.options.find(entry.first);
      return at == identity.options.end() ? "unset" : at->second;
    };
    if (text(then) != text(now)) {
      return fmt::format("it has {} {}, not {}", entry.first, text(then), text(now));
    }
  }
  for (std::size_t i = 0; i < std::max(then.files.size(), now.files.size()); ++i) {
    if (i >= then.files.size() || i >= now.files.size() || then.files[i] != now.files[i]) {
      return fmt::format("file '{}' of the source has changed since",
                         i < now.files.size() ? now.files[i].path : then.files[i].path);
    }
  }
  if (then.tables != now.tables) return "the tensors of the source have changed since";
  return "it stores tensors in other files or at other offsets";
}

Result<ReshardJournal> ReshardJournal::Open(const std::string& path) {
  engine::Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor.ok()) return checkpoint::FileError(path, "cannot be opened", errno);
  const int fd = descriptor.get();
  ReshardJournal journal(path, std::move(descriptor));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return checkpoint::FileError(path, "cannot be locked", errno);
    return FailedPrecondition(fmt::format("another process writes to '{}'", path));
  }
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return checkpoint::FileError(path, "cannot be read", errno);
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (int number = 1;; ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const NamedText line{"", text.substr(begin, end - begin)};
    if (const Status read = ReadJournalLine(line, journal.content_); !read) {
      return DataLoss(
          fmt::format("'{}': line {} is damaged: {}", path, number, read.error().message));
    }
    begin = end + 1;
  }
  journal.end_ = static_cast<std::int64_t>(begin);
  if (begin < text.size() && ::ftruncate(fd, journal.end_) != 0) {
    return checkpoint::FileError(path, "cannot be shortened", errno);
  }
  return journal;
}

Status ReshardJournal::Begin(const Identity& identity) {
  if (::ftruncate(descriptor_.get(), 0) != 0)
    return checkpoint::FileError(path_, "cannot be emptied", errno);
  end_ = 0;
  content_ = {};
  return Append(JournalLine(ToJson(identity)));
}

Status ReshardJournal::Add(const std::vector<DoneTile>& tiles) {
  std::string lines;
  for (const DoneTile& tile : tiles) {
    lines += fmt::format(R"({{"tile":{},"read":"{}","written":[)", tile.tile,
                         ptc::Hex16(tile.source_digest));
    for (std::size_t i = 0; i < tile.digests.size(); ++i) {
      lines += fmt::format(R"({}"{}")", i == 0 ? "" : ",", ptc::Hex16(tile.digests[i]));
    }
    lines += "]}\n";
  }
  return Append(lines);
}

Status ReshardJournal::AddRenaming(const NodeId& output) {
  return Append(JournalLine({{"placing", {output.device, output.inode}}}));
}

Status ReshardJournal::Append(const std::string& lines) {
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t put = ::pwrite(descriptor_.get(), lines.data() + done, lines.size() - done,
                                 end_ + static_cast<std::int64_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return checkpoint::FileError(path_, "cannot be written", errno);
    done += static_cast<std::size_t>(put);
  }
  end_ += static_cast<std::int64_t>(lines.size());
  if (::fdatasync(descriptor_.get()) != 0)
    return checkpoint::FileError(path_, "cannot be synced", errno);
  return OkStatus();
}

}  // namespace tessera::reshard
