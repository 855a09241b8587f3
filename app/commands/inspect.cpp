// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `inspect`: lists the tensors of a checkpoint on disk.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "app/commands/checkpoint_options.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/units.h"
#include "engine/reshard/metadata.h"
#include "engine/reshard/sums.h"
#include "ptc/base/counted.h"
#include "ptc/digest.h"
#include "ptc/layout.h"
#include "ptc/rules/name_pattern.h"

namespace tessera::app {
namespace {

using checkpoint::Checkpoint;
using checkpoint::StoredBox;
using checkpoint::StoredTensor;

/// The tensors that match the pattern, with their digests if requested.
struct Listing {
  std::shared_ptr<const Checkpoint> checkpoint;  // with the matching tensors only
  std::size_t numOthers = 0;                     // tensors that do not match
  std::optional<std::vector<std::uint64_t>> digests = {};
  std::optional<std::uint64_t> digest = {};  // of all tensors
  std::optional<reshard::SumsChecked> sums = {};
  std::size_t numStated = 0;  // digests of the checkpoint that were compared
};

/// The same checkpoint without the tensors that do not match the pattern.
Result<std::shared_ptr<const Checkpoint>> chooseTensors(const Checkpoint& all,
                                                        const std::string& glob) {
  TESSERA_TRY(const auto pattern, ptc::NamePattern::Parse(glob));
  auto chosen =
      all.Choose([&](const StoredTensor& tensor) { return pattern.Fit(tensor.name).has_value(); });
  if (chosen->tensors().empty())
    return NotFound(fmt::format("'{}' matches no tensor of '{}'", glob, all.path()));
  return chosen;
}

std::string fileName(const Checkpoint& checkpoint, int file) {
  return std::filesystem::path(checkpoint.files()[static_cast<std::size_t>(file)])
      .filename()
      .string();
}

Json listingToJson(const Listing& listing, bool pieces) {
  const Checkpoint& checkpoint = *listing.checkpoint;
  Json tensors = Json::array();
  std::int64_t bytes = 0;
  for (std::size_t t = 0; t < checkpoint.tensors().size(); ++t) {
    const StoredTensor& tensor = checkpoint.tensors()[t];
    bytes += bytesOf(tensor);
    Json json = {{"name", tensor.name},
                 {"dtype", ToString(tensor.dtype)},
                 {"shape", tensor.shape},
                 {"bytes", bytesOf(tensor)},
                 {"pieces", tensor.boxes.size()}};
    if (tensor.digest) json["stated_digest"] = ptc::Hex16(*tensor.digest);
    if (listing.digests) json["digest"] = ptc::Hex16((*listing.digests)[t]);
    if (pieces) {
      json["pieces"] = Json::array();
      for (const StoredBox& stored : tensor.boxes) {
        Json box = Json::array();
        for (int d = 0; d < stored.box.rank(); ++d)
          box.push_back({stored.box[d].begin, stored.box[d].end});
        json["pieces"].push_back({{"box", std::move(box)},
                                  {"file", fileName(checkpoint, stored.file)},
                                  {"offset_bytes", stored.offset}});
        if (!stored.strides.empty()) json["pieces"].back()["strides"] = stored.strides;
        // The offset inside the archive is known only after reading it.
        if (stored.archive_bytes > 0) json["pieces"].back()["archive_bytes"] = stored.archive_bytes;
      }
    }
    tensors.push_back(std::move(json));
  }
  Json out = {
      {"path", checkpoint.path()},          {"format", checkpoint::ToString(checkpoint.format())},
      {"files", checkpoint.files().size()}, {"bytes", bytes},
      {"metadata", checkpoint.metadata()},  {"opaque", checkpoint.opaque()},
      {"tensors", std::move(tensors)}};
  if (!checkpoint.UnreadFiles().empty()) out["unread_files"] = checkpoint.UnreadFiles();
  if (listing.digest) out["digest"] = ptc::Hex16(*listing.digest);
  if (listing.digests) out["digest_algorithm"] = ptc::kDigestAlgorithm;
  if (const std::string line = checkpoint.UncomparedDigests(); !line.empty())
    out["digests_not_compared"] = line;
  if (listing.sums)
    out["sums"] = {{"checked", listing.sums->count}, {"bytes", listing.sums->bytes}};
  if (listing.digests) out["stated_digests_compared"] = listing.numStated;
  return out;
}

std::string table(const Listing& listing, bool pieces) {
  const Checkpoint& checkpoint = *listing.checkpoint;
  std::vector<std::vector<std::string>> rows = {{"tensor", "dtype", "shape", "size", "pieces"}};
  if (listing.digests) rows[0].emplace_back("digest");
  for (std::size_t t = 0; t < checkpoint.tensors().size(); ++t) {
    const StoredTensor& tensor = checkpoint.tensors()[t];
    rows.push_back({tensor.name, std::string(ToString(tensor.dtype)), ptc::ToString(tensor.shape),
                    formatBytes(bytesOf(tensor)), std::to_string(tensor.boxes.size())});
    if (listing.digests) rows.back().push_back(ptc::Hex16((*listing.digests)[t]));
    if (!pieces) continue;
    for (const StoredBox& stored : tensor.boxes) {
      const std::string strides =
          stored.strides.empty() ? "" : fmt::format(", strides {}", fmt::join(stored.strides, ","));
      const char* archive = stored.archive_bytes > 0 ? ", archive" : "";
      rows.push_back(
          {fmt::format("  {}{} at byte {}{}", fileName(checkpoint, stored.file), archive,
                       stored.offset, strides),
           "", ToString(stored.box),
           formatBytes(reshard::BytesOf({tensor.name, tensor.dtype, stored.box.shape()})), ""});
      if (listing.digests) rows.back().emplace_back();
    }
  }
  return formatTable(rows, {3, 4});
}

/// Shortens values of metadata, which may be whole files.
std::string shortened(const std::string& value) {
  constexpr std::size_t kMost = 72;
  std::string line = value.substr(0, kMost);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (value.size() > kMost) line += fmt::format("… ({})", formatBytes(std::ssize(value)));
  return line;
}

void printListing(const Listing& listing, bool pieces) {
  const Checkpoint& checkpoint = *listing.checkpoint;
  std::int64_t bytes = 0;
  std::map<std::string, std::size_t> dtypes;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    bytes += bytesOf(tensor);
    ++dtypes[std::string(ToString(tensor.dtype))];
  }
  if (!checkpoint.tensors().empty()) fmt::print("{}\n", table(listing, pieces));
  std::vector<std::string> counts;
  for (const auto& [dtype, count] : dtypes) counts.push_back(fmt::format("{} {}", count, dtype));
  fmt::print("{}: {}, {}\n", checkpoint.path(), checkpoint::ToString(checkpoint.format()),
             Counted(std::ssize(checkpoint.files()), "file"));
  fmt::print("{} tensors ({}), {}\n", checkpoint.tensors().size(), fmt::join(counts, ", "),
             formatBytes(bytes));
  if (listing.numOthers > 0) fmt::print("{} further tensors not shown\n", listing.numOthers);
  for (const auto& [key, value] : checkpoint.metadata())
    fmt::print("metadata {}: {}\n", shortened(key), shortened(value));
  if (!checkpoint.opaque().empty())
    fmt::print("{} entries are not tensors and are not read: {}\n", checkpoint.opaque().size(),
               shortened(fmt::format("{}", fmt::join(checkpoint.opaque(), ", "))));
  if (listing.digest) fmt::print("digest {}\n", ptc::Hex16(*listing.digest));
  if (const std::string line = checkpoint.UncomparedDigests(); !line.empty())
    fmt::print("{}\n", line);
  if (listing.numStated > 0)
    fmt::print("{} equal what the checkpoint states\n",
               Counted(static_cast<std::int64_t>(listing.numStated), "digest"));
  if (listing.sums && listing.sums->count == 0 && listing.numStated == 0)
    fmt::print("the format contains no checksums\n");
  if (listing.sums && listing.sums->count > 0)
    fmt::print("{} checksums over {} match\n", listing.sums->count,
               formatBytes(listing.sums->bytes));
}

/// Reads everything.
/// \error also if a digest differs from the one stored in the checkpoint
Status addDigests(const Invocation& call, reshard::ReadOptions options, Listing& listing) {
  countInterrupts();
  ByteProgress progress("digesting", call.json ? nullptr : stderr,
                        ByteProgress::Elsewhere::kNothing);
  options.watch = progress.watch();
  TESSERA_TRY(auto digests, reshard::DigestsOf(*listing.checkpoint, options));
  progress.end();
  std::vector<reshard::OutTensor> forms;
  for (std::size_t t = 0; t < digests.size(); ++t) {
    const StoredTensor& tensor = listing.checkpoint->tensors()[t];
    forms.push_back({tensor.name, tensor.dtype, tensor.shape});
    if (!tensor.digest) continue;
    ++listing.numStated;
    if (*tensor.digest != digests[t])
      return DataLoss(fmt::format("tensor '{}' has digest {}, the checkpoint states {}",
                                  tensor.name, ptc::Hex16(digests[t]), ptc::Hex16(*tensor.digest)));
  }
  if (listing.numOthers == 0) {
    TESSERA_TRY(listing.digest, reshard::CollectionDigest(forms, digests));
  }
  listing.digests = std::move(digests);
  return OkStatus();
}

/// Reads everything that has a checksum in the checkpoint.
Result<reshard::SumsChecked> checkSums(const Invocation& call, reshard::ReadOptions options,
                                       const Checkpoint& checkpoint) {
  countInterrupts();
  ByteProgress progress("verifying", call.json ? nullptr : stderr,
                        ByteProgress::Elsewhere::kNothing);
  options.watch = progress.watch();
  auto checked = reshard::CheckSums(checkpoint, options);
  progress.end();
  return checked;
}

int runInspect(const Invocation& call) {
  TESSERA_OR_USAGE(const auto read, readMemoryAndThreads(call.arguments));
  TESSERA_OR_FAILED(auto opened, openCheckpoint(call, call.arguments.word(0)));
  Listing listing{.checkpoint = opened};
  if (const auto glob = call.arguments.value("tensor")) {
    TESSERA_OR_FAILED(auto chosen, chooseTensors(*opened, *glob));
    listing.checkpoint = chosen;
    listing.numOthers = opened->tensors().size() - chosen->tensors().size();
  }
  const bool verify = call.arguments.has("verify");
  if (verify) {
    TESSERA_OR_FAILED(const auto checked, checkSums(call, read, *listing.checkpoint));
    listing.sums = checked;
  }
  if (verify || call.arguments.has("digests"))
    if (const Status added = addDigests(call, read, listing); !added) return failed(added.error());
  if (call.json)
    printLine(listingToJson(listing, call.arguments.has("pieces")));
  else
    printListing(listing, call.arguments.has("pieces"));
  return kDone;
}

}  // namespace

Command inspectCommand() {
  return {
      {.verb = "inspect",
       .summary = "List the tensors of a checkpoint on disk",
       .words = {{"PATH",
                  "safetensors file, Hugging Face or sharded safetensors folder, folder "
                  "of torch.distributed.checkpoint or of Megatron's torch_dist"}},
       .options = {{.name = "tensor",
                    .value = "GLOB",
                    .help = "list only names that match: * is anything without a dot, ** is "
                            "anything"},
                   {.name = "pieces",
                    .value = "",
                    .help = "show the file and offset of each box of a tensor"},
                   {.name = "digests",
                    .value = "",
                    .help = "read everything and show digests, which are equal for every "
                            "layout"},
                   {.name = "verify",
                    .value = "",
                    .help = "as --digests, and check every checksum in the checkpoint: "
                            "Tessera's digests, the CRC-32 of torch.save's entries, the SHA-256 "
                            "of Megatron's integrity.json"},
                   strictOption(),
                   memoryOption(),
                   threadsOption()},
       .notes = {"Without --digests and --verify only the tables are read. Code in a checkpoint "
                 "is never run. Needs no cluster."},
       .examples = {"tesseractl inspect checkpoints/step-1000",
                    "tesseractl inspect model.safetensors --tensor \"**.weight\" --digests"}},
      runInspect};
}

}  // namespace tessera::app
