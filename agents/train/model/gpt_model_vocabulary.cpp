// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/gpt_model_vocabulary.h"

#include <algorithm>
#include <limits>

#include "agents/train/model/gpt_model_parallel.h"

namespace tessera::agents::train {
namespace {

using at::Tensor;

/// Which of `tokens` this rank holds, and their rows in its share; row 0 for the others.
struct Lookup {
  Tensor here, rows;
};
Lookup Find(const Tensor& tokens, const VocabularyShare& share) {
  const Tensor local = tokens - share.begin;
  const Tensor here = local.ge(0).logical_and_(local.lt(share.rows));
  return {here, local * here};
}

}  // namespace

VocabularyShare ShareOf(std::int64_t vocabulary, const Collective& tp) {
  const std::int64_t most = (vocabulary + tp.size() - 1) / tp.size();
  const std::int64_t begin = std::min(vocabulary, most * tp.rank());
  return {begin, std::min(vocabulary, begin + most) - begin};
}

Tensor Embed(const Tensor& weight, const VocabularyShare& share, const Tensor& tokens,
             Collective& tp) {
  if (tp.size() == 1) return at::embedding(weight, tokens);
  if (share.rows == 0) {
    return ReduceFromGroup(at::zeros({tokens.size(0), tokens.size(1), weight.size(1)}, at::kFloat),
                           tp);
  }
  const Lookup lookup = Find(tokens, share);
  return ReduceFromGroup(at::embedding(weight, lookup.rows) * lookup.here.unsqueeze(-1), tp);
}

Loss CrossEntropy(const Tensor& logits, const VocabularyShare& share, const Tensor& targets,
                  double scale, Collective& tp) {
  const bool alone = tp.size() == 1;
  const bool has_rows = share.rows > 0;
  Tensor row_max =
      has_rows ? logits.amax(1)
               : at::full({logits.size(0)}, -std::numeric_limits<float>::infinity(), at::kFloat);
  if (!alone) ThrowIfError(tp.AllReduceMax(SpanOf(row_max)));
  Tensor gradient = logits - row_max.unsqueeze(1);
  // Row 0: sum of exponentials; row 1: the target's logit, from the rank that holds it.
  Tensor sums = at::zeros({2, logits.size(0)}, at::kFloat);
  Lookup lookup;
  if (has_rows) {
    lookup = Find(targets, share);
    lookup.rows = lookup.rows.unsqueeze(1);
    sums[1].copy_(gradient.gather(1, lookup.rows).squeeze(1) * lookup.here);
    gradient.exp_();
    sums[0].copy_(gradient.sum(1));
  }
  if (!alone) ThrowIfError(tp.AllReduceSum(SpanOf(sums)));
  const double loss = (sums[0].log() - sums[1]).sum(at::kDouble).item<double>();
  if (has_rows) {  // softmax - onehot on the local rows
    gradient.mul_((scale / sums[0]).unsqueeze(1));
    gradient.scatter_add_(1, lookup.rows, (lookup.here.to(at::kFloat) * -scale).unsqueeze(1));
  }
  return {loss * scale, gradient};
}

}  // namespace tessera::agents::train
