// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "agents/decision/embedded.h"
#include "agents/registrar/registrar.h"
#include "agents/sim/fleet.h"
#include "agents/sim/scenario_player.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::agents::sim {
namespace {

const KeyOwner kPlayer{ScenarioPlayer::kName, Role::kOperator};

AgentConfig ConfigOf(const Scenario& scenario, const Hardware& hardware) {
  AgentConfig config;
  config.cluster = "scenario";
  config.endpoint = config.registrar_endpoint = "tcp://n0:1";
  config.devices = static_cast<std::int32_t>(scenario.devices);
  config.device_bytes = hardware.device_bytes;
  config.link_bytes_per_second = scenario.link_bytes_per_second;
  config.simulation = {scenario.nodes, scenario.hardware, scenario.seed, 1};
  return config;
}

class Run {
 public:
  Run(const Scenario& scenario, Hardware hardware, engine::History& history,
      engine::History& reader, const ScenarioObserver& observer)
      : scenario_(scenario),
        hardware_(std::move(hardware)),
        observer_(observer),
        history_(history),
        reader_(reader),
        config_(ConfigOf(scenario, hardware_)),
        fleet_(config_, hardware_, FleetWorld()),
        player_(scenario,
                {&fleet_,
                 [this](const wire::Request& request) {
                   registrar_->OnRequest(ScenarioPlayer::kName, kPlayer, request);
                 },
                 [this](const Scenario::Act& act, const Status& status) { Tell(act, status); }}) {}

  Result<ScenarioResult> Play(const std::stop_token& stop) {
    registrar_.emplace(fleet_.timers(), config_, RegistrarWorld());
    TESSERA_RETURN_IF_ERROR(registrar_->Recover());
    VirtualClock& clock = fleet_.sim().clock;
    player_.Start();
    const Time end = player_.TimeOf(scenario_.end);
    auto shown = std::chrono::steady_clock::now();
    constexpr std::chrono::milliseconds kShow{200};
    while (clock.RunNext(end)) {
      if (std::chrono::steady_clock::now() - shown < kShow) continue;
      if (stop.stop_requested()) return Cancelled("the scenario was cancelled");
      shown = std::chrono::steady_clock::now();
      if (observer_.progress) observer_.progress(player_.now());
    }
    result_.seconds = scenario_.end;
    if (auto status = player_.Look()) result_.cluster = std::move(*status);
    TESSERA_TRY(result_.changes, history_.Transactions(engine::TransactionQuery{}));
    std::ranges::sort(result_.changes, {}, &engine::HistoryEntry::id);
    return std::move(result_);
  }

 private:
  Fleet::World FleetWorld() {
    return {[this](const std::string& identity, const wire::FromNode& message) {
              if (registrar_) registrar_->OnNode(identity, message);
            },
            {},
            scenario_.warm_milliseconds};
  }
  Registrar::World RegistrarWorld() {
    return {
        .send =
            [this](const std::string& identity, const wire::ToNode& message) {
              const auto sent = fleet_.Send(identity, message);
              return sent ? *sent : Status(Unavailable(identity + " is not connected"));
            },
        .reply = [this](const std::string&, const wire::Reply& reply) { player_.OnReply(reply); },
        .publish = [this](const wire::Published& message) { OnPublished(message); },
        .wall_clock = [this] { return fleet_.sim().wall_clock(); },
        .print = [](const std::string&) {},
        .fault_point = [](const std::string&) {},
        .data = fleet_.MakeData(),
        .compute =
            [this](const std::function<void()>& work, std::function<void()> then) {
              work();
              fleet_.timers().Post(std::move(then));
            },
        .decisions = decisions_,
        .journal = journal_,
        .history = history_,
        .reader = reader_,
        .simulation = std::make_shared<const SimulationFacts>(SimulationFacts{
            [this] {
              return engine::SimulationStatus{hardware_.name, 1, 1, scenario_.seed};
            },
            CalibrationOf(hardware_, config_.devices), SpeedsOf(hardware_),
            [this](const wire::SimulateRequest& request) { return fleet_.Steer(request); },
            [] {}})};
  }

  void OnPublished(const wire::Published& message) {
    if (message.has_sample()) ++result_.samples;
    if (!message.has_event() || !observer_.event) return;
    if (const auto event = Decode(message.event())) observer_.event(player_.now(), *event);
  }

  void Tell(const Scenario::Act& act, const Status& status) {
    if (!status) {
      result_.failures.push_back(
          fmt::format("line {}: {}: {}", act.line, KindOf(act.what), status.error().message));
    }
    if (observer_.act) observer_.act(player_.now(), act, status);
  }

  const Scenario& scenario_;
  const Hardware hardware_;
  const ScenarioObserver& observer_;
  engine::History& history_;
  engine::History& reader_;
  const AgentConfig config_;
  MemoryStore journal_;
  EmbeddedRegister decisions_{journal_};
  Fleet fleet_;
  std::optional<Registrar> registrar_;
  ScenarioPlayer player_;
  ScenarioResult result_;
};

}  // namespace

Result<ScenarioResult> RunScenario(const Scenario& scenario, engine::History& history,
                                   engine::History& reader, const ScenarioObserver& observer,
                                   const std::stop_token& stop) {
  TESSERA_TRY(Hardware hardware, FindHardware(scenario.hardware));
  if (scenario.device_bytes > 0) hardware.device_bytes = scenario.device_bytes;
  if (scenario.link_bytes_per_second > 0) {
    hardware.network_bytes_per_second = static_cast<double>(scenario.link_bytes_per_second);
  }
  return Run(scenario, std::move(hardware), history, reader, observer).Play(stop);
}

}  // namespace tessera::agents::sim
