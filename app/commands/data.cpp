// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `data show`: the data of a job and their order.
#include "app/commands/data.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "agents/data/data_places.h"
#include "app/commands/checkpoint_options.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/units.h"
#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/data/text_dataset.h"
#include "engine/files/absolute_path.h"
#include "engine/files/tessera_home.h"
#include "engine/model/gpt.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostShown = 1 << 20;
constexpr std::chrono::milliseconds kGlance(50);
constexpr std::chrono::milliseconds kBarPatience(500);

/// One sample of the order.
struct OrderedSample {
  std::int64_t position = 0;
  std::int64_t pass = 0;
  engine::SampleId id;
};

Result<engine::DataMix> openData(const Invocation& call, std::int64_t sequence) {
  ByteProgress progress("indexing", call.json ? nullptr : stderr, ByteProgress::Elsewhere::kLines);
  std::stop_source stop;
  // Also needed while a server does not answer and `progress` is not called.
  const std::jthread watch([&stop](const std::stop_token& done) {
    while (!done.stop_requested() && numInterrupts() == 0) std::this_thread::sleep_for(kGlance);
  });
  agents::DataPlaces places;
  places.cache_folder = engine::TesseraHome() + "/cache";
  places.index.cancel = stop.get_token();
  // May be called from any thread, also after this function, so it captures nothing.
  places.index.warn = [](const std::string& line) { fmt::print(stderr, "tesseractl: {}\n", line); };
  // No bar for data that opens at once.
  bool isShown = false;
  auto due = std::chrono::steady_clock::now() + kBarPatience;
  places.index.progress = [&](std::int64_t done, std::int64_t total) {
    if (numInterrupts() > 0) stop.request_stop();
    const auto now = std::chrono::steady_clock::now();
    if (now < due && !(isShown && done == total)) return;
    due = now + kGlance;
    isShown = true;
    progress.show({.bytes_done = done, .bytes_total = total});
  };
  std::vector<std::string> paths;
  for (const std::string& given : call.arguments.values("data"))
    paths.push_back(absoluteData(given));
  if (paths.empty()) paths = engine::DefaultTextPaths();
  if (paths.empty()) return NotFound("no text was found on this machine: give --data");
  auto data = agents::OpenData(paths, sequence, places);
  progress.end();
  return data;
}

/// The first `count` samples of a job with `seed`.
Result<std::vector<OrderedSample>> firstSamples(const engine::DataMix& data, std::int64_t seed,
                                                std::int64_t count) {
  TESSERA_TRY(const auto ids, data.SamplesAt({.seed = seed}, 0, count));
  std::vector<OrderedSample> shown;
  for (std::int64_t i = 0; i < count; ++i)
    shown.push_back({i, i / data.num_samples(), ids[static_cast<std::size_t>(i)]});
  return shown;
}

std::string describeOrder(const engine::DataMix& data, const std::vector<OrderedSample>& order) {
  std::string text = fmt::format("{} samples per pass, {} tokens each\n",
                                 formatCount(data.num_samples()), data.sequence());
  std::vector<std::vector<std::string>> parts = {
      {"part", "format", "samples", "share", "first sample"}};
  double all = 0;
  const auto shareOf = [](const engine::DataMix::Part& part) {
    return part.weight > 0 ? part.weight : static_cast<double>(part.data->num_samples());
  };
  for (const auto& part : data.parts()) all += shareOf(part);
  for (std::size_t i = 0; i < data.parts().size(); ++i) {
    const auto& part = data.parts()[i];
    parts.push_back({fmt::format("{}", i), std::string(ToString(part.data->format())),
                     fmt::format("{}", part.data->num_samples()),
                     fmt::format("{:.1f} %", 100 * shareOf(part) / all), part.data->Describe(0)});
  }
  text += formatTable(parts, {2, 3});
  for (std::size_t i = 0; i < data.parts().size(); ++i) {
    const engine::RecordFit fit = data.parts()[i].data->fit();
    if (fit == engine::RecordFit{}) continue;
    text += fmt::format(
        "part {}: {} records are longer than {} tokens and are cut, {} are shorter and are padded "
        "with token 0\n",
        i, formatCount(fit.cut), data.sequence() + 1, formatCount(fit.padded));
  }
  if (order.empty()) return text;
  std::vector<std::vector<std::string>> rows = {{"position", "part", "sample", "location"}};
  for (const OrderedSample& shown : order)
    rows.push_back(
        {fmt::format("{}", shown.position), fmt::format("{}", shown.id.part),
         fmt::format("{}", shown.id.sample),
         data.parts()[static_cast<std::size_t>(shown.id.part)].data->Describe(shown.id.sample)});
  return text + "\n" + formatTable(rows, {0, 1, 2});
}

Json orderToJson(const engine::DataMix& data, const std::vector<OrderedSample>& order) {
  Json parts = Json::array();
  for (const auto& part : data.parts())
    parts.push_back({{"format", ToString(part.data->format())},
                     {"samples", part.data->num_samples()},
                     {"cut", part.data->fit().cut},
                     {"padded", part.data->fit().padded},
                     {"weight", part.weight > 0 ? Json(part.weight) : Json(nullptr)},
                     {"fingerprint", ptc::Hex16(part.data->fingerprint())}});
  Json samples = Json::array();
  for (const OrderedSample& shown : order)
    samples.push_back({{"position", shown.position},
                       {"pass", shown.pass},
                       {"part", shown.id.part},
                       {"sample", shown.id.sample}});
  return {{"samples", data.num_samples()},
          {"sequence", data.sequence()},
          {"fingerprint", ptc::Hex16(data.fingerprint())},
          {"parts", std::move(parts)},
          {"order", std::move(samples)}};
}

int showData(const Invocation& call) {
  TESSERA_OR_USAGE(const auto sequence, call.arguments.integer("sequence", 128, 1, 1 << 20));
  const auto seed =
      call.arguments.integer("seed", engine::JobSettings().seed, 0, std::int64_t{1} << 40);
  if (!seed) return wrongUsage(seed.error());
  TESSERA_OR_USAGE(const auto count, call.arguments.integer("limit", 0, 0, kMostShown));
  countInterrupts();
  TESSERA_OR_FAILED(const auto data, openData(call, sequence));
  TESSERA_OR_FAILED(const auto order, firstSamples(data, *seed, count));
  if (call.json) {
    printLine(orderToJson(data, order));
  } else {
    fmt::print("{}", describeOrder(data, order));
  }
  return kDone;
}

}  // namespace

std::string absoluteData(const std::string& given) {
  const auto parsed = engine::ParseWeightedPath(given);
  if (!parsed) return given;  // opening it reports the error
  const std::string& path = parsed->path;
  const std::string weight = given.substr(0, given.size() - path.size());
  if (path.empty() || engine::IsUrl(path)) return given;
  const std::string absolute = engine::AbsolutePath(path);
  return weight + absolute;
}

Command dataShowCommand() {
  return {
      {.verb = "data show",
       .summary = "Show what data sets contain and in which order a job reads them",
       .options =
           {{.name = "data",
             .value = "PATH",
             .help = "file, folder or URL; `0.7:PATH` gives a weight",
             .fallback = "text found on the machine",
             .repeats = true},
            {.name = "sequence", .value = "N", .help = "tokens per sample", .fallback = "128"},
            limitOption("list the first N samples of the order", "none"),
            {.name = "seed",
             .value = "S",
             .help = "seed of the order",
             .fallback = fmt::to_string(engine::JobSettings().seed)}},
       .notes = {"The command builds the index of the data and keeps it in TESSERA_HOME/cache."},
       .examples = {"tesseractl data show", "tesseractl data show --data shards/ --limit 10"}},
      showData};
}

}  // namespace tessera::app
