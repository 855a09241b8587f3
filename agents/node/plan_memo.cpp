// SPDX-License-Identifier: Apache-2.0
#include "agents/node/plan_memo.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

template <typename Value, typename Make>
Result<Value> Remembered(std::deque<std::pair<std::string, Value>>& kept, std::string key,
                         std::size_t most, const Make& make) {
  const auto found = std::ranges::find(
      kept, key, [](const auto& entry) -> const std::string& { return entry.first; });
  if (found != kept.end()) return found->second;
  TESSERA_TRY(Value value, make());
  if (most == 0) return value;
  kept.emplace_front(std::move(key), value);
  if (kept.size() > most) kept.pop_back();
  return value;
}

/// Removes what nobody holds, each time that there is twice as much.
template <typename Weak>
void Sweep(Weak& shared, std::size_t least, std::size_t& at) {
  if (shared.size() < at) return;
  std::erase_if(shared, [](const auto& entry) { return entry.second.expired(); });
  at = std::max(least, 2 * shared.size());
}

}  // namespace

Result<ptc::Layout> PlanMemo::ParseLayout(std::string_view text) {
  return Remembered(layouts_, std::string(text), most_, [&] { return ptc::ParseLayout(text); });
}

Result<ptc::LayoutPair> PlanMemo::ParsePair(std::string_view from, std::string_view to) {
  return Remembered(pairs_, std::string(from) + '\n' + std::string(to), most_,
                    [&] { return ptc::ParseLayoutPair(from, to); });
}

Result<PlanMemo::OutlinePtr> PlanMemo::Outline(const std::string& key,
                                               const std::function<Result<ptc::Outline>()>& make) {
  return Remembered(outlines_, key, most_, [&]() -> Result<OutlinePtr> {
    TESSERA_TRY(ptc::Outline outline, make());
    return std::make_shared<const ptc::Outline>(std::move(outline));
  });
}

PlanMemo::Text PlanMemo::Share(std::string_view text) {
  if (most_ == 0) return std::make_shared<const std::string>(text);
  const std::uint64_t sum = engine::Checksum(std::as_bytes(std::span(text)));
  for (auto [at, end] = texts_.equal_range(sum); at != end; ++at) {
    if (Text held = at->second.lock(); held && *held == text) return held;
  }
  Sweep(texts_, kFew, sweep_texts_at_);
  auto added = std::make_shared<const std::string>(text);
  texts_.emplace(sum, added);
  return added;
}

void PlanMemo::ShareEntries(engine::PieceTable& table) {
  if (most_ == 0 || table.entries().empty()) return;
  const std::pair key{table.entries().size(), table.used_bytes()};
  for (auto [at, end] = entries_.equal_range(key); at != end; ++at) {
    auto held = at->second.lock();
    if (held && *held == table.entries()) return table.ShareEntries(std::move(held));
  }
  Sweep(entries_, kFew, sweep_entries_at_);
  entries_.emplace(key, table.entries_ptr());
}

PlanMemo::CellsPtr PlanMemo::NeededCells(const ptc::Layout& from, const ptc::Layout& to) {
  const auto make = [&]() -> Result<CellsPtr> {
    return std::make_shared<const ptc::DeviceCells>(from, to, ptc::CellOwners::kNeeders);
  };
  if (most_ == 0) return *make();
  return *Remembered(cells_, fmt::format("{:x} {:x}", from.hash(), to.hash()), most_, make);
}

PlanMemo::Text PlanMemo::RowText(const JobRow& row) {
  const auto make = [&]() -> Result<Text> {
    return std::make_shared<const std::string>(ToText(row));
  };
  if (most_ == 0) return *make();
  // The hash is that of the layout's text.
  return *Remembered(
      rows_, fmt::format("{:x} {} {} {}", row.layout.hash(), row.epoch, row.timeline, row.settings),
      most_, make);
}

}  // namespace tessera::agents
