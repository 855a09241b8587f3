// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/etcd_register.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace tessera::agents {
namespace {

std::string KeysOf(const std::string& prefix, const std::string& job) {
  return fmt::format("{}/decision/{}/", prefix, job);
}

// With zeros, so that the last slot is the last key.
std::string KeyOf(const std::string& prefix, const std::string& job, std::int64_t slot) {
  return fmt::format("{}{:019d}", KeysOf(prefix, job), slot);
}

Result<engine::Decision> ParseAt(const std::string& key, const std::string& text) {
  auto decision = engine::ParseDecision(text);
  if (!decision)
    return DataLoss(fmt::format("key '{}' of etcd: {}", key, decision.error().message));
  return decision;
}

Result<std::int64_t> SlotOf(const std::string& key, std::size_t prefix) {
  std::int64_t slot = 0;
  const char* const end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data() + std::min(prefix, key.size()), end, slot);
  if (error != std::errc() || stop != end || slot < 0) {
    return DataLoss(fmt::format("key '{}' of etcd is no slot of a job", key));
  }
  return slot;
}

}  // namespace

EtcdRegister::EtcdRegister(Timers& timers, EtcdPlace place)
    : prefix_(place.prefix), client_(std::move(place), stop_.get_token()), worker_(timers) {}

EtcdRegister::~EtcdRegister() { stop_.request_stop(); }

// The answer is shared, because both functions are copied.
template <typename Work, typename Answer>
void EtcdRegister::Run(Work work, Answer then) {
  auto answer = std::make_shared<std::optional<decltype(work(client_))>>();
  worker_.Run([this, work = std::move(work), answer] { answer->emplace(work(client_)); },
              [answer, then = std::move(then)] { then(std::move(**answer)); });
}

void EtcdRegister::Write(const std::string& job, std::int64_t slot,
                         const engine::Decision& decision, Then<engine::Decision> then) {
  Run(
      [key = KeyOf(prefix_, job, slot),
       text = ToText(decision)](EtcdClient& client) -> Result<engine::Decision> {
        TESSERA_TRY(const std::string held, client.PutIfAbsent(key, text));
        return ParseAt(key, held);
      },
      std::move(then));
}

void EtcdRegister::Read(const std::string& job, std::int64_t slot,
                        Then<std::optional<engine::Decision>> then) {
  Run(
      [key = KeyOf(prefix_, job, slot)](
          EtcdClient& client) -> Result<std::optional<engine::Decision>> {
        TESSERA_TRY(const std::optional<std::string> held, client.Get(key));
        if (!held) return std::optional<engine::Decision>();
        TESSERA_TRY(engine::Decision decision, ParseAt(key, *held));
        return std::optional(std::move(decision));
      },
      std::move(then));
}

void EtcdRegister::FindLast(const std::string& job, Then<std::int64_t> then) {
  Run(
      [keys = KeysOf(prefix_, job)](EtcdClient& client) -> Result<std::int64_t> {
        TESSERA_TRY(const std::optional<std::string> last, client.LastKey(keys));
        if (!last) return std::int64_t{0};
        return SlotOf(*last, keys.size());
      },
      std::move(then));
}

void EtcdRegister::Look(std::function<void(engine::RegisterStatus)> then) {
  Run([](EtcdClient& client) { return client.Look(); }, std::move(then));
}

}  // namespace tessera::agents
