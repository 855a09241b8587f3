// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The built-in models and the settings of a job that trains one. Known to registrar, trainer and
/// command line; needs no libtorch.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/tensor_spec.h"

namespace tessera::engine {

struct GptConfig {
  std::string name;  // "gpt-mini"
  std::int64_t layers = 0, width = 0, heads = 0, ffn = 0, vocab = 256, sequence = 0;
  friend bool operator==(const GptConfig&, const GptConfig&) = default;
};

/// Everything that decides what a job computes; the mesh is not part of it.
struct JobSettings {
  GptConfig model;
  std::int64_t global_batch = 16;
  std::int64_t seed = 1;
  std::int64_t max_steps = 0;        // 0: no end. Never read by the schedule.
  std::int64_t cosine_steps = 2000;  // length of the schedule
  std::int64_t warmup_steps = 20;
  double learning_rate = 1e-3, min_learning_rate = 1e-4, weight_decay = 0.1, beta1 = 0.9,
         beta2 = 0.95, epsilon = 1e-8, max_norm = 1.0;
  std::vector<std::string> data;  // absolute paths of text files and folders
  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

/// Names of the built-in models, smallest first.
std::vector<std::string> ModelNames();
/// \error kNotFound naming the model and those there are.
Result<GptConfig> FindModel(std::string_view name);
/// Parameters, both Adam moments, and the scalars that a step reads (job.step, job.cursor), with
/// their rules: qkv as three segments cut by tp, fc1 by rows, fc2 and proj by columns, the
/// embedding by vocabulary rows; all else replicated.
Result<ptc::CollectionPtr> MakeCollection(const GptConfig& config);
/// Whether the trainer can run `mesh`. \error kInvalidArgument naming what does not divide, its
/// value and the degree: `8 heads of gpt-mini are not divisible by tp = 3`; also pp, cp, ep
/// above 1.
Status CheckMesh(const JobSettings& settings, const ptc::MeshShape& mesh);
/// JSON, one line.
std::string ToJson(const JobSettings& settings);
Result<JobSettings> ParseJobSettings(std::string_view json);

}  // namespace tessera::engine
