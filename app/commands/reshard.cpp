// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `reshard`: writes a checkpoint in another format, for another mesh or with other dtypes.

#include "engine/reshard/reshard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/commands/checkpoint_layout.h"
#include "app/commands/checkpoint_options.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/model_source.h"
#include "app/commands/units.h"
#include "engine/checkpoint/name_prefix.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

using checkpoint::Format;

constexpr std::string_view kFile = ".safetensors";
constexpr std::int64_t kMostShards = 99'999;  // five digits in the names of files

/// The format of DST: --format, else by --mesh and the extension of DST.
Result<Format> formatOf(const Arguments& arguments) {
  const bool mesh = arguments.has("mesh");
  const std::string name =
      arguments.valueOr("format", mesh                                 ? "sharded"
                                  : arguments.word(1).ends_with(kFile) ? "safetensors"
                                                                       : "huggingface");
  for (const Format format :
       {Format::kSafetensors, Format::kHuggingFace, Format::kShardedSafetensors}) {
    if (name != checkpoint::ToString(format)) continue;
    const bool sharded = format == Format::kShardedSafetensors;
    if (sharded && !mesh) return InvalidArgument("--format sharded needs --mesh");
    if (!sharded && mesh)
      return InvalidArgument(
          fmt::format("--mesh cuts tensors, --format {} holds whole ones", name));
    return format;
  }
  return Internal(fmt::format("format '{}' is in the option table but unknown", name));
}

/// "bf16", or "**.exp_avg=f32".
Result<reshard::DTypeRule> readDType(const std::string& text) {
  const std::size_t equal = text.rfind('=');
  const std::string name = equal == std::string::npos ? text : text.substr(equal + 1);
  auto dtype = ptc::ParseDType(name);
  if (!dtype) return std::move(dtype).Context("--dtype").error();
  return reshard::DTypeRule{equal == std::string::npos ? std::string() : text.substr(0, equal),
                            *dtype};
}

Result<reshard::Options> readReshardOptions(const Arguments& arguments) {
  reshard::Options options;
  TESSERA_TRY(options.format, formatOf(arguments));
  for (const char* option : {"rules", "values", "tensors", "zero", "stages"})
    if (arguments.has(option) && !arguments.has("mesh"))
      return InvalidArgument(fmt::format("--{} goes with --mesh", option));
  for (const char* option : {"shard-size", "shards"})
    if (arguments.has(option) && options.format != Format::kHuggingFace)
      return InvalidArgument(fmt::format("--{} goes with --format huggingface", option));
  if (arguments.has("shard-size") && arguments.has("shards"))
    return InvalidArgument("--shard-size and --shards are given: choose one");
  if (const auto size = arguments.value("shard-size")) {
    auto bytes = parseMemory(*size);
    if (!bytes) return std::move(bytes).Context("--shard-size").error();
    options.files.most_bytes = *bytes;
  }
  if (arguments.has("shards")) {
    TESSERA_TRY(const std::int64_t count, arguments.integer("shards", 1, 1, kMostShards));
    options.files.count = static_cast<int>(count);
  }
  for (const std::string& text : arguments.values("dtype")) {
    TESSERA_TRY(auto rule, readDType(text));
    options.dtypes.push_back(std::move(rule));
  }
  TESSERA_TRY(const auto read, readMemoryAndThreads(arguments));
  options.memory_bytes = read.memory_bytes;
  options.threads = read.threads;
  options.replace = arguments.has("force");
  options.must_resume = arguments.has("resume");
  options.restart = arguments.has("restart");
  if (options.must_resume && options.restart)
    return InvalidArgument("--resume and --restart are opposites: give one of them");
  options.verify = arguments.has("verify");
  options.spelling["--format"] = checkpoint::ToString(options.format);
  for (const char* option : {"mesh", "rules", "values", "tensors", "stages", "shard-size", "shards",
                             "dtype", "strip-prefix"})
    if (arguments.has(option))
      options.spelling[fmt::format("--{}", option)] =
          fmt::format("{}", fmt::join(arguments.values(option), " "));
  if (readZero(arguments)) options.spelling["--zero"] = "on";
  return options;
}

/// "2 entries are not tensors and are left out: lr, step".
std::string leftOut(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 50;
  const std::size_t shown = std::min(names.size(), kMost);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string line =
      fmt::format("{} left out: {}",
                  names.size() == 1 ? "1 entry is not a tensor and"
                                    : fmt::format("{} entries are not tensors and", names.size()),
                  fmt::join(names.begin(), end, ", "));
  if (shown < names.size())
    line += fmt::format(" and {} more, which `inspect --json` lists", names.size() - shown);
  return line;
}

int runReshard(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  TESSERA_OR_USAGE(auto options, readReshardOptions(arguments));
  TESSERA_OR_FAILED(auto source, openCheckpoint(call, arguments.word(0)));
  if (const auto prefix = arguments.value("strip-prefix")) {
    TESSERA_OR_FAILED(source, source->WithoutPrefix(*prefix));
  } else if (const std::string wrapper = checkpoint::WrapperPrefix(*source); !wrapper.empty()) {
    warn(
        fmt::format("all names begin with '{}', which PyTorch adds for a wrapper: --strip-prefix "
                    "{} removes it",
                    wrapper, wrapper));
  }
  if (arguments.has("mesh")) {
    auto layout = layoutOf(*source, arguments);
    if (!layout)
      return arguments.has("rules") ? failed(layout.error()) : wrongUsage(layout.error());
    options.layout = std::move(layout->layout);
    if (!layout->note.empty()) warn(layout->note);
  }

  countInterrupts();
  std::signal(SIGXFSZ,
              SIG_IGN);  // a write beyond the size limit fails instead of killing the process
  ByteProgress progress("resharding", call.json || call.quiet ? nullptr : stdout,
                        ByteProgress::Elsewhere::kLines);
  options.watch = progress.watch();
  options.note = [&](const std::string& line) { progress.note(line); };
  if (!source->opaque().empty()) warn(leftOut(source->opaque()));
  if (const std::string line = source->UncomparedDigests(); !line.empty()) progress.note(line);
  const auto begin = std::chrono::steady_clock::now();
  const auto report = reshard::Reshard(*source, arguments.word(1), options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  progress.end();
  if (!report) return failed(report.error());
  if (call.json) {
    printLine({{"tensors", report->num_tensors},
               {"read_bytes", report->bytes_read},
               {"written_bytes", report->bytes_written},
               {"seconds", took.count()},
               {"digest", ptc::Hex16(report->digest)},
               {"files", report->num_files},
               {"converted", report->num_converted},
               {"resumed_bytes", report->bytes_resumed},
               {"format", checkpoint::ToString(options.format)},
               {"path", arguments.word(1)}});
    return kDone;
  }
  fmt::print("{}: {} in {}, {} written in {}\n", arguments.word(1),
             Counted(report->num_tensors, "tensor"), Counted(report->num_files, "file"),
             formatBytes(report->bytes_written), formatSeconds(took.count()));
  if (report->num_converted > 0)
    fmt::print("{} tensors have another dtype than before\n", report->num_converted);
  fmt::print("digest {}\n", ptc::Hex16(report->digest));
  return kDone;
}

}  // namespace

Command reshardCommand() {
  std::vector<OptionSpec> options = {
      {.name = "format",
       .value = "",
       .help = "safetensors is one file, huggingface a folder of whole tensors, sharded a folder "
               "with the shards of a mesh",
       .fallback = "sharded with --mesh, safetensors for a DST with that extension, else "
                   "huggingface",
       .choices = {"safetensors", "huggingface", "sharded"}}};
  std::ranges::move(layoutOptions(), std::back_inserter(options));
  for (OptionSpec option : std::initializer_list<OptionSpec>{
           {.name = "shard-size",
         .value = "SIZE",
         .help = "with --format huggingface: largest size of a file",
         .fallback = "5G"},
           {.name = "shards",
           .value = "N",
           .help = "with --format huggingface: number of files, of about equal size"},
           {.name = "dtype",
           .value = "[GLOB=]DTYPE",
           .help = "round floating-point tensors (that match GLOB) to f64, f32, f16, bf16, f8e4m3 "
                   "or f8e5m2",
           .repeats = true},
           stripPrefixOption("remove PREFIX, such as \"module.\", from names that begin with it"),
           strictOption(),
           memoryOption(),
           threadsOption(),
           forceOption("replace DST, at the end and in one step"),
           {.name = "resume", .value = "", .help = "fail if there is no interrupted run to resume"},
           {.name = "restart",
           .value = "",
           .help = "discard an interrupted run instead of resuming it"},
           {.name = "verify",
           .value = "",
           .help = "check the checksums in SRC first; read what was written and compare digests "
                   "before DST appears"},
           quietOption()})
    options.push_back(std::move(option));
  return {{.verb = "reshard",
           .summary = "Write a checkpoint in another format, for another mesh or with other dtypes",
           .words = {{"SRC", "file or folder of any format that `inspect` reads; it is only read"},
                     {"DST", "file or folder to write"}},
           .options = std::move(options),
           .notes = {"The command writes to DST.partial and renames it to DST at the end. After "
                     "Ctrl-C, a crash or a full disk the same command resumes.",
                     "The sharded form is the one that torch.distributed.checkpoint reads with "
                     "HuggingFaceStorageReader. The digests of all tensors are stored in "
                     "__metadata__ and, for folders, in tessera-manifest.json. Needs no cluster."},
           .examples = {"tesseractl reshard checkpoints/step-1000 step-1000-tp2 --mesh "
                        "\"tp=2,pp=2\" --rules llama",
                        "tesseractl reshard model.safetensors half.safetensors --dtype bf16",
                        "tesseractl reshard sharded/ merged --format huggingface --shard-size 2G"}},
          runReshard};
}

}  // namespace tessera::app
