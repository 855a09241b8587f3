// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/experiment_text.h"

#include <fmt/format.h>

#include <span>

#include "app/commands/units.h"
#include "engine/data/order_key.h"
#include "engine/data/permutation.h"
#include "engine/data/text_dataset.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kBlock = 256;  // bytes: some lines of text
constexpr std::int64_t kMostBytes = 128 << 20;

/// The blocks at positions [first, first + count) of `order`, one after the other, cut to `bytes`.
Result<std::string> join(const engine::TextDataset& blocks, const engine::Permutation& order,
                         std::int64_t first, std::int64_t count, std::int64_t bytes) {
  std::string text;
  std::string block(static_cast<std::size_t>(kBlock) + 1, '\0');
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto room = std::span(reinterpret_cast<std::uint8_t*>(block.data()), block.size());
    TESSERA_RETURN_IF_ERROR(blocks.Read(order(i), room));
    text.append(block, 0, static_cast<std::size_t>(kBlock));
  }
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

Result<ExperimentText> writeExperimentText(const std::vector<std::string>& paths,
                                           std::int64_t samples, std::int64_t heldOut,
                                           std::int64_t sequence, std::int64_t seed,
                                           const std::string& folder) {
  const auto found = paths.empty() ? engine::DefaultTextPaths() : paths;
  if (found.empty())
    return NotFound("no text was found on this machine: give --data with a file or folder of text");
  if (samples + heldOut > kMostBytes / sequence)
    return InvalidArgument(
        fmt::format("{} samples of {} bytes are more than the {} that an "
                    "experiment reads: fewer --steps",
                    samples + heldOut, sequence, formatBytes(kMostBytes)));
  // The last target of a sample is the byte after it.
  const std::int64_t trainingBytes = samples * sequence + 1, heldOutBytes = heldOut * sequence + 1;
  const auto blocksOf = [](std::int64_t bytes) { return (bytes + kBlock - 1) / kBlock; };
  const std::int64_t needed = blocksOf(trainingBytes) + blocksOf(heldOutBytes);
  const auto blocks = engine::TextDataset::Open(found, kBlock);
  if (!blocks) return blocks.error();
  if (blocks->num_samples() < needed)
    return InvalidArgument(fmt::format(
        "the text has {} bytes, the experiment needs {}: give more --data, or fewer --steps",
        blocks->size_bytes(), needed * kBlock + 1));
  TESSERA_TRY(const auto order,
              engine::Permutation::Make(blocks->num_samples(), engine::OrderKey(seed, 0)));
  ExperimentText text{
      folder + "/training.txt", folder + "/held_out.txt",
      paths.empty() ? "text found on this machine" : fmt::format("{}", fmt::join(paths, ", "))};
  TESSERA_TRY(const std::string training,
              join(*blocks, order, 0, blocksOf(trainingBytes), trainingBytes));
  TESSERA_TRY(const std::string rest,
              join(*blocks, order, blocksOf(trainingBytes), blocksOf(heldOutBytes), heldOutBytes));
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(text.training, training, 0600));
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(text.heldOut, rest, 0600));
  return text;
}

}  // namespace tessera::app
