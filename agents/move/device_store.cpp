// SPDX-License-Identifier: Apache-2.0
#include "agents/move/device_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include "engine/copy/checksum.h"

namespace tessera::agents {

Result<DeviceStore> DeviceStore::Open(std::int32_t node,
                                      const std::vector<KeeperLink::Arena>& arenas,
                                      const AttachMemory& attach) {
  DeviceStore store;
  for (const KeeperLink::Arena& kept : arenas) {
    const ptc::DeviceId id{node, kept.index};
    TESSERA_TRY(engine::Arena arena, (kept.is_sparse ? engine::Arena::MapWindows(kept.fd)
                                                     : engine::Arena::Map(kept.fd, true))
                                         .Context("arena of " + ToString(id)));
    if (!arena.has_memory()) {
      if (!attach) {
        return FailedPrecondition(fmt::format("arena of {}: its pieces lie in {} memory",
                                              ToString(id), ToString(arena.memory_kind())));
      }
      TESSERA_RETURN_IF_ERROR(attach(kept, arena).Context("memory of " + ToString(id)));
    }
    Device device;
    device.id = id;
    device.arena = std::make_unique<engine::Arena>(std::move(arena));
    device.path = fmt::format("/proc/{}/fd/{}", getpid(), kept.fd);
    if (device.arena->header().job_hash.load() != 0) {
      TESSERA_TRY(
          device.table,
          engine::PieceTable::ReadCurrent(*device.arena).Context("arena of " + ToString(id)));
    }
    store.devices_.emplace(id, std::move(device));
  }
  return store;
}

DeviceStore::Device* DeviceStore::Find(ptc::DeviceId id) {
  const auto it = devices_.find(id);
  return it == devices_.end() ? nullptr : &it->second;
}

const DeviceStore::Device* DeviceStore::Find(ptc::DeviceId id) const {
  const auto it = devices_.find(id);
  return it == devices_.end() ? nullptr : &it->second;
}

std::vector<ptc::DeviceId> DeviceStore::Of(const std::string& job) const {
  std::vector<ptc::DeviceId> out;
  for (const auto& [id, device] : devices_) {
    if (device.table && device.table->job() == job) out.push_back(id);
  }
  return out;
}

// The epoch is stored last. A kill before that leaves the old table current; the words stored until
// then are used only together with the new table.
void DeviceStore::Flip(Device& device, const engine::PieceTable& table, std::int64_t timeline,
                       std::int64_t step, bool keeps_update) {
  engine::ArenaHeader& h = device.arena->header();
  const auto version = static_cast<std::uint64_t>(step);
  h.timeline.store(static_cast<std::uint64_t>(timeline));
  if (!keeps_update) {
    h.grads_step.store(0);
    h.decision_step.store(0);
  }
  h.decision_pause.store(0);
  h.request.store(0);
  h.request_step.store(0);
  h.hold.store(0);
  h.begin.store(version);
  h.end.store(version);
  if (table.entries().empty()) {
    h.job_hash.store(0);
    engine::FlipTo(*device.arena, table.epoch());
    device.table.reset();
    return;
  }
  // A device of the pool has no current table, so its job is named last.
  engine::FlipTo(*device.arena, table.epoch());
  h.job_hash.store(engine::Checksum(std::as_bytes(std::span(table.job()))));
  device.table = table;
}

void DeviceStore::FlipRound(Device& device, const engine::PieceTable& table, std::int64_t timeline,
                            std::int64_t step) {
  engine::ArenaHeader& h = device.arena->header();
  const bool joins = !device.table.has_value();
  if (joins) {
    const auto version = static_cast<std::uint64_t>(step);
    h.timeline.store(static_cast<std::uint64_t>(timeline));
    h.decision_step.store(0);
    h.request.store(0);
    h.hold.store(0);
    h.begin.store(version);
    h.end.store(version);
  }
  h.grads_step.store(0);
  engine::FlipTo(*device.arena, table.epoch());
  if (joins) h.job_hash.store(engine::Checksum(std::as_bytes(std::span(table.job()))));
  device.table = table;
}

void DeviceStore::Free(Device& device) {
  engine::ArenaHeader& h = device.arena->header();
  h.request.store(0);
  h.hold.store(0);
  h.job_hash.store(0);
  device.table.reset();
}

}  // namespace tessera::agents
