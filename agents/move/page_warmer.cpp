// SPDX-License-Identifier: Apache-2.0
#include "agents/move/page_warmer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::agents {
namespace {

constexpr std::int64_t kChunk = 16 << 20;  // between two looks at the stop token

/// Whether a piece stays where it is. Its pages are present.
bool Stays(const engine::PieceEntry& piece, const engine::PieceTable& old) {
  const engine::PieceEntry* const before = old.Find(piece.kind, piece.tensor, piece.box);
  return before != nullptr && before->offset_bytes == piece.offset_bytes;
}

void MakePresent(const engine::Arena& arena, const engine::PieceEntry& piece,
                 const std::stop_token& stop) {
  const std::int64_t end = piece.offset_bytes + piece.size_bytes;
  for (std::int64_t at = piece.offset_bytes; at < end && !stop.stop_requested(); at += kChunk) {
    arena.memory().MakePresent(arena.AddressOf(at), std::min(kChunk, end - at));
  }
}

void WarmAll(const MoveContext& context, const std::stop_token& stop) {
  for (const auto& [device, local] : context.local) {
    for (const engine::PieceEntry& piece : local.next_table.entries()) {
      if (!Stays(piece, local.old_table)) MakePresent(*local.arena, piece, stop);
    }
    if (!local.saved) continue;
    for (const engine::PieceEntry& piece : local.saved->entries()) {
      MakePresent(*local.arena, piece, stop);
    }
  }
}

}  // namespace

PageWarmer::PageWarmer(std::shared_ptr<const MoveContext> context, std::function<void()> done)
    : thread_([context = std::move(context), done = std::move(done)](const std::stop_token& stop) {
        WarmAll(*context, stop);
        done();
      }) {}

}  // namespace tessera::agents
