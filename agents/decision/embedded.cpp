// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/embedded.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera::agents {
namespace {

std::string PrefixOf(const std::string& job) { return fmt::format("decision/{}/", job); }
std::string RowOf(const std::string& job, std::int64_t slot) {
  return PrefixOf(job) + std::to_string(slot);
}

}  // namespace

void EmbeddedRegister::Write(const std::string& job, std::int64_t slot,
                             const engine::Decision& decision, Then<engine::Decision> then) {
  then(WriteNow(RowOf(job, slot), decision));
}

void EmbeddedRegister::Read(const std::string& job, std::int64_t slot,
                            Then<std::optional<engine::Decision>> then) {
  then(ReadNow(RowOf(job, slot)));
}

void EmbeddedRegister::FindLast(const std::string& job, Then<std::int64_t> then) {
  then(LastNow(job));
}

void EmbeddedRegister::Look(std::function<void(engine::RegisterStatus)> then) {
  engine::RegisterStatus status;
  status.store = "embedded";
  status.members.push_back({.place = place_});
  if (const auto read = journal_.List("decision/"); !read) {
    status.problem = status.members[0].problem = read.error().ToString();
  } else if (const Status is_there = journal_.CheckPlace(); !is_there) {
    status.problem = status.members[0].problem = is_there.error().message;
  }
  then(std::move(status));
}

Result<engine::Decision> EmbeddedRegister::WriteNow(const std::string& key,
                                                    const engine::Decision& decision) {
  TESSERA_TRY(const std::string held, journal_.PutIfAbsent(key, ToText(decision)));
  return engine::ParseDecision(held);
}

Result<std::optional<engine::Decision>> EmbeddedRegister::ReadNow(const std::string& key) {
  TESSERA_TRY(const std::optional<std::string> held, journal_.Get(key));
  if (!held) return std::optional<engine::Decision>();
  TESSERA_TRY(const engine::Decision decision, engine::ParseDecision(*held));
  return std::optional<engine::Decision>(decision);
}

Result<std::int64_t> EmbeddedRegister::LastNow(const std::string& job) {
  const std::string prefix = PrefixOf(job);
  TESSERA_TRY(const auto rows, journal_.List(prefix));
  std::int64_t last = 0;
  for (const auto& [key, text] : rows) {
    std::int64_t slot = 0;
    std::from_chars(key.data() + prefix.size(), key.data() + key.size(), slot);
    last = std::max(last, slot);
  }
  return last;
}

}  // namespace tessera::agents
