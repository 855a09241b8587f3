// SPDX-License-Identifier: Apache-2.0
#include "agents/node/plan_memo.h"

#include <algorithm>

namespace tessera::agents {
namespace {

template <typename Value, typename Make>
Result<Value> Remembered(std::deque<std::pair<std::string, Value>>& kept, std::string key,
                         std::size_t most, const Make& make) {
  const auto found = std::ranges::find(
      kept, key, [](const auto& entry) -> const std::string& { return entry.first; });
  if (found != kept.end()) return found->second;
  TESSERA_TRY(Value value, make());
  kept.emplace_front(std::move(key), value);
  if (kept.size() > most) kept.pop_back();
  return value;
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

}  // namespace tessera::agents
