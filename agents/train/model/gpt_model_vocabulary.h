// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Token embedding and cross entropy over a vocabulary that is divided among tensor-parallel ranks.
/// For gpt_model*.cpp only: it includes libtorch.

#include <ATen/ATen.h>

#include <cstdint>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// Rows of the vocabulary that one rank holds. The last ranks may hold fewer rows than the others,
/// or none; they still join every collective.
struct VocabularyShare {
  std::int64_t begin = 0, rows = 0;
};
/// Returns the rows of this rank, cut as by ptc::Split::kCeil.
VocabularyShare ShareOf(std::int64_t vocabulary, const Collective& tp);

/// Returns the rows of the whole embedding for `tokens`: each rank looks up the tokens of its
/// share, and the sum over the ranks has all tokens. `weight`: [share.rows, width].
at::Tensor Embed(const at::Tensor& weight, const VocabularyShare& share, const at::Tensor& tokens,
                 Collective& tp);

struct Loss {
  double value = 0;
  at::Tensor gradient;  // with respect to this rank's logits
};
/// Returns `scale` times the summed cross entropy of `logits` [tokens, share.rows] against
/// `targets` [tokens]. Makes two collectives (Shoeybi et al. 2019, section 3).
Loss CrossEntropy(const at::Tensor& logits, const VocabularyShare& share, const at::Tensor& targets,
                  double scale, Collective& tp);

}  // namespace tessera::agents::train
