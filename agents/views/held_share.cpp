// SPDX-License-Identifier: Apache-2.0
#include "agents/views/held_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include "engine/copy/fused.h"

namespace tessera::agents {

std::string HeldShare::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), memory.fd());
}

Result<SourceCell> CellOf(const std::shared_ptr<const HeldShare>& share, const LaneCell& wanted) {
  const auto& tensors = share->layout.collection().tensors();
  const auto node = static_cast<std::int32_t>(share->stamp.node);
  const bool is_tensor = wanted.tensor < std::ssize(tensors);
  const ptc::TensorSpec* spec =
      is_tensor ? &tensors[static_cast<std::size_t>(wanted.tensor)] : nullptr;
  const engine::ViewCell* cell = nullptr;
  if (spec && wanted.box.rank() == std::ssize(spec->shape)) {
    cell = share->plan->FindContaining(wanted.tensor, wanted.box, node);
  }
  if (!cell) {
    return NotFound(fmt::format("{} of view {:016x} is not held by n{}", ToString(wanted),
                                share->stamp.view, node));
  }
  std::byte* const data = share->memory.data(cell->offset_bytes);
  return SourceCell{engine::CellView(cell->box, wanted.box, ptc::SizeBytes(spec->dtype), data),
                    engine::IndicesOf(spec->dtype, spec->shape, wanted.box),
                    std::const_pointer_cast<HeldShare>(share)};
}

}  // namespace tessera::agents
