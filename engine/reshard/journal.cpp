// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "ptc/layout.h"

namespace tessera::reshard {
namespace {

using JournalJson = nlohmann::json;
constexpr int kVersion = 1;

Error FailedJournal(const std::string& path, std::string_view what) {
  const int error = errno;
  const ErrorCode code = error == ENOSPC || error == EDQUOT || error == EFBIG
                             ? ErrorCode::kResourceExhausted
                             : ErrorCode::kUnavailable;
  return {code, fmt::format("'{}' {}: {}", path, what, std::generic_category().message(error)), {}};
}

std::string Line(const JournalJson& json) {
  return json.dump(-1, ' ', false, JournalJson::error_handler_t::replace) + "\n";
}

JournalJson ToJson(const Identity& identity) {
  JournalJson files = JournalJson::array();
  for (const SourceFile& file : identity.files) {
    files.push_back({{"path", file.path}, {"size", file.size}, {"mtime_ns", file.mtime_ns}});
  }
  return {{"tessera_reshard", kVersion},       {"source", identity.source},
          {"files", std::move(files)},         {"tables", ptc::Hex16(identity.tables)},
          {"options", JournalJson(identity.options)}, {"plan", ptc::Hex16(identity.plan)}};
}

// The readers below see lines that this program wrote, or a damaged disk: any mismatch of types is
// caught once, in ReadLine.
std::uint64_t Hex(const JournalJson& json) { return ptc::ParseHex16(json.get<std::string>()).value(); }

Identity IdentityFrom(const JournalJson& json) {
  Identity identity;
  identity.source = json.at("source").get<std::string>();
  for (const JournalJson& file : json.at("files")) {
    identity.files.push_back({file.at("path").get<std::string>(),
                              file.at("size").get<std::int64_t>(),
                              file.at("mtime_ns").get<std::int64_t>()});
  }
  identity.tables = Hex(json.at("tables"));
  identity.options = json.at("options").get<std::map<std::string, std::string>>();
  identity.plan = Hex(json.at("plan"));
  return identity;
}

/// \return whether the line was understood
bool ReadLine(std::string_view line, Journal::Content& content) {
  const JournalJson json = JournalJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  try {
    if (!content.identity) {
      if (json.at("tessera_reshard").get<int>() != kVersion) return false;
      content.identity = IdentityFrom(json);
    } else if (json.contains("placing")) {
      content.placing = NodeId{json.at("placing").at(0).get<std::uint64_t>(),
                               json.at("placing").at(1).get<std::uint64_t>()};
    } else {
      DoneTile tile{json.at("tile").get<std::int64_t>(), Hex(json.at("read"))};
      for (const JournalJson& digest : json.at("written")) tile.digests.push_back(Hex(digest));
      content.tiles.push_back(std::move(tile));
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
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
      return fmt::format("the source's file '{}' has changed since",
                         i < now.files.size() ? now.files[i].path : then.files[i].path);
    }
  }
  if (then.tables != now.tables) return "the source's tensors have changed since";
  return "it puts tensors elsewhere";
}

Result<Journal> Journal::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return FailedJournal(path, "cannot be opened");
  Journal journal(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailedJournal(path, "cannot be locked");
    return FailedPrecondition(fmt::format("another process writes to '{}'", path));
  }
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailedJournal(path, "cannot be read");
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (int number = 1;; ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    if (!ReadLine(std::string_view(text).substr(begin, end - begin), journal.content_)) {
      return DataLoss(fmt::format("'{}': line {} is damaged", path, number));
    }
    begin = end + 1;
  }
  journal.end_ = static_cast<std::int64_t>(begin);
  if (begin < text.size() && ::ftruncate(fd, journal.end_) != 0) {
    return FailedJournal(path, "cannot be shortened");
  }
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      end_(other.end_),
      content_(std::move(other.content_)) {}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Status Journal::Begin(const Identity& identity) {
  if (::ftruncate(fd_, 0) != 0) return FailedJournal(path_, "cannot be emptied");
  end_ = 0;
  content_ = {};
  return Append(Line(ToJson(identity)));
}

Status Journal::Add(const std::vector<DoneTile>& tiles) {
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

Status Journal::AddPlacing(const NodeId& output) {
  return Append(Line({{"placing", {output.device, output.inode}}}));
}

Status Journal::Append(const std::string& lines) {
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t put = ::pwrite(fd_, lines.data() + done, lines.size() - done,
                                 end_ + static_cast<std::int64_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return FailedJournal(path_, "cannot be written");
    done += static_cast<std::size_t>(put);
  }
  end_ += static_cast<std::int64_t>(lines.size());
  if (::fdatasync(fd_) != 0) return FailedJournal(path_, "cannot be brought to the disk");
  return OkStatus();
}

}  // namespace tessera::reshard
