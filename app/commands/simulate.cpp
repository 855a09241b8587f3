// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `simulate …`: what happens to a simulated cluster. Time passes faster, a GPU becomes slow, a
/// node is cut off, nodes join.

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/node_name.h"
#include "app/commands/session.h"
#include "app/commands/simulated_size.h"
#include "engine/cluster/simulated_limits.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr double kLongestCut = 86400;
constexpr const char* kOnlySimulated = "Works on simulated clusters only.";

/// Sends the request and says what has been done.
int steer(const Invocation& call, const wire::SimulateRequest& act, const std::string& done) {
  wire::Request request;
  *request.mutable_simulate() = act;
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request)));
  if (call.json)
    printLine({{"done", done}});
  else if (!call.quiet)
    fmt::print("{}\n", done);
  return kDone;
}

/// \error kInvalidArgument naming the word and its range
Result<double> readNumber(const std::string& word, const char* what, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= least && value <= most)
    return value;
  return InvalidArgument(
      fmt::format("{} '{}' is not a number from {} to {}", what, word, least, most));
}

int runSpeed(const Invocation& call) {
  TESSERA_OR_USAGE(const double speed, parseSimulationSpeed(call.arguments.word(0)));
  wire::SimulateRequest act;
  act.set_speed(speed);
  return steer(call, act,
               speed == 0 ? "the simulated clock is stopped"
                          : fmt::format("{} simulated seconds pass in a second", speed));
}

int runSlow(const Invocation& call) {
  TESSERA_OR_USAGE(const auto device, ptc::ParseDevice(call.arguments.word(0)));
  TESSERA_OR_USAGE(const double factor, readNumber(call.arguments.word(1), "factor", 0.1, 1000));
  wire::SimulateRequest act;
  agents::Encode(device, act.mutable_slow()->mutable_device());
  act.mutable_slow()->set_factor(factor);
  return steer(call, act,
               fmt::format("{} computes {} times as long", ptc::ToString(device), factor));
}

int runCut(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, parseNodeName(call.arguments.word(0)));
  TESSERA_OR_USAGE(const double seconds,
                   readNumber(call.arguments.word(1), "seconds", 0.001, kLongestCut));
  wire::SimulateRequest act;
  act.mutable_cut()->set_node(node);
  act.mutable_cut()->set_seconds(seconds);
  return steer(call, act, fmt::format("node n{} is cut off for {} s", node, seconds));
}

int runPort(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, parseNodeName(call.arguments.word(0)));
  TESSERA_OR_USAGE(const double share, readNumber(call.arguments.word(1), "share", 0.0001, 1));
  wire::SimulateRequest act;
  act.mutable_port()->set_node(node);
  act.mutable_port()->set_share(share);
  return steer(call, act,
               fmt::format("the port of n{} has {} of its hardware's speed", node, share));
}

int runRestart(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, parseNodeName(call.arguments.word(0)));
  wire::SimulateRequest act;
  act.set_restart_agent(node);
  return steer(call, act, fmt::format("the agent of n{} restarts; its ranks train on", node));
}

int runAddNodes(const Invocation& call) {
  TESSERA_OR_USAGE(const double count,
                   readNumber(call.arguments.word(0), "number", 1,
                              static_cast<double>(engine::kMostSimulatedDevices)));
  wire::SimulateRequest act;
  act.mutable_add_nodes()->set_count(static_cast<std::int32_t>(count));
  return steer(call, act,
               fmt::format("{} joined", Counted(static_cast<std::int64_t>(count), "node")));
}

}  // namespace

std::vector<Command> simulateCommands() {
  return {{{.verb = "simulate speed",
            .summary = "Let time pass faster or slower in a simulated cluster",
            .words = {{"SPEED", "simulated seconds per second; 0 stops the clock"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated,
                      "What this machine cannot compute that fast passes slower: status shows the "
                      "speed that is reached."},
            .examples = {"tesseractl simulate speed 20"}},
           runSpeed},
          {{.verb = "simulate slow",
            .summary = "Let a simulated GPU compute slower",
            .words = {{"DEVICE", "such as n0g3"}, {"FACTOR", "times as long; 1: as before"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated},
            .examples = {"tesseractl simulate slow n0g3 2.5"}},
           runSlow},
          {{.verb = "simulate cut",
            .summary = "Cut a simulated node off from the registrar for a while",
            .words = {{"NODE", "such as n1"}, {"SECONDS", "of simulated time"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated, "Its ranks train on: only what its agent says is held back."},
            .examples = {"tesseractl simulate cut n1 20"}},
           runCut},
          {{.verb = "simulate port",
            .summary = "Change the speed of the network port of a simulated node",
            .words = {{"NODE", "such as n1"}, {"SHARE", "of the hardware's speed, up to 1"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated, "Plans still expect the speed of the hardware."},
            .examples = {"tesseractl simulate port n1 0.1"}},
           runPort},
          {{.verb = "simulate restart",
            .summary = "Kill the agent of a simulated node; its keeper starts another one",
            .words = {{"NODE", "such as n1"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated},
            .examples = {"tesseractl simulate restart n1"}},
           runRestart},
          {{.verb = "simulate add",
            .summary = "Let nodes join a simulated cluster",
            .words = {{"NUMBER", "of nodes"}},
            .options = {quietOption()},
            .notes = {kOnlySimulated},
            .examples = {"tesseractl simulate add 2"}},
           runAddNodes}};
}

}  // namespace tessera::app
