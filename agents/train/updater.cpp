// SPDX-License-Identifier: Apache-2.0
#include "agents/train/updater.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "engine/update/bfloat16.h"

namespace tessera::agents::train {
namespace {

constexpr std::size_t kBlock = 4096;  // elements whose working set stays in the cache

const engine::AdamWCoefficients& Of(const engine::UpdateCoefficients& coefficients,
                                    const ParameterPiece& parameter) {
  return coefficients.Of(parameter.shape.size());
}

/// Returns the memory of the parameter as it is stored.
std::span<std::byte> BytesOf(const ParameterPiece& parameter) {
  return parameter.bf16.empty() ? std::as_writable_bytes(parameter.value)
                                : std::as_writable_bytes(parameter.bf16);
}

/// Returns what the update of a range changes: the master, if the parameter has one, else the
/// value.
std::span<float> Updated(const ParameterPiece& parameter, const OptimizerPiece& optimizer) {
  return parameter.bf16.empty() ? parameter.value.subspan(optimizer.offset, optimizer.size())
                                : optimizer.master;
}

bool HasWholeOptimizer(const ParameterPiece& piece) {
  std::size_t elements = 0;
  for (const OptimizerPiece& optimizer : piece.optimizer) elements += optimizer.size();
  return elements == piece.size();
}

/// Computes the new parameters of a range as they will be stored. Does not touch state.
void ComputeAhead(const engine::AdamWCoefficients& coefficients, const ParameterPiece& parameter,
                  const OptimizerPiece& optimizer, std::byte* out) {
  std::array<float, kBlock> values, exp_avg, exp_avg_sq;
  const std::span<const float> before = Updated(parameter, optimizer);
  const std::size_t element = BytesOf(parameter).size() / parameter.size();
  for (std::size_t begin = 0; begin < optimizer.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, optimizer.size() - begin);
    const auto copy = [&](std::span<const float> from, std::array<float, kBlock>& to) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), count, to.begin());
      return std::span(to).first(count);
    };
    const auto updated = copy(before, values);
    engine::AdamW(coefficients, updated, copy(optimizer.exp_avg, exp_avg),
                  copy(optimizer.exp_avg_sq, exp_avg_sq),
                  parameter.gradient.subspan(optimizer.offset + begin, count));
    if (parameter.bf16.empty()) {
      std::memcpy(out + begin * element, updated.data(), updated.size_bytes());
    } else {
      std::array<std::uint16_t, kBlock> rounded;
      engine::RoundToBf16(updated, std::span(rounded).first(count));
      std::memcpy(out + begin * element, rounded.data(), count * element);
    }
  }
}

}  // namespace

Result<Updater> Updater::Make(std::span<const ParameterPiece> parameters, CollectivePtr dp) {
  Updater updater;
  updater.parameters_ = parameters;
  const auto ranks = static_cast<std::size_t>(dp->size());
  const auto self = static_cast<std::size_t>(dp->rank());
  updater.dp_ = std::move(dp);

  if (std::all_of(parameters.begin(), parameters.end(), HasWholeOptimizer)) return updater;

  // How one rank's part of the gather is laid out: `share` elements of each tensor, of which the
  // last ranks may fill fewer.
  struct Shared {
    std::span<const ParameterPiece> tensor;
    std::size_t elements = 0, share = 0, element_bytes = 0, at = 0;
  };
  std::vector<Shared> shared;
  std::size_t part_bytes = 0;
  while (!parameters.empty()) {
    const auto other =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const ParameterPiece& piece) { return piece.name != parameters[0].name; });
    const auto tensor = parameters.first(static_cast<std::size_t>(other - parameters.begin()));
    parameters = parameters.subspan(tensor.size());
    Shared next{.tensor = tensor, .at = part_bytes};
    for (const ParameterPiece& piece : tensor) next.elements += piece.size();
    next.share = (next.elements + ranks - 1) / ranks;
    next.element_bytes = BytesOf(tensor[0]).size() / tensor[0].size();
    part_bytes += next.share * next.element_bytes;
    shared.push_back(next);
  }

  for (const Shared& tensor : shared) {
    const auto begin_of = [&](std::size_t rank) {
      return std::min(tensor.elements, rank * tensor.share);
    };
    std::size_t start = 0, held = 0;  // of a piece in the tensor's elements; elements held
    for (const ParameterPiece& piece : tensor.tensor) {
      for (const OptimizerPiece& optimizer : piece.optimizer) {
        const std::size_t begin = start + optimizer.offset;
        const std::size_t end = begin + optimizer.size();
        if (begin < begin_of(self) || end > begin_of(self + 1)) {
          return InvalidArgument(fmt::format(
              "optimizer state of '{}' holds elements {} to {}, rank {} of {} has {} to {}",
              piece.name, begin, end, self, ranks, begin_of(self), begin_of(self + 1)));
        }
        held += optimizer.size();
        updater.outgoing_.push_back(
            {&piece, &optimizer, tensor.at + (begin - begin_of(self)) * tensor.element_bytes});
      }
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t begin = std::max(start, begin_of(rank));
        const std::size_t end = std::min(start + piece.size(), begin_of(rank + 1));
        if (rank == self || begin >= end) continue;
        updater.incoming_.push_back(
            {BytesOf(piece).data() + (begin - start) * tensor.element_bytes,
             rank * part_bytes + tensor.at + (begin - begin_of(rank)) * tensor.element_bytes,
             (end - begin) * tensor.element_bytes});
      }
      start += piece.size();
    }
    if (held != begin_of(self + 1) - begin_of(self)) {
      return InvalidArgument(fmt::format(
          "optimizer state of '{}' has {} elements, the share of rank {} of {} has {}",
          tensor.tensor[0].name, held, self, ranks, begin_of(self + 1) - begin_of(self)));
    }
  }
  updater.mine_.resize(part_bytes);
  updater.all_.resize(part_bytes * ranks);
  return updater;
}

Status Updater::Prepare(const engine::UpdateCoefficients& coefficients) {
  if (mine_.empty()) return OkStatus();
  for (const Outgoing& range : outgoing_) {
    ComputeAhead(Of(coefficients, *range.parameter), *range.parameter, *range.optimizer,
                 mine_.data() + range.at);
  }
  return dp_->AllGather(mine_, all_);
}

void Updater::Commit(const engine::UpdateCoefficients& coefficients) const {
  for (const ParameterPiece& parameter : parameters_) {
    for (const OptimizerPiece& optimizer : parameter.optimizer) {
      engine::AdamW(Of(coefficients, parameter), Updated(parameter, optimizer), optimizer.exp_avg,
                    optimizer.exp_avg_sq,
                    parameter.gradient.subspan(optimizer.offset, optimizer.size()));
      if (!parameter.bf16.empty()) {
        engine::RoundToBf16(optimizer.master,
                            parameter.bf16.subspan(optimizer.offset, optimizer.size()));
      }
    }
  }
  for (const Incoming& range : incoming_) {
    std::memcpy(range.to, all_.data() + range.at, range.bytes);
  }
}

}  // namespace tessera::agents::train
