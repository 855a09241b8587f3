// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/reshard.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/files/absolute_path.h"
#include "engine/reshard/copier.h"
#include "engine/reshard/digests.h"
#include "engine/reshard/metadata.h"
#include "engine/reshard/reshard_plan.h"
#include "engine/reshard/sums.h"
#include "engine/reshard/work_folder.h"
#include "ptc/layout.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;
using checkpoint::Format;

int Percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 100 : static_cast<int>(part / (whole / 100 + 1));
}

/// Returns the absolute path with symbolic links resolved, except in the last component.
Result<std::string> Resolved(const std::string& destination) {
  std::error_code error;
  const fs::path path = engine::AbsolutePath(destination);
  const fs::path parent = fs::canonical(path.parent_path(), error);
  if (error) {
    return NotFound(
        fmt::format("the folder of '{}' cannot be resolved: {}", destination, error.message()));
  }
  return (parent / path.filename()).string();
}

/// Refuses a destination inside the source, and a source inside the destination.
Status CheckApart(const Checkpoint& source, const std::string& destination) {
  std::error_code error;
  const fs::path from = fs::canonical(source.path(), error);
  if (error) {
    return Unavailable(fmt::format("'{}' cannot be resolved: {}", source.path(), error.message()));
  }
  // An empty path, as after an error, would be inside any other.
  const fs::path to = fs::weakly_canonical(destination, error);
  if (error) {
    return InvalidArgument(
        fmt::format("destination '{}' cannot be used: {}", destination, error.message()));
  }
  const auto inside = [](const fs::path& inner, const fs::path& outer) {
    return std::ranges::mismatch(outer, inner).in1 == outer.end();
  };
  if (inside(to, from) || inside(from, to)) {
    return InvalidArgument(
        fmt::format("destination '{}' and source '{}' overlap", destination, source.path()));
  }
  return OkStatus();
}

bool Exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Status CheckSpace(const std::string& folder, std::int64_t bytes) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0)
    return OkStatus();  // a full disk is then an error of writing
  const auto left = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
  if (static_cast<std::uint64_t>(bytes) <= left) return OkStatus();
  return ResourceExhausted(
      fmt::format("'{}' needs {} bytes, but its file system has {} left", folder, bytes, left));
}

/// Compares the digests that the source states with those of what was read.
Status CheckStated(const Checkpoint& source, const DigestSums& sums) {
  for (std::size_t t = 0; t < source.tensors().size(); ++t) {
    const checkpoint::StoredTensor& tensor = source.tensors()[t];
    if (!tensor.digest || *tensor.digest == sums.of_source[t]) continue;
    return DataLoss(fmt::format("tensor '{}' of '{}' has digest {}, the checkpoint states {}",
                                tensor.name, source.path(), ptc::Hex16(sums.of_source[t]),
                                ptc::Hex16(*tensor.digest)));
  }
  return OkStatus();
}

/// One run, from its plan to the rename of the output.
class Run {
 public:
  Run(const Checkpoint& source, std::string destination, const Options& options, ReshardPlan plan,
      Identity identity, WorkFolder folder)
      : source_(source),
        destination_(std::move(destination)),
        options_(options),
        plan_(std::move(plan)),
        identity_(std::move(identity)),
        folder_(std::move(folder)) {}

  Result<Report> Execute() {
    TESSERA_RETURN_IF_ERROR(TakeUp());
    Copier copier(source_, plan_, Paths(), options_, folder_.journal());
    const auto& content = folder_.journal().content();
    TESSERA_RETURN_IF_ERROR(copier.Resume(content.tiles));
    const bool renamed = folder_.WasRenamed();
    if (!content.tiles.empty() && options_.note) {
      options_.note(
          fmt::format("resuming at {} %", Percent(copier.bytes_resumed(), plan_.source_bytes)));
    }
    if (!renamed) {
      if (const Status written = Write(copier); !written) return GivenUp(written.error(), copier);
    }
    TESSERA_TRY(const Report report, Describe(copier));
    if (!renamed) TESSERA_RETURN_IF_ERROR(folder_.RenameOutput(options_.replace));
    TESSERA_RETURN_IF_ERROR(folder_.Remove());
    return report;
  }

 private:
  bool IsFolder() const { return options_.format != Format::kSafetensors; }

  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const OutFile& file : plan_.arrangement.files) {
      paths.push_back(IsFolder() ? folder_.output() + "/" + file.name : folder_.output());
    }
    return paths;
  }

  /// Resumes the run of the journal, or begins a new journal.
  Status TakeUp() {
    const auto& begun = folder_.journal().content().identity;
    if (begun && !options_.restart) {
      if (*begun == identity_) return OkStatus();
      return FailedPrecondition(fmt::format(
          "'{}' is an unfinished reshard with other arguments: {}; --restart discards it",
          folder_.path(), Difference(*begun, identity_)));
    }
    if (!begun && options_.must_resume) {
      (void)folder_.Remove();
      return FailedPrecondition(
          fmt::format("there is no unfinished reshard to '{}'", destination_));
    }
    TESSERA_RETURN_IF_ERROR(folder_.Clear());
    return folder_.journal().Begin(identity_);
  }

  Status Write(Copier& copier) {
    if (IsFolder()) {
      std::error_code error;
      fs::create_directory(folder_.output(), error);
      if (error) {
        return Unavailable(
            fmt::format("'{}' cannot be made: {}", folder_.output(), error.message()));
      }
    }
    if (options_.verify) {
      if (options_.note) options_.note("verifying the checksums of the source");
      TESSERA_RETURN_IF_ERROR(
          CheckSums(source_, {options_.memory_bytes, options_.threads, options_.watch}));
    }
    TESSERA_RETURN_IF_ERROR(copier.MakeFiles());
    if (IsFolder()) TESSERA_RETURN_IF_ERROR(checkpoint::SyncFolder(folder_.output()));
    TESSERA_RETURN_IF_ERROR(copier.Run());
    TESSERA_TRY(Identity now, IdentityOf(source_));
    if (now.files != identity_.files) {
      return DataLoss(fmt::format("'{}' changed while it was read", source_.path()));
    }
    TESSERA_RETURN_IF_ERROR(CheckStated(source_, copier.digests()));
    TESSERA_RETURN_IF_ERROR(copier.Finish());
    if (IsFolder()) TESSERA_RETURN_IF_ERROR(WriteTexts(copier));
    return options_.verify ? Verify(copier) : OkStatus();
  }

  Status WriteTexts(const Copier& copier) const {
    const auto digests = TensorDigests(copier);
    TESSERA_TRY(const std::uint64_t digest, CollectionDigest(plan_.tensors, digests));
    const auto write = [&](std::string_view name, const auto& print) -> Status {
      TESSERA_TRY(const checkpoint::FilePtr file,
                  checkpoint::File::Open(fmt::format("{}/{}", folder_.output(), name),
                                         checkpoint::File::Mode::kCreate));
      std::int64_t end = 0;
      TESSERA_RETURN_IF_ERROR(print([&](std::string_view block) {
        end += std::ssize(block);
        return file->WriteAt(end - std::ssize(block), std::as_bytes(std::span(block)));
      }));
      TESSERA_RETURN_IF_ERROR(file->Resize(end));
      return file->Sync();
    };
    TESSERA_RETURN_IF_ERROR(write(kManifestName, [&](const TextSink& sink) {
      return PrintManifest(plan_.tensors, digests, digest, sink);
    }));
    if (options_.format == Format::kHuggingFace) {
      TESSERA_RETURN_IF_ERROR(write(
          kIndexName, [&](const TextSink& sink) { return PrintIndex(plan_.arrangement, sink); }));
    }
    return checkpoint::SyncFolder(folder_.output());
  }

  /// Reads the output back and compares its digests.
  Status Verify(const Copier& copier) const {
    if (options_.note) options_.note("verifying");
    TESSERA_TRY(const auto written, Checkpoint::Open(folder_.output()));
    TESSERA_TRY(const auto found,
                DigestsOf(*written, {options_.memory_bytes, options_.threads, options_.watch}));
    const auto meant = TensorDigests(copier);
    if (written->tensors().size() != meant.size()) {
      return DataLoss(fmt::format("{} tensors were written, but {} were read back", meant.size(),
                                  written->tensors().size()));
    }
    for (std::size_t t = 0; t < meant.size(); ++t) {
      if (found[t] == meant[t]) continue;
      return DataLoss(fmt::format("tensor '{}' was written with digest {}, but reads back with {}",
                                  plan_.tensors[t].name, ptc::Hex16(meant[t]),
                                  ptc::Hex16(found[t])));
    }
    return OkStatus();
  }

  std::vector<std::uint64_t> TensorDigests(const Copier& copier) const {
    std::vector<std::uint64_t> digests;
    for (const std::vector<int>& pieces : plan_.arrangement.of_tensor) {
      std::uint64_t sum = 0;
      for (const int p : pieces) sum += copier.digests().of_pieces[static_cast<std::size_t>(p)];
      digests.push_back(sum);
    }
    return digests;
  }

  Result<Report> Describe(const Copier& copier) const {
    Report report;
    report.num_tensors = std::ssize(plan_.tensors);
    report.num_files = std::ssize(plan_.arrangement.files);
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].dtype != source_.tensors()[t].dtype) ++report.num_converted;
    }
    report.bytes_read = copier.bytes_read();
    report.bytes_written = copier.bytes_written();
    report.bytes_resumed = copier.bytes_resumed();
    TESSERA_TRY(report.digest, CollectionDigest(plan_.tensors, TensorDigests(copier)));
    return report;
  }

  /// Keeps the folder if the next run can resume from it, and removes it otherwise.
  Error GivenUp(Error error, const Copier& copier) const {
    if (copier.bytes_kept() == 0 || error.code == ErrorCode::kDataLoss) {
      (void)folder_.Remove();
      return error;
    }
    error.message += fmt::format("; {} % is in '{}': the same command resumes there",
                                 Percent(copier.bytes_kept(), plan_.source_bytes), folder_.path());
    return error;
  }

  const Checkpoint& source_;
  const std::string destination_;
  const Options& options_;
  const ReshardPlan plan_;
  const Identity identity_;
  WorkFolder folder_;
};

}  // namespace

Result<Report> Reshard(const Checkpoint& source, const std::string& destination,
                       const Options& options) {
  TESSERA_TRY(const std::string resolved, Resolved(destination));
  TESSERA_RETURN_IF_ERROR(CheckApart(source, resolved));
  TESSERA_TRY(ReshardPlan plan, MakeReshardPlan(source, resolved, options));
  TESSERA_TRY(Identity identity, IdentityOf(source));
  identity.options = options.spelling;
  identity.plan = plan.hash;
  const std::string partial = WorkFolder::PathFor(resolved);
  const bool begun = Exists(partial);
  // If destination and work folder both exist, an earlier run may have been killed after its
  // rename.
  if (Exists(resolved) && !options.replace && !begun) return ExistsAlready(destination);
  if (!begun) {
    TESSERA_RETURN_IF_ERROR(
        CheckSpace(fs::path(resolved).parent_path().string(), plan.output_bytes));
  }
  TESSERA_TRY(WorkFolder folder, WorkFolder::Open(resolved));
  if (Exists(resolved) && !options.replace && !folder.WasRenamed()) {
    if (!folder.journal().content().identity) (void)folder.Remove();
    return ExistsAlready(destination);
  }
  return Run(source, resolved, options, std::move(plan), std::move(identity), std::move(folder))
      .Execute();
}

}  // namespace tessera::reshard
