// SPDX-License-Identifier: Apache-2.0
#include "agents/job/meeting.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <span>

namespace tessera::agents {
namespace {
constexpr std::chrono::hours kAsLongAsItTakes{24 * 14};
constexpr std::byte kMark{1};
constexpr const char* kAllHere = "meeting/all";
}  // namespace

Status MeetAll(const tessera_view& view, train::Rendezvous& rendezvous) {
  if (view.world == 1) return OkStatus();
  const auto key = [](int rank) { return fmt::format("meeting/{}", rank); };
  const auto wait = [&](const std::string& name) -> Status {
    TESSERA_TRY([[maybe_unused]] const auto mark, rendezvous.Get(name, kAsLongAsItTakes));
    return OkStatus();
  };
  if (view.rank != 0) {
    TESSERA_RETURN_IF_ERROR(rendezvous.Set(key(view.rank), std::span(&kMark, 1)));
    return wait(kAllHere);
  }
  for (int rank = 1; rank < view.world; ++rank) TESSERA_RETURN_IF_ERROR(wait(key(rank)));
  return rendezvous.Set(kAllHere, std::span(&kMark, 1));
}

}  // namespace tessera::agents
