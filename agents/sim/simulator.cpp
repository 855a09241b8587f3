// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/simulator.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/wall_clock.h"
#include "engine/files/whole_file.h"

namespace tessera::agents::sim {
namespace {

constexpr std::chrono::milliseconds kTurn{5};      // between turns, while there is time
constexpr std::chrono::milliseconds kLongest{20};  // of a turn, so that clients are served
/// What time is behind is not made up for, else a long computation would be followed by a rush.
constexpr std::chrono::milliseconds kMostBehind{200};
constexpr std::chrono::seconds kMeasure{2};
constexpr std::chrono::milliseconds kFarewell{100};  // for the reply
constexpr Time kJoined = 1000;                       // all nodes have joined by then
constexpr Time kMostAhead = 600'000;                 // if no job makes a step

}  // namespace

Result<std::unique_ptr<Simulator>> Simulator::Start(Loop& loop, NetContext& net,
                                                    const AgentConfig& config,
                                                    const CurveKeys& keys) {
  TESSERA_TRY(Hardware hardware, FindHardware(config.simulation->hardware));
  TESSERA_RETURN_IF_ERROR(Fleet::Check(config));
  if (config.link_bytes_per_second > 0) {
    hardware.network_bytes_per_second = static_cast<double>(config.link_bytes_per_second);
  }
  std::unique_ptr<Simulator> out(new Simulator(loop, config, std::move(hardware)));
  TESSERA_TRY(out->registrar_, RegistrarServer::Start(loop, net, config, keys, 1, out.get()));
  // The history keeps it: a file of it is not taken for that of a real cluster.
  out->registrar_->Note(fmt::format("a simulated cluster: {}, seed {}", config.simulation->hardware,
                                    config.simulation->seed));
  TESSERA_RETURN_IF_ERROR(out->PlayScenario());
  // Whoever starts it waits for the nodes, whatever the speed.
  out->speed_ = out->reached_ = config.simulation->speed;
  out->SetPace(1);
  out->fleet_.sim().clock.After(kJoined, [simulator = out.get()] {
    simulator->have_joined_ = true;
    if (!simulator->runs_ahead_) simulator->SetPace(simulator->speed_);
  });
  if (config.simulation->ahead) out->RunAhead();
  out->measured_ = Loop::Now();
  loop.Every(kMeasure, [simulator = out.get()] { simulator->MeasureReached(); });
  out->Advance();
  return out;
}

Simulator::Simulator(Loop& loop, const AgentConfig& config, Hardware hardware)
    : loop_(loop),
      config_(*config.simulation),
      fleet_(config, hardware, FleetWorld()),
      facts_(std::make_shared<const SimulationFacts>(MakeFacts(config, hardware))) {
  fleet_.sim().SetEpoch(WallClock());
}

Status Simulator::PlayScenario() {
  if (config_.scenario.empty()) return OkStatus();
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(config_.scenario));
  TESSERA_TRY(scenario_, ParseScenario({config_.scenario, text}));
  player_.emplace(*scenario_,
                  ScenarioPlayer::World{
                      &fleet_,
                      [this](const wire::Request& request) {
                        registrar_->OnSimulated(ScenarioPlayer::kName,
                                                {ScenarioPlayer::kName, Role::kOperator}, request);
                      },
                      [this](const Scenario::Act& act, const Status& status) {
                        if (status) return;
                        EndAhead();  // there may be no job
                        std::fprintf(stderr, "scenario, line %d: %s: %s\n", act.line,
                                     KindOf(act.what).c_str(), status.error().message.c_str());
                      }});
  player_->Start();
  return OkStatus();
}

bool Simulator::OnReply(const std::string& identity, const wire::Reply& reply) {
  if (!player_ || identity != ScenarioPlayer::kName) return false;
  player_->OnReply(reply);
  return true;
}

Fleet::World Simulator::FleetWorld() {
  return {[this](const std::string& identity, const wire::FromNode& message) {
            if (registrar_) registrar_->OnSimulated(identity, message);
            if (runs_ahead_ && message.has_step()) EndAhead();
          },
          [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }};
}

SimulationFacts Simulator::MakeFacts(const AgentConfig& config, const Hardware& hardware) {
  return {.status =
              [this] {
                return engine::SimulationStatus{config_.hardware, runs_ahead_ ? pace_ : speed_,
                                                reached_, config_.seed};
              },
          .calibration = CalibrationOf(hardware, config.devices),
          .topology = SpeedsOf(hardware),
          .steer = [this](const wire::SimulateRequest& request) { return Steer(request); },
          .shut_down = [this] { loop_.After(kFarewell, [this] { loop_.Stop(); }); }};
}

double Simulator::wall_clock() const { return fleet_.sim().wall_clock(); }

Status Simulator::Steer(const wire::SimulateRequest& request) {
  if (request.act_case() != wire::SimulateRequest::kSpeed) return fleet_.Steer(request);
  const double speed = request.speed();
  if (!(speed >= 0 && speed <= kMostSimulationSpeed)) {
    return InvalidArgument(fmt::format("speed {} is not in 0…{}", speed, kMostSimulationSpeed));
  }
  speed_ = reached_ = speed;
  EndAhead();
  if (have_joined_) SetPace(speed);
  return OkStatus();
}

void Simulator::RunAhead() {
  runs_ahead_ = true;
  begun_ = Loop::Now();
  reached_ = kMostSimulationSpeed;
  SetPace(kMostSimulationSpeed);
  fleet_.sim().clock.After(kMostAhead, [this] { EndAhead(); });
}

void Simulator::EndAhead() {
  if (!runs_ahead_) return;
  runs_ahead_ = false;
  const auto now = Loop::Now();
  const Time at = fleet_.sim().clock.now();
  const double passed = std::chrono::duration<double>(now - begun_).count();
  registrar_->Note(fmt::format("the simulated clock has run ahead by {:.0f} s",
                               static_cast<double>(at) / 1000 - passed));
  measured_ = now;
  at_measured_ = at;
  reached_ = speed_;
  SetPace(have_joined_ ? speed_ : 1);
}

void Simulator::SetPace(double pace) {
  pace_ = pace;
  real_base_ = Loop::Now();
  base_ = fleet_.sim().clock.now();
}

void Simulator::Advance() {
  VirtualClock& clock = fleet_.sim().clock;
  const auto begin = Loop::Now();
  const double passed = std::chrono::duration<double, std::milli>(begin - real_base_).count();
  const Time due = base_ + static_cast<Time>(passed * pace_);
  const double pace = pace_;
  bool is_due = true;
  // What is due changes with the pace.
  while (is_due && pace_ == pace && Loop::Now() - begin < kLongest) is_due = clock.RunNext(due);
  if (pace_ == pace && is_due &&
      static_cast<double>(due - clock.now()) > kMostBehind.count() * pace_) {
    real_base_ = Loop::Now();
    base_ = clock.now();
  }
  loop_.After(is_due && pace_ == pace ? std::chrono::milliseconds(0) : kTurn,
              [this] { Advance(); });
}

void Simulator::MeasureReached() {
  if (!have_joined_) return;
  const auto now = Loop::Now();
  const Time at = fleet_.sim().clock.now();
  const double seconds = std::chrono::duration<double>(now - measured_).count();
  const double reached = static_cast<double>(at - at_measured_) / 1000 / seconds;
  measured_ = now;
  at_measured_ = at;
  // A difference that nobody sees would make every snapshot another one.
  constexpr double kEqual = 0.95;
  const double wanted = runs_ahead_ ? pace_ : speed_;
  reached_ = reached >= kEqual * wanted ? wanted : std::round(reached * 10) / 10;
}

}  // namespace tessera::agents::sim
