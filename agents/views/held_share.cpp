// SPDX-License-Identifier: Apache-2.0
#include "agents/views/held_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ptc/digest.h"

namespace tessera::agents {

std::string HeldShare::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), memory.fd());
}

Result<SourceCell> CellOf(const std::shared_ptr<const HeldShare>& share, std::int64_t index) {
  const auto& cells = share->plan->cells();
  if (index < 0 || index >= std::ssize(cells)) {
    return NotFound(fmt::format("cell {} of a view of {} cells", index, cells.size()));
  }
  const engine::ViewCell& cell = cells[static_cast<std::size_t>(index)];
  if (cell.device.node != share->stamp.node) {
    return NotFound(fmt::format("cell {} of view {:016x} is held by n{}, not by n{}", index,
                                share->stamp.view, cell.device.node, share->stamp.node));
  }
  const ptc::TensorSpec& spec =
      share->layout.collection().tensors()[static_cast<std::size_t>(cell.tensor)];
  std::byte* const data = share->memory.data(cell.offset_bytes);
  SourceCell out{engine::CellView(cell.box, cell.box, ptc::SizeBytes(spec.dtype), data), {}, {}};
  out.digest = [&spec, &cell, data] {
    return ptc::DigestBox(spec.dtype, spec.shape, cell.box, data, cell.box);
  };
  out.keep_alive = std::const_pointer_cast<HeldShare>(share);
  return out;
}

}  // namespace tessera::agents
