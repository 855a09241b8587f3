// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/evaluation.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/process.h"
#include "app/experiment/private_cluster.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"

namespace tessera::app {
namespace {

constexpr std::chrono::seconds kEvaluationPatience{180};

/// The last line of the process that is not JSON; everything if all lines are.
Error notEvaluated(const std::string& output) {
  std::string said = output.substr(0, 400);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return Unavailable(
      fmt::format("the losses of a state were not computed{}{}", said.empty() ? "" : ": ", said));
}

}  // namespace

Result<GroupLosses> groupLosses(const engine::vfs::StateView& state, const std::string& text,
                                const std::string& folder, const std::stop_token& stop) {
  const std::string parameters = folder + "/parameters.safetensors";
  const std::string settingsFile = folder + "/settings.json", output = folder + "/evaluation.log";
  TESSERA_RETURN_IF_ERROR(writeParameters(state, parameters));
  TESSERA_RETURN_IF_ERROR(
      engine::WriteWholeFile(settingsFile, state.info().settings_json + '\n', 0600));
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  TESSERA_TRY(const ProcessId process,
              startDaemon({programFolder() + "/tessera-train", "--evaluate", parameters,
                           "--settings", settingsFile, "--data", text},
                          folder, output, folder));
  const auto deadline = std::chrono::steady_clock::now() + kEvaluationPatience;
  while (!waitGone({process}, std::chrono::milliseconds(50))) {
    if (!stop.stop_requested() && std::chrono::steady_clock::now() < deadline) continue;
    signalProcess(process, SIGKILL);
    waitGone({process}, std::chrono::seconds(2));
    if (stop.stop_requested()) return Cancelled("the experiment was stopped");
  }
  const auto said = engine::ReadWholeFile(output);
  if (!said) return said.error();
  const auto json = nlohmann::json::parse(*said, nullptr, false);
  const bool isWhole =
      json.is_object() && json.contains("group") && json.contains("losses") &&
      json["group"].is_number_integer() && json["losses"].is_array() &&
      std::ranges::all_of(json["losses"], [](const auto& loss) { return loss.is_number(); });
  if (!isWhole) return notEvaluated(*said);
  return GroupLosses{json["group"].get<std::int64_t>(), json["losses"].get<std::vector<double>>()};
}

}  // namespace tessera::app
