// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the JSON of lessons.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <utility>

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_names.h"
#include "engine/lesson/lesson_translation.h"
#include "engine/lesson/lesson_value.h"
#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr std::array<std::string_view, 4> kLessonViews = {"mesh", "tensors", "links", "data"};
constexpr std::array<std::string_view, 6> kLessonColours = {"piece", "replica", "stage",
                                                            "slice", "host",    "memory"};
constexpr std::array<std::string_view, 1> kLessonExperiments = {"consistency"};
constexpr std::array<std::string_view, 13> kLessonActions = {
    "start",  "plan",   "swap",   "move",  "lose",       "reset",   "view",
    "select", "tensor", "colour", "frame", "experiment", "pipeline"};

int CountWords(std::string_view text) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

/// The value as JSON again. Line numbers are lost.
std::string JsonText(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return value.integer != 0 ? "true" : "false";
    case JsonValue::Kind::kInteger:
      return fmt::format("{}", value.integer);
    case JsonValue::Kind::kNumber:
      return value.text;
    case JsonValue::Kind::kText:
      return JsonQuoted(value.text);
    case JsonValue::Kind::kList:
    case JsonValue::Kind::kObject:
      break;
  }
  const bool is_list = value.kind == JsonValue::Kind::kList;
  std::string text;
  for (const JsonValue& item : value.items) {
    if (!text.empty()) text += ", ";
    if (!is_list) text += JsonQuoted(item.key) + ": ";
    text += JsonText(item);
  }
  return is_list ? "[" + text + "]" : "{" + text + "}";
}

class LessonReader {
 public:
  explicit LessonReader(const NamedText& file) : file_(file) {}

  Result<Lesson> Read(const JsonValue& root) const {
    TESSERA_TRY(
        const auto reader,
        JsonReader::Make(file_, root, "a lesson", {"title", "summary", "cluster", "job", "steps"}));
    Lesson lesson;
    lesson.name = LessonNameOf(file_.name);
    lesson.file = file_.name;
    TESSERA_TRY(lesson.title, ShortText(reader, "title"));
    TESSERA_TRY(lesson.summary, ShortText(reader, "summary"));
    TESSERA_TRY(lesson.setup, ReadSetup(reader));
    TESSERA_TRY(const auto* steps, reader.List("steps"));
    if (steps->empty()) return reader.At(*reader.Find("steps"), "'steps' needs at least one step");
    for (const JsonValue& step : *steps) {
      TESSERA_TRY(lesson.steps.emplace_back(), ReadStep(step));
    }
    return lesson;
  }

 private:
  Result<std::string> ShortText(const JsonReader& reader, std::string_view key) const {
    TESSERA_TRY(std::string text, reader.Text(key));
    if (const Status good = CheckLessonText(key, text); !good) {
      return reader.At(*reader.Find(key), good.error().message);
    }
    return text;
  }

  Status OptionalText(const JsonReader& reader, std::string_view key, std::string& out) const {
    if (reader.Find(key) == nullptr) return OkStatus();
    TESSERA_TRY(out, ShortText(reader, key));
    return OkStatus();
  }

  Result<std::string> Expression(const JsonReader& reader, std::string_view key) const {
    TESSERA_TRY(std::string text, reader.Text(key));
    if (const auto value = EvaluateLesson(text, AnyLessonNames()); !value) {
      return reader.At(*reader.Find(key), fmt::format("'{}': {}", key, value.error().ToString()));
    }
    return text;
  }

  Result<std::string> OneOf(const JsonReader& reader, std::string_view key,
                            std::span<const std::string_view> choices) const {
    TESSERA_TRY(std::string text, reader.Text(key));
    if (std::ranges::find(choices, text) != choices.end()) return text;
    return reader.At(*reader.Find(key), fmt::format("'{}' must be one of {}, not '{}'", key,
                                                    fmt::join(choices, ", "), Escaped(text)));
  }

  Result<ptc::MeshShape> Mesh(const JsonReader& reader) const {
    TESSERA_TRY(const std::string text, reader.Text("mesh"));
    auto mesh = ptc::ParseMeshShape(text);
    if (!mesh) {
      return reader.At(*reader.Find("mesh"), fmt::format("'mesh': {}", mesh.error().ToString()));
    }
    return *mesh;
  }

  /// A list of GPUs, in which "n1" stands for all GPUs of a node if `gpus` is above 0.
  Result<std::vector<ptc::DeviceId>> Devices(const JsonReader& reader, std::string_view key) const {
    TESSERA_TRY(const std::string text, reader.Text(key));
    if (text.empty()) return std::vector<ptc::DeviceId>();
    auto devices = ptc::ParseDevices(text);
    if (!devices) {
      return reader.At(*reader.Find(key), fmt::format("'{}': {}", key, devices.error().ToString()));
    }
    return *devices;
  }

  Result<LessonSetup> ReadSetup(const JsonReader& reader) const {
    LessonSetup setup;
    if (const JsonValue* value = reader.Find("cluster")) {
      TESSERA_TRY(const auto cluster,
                  JsonReader::Make(file_, *value, "a cluster",
                                   {"nodes", "gpus", "memory_mib", "network_mb_per_second",
                                    "host_mb_per_second"}));
      LessonCluster& to = setup.cluster;
      TESSERA_RETURN_IF_ERROR(cluster.Optional("nodes", to.nodes, 1, kMostLessonDevices));
      TESSERA_RETURN_IF_ERROR(cluster.Optional("gpus", to.gpus, 1, kMostLessonDevices / to.nodes));
      std::int64_t mib = to.memory_bytes >> 20;
      TESSERA_RETURN_IF_ERROR(cluster.Optional("memory_mib", mib, 1, std::int64_t{1} << 20));
      to.memory_bytes = mib << 20;
      double network = to.network_bytes_per_second / 1e6, host = to.host_bytes_per_second / 1e6;
      TESSERA_RETURN_IF_ERROR(cluster.Optional("network_mb_per_second", network, 0.1, 1e6));
      TESSERA_RETURN_IF_ERROR(cluster.Optional("host_mb_per_second", host, 0.1, 1e7));
      to.network_bytes_per_second = network * 1e6;
      to.host_bytes_per_second = host * 1e6;
    }
    TESSERA_TRY(const JsonValue* value, reader.Member("job"));
    TESSERA_TRY(const auto job, JsonReader::Make(file_, *value, "a job",
                                                 {"model", "tensors", "rules", "mesh", "devices",
                                                  "zero", "global_batch", "micro_batch"}));
    LessonJob& to = setup.job;
    TESSERA_TRY(to.model, job.Text("model"));
    const JsonValue* tensors = job.Find("tensors");
    const JsonValue* rules = job.Find("rules");
    if ((tensors == nullptr) != (rules == nullptr)) {
      return job.At("'tensors' and 'rules' are given together, or neither");
    }
    if (tensors != nullptr) {
      for (const JsonValue* each : {tensors, rules}) {
        if (each->kind != JsonValue::Kind::kObject) return job.Expected(*each, "an object");
      }
      to.tensors = JsonText(*tensors);
      to.rules = JsonText(*rules);
    }
    TESSERA_TRY(to.mesh, Mesh(job));
    if (job.Find("devices") != nullptr) {
      TESSERA_TRY(to.devices, Devices(job, "devices"));
    }
    TESSERA_RETURN_IF_ERROR(job.Optional("zero", to.zero));
    TESSERA_RETURN_IF_ERROR(job.Optional("global_batch", to.global_batch, 1, 1 << 20));
    TESSERA_RETURN_IF_ERROR(job.Optional("micro_batch", to.micro_batch, 0, 1 << 20));
    return setup;
  }

  Result<LessonChange> ReadChange(const JsonValue& value) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a change",
                                 {"mesh", "devices", "zero", "micro_batch", "relay", "pin"}));
    LessonChange change;
    if (reader.Find("mesh") != nullptr) {
      TESSERA_TRY(change.mesh, Mesh(reader));
    }
    if (reader.Find("devices") != nullptr) {
      TESSERA_TRY(change.devices, Devices(reader, "devices"));
    }
    if (reader.Find("zero") != nullptr) {
      TESSERA_TRY(change.zero, reader.Bool("zero"));
    }
    if (reader.Find("micro_batch") != nullptr) {
      TESSERA_TRY(change.micro_batch, reader.Integer("micro_batch", 0, 1 << 20));
    }
    TESSERA_RETURN_IF_ERROR(reader.Optional("relay", change.relay));
    TESSERA_RETURN_IF_ERROR(reader.Optional("pin", change.pin));
    if (change.pin && !change.devices) {
      return reader.At(*reader.Find("pin"), "'pin' needs 'devices', whose order it fixes");
    }
    return change;
  }

  /// ["n0g0,n0g1", "n1g0,n1g1"]: the first with the third, the second with the fourth.
  Result<LessonSwapAction> ReadSwap(const JsonReader& reader) const {
    TESSERA_TRY(const auto* sides, reader.List("swap"));
    const JsonValue& at = *reader.Find("swap");
    if (sides->size() != 2) {
      return reader.At(at, fmt::format("'swap' has {} texts, it needs two with GPUs such as n0g0",
                                       sides->size()));
    }
    LessonSwapAction swap;
    for (std::vector<ptc::DeviceId>* side : {&swap.some, &swap.others}) {
      const JsonValue& text = (*sides)[side == &swap.some ? 0 : 1];
      if (text.kind != JsonValue::Kind::kText) {
        return reader.At(
            text, fmt::format("'swap' must have texts such as \"n0g0\", not {}", Describe(text)));
      }
      auto devices = ptc::ParseDevices(text.text);
      if (!devices) {
        return reader.At(text, fmt::format("'swap': {}", devices.error().ToString()));
      }
      *side = *std::move(devices);
    }
    if (swap.some.size() != swap.others.size()) {
      return reader.At(at, fmt::format("'swap' has {} GPUs for {}: as many on both sides",
                                       swap.some.size(), swap.others.size()));
    }
    std::vector<ptc::DeviceId> all = swap.some;
    all.insert(all.end(), swap.others.begin(), swap.others.end());
    std::ranges::sort(all);
    if (const auto twice = std::ranges::adjacent_find(all); twice != all.end()) {
      return reader.At(at, fmt::format("'swap' names GPU {} twice", ptc::ToString(*twice)));
    }
    return swap;
  }

  /// "n1,n0g2": nodes and devices that fail.
  Result<LessonLoseAction> ReadLoss(const JsonReader& reader) const {
    TESSERA_TRY(const std::string text, reader.Text("lose"));
    LessonLoseAction lose;
    std::string_view list = text;
    while (true) {
      const std::size_t comma = list.find(',');
      const std::string_view word = list.substr(0, comma);
      std::int32_t node = 0;
      const char* end = word.data() + word.size();
      if (word.size() > 1 && word[0] == 'n' &&
          std::from_chars(word.data() + 1, end, node).ptr == end) {
        lose.nodes.push_back(node);
      } else {
        const auto device = ptc::ParseDevice(word);
        if (!device) {
          return reader.At(*reader.Find("lose"),
                           fmt::format("'lose': '{}' is neither a node such as n1 nor a GPU such "
                                       "as n1g0",
                                       Escaped(word)));
        }
        lose.devices.push_back(*device);
      }
      if (comma == std::string_view::npos) return lose;
      list.remove_prefix(comma + 1);
    }
  }

  Result<LessonAction> ReadAction(const JsonValue& value) const {
    TESSERA_TRY(const auto reader, JsonReader::Make(file_, value, "an action",
                                                    {"start", "plan", "swap", "move", "lose",
                                                     "reset", "view", "select", "tensor", "colour",
                                                     "frame", "experiment", "pipeline"}));
    if (value.items.size() != 1) {
      return reader.At(fmt::format("an action has one key, this one has {}: use one of {}",
                                   value.items.size(), fmt::join(kLessonActions, ", ")));
    }
    const std::string& key = value.items.front().key;
    LessonAction action{{}, value.items.front().line};
    if (key == "start") {
      TESSERA_TRY(const auto start,
                  JsonReader::Make(file_, value.items.front(), "a start", {"cluster", "job"}));
      TESSERA_TRY(action.what, ReadSetup(start));
    } else if (key == "plan") {
      TESSERA_TRY(LessonChange change, ReadChange(value.items.front()));
      action.what = LessonPlanAction{std::move(change)};
    } else if (key == "swap") {
      TESSERA_TRY(action.what, ReadSwap(reader));
    } else if (key == "lose") {
      TESSERA_TRY(action.what, ReadLoss(reader));
    } else if (key == "move" || key == "reset") {
      TESSERA_TRY(const bool on, reader.Bool(key));
      if (!on) return reader.At(value.items.front(), fmt::format("'{}' must be true", key));
      if (key == "move") {
        action.what = LessonMoveAction{};
      } else {
        action.what = LessonResetAction{};
      }
    } else if (key == "view") {
      TESSERA_TRY(std::string view, OneOf(reader, key, kLessonViews));
      action.what = LessonViewAction{std::move(view)};
    } else if (key == "colour") {
      TESSERA_TRY(std::string by, OneOf(reader, key, kLessonColours));
      action.what = LessonColourAction{std::move(by)};
    } else if (key == "experiment") {
      TESSERA_TRY(std::string name, OneOf(reader, key, kLessonExperiments));
      action.what = LessonExperimentAction{std::move(name)};
    } else if (key == "pipeline") {
      TESSERA_TRY(const bool on, reader.Bool(key));
      action.what = LessonPipelineAction{on};
    } else if (key == "tensor") {
      TESSERA_TRY(std::string name, reader.Text(key));
      action.what = LessonTensorAction{std::move(name)};
    } else if (key == "select") {
      TESSERA_TRY(std::vector<ptc::DeviceId> devices, Devices(reader, key));
      action.what = LessonSelectAction{std::move(devices)};
    } else {
      TESSERA_TRY(std::vector<ptc::DeviceId> devices, Devices(reader, key));
      action.what = LessonFrameAction{std::move(devices)};
    }
    return action;
  }

  Status ReadActions(const JsonReader& reader, std::string_view key,
                     std::vector<LessonAction>& out) const {
    if (reader.Find(key) == nullptr) return OkStatus();
    TESSERA_TRY(const auto* actions, reader.List(key));
    for (const JsonValue& action : *actions) {
      TESSERA_TRY(LessonAction read, ReadAction(action));
      out.push_back(std::move(read));
    }
    return OkStatus();
  }

  Result<LessonQuestion> ReadQuestion(const JsonValue& value) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a question",
                                 {"ask", "choices", "answer", "tolerance", "explain", "after"}));
    LessonQuestion question;
    question.line = value.line;
    TESSERA_TRY(question.ask, ShortText(reader, "ask"));
    TESSERA_TRY(question.answer, Expression(reader, "answer"));
    TESSERA_RETURN_IF_ERROR(reader.Optional("tolerance", question.tolerance, 0, 1));
    TESSERA_RETURN_IF_ERROR(OptionalText(reader, "explain", question.explain));
    TESSERA_RETURN_IF_ERROR(ReadActions(reader, "after", question.after));
    if (reader.Find("choices") == nullptr) return question;
    TESSERA_TRY(const auto* choices, reader.List("choices"));
    if (choices->size() < 2 || choices->size() > 6) {
      return reader.At(*reader.Find("choices"), fmt::format("'choices' has {} entries, 2 to 6 are "
                                                            "allowed",
                                                            choices->size()));
    }
    for (const JsonValue& item : *choices) {
      TESSERA_TRY(const auto choice, JsonReader::Make(file_, item, "a choice", {"value", "text"}));
      LessonQuestion::Choice& to = question.choices.emplace_back();
      TESSERA_TRY(to.value, Expression(choice, "value"));
      TESSERA_RETURN_IF_ERROR(OptionalText(choice, "text", to.text));
    }
    return question;
  }

  Result<LessonTask> ReadTask(const JsonValue& value) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a task", {"text", "check", "hint", "solution"}));
    LessonTask task;
    task.line = value.line;
    TESSERA_TRY(task.text, ShortText(reader, "text"));
    TESSERA_RETURN_IF_ERROR(OptionalText(reader, "hint", task.hint));
    TESSERA_TRY(const JsonValue* solution, reader.Member("solution"));
    TESSERA_TRY(task.solution, ReadChange(*solution));
    TESSERA_TRY(const auto* check, reader.List("check"));
    if (check->empty()) {
      return reader.At(*reader.Find("check"), "'check' needs at least one condition");
    }
    for (const JsonValue& item : *check) {
      if (item.kind != JsonValue::Kind::kText) {
        return reader.At(
            item, fmt::format("'check' must have texts such as 'tp = 4', not {}", Describe(item)));
      }
      if (const auto read = CheckLessonCondition(item.text, AnyLessonNames()); !read) {
        return reader.At(item, fmt::format("'check': {}", read.error().ToString()));
      }
      task.check.push_back({item.text, item.line});
    }
    return task;
  }

  Result<LessonStep> ReadStep(const JsonValue& value) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a step", {"text", "actions", "predict", "do"}));
    LessonStep step;
    step.line = value.line;
    TESSERA_TRY(step.text, ShortText(reader, "text"));
    TESSERA_RETURN_IF_ERROR(ReadActions(reader, "actions", step.actions));
    if (const JsonValue* predict = reader.Find("predict")) {
      TESSERA_TRY(step.predict, ReadQuestion(*predict));
    }
    if (const JsonValue* task = reader.Find("do")) {
      TESSERA_TRY(step.task, ReadTask(*task));
    }
    return step;
  }

  const NamedText& file_;
};

}  // namespace

Status CheckLessonText(std::string_view key, std::string_view text) {
  const int words = CountWords(text);
  if (words == 0) return InvalidArgument(fmt::format("'{}' must not be empty", key));
  if (words > kMostLessonWords) {
    return InvalidArgument(
        fmt::format("'{}' has {} words, at most {} are allowed", key, words, kMostLessonWords));
  }
  const auto filled =
      FillLessonText(text, AnyLessonNames(), [](const LessonValue&) { return std::string(); });
  if (!filled) return InvalidArgument(fmt::format("'{}': {}", key, filled.error().ToString()));
  return OkStatus();
}

Error WithLessonColumn(Error error, const NamedText& file) {
  const std::string begin = file.name + ":";
  if (!error.message.starts_with(begin)) return error;
  int line = 0;
  const char* at = error.message.data() + begin.size();
  const auto read = std::from_chars(at, error.message.data() + error.message.size(), line);
  if (read.ec != std::errc() || line < 1) return error;
  std::string_view text = file.text;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return error;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  std::size_t column = text.find_first_not_of(" \t");
  const std::string_view message = error.message;
  const std::size_t open = message.find('\'');
  const std::size_t close = message.find('\'', open + 1);
  if (open != std::string_view::npos && close != std::string_view::npos) {
    const std::size_t word =
        text.find(fmt::format("\"{}\"", message.substr(open + 1, close - open - 1)));
    if (word != std::string_view::npos) column = word;
  }
  if (column == std::string_view::npos) column = 0;
  error.message.insert(static_cast<std::size_t>(read.ptr - error.message.data()),
                       fmt::format(":{}", column + 1));
  return error;
}

std::string LessonNameOf(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') == std::string_view::npos ? 0
                                                                      : path.find_last_of('/') + 1);
  if (const std::string language = LessonLanguageOf(path); !language.empty()) {
    path.remove_suffix(language.size() + 6);
  } else if (path.ends_with(".json")) {
    path.remove_suffix(5);
  }
  const std::size_t letter = path.find_first_not_of("0123456789");
  if (letter != std::string_view::npos && letter > 0 && path[letter] == '-') {
    path.remove_prefix(letter + 1);
  }
  return std::string(path);
}

Result<Lesson> ReadLesson(const NamedText& file) {
  if (const std::string language = LessonLanguageOf(file.name); !language.empty()) {
    return InvalidArgument(fmt::format(
        "{}:1:1: this is a translation; the lesson is {}.json, which is read together with it",
        file.name, file.name.substr(0, file.name.size() - language.size() - 6)));
  }
  const auto root = ParseJson(file);
  if (!root) return WithLessonColumn(root.error(), file);
  auto lesson = LessonReader(file).Read(*root);
  if (!lesson) return WithLessonColumn(std::move(lesson).error(), file);
  return lesson;
}

}  // namespace tessera::engine
