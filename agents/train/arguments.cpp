// SPDX-License-Identifier: Apache-2.0
#include "agents/train/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "engine/files/absolute_path.h"

namespace tessera::agents::train {
namespace {

Result<std::int64_t> ParseInteger(std::string_view flag, std::string_view text,
                                  std::int64_t lowest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest) {
    return InvalidArgument(
        fmt::format("{} '{}' is not a whole number from {} on", flag, text, lowest));
  }
  return value;
}

}  // namespace

Result<Arguments> ParseArguments(const std::vector<std::string_view>& words) {
  Arguments arguments;
  std::vector<std::string_view> settings;  // applied last: they change the model that is named
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view flag = words[i];
    if (flag == "--help") {
      arguments.help = true;
    } else if (flag == "--version") {
      arguments.version = true;
    } else if (flag == "--json") {
      arguments.json = true;
    } else if (flag == "--finish-update") {
      arguments.finish_update = true;
    } else if (flag == "--probe") {
      arguments.probe = true;
    } else if (flag == "--solo" || flag == "--steps" || flag == "--seed" ||
               flag == "--global-batch" || flag == "--data" || flag == "--set" ||
               flag == "--evaluate" || flag == "--settings") {
      if (i + 1 == words.size()) return InvalidArgument(fmt::format("{} needs a value", flag));
      const std::string_view value = words[++i];
      if (flag == "--solo") {
        arguments.solo = true;
        TESSERA_TRY(arguments.settings.model, engine::FindModel(value));
      } else if (flag == "--steps") {
        TESSERA_TRY(arguments.settings.max_steps, ParseInteger(flag, value, 1));
      } else if (flag == "--seed") {
        TESSERA_TRY(arguments.settings.seed, ParseInteger(flag, value, 0));
      } else if (flag == "--global-batch") {
        TESSERA_TRY(arguments.settings.global_batch, ParseInteger(flag, value, 1));
      } else if (flag == "--evaluate") {
        arguments.evaluate = value;
      } else if (flag == "--settings") {
        arguments.settings_file = value;
      } else if (flag == "--set") {
        settings.push_back(value);
      } else {
        arguments.settings.data.push_back(engine::AbsolutePath(std::string(value)));
      }
    } else {
      return InvalidArgument(fmt::format("unknown argument '{}'", flag));
    }
  }
  if (!settings.empty() && !arguments.solo) return InvalidArgument("--set needs --solo");
  for (const std::string_view setting : settings) {
    const auto split = setting.find('=');
    if (split == std::string_view::npos) {
      return InvalidArgument(fmt::format("--set '{}' is not NAME=VALUE", setting));
    }
    TESSERA_RETURN_IF_ERROR(engine::ApplySetting(arguments.settings, setting.substr(0, split),
                                                 setting.substr(split + 1)));
  }
  if (arguments.solo && arguments.settings.max_steps == 0) {
    return InvalidArgument("--solo needs --steps");
  }
  if (arguments.evaluate.empty() != arguments.settings_file.empty()) {
    return InvalidArgument("--evaluate and --settings need each other");
  }
  const bool does_something = arguments.solo || arguments.probe || arguments.help ||
                              arguments.version || arguments.finish_update;
  if (!words.empty() && !does_something && arguments.evaluate.empty()) {
    return InvalidArgument(fmt::format("'{}' needs --solo", words.front()));
  }
  return arguments;
}

}  // namespace tessera::agents::train
