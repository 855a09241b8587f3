// SPDX-License-Identifier: Apache-2.0
#include "agents/train/private_state.h"

#include <algorithm>

namespace tessera::agents::train {

PrivateState::PrivateState(const ptc::Layout& layout, int rank) : layout_(layout) {
  const auto& tensors = layout_.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const ptc::TensorSpec& tensor = tensors[t];
    for (const ptc::Box& box : layout_.Boxes(rank, static_cast<int>(t))) {
      tessera_piece piece{};
      piece.name = tensor.name.c_str();
      piece.dtype = names_.emplace_back(ptc::ToString(tensor.dtype)).c_str();
      piece.role = names_.emplace_back(ptc::ToString(tensor.role)).c_str();
      piece.rank = box.rank();
      std::copy(tensor.shape.begin(), tensor.shape.end(), piece.shape);
      for (int d = 0; d < box.rank(); ++d) {
        piece.begin[d] = box[d].begin;
        piece.end[d] = box[d].end;
      }
      piece.num_elements = box.num_elements();
      const auto bytes =
          static_cast<std::size_t>(piece.num_elements * ptc::SizeBytes(tensor.dtype));
      piece.data = memory_.emplace_back(bytes).data();
      if (tensor.role == ptc::TensorRole::kParam) {
        const auto elements = static_cast<std::size_t>(piece.num_elements);
        piece.gradient = memory_.emplace_back(elements * sizeof(float)).data();
      }
      pieces_.push_back(piece);
    }
  }
}

}  // namespace tessera::agents::train
