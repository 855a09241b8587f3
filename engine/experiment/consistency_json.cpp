// SPDX-License-Identifier: Apache-2.0

/// \file
/// Results as JSON, for scripts and the last result in the panel. Keys are added, never changed.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/experiment/comparison.h"

namespace tessera::engine {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Calls `visit(key, value)` for each value of a setup.
template <typename Setup, typename Visit>
void ForEachValue(Setup& s, const Visit& visit) {
  visit("model", s.model);
  visit("data", s.data);
  visit("steps", s.steps);
  visit("change_at", s.change_at);
  visit("global_batch", s.global_batch);
  visit("sequence", s.sequence);
  visit("from", s.from);
  visit("to", s.to);
  visit("samples", s.num_samples);
  visit("held_out_samples", s.held_out);
  visit("group", s.group);
  visit("seed", s.seed);
  visit("learning_rate", s.learning_rate);
}

Json ToObject(const ConsistencySetup& setup) {
  Json object;
  ForEachValue(setup, [&](const char* key, const auto& value) { object[key] = value; });
  return object;
}

/// By the samples of the comparison; null for the right run itself and if there is none.
Json AgainstRight(const ConsistencyRun& run, const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr || right == &run) return nullptr;
  const auto on = [&](Samples samples) -> Json {
    const auto difference = DifferenceOn(samples, run, *right, result.setup);
    if (!difference) return nullptr;
    return {{"mean", difference->value}, {"error", difference->error}};
  };
  return {{"read_last", on(Samples::kReadLast)},
          {"never_read", on(Samples::kNeverRead)},
          {"held_out", on(Samples::kHeldOut)}};
}

Json ToObject(const ConsistencyRun& run, const ConsistencyResult& result) {
  const RunSummary summary = Summarize(run, result);
  Json read = Json::array(), points = Json::array();
  for (const ReadStretch& stretch : run.read) read.push_back({stretch.begin, stretch.end});
  for (const LossPoint& point : run.points) {
    points.push_back({{"step", point.step}, {"samples", point.samples}, {"loss", point.loss}});
  }
  return {{"run", KeyOf(run)},
          {"changed_after", OrNull(run.changed_after)},
          {"batch_before", run.batch_before},
          {"batch_after", run.batch_after},
          {"loss_before", summary.loss_before},
          {"loss_end", summary.loss_end},
          {"held_out_loss", OrNull(HeldOutLoss(run))},
          {"against_right", AgainstRight(run, result)},
          {"read_again", summary.coverage.read_again},
          {"never_read", summary.coverage.never_read},
          {"largest_difference", OrNull(summary.largest_difference)},
          {"pause_seconds", run.pause},
          {"read", std::move(read)},
          {"held_out_losses", run.held_out_losses},
          {"pass_losses", run.pass_losses},
          {"points", std::move(points)}};
}

/// Reads members of one object by name; keeps the first error.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) Fail("is not an object");
  }

  void Read(const char* key, std::int64_t* out) {
    if (const Json* value = Find(key, &Json::is_number_integer)) *out = value->get<std::int64_t>();
  }
  void Read(const char* key, double* out) {
    if (const Json* value = Find(key, &Json::is_number)) *out = value->get<double>();
  }
  void Read(const char* key, std::string* out) {
    if (const Json* value = Find(key, &Json::is_string)) *out = value->get<std::string>();
  }
  void Read(const char* key, std::vector<double>* out) {
    const Json* list = List(key);
    if (list == nullptr) return;
    if (!std::all_of(list->begin(), list->end(), [](const Json& v) { return v.is_number(); })) {
      return Fail(fmt::format("has no valid '{}'", key));
    }
    *out = list->get<std::vector<double>>();
  }
  template <typename T>
  void Read(const char* key, std::optional<T>* out) {
    if (!object_.is_object() || !object_.contains(key) || object_[key].is_null()) return;
    Read(key, &out->emplace());
  }
  /// Returns the member; an error if it is missing or no list.
  const Json* List(const char* key) { return Find(key, &Json::is_array); }

  const Status& status() const { return status_; }
  void Fail(const std::string& what) {
    if (status_) status_ = InvalidArgument(fmt::format("{} {}", where_, what));
  }

 private:
  const Json* Find(const char* key, bool (Json::*has_type)() const noexcept) {
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end() && ((*it).*has_type)()) return &*it;
    Fail(fmt::format("has no valid '{}'", key));
    return nullptr;
  }

  const Json& object_;
  std::string where_;
  Status status_;
};

Result<ConsistencySetup> ParseSetup(const Json& json) {
  ConsistencySetup s;
  Members members(json, "setup");
  ForEachValue(s, [&](const char* key, auto& value) { members.Read(key, &value); });
  TESSERA_RETURN_IF_ERROR(members.status());
  if (s.num_samples < 1) return InvalidArgument("setup has no samples");
  if (s.group < 0 || s.group > s.num_samples) {
    return InvalidArgument(
        fmt::format("setup has groups of {} of {} samples", s.group, s.num_samples));
  }
  return s;
}

Result<std::vector<ReadStretch>> ParseRead(const Json& list) {
  std::vector<ReadStretch> read;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() ||
        !pair[1].is_number_integer()) {
      return InvalidArgument("'read' holds something that is not [begin, end]");
    }
    read.push_back({pair[0].get<std::int64_t>(), pair[1].get<std::int64_t>()});
  }
  return read;
}

Result<ConsistencyRun> ParseRun(const Json& json) {
  ConsistencyRun run;
  Members members(json, "run");
  std::string key;
  members.Read("run", &key);
  members.Read("changed_after", &run.changed_after);
  members.Read("batch_before", &run.batch_before);
  members.Read("batch_after", &run.batch_after);
  members.Read("pause_seconds", &run.pause);
  const Json* const read = members.List("read");
  const Json* const points = members.List("points");
  members.Read("held_out_losses", &run.held_out_losses);
  members.Read("pass_losses", &run.pass_losses);
  TESSERA_RETURN_IF_ERROR(members.status());
  run.is_reference = key == "reference";
  if (key != "right" && !run.is_reference) {
    TESSERA_TRY(run.way, ParseAtChange(key));
  }
  TESSERA_TRY(run.read, ParseRead(*read));
  for (const Json& each : *points) {
    LossPoint point;
    Members of_point(each, "point");
    of_point.Read("step", &point.step);
    of_point.Read("samples", &point.samples);
    of_point.Read("loss", &point.loss);
    TESSERA_RETURN_IF_ERROR(of_point.status());
    run.points.push_back(point);
  }
  return run;
}

}  // namespace

std::string ToJson(const ConsistencyResult& result, int indent) {
  Json runs = Json::array();
  for (const ConsistencyRun& run : result.runs) runs.push_back(ToObject(run, result));
  const Json json = {{"experiment", "consistency"},
                     {"setup", ToObject(result.setup)},
                     {"seconds", result.seconds},
                     {"time", result.time},
                     {"runs", std::move(runs)}};
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<ConsistencyResult> ParseConsistencyResult(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument("the result is not JSON");
  ConsistencyResult result;
  Members members(json, "result");
  members.Read("seconds", &result.seconds);
  members.Read("time", &result.time);
  const Json* const runs = members.List("runs");
  TESSERA_RETURN_IF_ERROR(members.status());
  if (!json.contains("setup")) return InvalidArgument("result has no 'setup'");
  TESSERA_TRY(result.setup, ParseSetup(json["setup"]));
  for (const Json& run : *runs) {
    TESSERA_TRY(ConsistencyRun parsed, ParseRun(run));
    result.runs.push_back(std::move(parsed));
  }
  return result;
}

}  // namespace tessera::engine
