// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulation/settings.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

#include "agents/gpu/driver_api.h"
#include "agents/gpu/nccl_api.h"

namespace tessera::test::cuda_emulation {
namespace {

template <typename Number>
bool Read(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// A number with one of these endings.
template <typename Number>
bool ReadScaled(std::string_view text, const std::map<std::string_view, Number>& units,
                Number& out) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = units.find(text.substr(digits));
  if (unit == units.end() || !Read(text.substr(0, digits), out)) return false;
  return !__builtin_mul_overflow(out, unit->second, &out);
}

bool ReadPeers(std::string_view text, Settings& settings) {
  settings.all_peers = text == "all";
  if (settings.all_peers || text == "none") return true;
  std::istringstream pairs{std::string(text)};
  for (std::string pair; std::getline(pairs, pair, ':');) {
    const std::size_t dash = pair.find('-');
    int a = 0, b = 0;
    if (dash == std::string::npos || !Read(std::string_view(pair).substr(0, dash), a) ||
        !Read(std::string_view(pair).substr(dash + 1), b)) {
      return false;
    }
    settings.peers.emplace(std::min(a, b), std::max(a, b));
  }
  return true;
}

bool IsFunction(std::string_view symbol) {
  static constexpr std::string_view kSymbols[] = {
#define TESSERA_CUDA_SYMBOL(name, symbol, parameters) symbol,
      TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_SYMBOL) TESSERA_NCCL_FUNCTIONS(TESSERA_CUDA_SYMBOL)
#undef TESSERA_CUDA_SYMBOL
  };
  return std::ranges::find(kSymbols, symbol) != std::end(kSymbols);
}

bool ReadFailure(std::string_view text, Settings& settings) {
  Failure failure;
  const std::size_t mark = text.find('#');
  if (mark == std::string_view::npos) return false;
  failure.symbol = text.substr(0, mark);
  if (failure.symbol != "*" && !IsFunction(failure.symbol)) return false;
  std::string_view number = text.substr(mark + 1);
  if (const std::size_t equal = number.find('='); equal != std::string_view::npos) {
    if (!Read(number.substr(equal + 1), failure.code)) return false;
    number = number.substr(0, equal);
  }
  settings.failure = failure;
  return Read(number, settings.failure->call);
}

bool ReadVanishing(std::string_view text, Settings& settings) {
  const std::size_t mark = text.find('@');
  settings.vanishing.emplace();
  return mark != std::string_view::npos && Read(text.substr(0, mark), settings.vanishing->device) &&
         Read(text.substr(mark + 1), settings.vanishing->calls);
}

bool ReadNcclStop(std::string_view text, Settings& settings) {
  const std::size_t mark = text.find('@');
  settings.nccl_stop.emplace();
  return mark != std::string_view::npos && Read(text.substr(0, mark), settings.nccl_stop->rank) &&
         Read(text.substr(mark + 1), settings.nccl_stop->group);
}

bool ReadWord(std::string_view key, std::string_view value, Settings& settings) {
  if (key == "devices")
    return Read(value, settings.devices) && settings.devices >= 0 &&
           settings.devices <= kMostDevices;
  if (key == "memory") {
    return ReadScaled<std::size_t>(
        value, {{"M", std::size_t{1} << 20}, {"G", std::size_t{1} << 30}}, settings.memory);
  }
  if (key == "peers") return ReadPeers(value, settings);
  if (key == "latency") {
    std::int64_t microseconds = 0;
    const bool is_read = ReadScaled<std::int64_t>(value, {{"us", 1}, {"ms", 1000}}, microseconds);
    settings.latency = std::chrono::microseconds(microseconds);
    return is_read;
  }
  if (key == "driver") return Read(value, settings.version);
  if (key == "fail") return ReadFailure(value, settings);
  if (key == "vanish") return ReadVanishing(value, settings);
  if (key == "nccl") return Read(value, settings.nccl_version);
  if (key == "nccl-stop") return ReadNcclStop(value, settings);
  if (key == "report") {
    settings.report = value;
    return true;
  }
  return false;
}

}  // namespace

Settings ReadSettings(const char* text) {
  Settings settings;
  std::istringstream words{std::string(text == nullptr ? "" : text)};
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equal = word.find('=');
    const bool is_right =
        equal != std::string::npos && ReadWord(std::string_view(word).substr(0, equal),
                                               std::string_view(word).substr(equal + 1), settings);
    if (!is_right) settings.error = word;
  }
  return settings;
}

}  // namespace tessera::test::cuda_emulation
